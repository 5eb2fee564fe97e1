"""``kafkapy topics``: kafka-topics.sh."""

from typing import NoReturn

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import BootstrapOption, ClusterOption, CommandConfigOption, LogDirsOption, OutputOption, selection
from .tool_errors import fail_on_stdout, warn
from .topic_changes import Writing, run_alter, run_create, run_delete, run_from_file
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
from .topic_reading import PARTITION_FILTERS, Wanted, run_describe, run_list

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
        run_from_file(chosen, from_file, apply, not no_fsync, output)
        return
    action = check_options(given)
    if delete_config is not None:
        warn(
            "delete-config option is no longer supported and deprecated since version 4.0. "
            "The config will be fully removed in future releases."
        )
    writing = Writing(chosen, not no_fsync, placement is Placement.LEGACY)
    asked = [name for option, name in PARTITION_FILTERS.items() if option in given]
    try:
        if action == "create":
            change = partitions, replication_factor, replica_assignment, config or []
            run_create(writing, topic or "", *change, if_not_exists, output)
        elif action == "alter":
            run_alter(writing, topic or "", partitions or 0, replica_assignment, if_exists)
        elif action == "delete":
            run_delete(writing, topic or "", if_exists)
        elif action == "list":
            run_list(chosen, topic, exclude_internal, output)
        else:
            wanted = Wanted(topic, topic_id, exclude_internal, if_exists)
            run_describe(chosen, wanted, asked, topics_with_overrides, output)
    except KafkaError as error:
        _fail(error, output)


def _fail(error: KafkaError, output: Output) -> NoReturn:
    """TopicCommand tells its failures on stdout."""
    fail_on_stdout(f"Error while executing topic command : {error}", output, error)
