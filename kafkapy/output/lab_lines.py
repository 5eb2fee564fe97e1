"""What ``kafkapy lab`` prints: a scenario's text, and after every step a table for each partition, 80 columns wide.

In the column ``log``, ``[1]`` stands before the first record of leader epoch 1 and ``|`` where the replica's
high watermark is: what is left of it is committed as far as this replica knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any

from kafkapy.lab.play import Check, Played
from kafkapy.lab.scenario import Scenario, Step
from kafkapy.lab.view import ConsumerView, LabView, Logged, PartitionView
from kafkapy.metadata.topics_image import NO_LEADER
from kafkapy.output.styled_lines import Line, Piece
from kafkapy.replication.broker_state import RUNNING
from kafkapy.replication.fetch import UNKNOWN_OFFSET
from kafkapy.replication.partition import ReplicaRow

WIDTH = 80
REPLICA_COLUMNS = ("broker", "role", "in ISR", "LEO", "HW", "remote LEO", "log")
CONSUMER_COLUMNS = ("consumer", "position", "committed", "in hand", "done")
CHECK_COLUMNS = ("line", "what", "expected", "found")
LEGEND = (
    "remote LEO is what the leader knows about a follower (?: nothing yet); log is [leader epoch] and records, with "
    "| at the replica's high watermark."
)


def scenario_lines(scenario: Scenario) -> Iterator[Line]:
    """What a scenario is about, and what it begins with."""
    yield [(scenario.title, "title")]
    yield [("=" * len(scenario.title), "title")]
    for paragraph in scenario.text.split("\n\n"):
        yield from ([(line, "")] for line in wrap(paragraph, WIDTH))
        yield [("", "")]
    yield from ([(line, "dim")] for line in wrap(_setup_text(scenario), WIDTH, subsequent_indent="       "))


def step_lines(steps: Sequence[Step]) -> Iterator[Line]:
    """The steps of a scenario, for who wants to see them first."""
    for step in steps:
        yield [
            (f"[{step.number}] ", "dim"),
            (step.text, "step"),
            (f"  fails: {step.fails}" if step.fails else "", "bad"),
        ]
        yield from ([(line, "")] for line in _wrapped(step.say, "    "))


def played_lines(played: Played, count: int) -> Iterator[Line]:
    """What a step did, and everything as it is then; ``count`` is that of all steps."""
    yield [("", "")]
    if played.step is None:
        yield [("[0] ", "dim"), ("the beginning", "step")]
        yield from ([(line, "dim")] for line in _wrapped(LEGEND, "# "))
    else:
        yield [(f"[{played.step.number}/{count}] ", "dim"), (played.step.text, "step")]
        yield from ([(line, "dim")] for line in _wrapped(played.step.say, "# "))
    for sentence in played.sentences:
        style = "bad" if sentence.startswith("Refused") or "LOST" in sentence else ""
        yield from ([(line, style)] for line in _wrapped(sentence))
    for topic, partition in played.view.topics.items():
        yield from _partition_lines(played.before.topics[topic], partition, played.view)
    if played.view.consumers:
        yield from _consumer_lines(played.before, played.view)
    if played.failures:
        yield from _failure_lines(played.failures)


def summary_lines(scenario: Scenario, checked: int) -> Iterator[Line]:
    """The end of a scenario that went as it should."""
    yield [("", "")]
    yield [(f"Played {len(scenario.steps)} steps. All {checked} values were as the scenario expects.", "title")]


def _setup_text(scenario: Scenario) -> str:
    setup = scenario.setup
    parts = [f"{topic}-0 on brokers {', '.join(map(str, replicas))}" for topic, replicas in setup.topics.items()]
    parts += [f"{name}={value}" for name, value in setup.configs.items()]
    if not setup.leader_epochs:
        parts.append("leader epochs off (as before Kafka 0.11)")
    if setup.eligible_leader_replicas:
        parts.append("eligible leader replicas on")
    return f"Setup: {'; '.join(parts)}"


def _partition_lines(before: PartitionView, after: PartitionView, view: LabView) -> Iterator[Line]:
    yield [("", "")]
    yield list(_headline(before, after, view))
    rows = [_replica_cells(after, row) for row in after.table.replicas]
    old = [_replica_cells(before, row) for row in before.table.replicas]
    yield from _table(REPLICA_COLUMNS, rows, old, right={"broker", "LEO", "HW", "remote LEO"})
    waiting = [f"FETCH of broker {broker_id}" for broker_id in after.purgatory]
    if after.unanswered:
        waiting.append(f"PRODUCE of {', '.join(after.unanswered)}")
    if waiting:
        yield from ([(line, "")] for line in _wrapped(f"in purgatory: {'; '.join(waiting)}"))
    if after.acknowledged:
        yield from ([(line, "")] for line in _wrapped(f"acknowledged: {', '.join(after.acknowledged)}"))
    if after.lost:
        yield [(f"  LOST: {', '.join(after.lost)}", "bad")]


def _headline(before: PartitionView, after: PartitionView, view: LabView) -> Iterator[Piece]:
    new, old = after.table, before.table
    yield f"  {new.partition}: leader ", "title"
    yield "none" if new.leader == NO_LEADER else str(new.leader), _style(new.leader != old.leader)
    yield ", epoch ", "title"
    yield str(new.leader_epoch), _style(new.leader_epoch != old.leader_epoch)
    yield ", ISR ", "title"
    yield ", ".join(map(str, new.isr)) or "empty", _style(new.isr != old.isr)
    if new.elr:
        yield ", ELR ", "title"
        yield ", ".join(map(str, new.elr)), _style(new.elr != old.elr)
    if view.controller_epoch > 1:
        yield f", controller epoch {view.controller_epoch}", "title"
    if view.time_ms:
        yield f", at {view.time_ms} ms", "dim"


def _replica_cells(view: PartitionView, row: ReplicaRow) -> list[str]:
    role = "leader" if row.is_leader else "follower"
    if row.state != RUNNING:
        role = f"{role}, {row.state}" if row.is_leader else row.state
    remote = {None: "", UNKNOWN_OFFSET: "?"}.get(row.remote_log_end_offset, str(row.remote_log_end_offset))
    return [
        str(row.broker_id),
        role,
        "yes" if row.is_in_sync else "no",
        str(row.log_end_offset),
        str(row.high_watermark),
        remote,
        _log_text(view.logs[row.broker_id], row.high_watermark),
    ]


def _log_text(log: Sequence[Logged], high_watermark: int) -> str:
    words: list[str] = []
    epoch = None
    for record in log:
        if record.offset == high_watermark:
            words.append("|")
        if record.epoch != epoch:
            epoch = record.epoch
            words.append(f"[{epoch}]")
        words.append(record.value)
    if log and log[-1].offset < high_watermark:
        words.append("|")
    return " ".join(words)


def _consumer_lines(before: LabView, after: LabView) -> Iterator[Line]:
    yield [("", "")]
    rows = [_consumer_cells(each) for each in after.consumers.values()]
    old = [_consumer_cells(before.consumers.get(name, each)) for name, each in after.consumers.items()]
    yield from _table(CONSUMER_COLUMNS, rows, old, right={"position", "committed"})


def _consumer_cells(view: ConsumerView) -> list[str]:
    position, committed = ("-" if each is None else str(each) for each in (view.position, view.committed))
    return [view.name, position, committed, " ".join(view.in_hand), " ".join(view.done)]


def _failure_lines(failures: Sequence[Check]) -> Iterator[Line]:
    yield [("", "")]
    yield [("  Not as expected:", "bad")]
    rows = [[str(each.line), each.subject, _cell_text(each.expected), _cell_text(each.found)] for each in failures]
    yield from _table(CHECK_COLUMNS, rows, rows, right={"line"})


def _cell_text(value: Any) -> str:
    """A cell about as it is written in a scenario; -1 is no leader or an offset that is not known."""
    if value is None:
        return "none"
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _table(columns: Sequence[str], rows: list[list[str]], old: list[list[str]], right: set[str]) -> Iterator[Line]:
    """Columns as wide as their cells; in the last one the end of a text is what is shown where it is too long."""
    widths = [max(map(len, (name, *(row[n] for row in rows)))) for n, name in enumerate(columns)]
    widths[-1] = max(WIDTH - 2 * len(columns) - sum(widths[:-1]), len(columns[-1]))

    def line(cells: Sequence[str], styles: Sequence[str]) -> Line:
        pieces: Line = []
        for name, cell, width, style in zip(columns, cells, widths, styles, strict=True):
            shown = cell if len(cell) <= width else "..." + cell[len(cell) - width + 3 :]
            pieces += [("  ", ""), (shown.rjust(width) if name in right else shown.ljust(width), style)]
        return _without_blank_end(pieces)

    yield line(columns, ["dim"] * len(columns))
    for row, before in zip(rows, old, strict=True):
        yield line(row, [_style(new != was) for new, was in zip(row, before, strict=True)])


def _without_blank_end(pieces: Line) -> Line:
    while pieces and not pieces[-1][0].strip():
        pieces = pieces[:-1]
    return [*pieces[:-1], *((text.rstrip(), style) for text, style in pieces[-1:])]


def _style(changed: bool) -> str:
    return "changed" if changed else ""


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, WIDTH, initial_indent=f"  {indent}", subsequent_indent=f"  {indent}", break_on_hyphens=False)
