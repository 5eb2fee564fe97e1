"""Topics with copies of their partitions."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.TOPICS,
    "Create topics, and see which brokers have them",
    "The topic orders gets three partitions with two copies each. The topic payments gets one partition with three "
    "copies; two of them must have a record before it counts as written.",
    (
        Command("kafkapy topics --create --topic orders --partitions 3 --replication-factor 2"),
        Command(
            "kafkapy topics --create --topic payments --partitions 1 \\\n"
            "    --replication-factor 3 --config min.insync.replicas=2"
        ),
        Command(
            "kafkapy topics --describe",
            (
                Note(
                    r"^Topic: orders\tTopicId: (?P<id>[\w-]+)",
                    "A topic and its id: if it is deleted and created again, it gets a new id and is another topic. "
                    "Its partitions follow:",
                ),
                Note(
                    r"Partition: 0\tLeader: (?P<leader>\d+)\tReplicas: (?P<replicas>[\d,]+)\tIsr: (?P<isr>[\d,]+)",
                    "Broker {leader} leads: clients write to it and read from it. Brokers {replicas} have copies. "
                    "Those in sync, the Isr, are {isr}; the next leader will be one of them.",
                ),
                Note(
                    r"^Topic: payments\t.*ReplicationFactor: (?P<copies>\d+)\t.*min\.insync\.replicas=(?P<least>\d+)",
                    "{copies} copies, of which {least} must be in sync for a write.",
                ),
            ),
            is_line_by_line=True,
        ),
    ),
)
