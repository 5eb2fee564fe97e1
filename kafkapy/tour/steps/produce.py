"""Records with keys."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.PRODUCE,
    "Produce records with keys",
    "Each line becomes a record, with its key before the colon. The key decides which partition it goes to, so "
    "records with the same key stay in order.",
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
                    "Topic, partition, and the offset that the next record will get: {zero} records went to "
                    "partition 0, {one} to 1 and {two} to 2. Kafka's own producer would have put them there too: a "
                    "hash of the key decides.",
                ),
            ),
        ),
    ),
)
