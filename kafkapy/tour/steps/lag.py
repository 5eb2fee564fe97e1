"""A group that does not keep up."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.LAG,
    "See a group fall behind",
    "A thousand orders come in, and the group billing does not read them.",
    (
        Command(
            "seq 1000 | sed 's/.*/customer-&:order &/' |\n"
            "    kafkapy console-producer --topic orders --compression-codec lz4 \\\n"
            "    --reader-property parse.key=true --reader-property key.separator=:"
        ),
        Command(
            "kafkapy lag --group billing --by group",
            (
                Note(
                    r"billing +(?P<lag>\d+) +(?P<time>\S+(?: \S+)*)  .* (?P<verdict>\w+)\n",
                    "In all partitions together, the group is {lag} records behind, and the oldest of them has "
                    "waited for {time}. The verdict, in the last column: {verdict}. A group that commits nothing "
                    "counts as stopped once it has had something to read for some seconds. (Without --by group, "
                    "there is a line for each partition.)",
                ),
            ),
        ),
    ),
)
