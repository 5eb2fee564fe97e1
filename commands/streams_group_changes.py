"""What ``kafkapy streams-groups`` changes: resets and deletions, also of the topics of a group's own."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.output.output_format import Output

from .tool_errors import finish, warn
from .typed_groups import fail, group_ids, print_error

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.groups import OffsetDeletions
    from kafkapy.backends.offset_targets import Reset

    Plans = dict[str, list[Reset]]

NO_TOPIC = "UnknownTopicOrPartitionException"
UNKNOWN = "Group '{}' does not exist or is not a streams group."


def reset_offsets(opened: "Cluster", params: Mapping[str, Any], output: Output) -> None:
    """Plan the resets of all groups, make them with ``--execute``, and show them."""
    from kafkapy.backends.offset_reset import Scope
    from kafkapy.backends.streams_reset import StreamsReset
    from kafkapy.coordinator.group import GroupType

    from .consumer_group_reset_target import reset_target
    from .typed_group_usage import STREAMS_SCENARIOS

    if params["export"] and output is not Output.KAFKA:
        raise UsageError("--export and --output both choose how to print: give only one of them")
    scenarios = {name: params[name.replace("-", "_")] for name in STREAMS_SCENARIOS}
    target = reset_target(output, scenarios, params["group"] or (), "streams")
    reset = StreamsReset(opened, Scope(params["input_topic"] or (), params["all_input_topics"]), target)
    try:
        plans = reset.plans(group_ids(opened.groups(), GroupType.STREAMS, params["group"]))
        if params["execute"]:
            for group_id, resets in plans.items():
                if resets:
                    opened.groups().alter_offsets(group_id, {each.partition: each.new for each in resets})
    except UsageError:
        raise
    except KafkaError as error:
        fail(GroupType.STREAMS, error, output, reset.notes)
    for error_text in reset.errors:
        print_error(error_text, output)
    failed = bool(reset.errors)
    if params["execute"]:
        failed |= _delete_after_reset(opened, plans, params, output)
    _tell(reset.warnings, reset.notes, output)
    _print_plans(plans, params, output)
    finish(opened.groups().problems)
    if failed:
        raise typer.Exit(1)


def _tell(warnings: Iterable[str], notes: Iterable[str], output: Output) -> None:
    from .share_group_changes import print_warning

    for warning in warnings:
        print_warning(warning, output)
    for note in notes:
        warn(f"kafkapy: {note}")


def _print_plans(plans: "Plans", params: Mapping[str, Any], output: Output) -> None:
    from kafkapy.backends.reset_file import reset_file_lines
    from kafkapy.output.group_change_lines import streams_reset_lines
    from kafkapy.output.group_rows import reset_rows
    from kafkapy.output.printing import print_rows

    exported = ((group_id, each.partition, each.new.offset) for group_id, resets in plans.items() for each in resets)
    is_single = len(params["group"] or ()) == 1
    lines = [*reset_file_lines(exported, not is_single), ""] if params["export"] else streams_reset_lines(plans)
    rows = [row for group_id, resets in plans.items() for row in reset_rows(group_id, resets, params["execute"])]
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])


def _delete_after_reset(opened: "Cluster", plans: "Plans", params: Mapping[str, Any], output: Output) -> bool:
    """Delete the topics of the groups' own that are to be deleted; whether something went wrong."""
    failed = False
    for group_id in plans if params["delete_all_internal_topics"] or params["delete_internal_topic"] else ():
        if params["delete_all_internal_topics"]:
            topics = _own_topics(opened, [group_id], output).get(group_id, [])
        else:
            topics = params["delete_internal_topic"]
        error = next(filter(None, _delete_topics(opened, topics).values()), None)
        if error is not None:
            failed = True
            print_error(f"Deleting internal topics for group '{group_id}' failed {_why(error)}", output)
    return failed


def _why(error: KafkapyError) -> str:
    from kafkapy.formats.java_exceptions import exception_text

    if isinstance(error, KafkaError) and error.name == NO_TOPIC:
        return "because the topics do not exist."
    return f"due to {exception_text(error) if isinstance(error, KafkaError) else error}"


def _own_topics(opened: "Cluster", ids: Sequence[str], output: Output) -> dict[str, list[str]]:
    """The topics of groups' own, by group, where there are some."""
    from kafkapy.backends.streams_reset import is_own_topic

    found: dict[str, list[str]] = {}
    for group_id, described in opened.groups().describe_streams_groups(ids).items():
        if isinstance(described, KafkaError):
            print_error(f"Retrieving internal topics failed {_why(described)}", output)
            continue
        for topic in described.internal_topics:
            if is_own_topic(topic, group_id):
                found.setdefault(group_id, []).append(topic)
            else:
                text = "is not inferred as internal and thus will not be deleted with the group"
                print_error(f"The internal topic '{topic}' {text} '{group_id}'.", output)
    return found


def _delete_topics(opened: "Cluster", topics: Iterable[str]) -> dict[str, KafkaError | None]:
    """Delete topics, each by itself; why not, for each that stays."""
    from kafkapy.metadata.changes import DeleteTopic

    done: dict[str, KafkaError | None] = {}
    for topic in topics:
        done[topic] = None
        try:
            opened.apply(DeleteTopic(topic))
        except KafkaError as error:
            done[topic] = error
    return done


def delete_groups(opened: "Cluster", named: Sequence[str] | None, own_topics: bool, output: Output) -> None:
    """Delete groups, each by itself, and the topics of their own where that is asked for."""
    from kafkapy.coordinator.group import GroupType
    from kafkapy.output.group_change_lines import deletion_lines
    from kafkapy.output.group_rows import deleted_group_row
    from kafkapy.output.printing import print_rows

    from .typed_group_deletion import refusals

    groups = opened.groups()
    listings = groups.list(types=[GroupType.STREAMS])
    ids = sorted(set(named)) if named else [listing.group_id for listing in listings]
    refused = refusals(listings, ids, "Streams", UNKNOWN)
    wanted = [group_id for group_id in ids if group_id not in refused]
    topics = _own_topics(opened, wanted, output) if own_topics and wanted else {}
    done = {**refused, **(groups.delete_groups(wanted) if wanted else {})}
    deleted = [group_id for group_id in wanted if done[group_id] is None]
    stayed = _delete_own(opened, deleted, topics)
    failed = {group_id: next(iter(errors.values())) for group_id, errors in stayed.items()}
    lines = [f"Failed to delete internal topic: {topic}" for errors in stayed.values() for topic in errors]
    lines += [*deletion_lines({each: done[each] for each in ids}, "streams"), *_own_lines(deleted, topics, failed)]
    rows = [deleted_group_row(group_id, done[group_id]) for group_id in ids]
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    # a topic that is not there need not be deleted
    if any(done.values()) or any(error.name != NO_TOPIC for error in failed.values()):
        raise typer.Exit(1)


def _delete_own(
    opened: "Cluster", deleted: Iterable[str], topics: Mapping[str, list[str]]
) -> dict[str, dict[str, KafkaError]]:
    """Delete the topics of deleted groups; which stayed, and why, by group."""
    stayed: dict[str, dict[str, KafkaError]] = {}
    for group_id in deleted:
        for topic, error in _delete_topics(opened, topics.get(group_id, ())).items():
            if error is not None:
                stayed.setdefault(group_id, {})[topic] = error
    return stayed


def _own_lines(
    deleted: Sequence[str], topics: Mapping[str, list[str]], failed: Mapping[str, KafkaError]
) -> Iterable[str]:
    from kafkapy.formats.java_exceptions import exception_text

    if not topics or not deleted:
        return
    if failed:
        yield "Deletion of some associated internal topics failed:"
        for group_id, error in failed.items():
            cause = exception_text(error)
            yield f"* Internal topics of the streams group '{group_id}' could not be deleted due to: {cause}"
        return
    names = "', '".join(group_id for group_id in deleted if group_id in topics)
    yield f"Deletion of associated internal topics of the streams groups ('{names}') was successful."


def delete_offsets(opened: "Cluster", group_id: str, topics: Sequence[str] | None, output: Output) -> None:
    """Delete what a group has committed for topics or partitions; None means for all that it reads from outside."""
    from kafkapy.coordinator.group import GroupType
    from kafkapy.output.group_change_lines import offset_deletion_lines
    from kafkapy.output.group_rows import deleted_offset_row
    from kafkapy.output.printing import print_rows

    from .consumer_group_changes import delete_partition_offsets, delete_topic_offsets

    done: OffsetDeletions
    try:
        if topics is None:
            done, error = delete_partition_offsets(opened, group_id, _input_partitions(opened, group_id))
        else:
            done, error = delete_topic_offsets(opened, group_id, topics)
    except UsageError:
        raise
    except KafkaError as failure:
        fail(GroupType.STREAMS, failure, output)
    rows = [deleted_offset_row(group_id, *each) for each in sorted(done.items())]
    lines = offset_deletion_lines(group_id, done, error)
    print_rows(output, [*((line, None) for line in lines), *((None, row) for row in rows)])
    if error or any(done.values()):
        raise typer.Exit(1)


def _input_partitions(opened: "Cluster", group_id: str) -> Iterable[Any]:
    from kafkapy.backends.offset_reset import checked
    from kafkapy.backends.streams_reset import input_partitions

    described = opened.groups().describe_streams_groups([group_id])[group_id]
    return input_partitions(described, checked(opened.groups().committed_offsets([group_id])[group_id]))
