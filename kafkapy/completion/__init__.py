"""What a shell offers while a command line is typed: the names that a cluster has.

    command_line.py      the words that were typed, and the cluster that they name
    candidates.py        the words that begin as the last one does: lists, and what follows a name
    values.py            the values of each kind
    config_values.py     configs and their values, by what is configured
    property_values.py   properties of the console tools, settings of clients, and their values
    spark_settings.py    settings of Spark's, and their values
    schema_files.py      ways of decoding, and the files of schemas
    cluster_names.py     what a cluster is asked
    file_names.py        names out of a cluster directory or log dirs, from the names of directories where these tell
    record_keys.py       names that stand in the keys of an internal topic
    metadata_records.py  what of the metadata log is read
    metadata_names.py    names that stand in it
    metadata_paths.py    paths of the metadata shell
    producer_ids.py      producers that stand in snapshots
    live_names.py        names that a running cluster tells
    entry.py             ``kafkapy __complete``, which the scripts of completions/ call

A shell waits for this at each press of a key, so it imports neither Typer nor the backends for files, and what goes
wrong is kept from the prompt: nothing is offered.
"""
