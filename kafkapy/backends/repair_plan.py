"""What to do about copies of a partition that differ: which to trust, and what becomes of the others. Words only.

A follower puts much right by itself: it fetches what it lacks, and cuts off what its leader's epochs do not have. Where
the epochs do not show the difference, or the files are damaged, its copy has to go, so that it is fetched anew. What it
has beyond the end of the trusted copy is to be saved before.

Of a cluster directory the steps name the commands that do it (``where``, the options that name it). There a leader that
was cut short takes its end back from the in-sync copies by itself, and one that is stopped hands its leadership over.
Of log dirs, which are a broker's, nothing is told to be changed or removed but while that is stopped.
"""

from __future__ import annotations

import os
from enum import StrEnum
from shlex import quote
from typing import NamedTuple

from kafkapy.backends.log_dir_lock import holder_of
from kafkapy.backends.lost_replicas import accepting
from kafkapy.backends.replica_diff import Copy, CopyReport, MissingCopy, PartitionReport, Verdict
from kafkapy.log.topic_partition import TopicPartition

KEEP_UNKNOWN = "keep it if nobody deleted it: then the metadata log has lost its end, put that back from a backup"


class Action(StrEnum):
    """What to do with a copy."""

    KEEP = "keep"
    FETCH = "fetch"
    TRUNCATE = "truncate"
    DELETE = "delete"


class Step(NamedTuple):
    """What to do with one copy and why; ``offset`` is where it is cut off, or fetches from."""

    copy: Copy
    action: Action
    offset: int | None
    text: str


def repair_plan(report: PartitionReport, where: str | None = None) -> list[Step]:
    """A step for each copy, the trusted one first."""
    first = report.trusted
    if not first.copy.is_assigned:
        return [_stray(report, each) for each in report.copies]
    text = f"trust it: {_why(report)}{_how_to_lead(report, where)}"
    trusted = Step(first.copy, Action.KEEP, None, text)
    if first.damage is not None:
        cut = f"{_while_stopped(where)}cut it off at offset {first.damage.offset}, before the damage"
        if where is not None and first.damage.position is not None:
            cut += f" (truncate -s {first.damage.position} {quote(first.damage.path)}, and rm the segments behind it)"
        trusted = Step(first.copy, Action.TRUNCATE, first.damage.offset, f"{text}; save a copy of it, then {cut}")
    others = (_with_commands(_step(report, other, where), where) for other in report.copies[1:])
    return [trusted._replace(text=trusted.text + _torn(first.copy, where) + _gone(report, where)), *others]


def missing_step(
    where: str | None, partition: TopicPartition, missing: MissingCopy, report: PartitionReport | None = None
) -> str:
    """What to do about a copy that is not there; ``report`` has those that are, if any is."""
    stray = None if report is None else _only_stray(report)
    path = missing.aside if stray is None else stray.copy.replica.path
    if path is not None:
        stopped = " while its broker is stopped" if where is None else ""
        return f"put back the copy that has its records{stopped}: mv {quote(path)} {quote(missing.path)}"
    if missing.once_to and (report is None or not any(each.good_to for each in _replicas(report))):
        backup = f"no copy has its records: put one back from a backup as {missing.path}"
        if where is None:
            return f"{backup} before its broker starts, which makes it anew, empty"
        return f"{backup}, or accept the loss: {accepting(partition)} {where}"
    if where is None:
        return "its broker makes it anew when it starts; if it leads, let another of the ISR lead before"
    return f"it leaves the ISR, where it is in it, and fetches all anew: {_catch_up(where)}"


def stray_step(report: PartitionReport, stray: CopyReport) -> str:
    """What to do with a stray copy: it is no rubbish where it has what no replica has."""
    path = stray.copy.replica.path
    if stray is not _only_stray(report):
        is_unknown = report.topic_id is None and stray.copy.reader.log_end_offset
        return (f"{KEEP_UNKNOWN}; else " if is_unknown else "") + stray_removal(path)
    home = next(iter(report.missing_brokers.values()), None)
    if home is not None:
        is_in_use = any(holder_of(os.path.dirname(each)) is not None for each in (path, home.path))
        stopped = " once both brokers are stopped" if is_in_use else ""
        return f"it has what no replica has, put it back{stopped}: mv {quote(path)} {quote(home.path)}"
    return f"keep it, it may have what no replica has: kafkapy dump-log --files {quote(path)}"


def stray_removal(path: str) -> str:
    """What to do with a stray directory: nothing that a broker at work would notice."""
    is_in_use = holder_of(os.path.dirname(path)) is not None
    look = f"see what is in it with kafkapy dump-log --files {quote(path)}, then: "
    return look + ("remove it once the broker is stopped" if is_in_use else f"rm -r {quote(path)}")


def _replicas(report: PartitionReport) -> list[CopyReport]:
    """The copies that the metadata knows, of the topic that it knows."""
    return [each for each in report.copies if each.copy.is_assigned and _is_own(report, each)]


def _is_own(report: PartitionReport, copy: CopyReport) -> bool:
    return report.topic_id is None or copy.copy.topic_id in (None, report.topic_id)


def _only_stray(report: PartitionReport) -> CopyReport | None:
    """The stray copy of a topic that goes farthest, where all replicas should be here and none goes as far."""
    if report.topic_id is None or report.brokers_not_given:
        return None
    end = max((each.good_to for each in _replicas(report)), default=0)
    strays = [each for each in report.copies if not each.copy.is_assigned and _is_own(report, each)]
    return max((each for each in strays if each.good_to > end), key=lambda each: each.good_to, default=None)


def _while_stopped(where: str | None) -> str:
    """What stands before a change to files that a broker may have open; of a cluster directory none does."""
    return "with its broker stopped, " if where is None else ""


def _catch_up(where: str) -> str:
    return f"kafkapy cluster replicate {where} --until-caught-up"


def _with_commands(step: Step, where: str | None) -> Step:
    copy = step.copy
    if where is None or not copy.is_assigned or copy.replica.is_future:
        return step
    start = f"kafkapy cluster start-broker {copy.broker_id} {where}"
    if step.action is Action.DELETE:
        stop = f"kafkapy cluster stop-broker {copy.broker_id} {where}; "
        stop = "" if copy.not_fetching is not None else stop
        return step._replace(text=f"{step.text}: {stop}rm -r {quote(copy.replica.path)}; {start}; {_catch_up(where)}")
    if step.action in (Action.FETCH, Action.TRUNCATE):
        first = f"{start}; " if copy.not_fetching is not None else ""
        text = step.text.removeprefix("nothing to do: ")  # here nobody fetches by himself
        return step._replace(text=f"{text}: {first}{_catch_up(where)}")
    return step


def _torn(copy: Copy, where: str | None) -> str:
    """What becomes of the end of a write that was never whole."""
    who = "its broker cuts off, when it starts," if where is None else "the next write cuts off"
    return f"; {who} the {copy.torn_bytes} bytes of the torn write" if copy.torn_bytes else ""


def _gone(report: PartitionReport, where: str | None) -> str:
    """What even the trusted copy has lost."""
    end, once_to = report.trusted.good_to, report.trusted.copy.once_to
    if end >= once_to:
        return ""
    backup = "no copy has them, put one back from a backup before the next write"
    is_everywhere = where is not None and all(each.good_to <= end for each in report.copies)
    return f"; lost: {_offsets(end, once_to)}{f': {backup}' if is_everywhere else ''}"


def _offsets(start: int, end: int) -> str:
    return f"offset {start}" if end == start + 1 else f"offsets {start}-{end - 1}"


def _why(report: PartitionReport) -> str:
    first, others = report.copies[0], [each.copy for each in report.copies[1:]]
    copy = first.copy
    if not others:
        return "it is the only copy here"
    if first.damage is not None:
        all_damaged = all(each.damage is not None for each in report.copies)
        return f"{'every copy is damaged, and' if all_damaged else 'though damaged,'} this one is good for longest"
    if copy.is_leader:
        return "it is the leader's"
    rivals = [each.copy for each in report.copies[1:] if not each.damage and each.verdict is not Verdict.OTHER_TOPIC]
    return _no_leader(report) + _best(copy, rivals)


def _no_leader(report: PartitionReport) -> str:
    for each in report.copies[1:]:
        if each.copy.is_leader:
            return f"that of the leader, {each.copy.name}, {_what_is_wrong(each)}; "
    if report.leader is not None:
        return f"that of the leader, broker {report.leader}, is not here; "
    return "no leader is known; "


def _what_is_wrong(report: CopyReport) -> str:
    if report.damage is not None:
        return "is damaged"
    if report.copy.torn_bytes:
        return "is torn"
    return "has lost records" if report.copy.has_lost else "is of another topic"


def _best(copy: Copy, rivals: list[Copy]) -> str:
    if not rivals:
        return "it is the only one left"
    if copy.last_epoch > max(each.last_epoch for each in rivals):
        return f"it has the highest last leader epoch, {copy.last_epoch}"
    level = [each for each in rivals if each.last_epoch == copy.last_epoch]
    if copy.reader.log_end_offset > max(each.reader.log_end_offset for each in level):
        return f"of those with the last leader epoch {copy.last_epoch} it is the longest"
    where = "ISR" if copy.in_isr else "ELR" if copy.in_elr else None
    return "it is as long as any" if where is None else f"it is as long as any, and in the {where}"


def _how_to_lead(report: PartitionReport, where: str | None) -> str:
    copy = report.trusted.copy
    if where is not None and copy.in_isr:
        return ""
    others = report.copies[1:]
    leads_well = all(each.verdict is Verdict.ALIKE for each in others if each.copy.is_leader)
    if copy.is_leader or copy.broker_id is None or not others or (leads_well and not report.differs):
        return ""
    standing = "it is not in the ISR, so by an unclean election"
    if copy.in_isr:
        standing = "it is in the ISR"
    elif copy.in_elr:
        standing = "it is in the ELR, so by a clean election"
    return f"; let broker {copy.broker_id} lead before the others follow: {standing}"


def _stray(report: PartitionReport, stray: CopyReport) -> Step:
    """A broker sets such a directory aside when it starts; nothing looks at it any more."""
    copy = stray.copy
    text = f"it is stray, the metadata has no replica of it on {copy.name}: {stray_step(report, stray)}"
    return Step(copy, Action.KEEP if stray is _only_stray(report) else Action.DELETE, None, text)


def _step(whole: PartitionReport, report: CopyReport, where: str | None) -> Step:
    first = whole.trusted
    if not report.copy.is_assigned:
        return _stray(whole, report)
    trusted, copy, end = first.copy, report.copy, report.copy.reader.log_end_offset
    if report.verdict is Verdict.ALIKE:
        return Step(copy, Action.KEEP, None, "nothing to do")
    cut = report.truncate_to
    if report.verdict is Verdict.AHEAD or (report.verdict is Verdict.LOST and end > first.good_to):
        offset = first.good_to if cut is None else cut
        return _truncated(copy, offset, f"{trusted.name} has no more")
    if report.verdict in (Verdict.BEHIND, Verdict.AT_RISK, Verdict.LOST):
        return _behind(trusted, copy)
    parting = _first_difference(report)
    if report.verdict is Verdict.DIFFERENT and cut is not None and cut <= parting and cut < end:
        return _truncated(copy, cut, "the leader epochs show the difference")
    delete = f"{_while_stopped(where)}delete the copy and let it be fetched anew"
    text = f"{_to_save(first, report)}{delete}: {_why_delete(report)}"
    return Step(copy, Action.DELETE, None, text)


def _to_save(first: CopyReport, report: CopyReport) -> str:
    """A warning of what only a copy has that is to be deleted."""
    start, end = max(first.good_to, report.copy.reader.log_start_offset), report.copy.reader.log_end_offset
    if report.verdict is Verdict.OTHER_TOPIC or start >= end:
        return ""
    good = f", good up to offset {report.good_to}" if start < report.good_to < end else ""
    return f"SAVE IT FIRST, the trusted copy lacks {_offsets(start, end)}{good}; then "


def _behind(trusted: Copy, copy: Copy) -> Step:
    end, start = copy.reader.log_end_offset, trusted.reader.log_start_offset
    if copy.has_lost and trusted.reader.log_end_offset <= end:
        text = f"it has lost {_offsets(end, copy.once_to)}, and {trusted.name} does not have them either"
        return Step(copy, Action.KEEP, None, text)
    text = f"it has lost {_offsets(end, copy.once_to)} and " if copy.has_lost else "nothing to do: it "
    if copy.not_fetching is not None:
        lost = f"it has lost {_offsets(end, copy.once_to)}; " if copy.has_lost else ""
        text = f"{lost}start its broker, which is {copy.not_fetching}: it "
    if end < start:
        return Step(copy, Action.FETCH, start, f"{text}begins anew at offset {start}, where {trusted.name} does")
    again = "fetches them again" if copy.has_lost else "fetches"
    return Step(copy, Action.FETCH, end, f"{text}{again} from offset {end} on")


def _first_difference(report: CopyReport) -> int:
    found = report.comparison
    if found is None:
        return 0
    return found.end if found.difference is None else found.difference.offset


def _truncated(copy: Copy, offset: int, why: str) -> Step:
    lost = copy.reader.log_end_offset - offset
    text = (
        f"truncate to offset {offset}, then refetch: {why}, so the broker does it by itself when it follows; "
        f"{lost} offset(s) of this copy go"
    )
    return Step(copy, Action.TRUNCATE, offset, text)


def _why_delete(report: CopyReport) -> str:
    if report.verdict is Verdict.DAMAGED and report.damage is not None:
        return f"it is damaged from offset {report.damage.offset} on"
    if report.verdict is Verdict.OTHER_TOPIC:
        return "it is of another topic of the same name"
    if report.verdict is Verdict.EPOCHS_DIFFER:
        return "its leader epochs are wrong, and it would truncate by them"
    return "its leader epochs do not show the difference, so the broker would not truncate it"
