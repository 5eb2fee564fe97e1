"""Tables as files of other formats, with a manifest of what is in them, so that the next run adds only what is new."""
