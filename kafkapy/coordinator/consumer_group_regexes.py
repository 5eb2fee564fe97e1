"""Subscriptions by regular expression: what an expression matched is the group's state, not the member's.

A member that comes with an expression new to the group gets no topics by it in that heartbeat. The expressions of the
group are then resolved together, against the names of all topics, and what they matched is written (16); where that
changed what the group reads, its epoch rises (3), and the next heartbeat divides the partitions. The last member to
give an expression up takes what it matched with it.

They are resolved again when topics were made since, and every ten minutes, but never within ten seconds, so that many
members with new expressions make one rebalance. Topics that are gone are not a reason: they leave the metadata hash.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from kafkapy.coordinator import consumer_group_records as records
from kafkapy.coordinator.consumer_group import ConsumerGroup, ResolvedRegularExpression
from kafkapy.coordinator.consumer_group_member import ConsumerGroupMember
from kafkapy.coordinator.re2_pattern import compile_re2
from kafkapy.coordinator.topic_hash import TopicHashes
from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.coordinator_record import CoordinatorRecord
from kafkapy.metadata.image import MetadataImage

MIN_REFRESH_INTERVAL_MS = 10_000
MAX_REFRESH_INTERVAL_MS = 10 * 60 * 1000


class RegexChange(NamedTuple):
    """How a heartbeat changes the expressions of a group: whether the member has another one, whether it is known what
    that matches, those that nobody subscribes to any more, and those that are to be resolved now."""

    is_changed: bool
    is_resolved: bool
    deleted: tuple[str, ...]
    to_resolve: frozenset[str]


def regex_change(
    group: ConsumerGroup, old: ConsumerGroupMember, new: ConsumerGroupMember, now: int, new_topics_at: int
) -> RegexChange:
    """``new_topics_at`` is the offset of the newest metadata in which there were new topics."""
    before, after = old.subscribed_topic_regex or "", new.subscribed_topic_regex or ""
    subscribers = group.regex_subscribers()
    is_changed = old.subscribed_topic_regex != new.subscribed_topic_regex
    is_new = is_changed and after != "" and not subscribers[after]
    if is_new:
        check_regex(after)
    is_resolved = is_changed and (after in group.regexes and bool(subscribers[after]) if after else bool(before))
    deleted = (before,) if is_changed and before and subscribers[before] == 1 else ()
    remaining = {regex for regex in subscribers if regex not in deleted} | ({after} if after else set())
    if not (is_new or subscribers) or not _is_due(group, is_new, remaining, now, new_topics_at):
        remaining = set()
    return RegexChange(is_changed, is_resolved, deleted, frozenset(remaining))


def check_regex(regex: str) -> None:
    """Refuse an expression that RE2 does not understand."""
    try:
        compile_re2(regex)
    except FormatError as error:
        raise KafkaError(
            "InvalidRegularExpression", f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}."
        ) from None


def resolve(image: MetadataImage, regexes: Collection[str], now: int) -> dict[str, ResolvedRegularExpression]:
    """What each of the expressions matches, whole names only."""
    found = {}
    for regex in sorted(regexes):
        pattern = compile_re2(regex)
        topics = frozenset(name for name in image.topics if pattern.fullmatch(name))
        found[regex] = ResolvedRegularExpression(topics, image.provenance.offset, now)
    return found


def resolution_records(
    group: ConsumerGroup, resolved: Mapping[str, ResolvedRegularExpression], image: MetadataImage, hashes: TopicHashes
) -> list[CoordinatorRecord]:
    """The records that tell a group what its expressions matched."""
    subscribers = group.regex_subscribers()
    kept = {regex: found for regex, found in resolved.items() if subscribers[regex]}
    made = [records.regular_expression(group.group_id, regex, *found) for regex, found in kept.items()]
    nothing: frozenset[str] = frozenset()
    is_changed = any(
        found.topics != (group.regexes[regex].topics if regex in group.regexes else nothing)
        for regex, found in kept.items()
    )
    after = group._replace(regexes={**group.regexes, **kept})
    metadata_hash = hashes.group_hash(image, after.topic_names())
    if is_changed or metadata_hash != group.metadata_hash:
        made.append(records.group_epoch(group.group_id, group.epoch + 1, metadata_hash))
    return made


def _is_due(group: ConsumerGroup, is_new: bool, regexes: Collection[str], now: int, new_topics_at: int) -> bool:
    # all are resolved together, so one tells of all
    last = next(iter(group.regexes.values()), None)
    if last is None:
        return True
    if now <= last.timestamp + MIN_REFRESH_INTERVAL_MS:
        return False
    is_old = now > last.timestamp + MAX_REFRESH_INTERVAL_MS
    return is_new or len(regexes) != len(group.regexes) or last.version < new_topics_at or is_old
