"""KRaft metadata: the metadata log and its snapshots, the immutable image they fold into, and what a controller
decides: placement, elections, validation. Nothing here prints, parses options or reads a clock."""
