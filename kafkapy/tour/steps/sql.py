"""The same files as tables, on Spark."""

from kafkapy.tour.step import Command, Note, Step, StepName

STEP = Step(
    StepName.SQL,
    "Query the files in SQL, on Spark",
    "Records, batches, commits, transactions and metadata are tables. Spark takes some seconds to start, and longer "
    "the first time: kafkapy then keeps what makes the next start quicker.",
    (
        Command(
            'kafkapy sql "SELECT string(key) AS customer, count(*) AS orders FROM records\n'
            "    WHERE topic = 'orders' GROUP BY key ORDER BY orders DESC, key LIMIT 3\"",
            (
                Note(
                    r"(?P<customer>[\w-]+) +\| +(?P<orders>\d+)\n",
                    "{customer} comes first, with {orders} orders.",
                ),
            ),
        ),
    ),
    needs_spark=True,
)
