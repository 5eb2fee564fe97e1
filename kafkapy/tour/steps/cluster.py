"""A cluster out of nothing."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.CLUSTER,
    "Create a cluster of three brokers",
    "A cluster directory is a whole Kafka cluster as files, in Kafka's own formats. No process keeps running: each "
    "command does what the brokers would do, and then ends.",
    (
        Command(
            "kafkapy storage format --brokers 3",
            (
                Note(
                    r"brokers (?P<brokers>[\d, ]+) and cluster id (?P<id>[\w-]+)",
                    "Brokers {brokers} belong to cluster {id}; each of them has this id in its meta.properties.",
                ),
            ),
            is_line_by_line=True,
        ),
        Command(
            "ls cluster",
            (
                Note(
                    r"(?s)(?P<first>broker-\d+)\n.*(?P<last>broker-\d+)\n(?P<file>cluster\.yaml)",
                    "{first} to {last} are log dirs, one for each broker. Real brokers can be started on them. "
                    "{file} lists them.",
                ),
            ),
        ),
    ),
)
