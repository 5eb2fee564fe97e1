"""The files of a partition."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.FILES,
    "Look at the files of a partition",
    "A copy of a partition is a directory. This is broker 1's copy of payments:",
    (
        Command(
            "ls cluster/broker-1/payments-0",
            (
                Note(r"^(?P<base>\d+)\.index$", "where an offset is in the .log, for one batch in every 4 KiB"),
                Note(r"^0*(?P<base>\d+)\.log$", "the segment: record batches from offset {base} on"),
                Note(r"\.timeindex$", "the offset at which a time begins"),
                Note(r"\.txnindex$", "aborted transactions"),
                Note(
                    r"^0*(?P<offset>\d+)\.snapshot$",
                    "what is known about producers at offset {offset}, so that nothing is written twice",
                ),
                Note(r"^leader-epoch-checkpoint$", "the offset at which each leader epoch began"),
                Note(r"^partition\.metadata$", "the id of the topic"),
            ),
            is_line_by_line=True,
        ),
    ),
)
