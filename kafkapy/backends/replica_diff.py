"""All copies of a partition in a set of log dirs, each held against the one to trust.

Trusted is the copy of the leader that the metadata names, unless it is damaged, a torn write ends it or it has lost
records; without one, the copy with the highest last leader epoch, of these the longest, of these one in the ISR or ELR.
A copy that the metadata does not give to its broker is stray, and trusted only where there is no other.
A damaged copy counts as far as it is good: one without damage that is shorter than that is not trusted in its place.
Damage shows only when a copy is read, so the choice is made again when the trusted one turns out to have some.

A copy has lost records where its log ends before what its own checkpoints and leader epochs say that it once had.
One that is behind fetches the rest. Where its broker does not fetch, as brokers of a cluster directory that are down,
what is committed and not in it is on fewer disks than it should be, and stays so: data at risk.

Where the copies come from, files (file_replica_diff.py) or brokers (live/live_replica_diff.py), makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from kafkapy.backends.replicas import Replica
from kafkapy.formats.leader_epoch_checkpoint import EpochEntry, epoch_for_offset
from kafkapy.log.compared_log import ComparedLog
from kafkapy.log.epoch_comparison import EpochDifference, first_epoch_difference, truncation_offset
from kafkapy.log.replica_comparison import Comparison, Damage, compare, verify
from kafkapy.log.topic_partition import TopicPartition

Advance = Callable[[int], None]


class Verdict(StrEnum):
    """How a copy stands to the trusted one."""

    TRUSTED = "trusted"
    ALIKE = "alike"
    BEHIND = "behind"
    AHEAD = "ahead"
    EPOCHS_DIFFER = "epochs differ"
    DIFFERENT = "different"
    OTHER_TOPIC = "other topic"
    AT_RISK = "data at risk"
    LOST = "records lost"
    DAMAGED = "damaged"

    @property
    def is_difference(self) -> bool:
        return self not in (Verdict.TRUSTED, Verdict.ALIKE, Verdict.BEHIND, Verdict.AHEAD)


class Copy(NamedTuple):
    """A copy, what its files say, and what the metadata says of its broker; ``once_to`` is how far its log went,
    ``committed_to`` how far it knew it to be committed. ``not_fetching`` is why its broker does not fetch: what it is,
    None where it may. ``readable_to`` is how far a broker gives it out, ``told_epoch`` the last epoch where it tells no
    more of them."""

    replica: Replica
    broker_id: int | None
    reader: ComparedLog
    topic_id: str | None
    epochs: tuple[EpochEntry, ...] | None
    cleaned_to: int | None
    is_leader: bool
    in_isr: bool
    in_elr: bool
    is_assigned: bool
    torn_bytes: int
    once_to: int
    committed_to: int
    not_fetching: str | None = None
    readable_to: int | None = None
    told_epoch: int | None = None

    @property
    def name(self) -> str:
        """What to call it: by its broker, where that is known."""
        name = self.replica.path if self.broker_id is None else f"broker {self.broker_id}"
        return f"{name} (future)" if self.replica.is_future else name

    @property
    def has_lost(self) -> bool:
        """Whether its log ends before where it once did."""
        return self.once_to > self.reader.log_end_offset

    def begun_epochs(self, end: int) -> list[EpochEntry]:
        """Its epochs up to ``end`` with the one that was begun there; what lies beyond is stale."""
        return [entry for entry in self.epochs or () if entry.start_offset <= end]

    @property
    def last_epoch(self) -> int:
        """The epoch of its last record."""
        if self.told_epoch is not None:
            return self.told_epoch
        own = [entry.epoch for entry in self.epochs or () if entry.start_offset < self.reader.log_end_offset]
        return own[-1] if own else -1


class CopyReport(NamedTuple):
    """A copy held against the trusted one; ``truncate_to`` is where it would cut itself off by that one's epochs."""

    copy: Copy
    verdict: Verdict
    comparison: Comparison | None = None
    damage: Damage | None = None
    epoch_difference: EpochDifference | None = None
    truncate_to: int | None = None

    @property
    def good_to(self) -> int:
        """Where its log ends, or the damage begins."""
        return self.copy.reader.log_end_offset if self.damage is None else self.damage.offset


class MissingCopy(NamedTuple):
    """Where a copy should lie that is not there, and how far it went by the checkpoints of its log dir. ``aside`` is a
    stray directory that has its records, where no other copy is there."""

    path: str
    once_to: int
    aside: str | None = None


class PartitionReport(NamedTuple):
    """All copies of a partition, the trusted one first; ``missing_brokers`` should have one in their log dirs, of
    ``brokers_not_given`` there is no log dir, and those of ``not_read`` could not be read: why. ``topic_id`` is what
    the metadata says, None where it does not."""

    partition: TopicPartition
    copies: tuple[CopyReport, ...]
    leader: int | None
    missing_brokers: Mapping[int, MissingCopy] = {}
    brokers_not_given: tuple[int, ...] = ()
    not_read: Mapping[int, str] = {}
    topic_id: str | None = None

    @property
    def trusted(self) -> CopyReport:
        return self.copies[0]

    @property
    def differs(self) -> bool:
        return any(report.verdict.is_difference for report in self.copies)


class ReplicaDiff(Protocol):
    """Who has the copies of partitions."""

    @property
    def where(self) -> str:
        """What to call the place where they are looked for."""
        ...

    def partitions(self) -> list[TopicPartition]:
        """All partitions, sorted."""
        ...

    def prepare(self, partitions: Sequence[TopicPartition]) -> int:
        """Make ready for some partitions; how many bytes a comparison reads of the copies that are not trusted."""
        ...

    def diff(self, partition: TopicPartition, advance: Advance) -> PartitionReport:
        """Compare all copies of a partition that was made ready."""
        ...


def diff_copies(
    copies: Sequence[Copy], topic_id: str | None, compacted_to: int, advance: Advance
) -> tuple[CopyReport, ...]:
    """All copies, the trusted one first; below ``compacted_to`` compaction may have been at work."""
    damages: dict[str, Damage] = {}
    while True:
        trusted = max(copies, key=lambda copy: _trust(copy, damages, topic_id))
        before = damages.get(trusted.replica.path)
        others = [copy for copy in copies if copy is not trusted]
        reports = [_report(trusted, copy, compacted_to, damages, advance) for copy in others]
        own = _damage_of(trusted, reports, damages)
        if own == before:
            break
    intact = Verdict.LOST if trusted.has_lost else Verdict.TRUSTED
    return (CopyReport(trusted, Verdict.DAMAGED if own else intact, damage=own), *reports)


def _trust(copy: Copy, damages: Mapping[str, Damage], topic_id: str | None) -> tuple[object, ...]:
    """The larger, the more to be trusted."""
    intact = copy.replica.path not in damages
    good_to = _good_to(copy, damages)
    epoch = epoch_for_offset(copy.epochs or (), good_to - 1) if good_to > copy.reader.log_start_offset else None
    return (
        topic_id is None or copy.topic_id in (None, topic_id),
        copy.is_assigned,
        copy.is_leader and intact and not copy.torn_bytes and not copy.has_lost,
        not copy.replica.is_future,
        -1 if epoch is None else epoch,
        good_to,
        intact,
        copy.in_isr or copy.in_elr,
        -copy.reader.log_start_offset,
    )


def _good_to(copy: Copy, damages: Mapping[str, Damage]) -> int:
    damage = damages.get(copy.replica.path)
    return copy.reader.log_end_offset if damage is None else damage.offset


def _report(trusted: Copy, copy: Copy, compacted_to: int, damages: dict[str, Damage], advance: Advance) -> CopyReport:
    if None not in (trusted.topic_id, copy.topic_id) and trusted.topic_id != copy.topic_id:
        return CopyReport(copy, Verdict.OTHER_TOPIC)
    found = compare(trusted.reader, copy.reader, compacted_to, advance)
    for owner, damage in ((trusted, found.our_damage), (copy, found.their_damage)):
        if damage is not None:
            _note(damages, owner, damage)
    own, good_to = damages.get(copy.replica.path), _good_to(trusted, damages)
    parting = None
    if trusted.epochs is None or copy.epochs is None:
        truncate_to = None
    else:
        parting = first_epoch_difference(trusted.epochs, copy.epochs, max(found.start, compacted_to), found.end)
        truncate_to = _truncate_to(trusted, good_to, copy)
    report = CopyReport(copy, Verdict.ALIKE, found, own, parting, truncate_to)
    return report._replace(verdict=_verdict(trusted, good_to, report))


def _truncate_to(trusted: Copy, good_to: int, copy: Copy) -> int | None:
    end = copy.reader.log_end_offset
    own = [entry for entry in copy.epochs or () if entry.start_offset < end]
    return truncation_offset(trusted.begun_epochs(good_to), good_to, own, end)


def _verdict(trusted: Copy, good_to: int, report: CopyReport) -> Verdict:
    found, copy = report.comparison, report.copy
    assert found is not None
    if report.damage is not None:
        return Verdict.DAMAGED
    if found.difference is not None:
        return Verdict.DIFFERENT
    if report.epoch_difference is not None or copy.epochs is None:
        return Verdict.EPOCHS_DIFFER
    end = copy.reader.log_end_offset
    newest = max((entry.epoch for entry in trusted.begun_epochs(good_to)), default=-1)
    if end > good_to and newest > copy.last_epoch:
        return Verdict.DIFFERENT
    if copy.has_lost:
        return Verdict.LOST
    if end > good_to:
        return Verdict.AHEAD
    if end < min(trusted.committed_to, good_to) and copy.not_fetching is not None:
        return Verdict.AT_RISK
    return Verdict.ALIKE if end == good_to else Verdict.BEHIND


def _damage_of(trusted: Copy, reports: list[CopyReport], damages: dict[str, Damage]) -> Damage | None:
    """The first damage of the trusted copy; what no other copy was held against is read for it."""
    log = trusted.reader
    if trusted.replica.path not in damages:
        ranges = [report.comparison for report in reports if report.comparison is not None]
        first = min((found.start for found in ranges), default=log.log_end_offset)
        end = max((found.end for found in ranges), default=log.log_end_offset)
        damage = verify(log, log.log_start_offset, min(first, log.log_end_offset)) or verify(log, end)
        if damage is not None:
            _note(damages, trusted, damage)
    return damages.get(trusted.replica.path)


def _note(damages: dict[str, Damage], copy: Copy, damage: Damage) -> None:
    """Keep the first damage of a copy."""
    damages[copy.replica.path] = min(damage, damages.get(copy.replica.path, damage), key=lambda each: each.offset)
