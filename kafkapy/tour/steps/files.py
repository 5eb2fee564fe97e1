"""The files of a partition."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.FILES,
    "Look at the files of a partition",
    "A copy of a partition is a directory. This is what broker 1 has of payments:",
    (
        Command(
            "ls cluster/broker-1/payments-0",
            (
                Note(r"^(?P<base>\d+)\.index$", "where in the .log an offset is, for one batch in every 4 KiB"),
                Note(r"^0*(?P<base>\d+)\.log$", "the segment: record batches from offset {base} on"),
                Note(r"\.timeindex$", "which offset a time begins at"),
                Note(r"\.txnindex$", "the transactions that were aborted"),
                Note(
                    r"^0*(?P<offset>\d+)\.snapshot$",
                    "what is known of producers at offset {offset}, so that nothing is written twice",
                ),
                Note(r"^leader-epoch-checkpoint$", "the offset at which each leader began"),
                Note(r"^partition\.metadata$", "the id of the topic"),
            ),
            is_line_by_line=True,
        ),
    ),
)
