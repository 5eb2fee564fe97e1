"""A cluster out of nothing."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.CLUSTER,
    "Make a cluster of three brokers",
    "A cluster directory is a Kafka cluster as files, all of them in Kafka's own formats. Nothing keeps running: every "
    "command does what the brokers would do, and ends.",
    (
        Command(
            "kafkapy storage format --brokers 3",
            (
                Note(
                    r"brokers (?P<brokers>[\d, ]+) and cluster id (?P<id>[\w-]+)",
                    "Brokers {brokers} belong to the cluster {id}; each has that id in its meta.properties.",
                ),
            ),
            is_line_by_line=True,
        ),
        Command(
            "ls cluster",
            (
                Note(
                    r"(?s)(?P<first>broker-\d+)\n.*(?P<last>broker-\d+)\n(?P<file>cluster\.yaml)",
                    "{first} to {last} are what real brokers have as log.dirs, and real brokers can be started on "
                    "them. {file} lists them.",
                ),
            ),
        ),
    ),
)
