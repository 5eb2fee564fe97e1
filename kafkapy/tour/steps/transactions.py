"""Records that count together or not at all."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.TRANSACTIONS,
    "Produce in transactions",
    "Four records, two in each transaction. The second transaction is aborted on purpose, to show what that does.",
    (
        Command(
            "printf '%s\\n' invoice-1 invoice-2 invoice-3 invoice-4 |\n"
            "    kafkapy console-producer --topic payments --transactional-id till-1 \\\n"
            "    --transaction-size 2 --abort-every 2"
        ),
        Command(
            "kafkapy console-consumer --topic payments --from-beginning",
            (
                Note(
                    r"total of (?P<count>\d+) messages",
                    "All {count} are in the log, and consumers get all of them unless they ask only for committed "
                    "ones:",
                ),
            ),
        ),
        Command(
            "kafkapy console-consumer --topic payments --from-beginning \\\n    --isolation-level read_committed",
            (
                Note(
                    r"(?s)(?P<last>invoice-\d+)\n[^\n]*total of (?P<count>\d+) messages",
                    "{count} records, up to {last}: those of the aborted transaction are left out.",
                ),
            ),
        ),
    ),
)
