"""What flows through a cluster over time: how far groups are behind, and what comes in. Rows in, rows out; only
``cluster_rows`` (with ``read_answers`` and ``asked_answers``), ``cluster_batches`` (with ``fetched_batches``) and
``snapshots`` ask a cluster."""
