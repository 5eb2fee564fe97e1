"""Records with keys."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.PRODUCE,
    "Produce records with keys",
    "Each line is a record, with its key before the colon. The key decides on the partition, so records with the same "
    "key stay in order.",
    (
        Command(
            "printf '%s\\n' ada:book bob:pen ada:lamp joe:map bob:ink mia:tea dan:cup |\n"
            "    kafkapy console-producer --topic orders \\\n"
            "    --reader-property parse.key=true --reader-property key.separator=:"
        ),
        Command(
            "kafkapy get-offsets --topic orders",
            (
                Note(
                    r"orders:0:(?P<zero>\d+)\norders:1:(?P<one>\d+)\norders:2:(?P<two>\d+)",
                    "Topic, partition, and the offset that the next record gets: {zero} records went to partition 0, "
                    "{one} to 1 and {two} to 2. Every Kafka client would have put them there: the partition is a hash "
                    "of the key.",
                ),
            ),
        ),
    ),
)
