"""What is in those files, line by line."""

from kafkapy.tour.step import Command, Note, Step, StepName

BATCH = r"^baseOffset: (?P<base>\d+) lastOffset: (?P<last>\d+) "
PRODUCER = r".*producerId: (?P<producer>\d+) producerEpoch: (?P<epoch>\d+) "
RECORD = r"^\| offset: (?P<offset>\d+) "

STEP = Step(
    StepName.DUMP,
    "Dump the segment, line by line",
    "Kafka's kafka-dump-log.sh prints the same lines. A line that begins with a bar is a record; the others are "
    "batches, each followed by its records.",
    (
        Command(
            "kafkapy dump-log --print-data-log \\\n    --files cluster/broker-1/payments-0/00000000000000000000.log",
            (
                Note(
                    r"^Dumping .*/(?P<file>[^/]+)$", "A segment is named after the first offset that can be in it ..."
                ),
                Note(r"^Log starting offset: (?P<start>\d+)$", "here {start}."),
                Note(
                    BATCH + PRODUCER + r".*position: (?P<position>\d+).* size: (?P<size>\d+) .*isvalid: true$",
                    "The batch of the first transaction: offsets {base} to {last}, {size} bytes from byte {position} "
                    "of the file. The transactional id till-1 was given producer id {producer}, epoch {epoch}. "
                    "isvalid: its checksum (crc) is correct.",
                ),
                Note(
                    RECORD
                    + r"CreateTime: (?P<time>\d+) keySize: -1 valueSize: (?P<size>\d+) .* payload: (?P<value>.*)$",
                    'A record: no key (size -1), and a value of {size} bytes, "{value}". CreateTime is in '
                    "milliseconds since 1970.",
                ),
                Note(
                    RECORD + r".* sequence: (?P<sequence>\d+) .* payload: (?P<value>.*)$",
                    'The next record, "{value}". By its sequence number, {sequence}, a broker recognises a retry.',
                ),
                Note(
                    BATCH + r".* isTransactional: true isControl: true ",
                    "A control batch, sent by the transaction coordinator. It takes offset {base}, but no consumer "
                    "gets to see it.",
                ),
                Note(
                    RECORD + r".* endTxnMarker: COMMIT",
                    "The marker: the transaction that ends at offset {offset} is committed.",
                ),
                Note(
                    BATCH + PRODUCER,
                    "The second transaction, offsets {base} to {last}. Each transaction gets a new epoch, now "
                    "{epoch}, so that a late message of an earlier one cannot get into it.",
                ),
                Note(RECORD + r".* payload: (?P<value>.*)$", '"{value}" is in the log like any other record ...'),
                Note(RECORD + r".* payload: (?P<value>.*)$", 'and so is "{value}".'),
                Note(BATCH + r".* isControl: true ", "The control batch that ends it, at offset {base} ..."),
                Note(
                    RECORD + r".* endTxnMarker: ABORT",
                    "with an ABORT: this is why read_committed left out both records.",
                ),
            ),
            is_line_by_line=True,
        ),
        Command(
            "kafkapy dump-log \\\n    --files cluster/broker-1/payments-0/00000000000000000000.txnindex",
            (
                Note(
                    r"producerId: (?P<producer>\d+) firstOffset: (?P<first>\d+) lastOffset: (?P<last>\d+) ",
                    "This tells consumers before they reach the marker: producer {producer} aborted what it wrote "
                    "from offset {first} to {last}.",
                ),
            ),
            is_line_by_line=True,
        ),
    ),
)
