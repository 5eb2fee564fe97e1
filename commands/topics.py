"""``kafkapy topics``: kafka-topics.sh."""

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from kafkapy.errors import KafkaError, KafkapyError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail_on_stdout, say, warn
from .topic_options import (
    AlterOption,
    ApplyOption,
    AtMinIsrPartitionsOption,
    ConfigOption,
    CreateOption,
    DeleteConfigOption,
    DeleteOption,
    DescribeOption,
    ExcludeInternalOption,
    FromFileOption,
    IfExistsOption,
    IfNotExistsOption,
    ListOption,
    NoFsyncOption,
    PartitionSizeLimitOption,
    PartitionsOption,
    Placement,
    PlacementOption,
    PlanOption,
    ReplicaAssignmentOption,
    ReplicationFactorOption,
    TopicIdOption,
    TopicOption,
    TopicsWithOverridesOption,
    UnavailablePartitionsOption,
    UnderMinIsrPartitionsOption,
    UnderReplicatedPartitionsOption,
    check_options,
)

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Create a topic with three partitions of two copies each:",
            "kafkapy topics --create --topic orders --partitions 3 --replication-factor 2",
        ),
        ("List the topics of a running cluster:", "kafkapy topics --bootstrap-server localhost:9092 --list"),
        ("List the topics that brokers' data directories hold:", "kafkapy topics --log-dirs /kafka/1,/kafka/2 --list"),
        ("Describe one topic:", "kafkapy topics --log-dirs /kafka/1,/kafka/2 --describe --topic orders"),
        (
            "Describe what is under-replicated, as a table:",
            "kafkapy topics --log-dirs /kafka/1,/kafka/2 --describe --under-replicated-partitions --output table",
        ),
        ("Show what a file of topics would change:", "kafkapy topics --from-file topics.yaml --plan"),
    ),
)
def topics(
    create: CreateOption = False,
    list_: ListOption = False,
    describe: DescribeOption = False,
    alter: AlterOption = False,
    delete: DeleteOption = False,
    topic: TopicOption = None,
    topic_id: TopicIdOption = None,
    exclude_internal: ExcludeInternalOption = False,
    if_exists: IfExistsOption = False,
    if_not_exists: IfNotExistsOption = False,
    partition_size_limit_per_response: PartitionSizeLimitOption = None,
    partitions: PartitionsOption = None,
    replication_factor: ReplicationFactorOption = None,
    replica_assignment: ReplicaAssignmentOption = None,
    config: ConfigOption = None,
    delete_config: DeleteConfigOption = None,
    placement: PlacementOption = Placement.STRIPED,
    no_fsync: NoFsyncOption = False,
    from_file: FromFileOption = None,
    plan: PlanOption = False,
    apply: ApplyOption = False,
    topics_with_overrides: TopicsWithOverridesOption = False,
    under_replicated_partitions: UnderReplicatedPartitionsOption = False,
    unavailable_partitions: UnavailablePartitionsOption = False,
    under_min_isr_partitions: UnderMinIsrPartitionsOption = False,
    at_min_isr_partitions: AtMinIsrPartitionsOption = False,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Create, list, describe, alter and delete topics."""
    values = {name.rstrip("_").replace("_", "-"): value for name, value in locals().items()}
    given = {name for name, value in values.items() if value not in (None, []) and value is not False}
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config)
    if from_file is not None or plan or apply:
        if from_file is None or plan + apply != 1 or create + list_ + describe + alter + delete:
            raise UsageError("--from-file goes with --plan or --apply, and with no other action")
        _from_file(chosen, from_file, apply, not no_fsync, output)
        return
    action = check_options(given)
    if delete_config is not None:
        warn(
            "delete-config option is no longer supported and deprecated since version 4.0. "
            "The config will be fully removed in future releases."
        )
    writing = _Writing(chosen, not no_fsync, placement is Placement.LEGACY)
    asked = [name for option, name in PARTITION_FILTERS.items() if option in given]
    try:
        if action == "create":
            change = partitions, replication_factor, replica_assignment, config or []
            _create(writing, topic or "", *change, if_not_exists=if_not_exists)
        elif action == "alter":
            _alter(writing, topic or "", partitions or 0, replica_assignment, if_exists)
        elif action == "delete":
            _delete(writing, topic or "", if_exists)
        elif action == "list":
            _list(chosen, topic, exclude_internal, output)
        else:
            wanted = _Wanted(topic, topic_id, exclude_internal, if_exists)
            _describe(chosen, wanted, asked, topics_with_overrides, output)
    except KafkaError as error:
        _fail(error, output)


PARTITION_FILTERS = {
    "under-replicated-partitions": "is_under_replicated",
    "unavailable-partitions": "is_unavailable",
    "under-min-isr-partitions": "is_under_min_isr",
    "at-min-isr-partitions": "is_at_min_isr",
}


class _Wanted(NamedTuple):
    """Which topics are to be described."""

    topic: str | None
    topic_id: str | None
    exclude_internal: bool
    if_exists: bool


def _list(chosen: "Selection", topic: str | None, exclude_internal: bool, output: Output) -> None:
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.topic_selection import select_topics
    from kafkapy.output.printing import print_rows

    with closing(open_cluster(chosen)) as opened:
        found = select_topics(opened.image(), topic, None, exclude_internal)
        print_rows(output, [(each.name, {"type": "topic", "topic": each.name}) for each in found] or [("", None)])


def _describe(chosen: "Selection", wanted: _Wanted, asked: list[str], only_overrides: bool, output: Output) -> None:
    from kafkapy.backends.selection import open_cluster
    from kafkapy.metadata.image import TOPIC
    from kafkapy.metadata.topic_description import describe_topics
    from kafkapy.metadata.topic_selection import select_topics
    from kafkapy.output.printing import print_rows

    topic, topic_id, exclude_internal, if_exists = wanted._replace(topic_id=_topic_id(wanted.topic_id))
    if topic is not None and topic_id is not None and if_exists:
        used = "Only topic id will be used when both --topic and --topic-id are specified"
        say(f"{used} and topicId is not Uuid.ZERO_UUID", output)
    with closing(open_cluster(chosen)) as opened:
        image = opened.image()
        found = select_topics(image, topic, topic_id, exclude_internal)
        if not found and (topic or topic_id) and not if_exists:
            raise (
                _missing("TopicId", topic_id, image.topics_by_id)
                if topic_id
                else _missing("Topic", topic or "", image.topics)
            )
        configs = opened.config_entries(TOPIC, [each.name for each in found])
        # Those whose configs are refused come last, so that the others are shown before the error.
        found.sort(key=lambda each: isinstance(configs[each.name], KafkapyError))
        described = describe_topics(opened.live_brokers, found, configs, opened.has_metadata)
        print_rows(output, _rows(described, asked, only_overrides, by_id=topic_id is not None))


def _topic_id(text: str | None) -> str | None:
    """An id, in Kafka's spelling; that of zeros stands for none."""
    from kafkapy.errors import SchemaError
    from kafkapy.formats.uuid import ZERO_UUID, uuid_bytes, uuid_text

    try:
        topic_id = None if text is None else uuid_text(uuid_bytes(text))
    except SchemaError as error:
        raise KafkaError("IllegalArgumentException", str(error)) from None
    return None if topic_id == ZERO_UUID else topic_id


def _from_file(chosen: "Selection", path: str, apply: bool, sync: bool, output: Output) -> None:
    from kafkapy.backends.selection import open_cluster
    from kafkapy.backends.topics_file import parse_topics, plan_topics
    from kafkapy.output.printing import print_rows

    with open(path, "rb") as file:
        wanted = parse_topics(file.read(), path)
    with _Writing(chosen, sync).open() if apply else closing(open_cluster(chosen)) as opened:
        plan = plan_topics(opened, wanted)
        if apply:
            opened.apply(*plan.changes)
    if not plan.steps:
        print_rows(output, [("Nothing to change: the topics are as the file says.", None)])
    else:
        print_rows(output, [(step.line, {"type": "topic_change", **step._asdict()}) for step in plan.steps])


class _Writing(NamedTuple):
    """How the cluster is opened to be changed."""

    chosen: "Selection"
    sync: bool
    legacy_placement: bool = False

    def open(self) -> "closing[Cluster]":
        from kafkapy.backends.selection import open_cluster_for_writing

        return closing(open_cluster_for_writing(*self))


def _create(
    writing: _Writing,
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    assignment: str | None,
    configs: list[str],
    if_not_exists: bool,
) -> None:
    from kafkapy.backends.topic_changes import check_counts, create_topic, warning
    from kafkapy.output.printing import print_lines

    change = create_topic(topic, partitions, replication_factor, assignment, configs)
    print_lines(warning(topic))
    check_counts(partitions, replication_factor)
    with writing.open() as opened:
        try:
            opened.apply(change)
        except KafkaError as error:
            if not (if_not_exists and error.name == "TopicExistsException"):
                raise
            return
        print_lines([f"Created topic {topic}."])


def _alter(writing: _Writing, topic: str, partitions: int, assignment: str | None, if_exists: bool) -> None:
    from kafkapy.backends.topic_changes import create_partitions

    with writing.open() as opened:
        image, names = opened.image(), _named(opened, topic, if_exists)
        opened.apply(*(create_partitions(image, name, partitions, assignment) for name in names))


def _delete(writing: _Writing, topic: str, if_exists: bool) -> None:
    from kafkapy.metadata.changes import DeleteTopic

    with writing.open() as opened:
        opened.apply(*(DeleteTopic(name) for name in _named(opened, topic, if_exists)))


def _named(opened: "Cluster", topic: str, if_exists: bool) -> list[str]:
    from kafkapy.metadata.topic_selection import select_topics

    image = opened.image()
    found = [each.name for each in select_topics(image, topic)]
    if not found and topic and not if_exists:
        raise _missing("Topic", topic, image.topics)
    return found


def _missing(what: str, name: str, known: Iterable[str] = ()) -> KafkaError:
    from kafkapy.near_misses import hinting

    error = KafkaError("IllegalArgumentException", f"{what} '{name}' does not exist as expected")
    return hinting(error, what.replace("Id", " id").lower(), name, known)


def _fail(error: KafkaError, output: Output) -> NoReturn:
    """TopicCommand tells its failures on stdout."""
    fail_on_stdout(f"Error while executing topic command : {error}", output, error)


def _partition_row(topic: Any, partition: Any) -> dict[str, Any]:
    """A partition, with what it shares with its topic; null is what only metadata could tell."""
    known = partition.known
    return {
        "type": "partition",
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partition": partition.partition,
        "leader": partition.leader,
        "replicas": list(partition.replicas) if known else None,
        "isr": list(partition.isr) if known else None,
        "elr": list(partition.elr) if known else None,
        "last_known_elr": list(partition.last_known_elr) if known else None,
        "adding_replicas": list(partition.adding_replicas),
        "removing_replicas": list(partition.removing_replicas),
        "configs": {config.name: config.value for config in topic.configs} if known else None,
    }


def _topic_row(topic: Any, replication_factor: int | None) -> dict[str, Any]:
    """A topic without its partitions."""
    return {
        "type": "topic",
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partitions": len(topic.partitions),
        "replication_factor": replication_factor,
        "configs": {config.name: config.value for config in topic.configs},
    }


def _rows(
    described: Any, asked: list[str], only_overrides: bool, by_id: bool
) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    """Lines and rows of topics and their partitions; a filter of partitions leaves the topics' own lines out, and a
    topic has a row of its own only where its partitions have none.

    Kafka does not ask for the ELRs of a topic that is named by its id.
    """
    from kafkapy.output.topic_lines import partition_line, topic_line, unknown_partition_line

    for topic in described:
        known = all(partition.known for partition in topic.partitions)
        if only_overrides and not topic.has_overrides:
            continue
        if not asked:
            factor, configs = (topic.replication_factor, topic.configs) if known else (None, None)
            line = topic_line(topic.name, topic.topic_id, len(topic.partitions), factor, configs)
            yield line, _topic_row(topic, factor) if only_overrides else None
        for partition in () if only_overrides else topic.partitions:
            if asked and not any(getattr(partition, name) for name in asked):
                continue
            row = _partition_row(topic, partition)
            if not partition.known:
                yield unknown_partition_line(topic.name, partition.partition), row
                continue
            moving = partition.adding_replicas or partition.removing_replicas
            line = partition_line(
                topic.name, partition.partition, partition.leader, partition.replicas, partition.isr,
                None if by_id else partition.elr, None if by_id else partition.last_known_elr,
                (partition.adding_replicas, partition.removing_replicas) if moving else None,
            )  # fmt: skip
            yield line, row
