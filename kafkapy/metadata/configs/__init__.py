"""Every config that ``kafka-configs`` and ``kafka-topics`` can show or change.

    *.txt                what Kafka defines: one config a line, in Kafka's order
    config_def.py        those tables as ConfigKey, and how a text becomes a value
    config_types.py      the types of values, parsed and printed as Java does
    validators.py        ranges, choices and the other checks of one value
    topic_configs.py     the checks of a whole set of configs, for each kind of
    broker_configs.py    entity: which names, which combinations
    group_configs.py
    client_metrics_configs.py
    quotas.py            client and ip quotas
    scram.py             SCRAM credentials
    add_config.py        --add-config, --add-config-file, --delete-config
    effective.py         which value holds, and where it comes from
    describe_lines.py    the lines of ConfigCommand

What Kafka refuses is raised as a KafkaError with Kafka's message; its name is the exception that a client gets to see.
"""
