"""The names of the subcommands, for who must not wait for Typer."""

COMMANDS = {
    "acls": "List, add and remove ACLs: who may do what with topics, groups and the cluster itself.",
    "assign": "Show how an assignor divides partitions, and what moves when the group changes.",
    "broker-api-versions": "Show which versions of each request the brokers support, and which one a client would use.",
    "cluster": "Stop, kill, start and slow down the brokers of a cluster directory, and see where replicas stand.",
    "cluster-id": "Show the id of a cluster.",
    "config": "Give clusters names, and choose the one that commands use.",
    "configs": "Show and change configs of topics, brokers, users, clients, groups and client metrics.",
    "console-consumer": "Print the records of topics, or run a command for each, as members of a group.",
    "console-producer": "Send each line of the standard input to a topic as a record.",
    "consumer-groups": "List, describe and delete consumer groups, and reset their offsets.",
    "consumer-offsets": "Show committed offsets, groups and transactions as they are in the internal topics' logs.",
    "delete-records": "Delete the records of partitions up to an offset.",
    "doctor": "Check the environment and a cluster, and say what to do about each problem.",
    "dump-log": "Show what is inside log segments, indexes and producer snapshots.",
    "export": "Export topics to Parquet, JSON, CSV, ORC, Avro or text; a second run adds only what is new.",
    "features": "Show the features of a cluster, and change their levels.",
    "get-offsets": "Show offsets of partitions: the latest, the earliest, or by time.",
    "groups": "List groups of all types.",
    "help": "Show the manual page of a command, or list the pages.",
    "install-shims": "Write scripts with the names of Kafka's own, which run kafkapy instead.",
    "lab": "Play what happens to replicas when brokers fail, step by step, with every offset.",
    "lag": "Show how far groups are behind: records, time, rates, when they will have caught up, and what happened.",
    "leader-election": "Elect leaders of partitions: the preferred ones, or any replica if there is no leader.",
    "log-dirs": "Show the log dirs of brokers: which replicas they hold, and how large they are.",
    "lookup": "Show how Kafka finds a record: segment, index entries, batches, and how little of the log is read.",
    "maintenance": "Run once what brokers do in the background: retention, compaction, snapshots, expiry.",
    "metadata-quorum": "Describe the metadata quorum, and add and remove its controllers.",
    "metadata-shell": "Browse the metadata of a cluster as if it were files in directories.",
    "reassign-partitions": "Plan moves of replicas between brokers, show what they cost, and carry them out.",
    "replica-diff": "Compare the copies of partitions batch by batch: where they diverge, and which one to trust.",
    "share-groups": "List, describe and delete share groups, and reset their offsets.",
    "sql": "Query records, batches, commits, transactions and metadata in SQL, on Spark.",
    "storage": "Create cluster directories, and show what log dirs consist of.",
    "streams-groups": "List, describe and delete streams groups, and reset their offsets.",
    "throughput": "Show what comes in, by topic, partition or producer and over time, and when retention will delete "
    "it.",
    "topics": "Create, list, describe, alter and delete topics.",
    "tour": "Show what kafkapy does, step by step, on a temporary cluster.",
    "transactions": "List and describe transactions, find those that hang, and abort them.",
}
"""Each subcommand with its one-line help; ``dump-log`` lives in commands/dump_log.py."""

JOBS = {
    "Topics and records": (
        *("topics", "console-producer", "console-consumer", "get-offsets", "throughput", "delete-records"),
    ),
    "Groups and transactions": (
        *("lag", "consumer-groups", "groups", "share-groups", "streams-groups", "consumer-offsets", "transactions"),
        "assign",
    ),
    "Brokers and replicas": (
        *("cluster", "log-dirs", "replica-diff", "leader-election", "reassign-partitions", "cluster-id"),
        "broker-api-versions",
    ),
    "Settings, rights and metadata": (
        *("configs", "acls", "features", "metadata-quorum", "metadata-shell", "storage", "maintenance"),
    ),
    "Inside the files": ("dump-log", "lookup", "export", "sql"),
    "Help and set-up": ("tour", "lab", "help", "doctor", "config", "install-shims"),
}
"""What each subcommand is for: the sections of ``kafkapy --help``, what is used most first."""

SUBCOMMANDS = {
    "cluster": (
        *("status", "stop-broker", "kill-broker", "start-broker", "lag-broker", "replicate", "advance"),
        *("list-endpoints", "unregister"),
    ),
    "config": ("list", "use", "add", "remove", "show"),
    "features": ("describe", "upgrade", "downgrade", "disable", "version-mapping", "feature-dependencies"),
    "lab": ("list", "show", "run"),
    "metadata-quorum": ("describe", "add-controller", "remove-controller"),
    "storage": ("format", "version-mapping", "feature-dependencies", "broker-properties", "info", "random-uuid"),
    "transactions": ("list", "describe", "describe-producers", "find-hanging", "abort", "forceTerminateTransaction"),
}
"""The commands of those that have some."""
