"""``kafkapy reassign-partitions``: kafka-reassign-partitions.sh, and plans that it does not make."""

from contextlib import closing
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from kafkapy.errors import KafkaError, UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app

from .cluster_options import (
    BootstrapControllerOption,
    BootstrapOption,
    ClusterOption,
    CommandConfigOption,
    LogDirsOption,
    OutputOption,
    selection,
)
from .reassign_options import (
    JOB_OPTIONS,
    AdditionalOption,
    AddOption,
    BatchBytesOption,
    BatchSizeOption,
    BrokerListOption,
    CancelOption,
    DemoteOption,
    DisableRackAwareOption,
    DisallowFactorOption,
    DrainOption,
    ExecuteOption,
    FixRacksOption,
    GenerateOption,
    ListOption,
    LogDirsThrottleOption,
    NoElectOption,
    PreserveThrottlesOption,
    ReassignmentFileOption,
    RebalanceOption,
    ReplicationFactorOption,
    RollbackOption,
    SaveOption,
    SeedOption,
    SimulateOption,
    StrategyOption,
    ThrottleOption,
    TimeoutOption,
    ToleranceOption,
    TopicsToMoveOption,
    VerifyOption,
    WaitOption,
    chosen_action,
)
from .tool_errors import fail_on_stdout

if TYPE_CHECKING:
    from kafkapy.backends.selection import Selection

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        (
            "Propose a new placement for some topics, as Kafka does:",
            "kafkapy reassign-partitions --generate --topics-to-move-json-file topics.json --broker-list 1,2,3",
        ),
        (
            "Plan to empty broker 2 with the fewest bytes, and save the plan:",
            "kafkapy reassign-partitions --generate --drain-broker 2 --save plan.json",
        ),
        (
            "Show what a rebalance of real brokers would cost at 50 MB/s, as JSON:",
            "kafkapy reassign-partitions --log-dirs /kafka/1,/kafka/2 --generate --rebalance --throttle 50000000 "
            "--output json",
        ),
        (
            "Play a plan in batches of ten partitions, without changing anything:",
            "kafkapy reassign-partitions --simulate --reassignment-json-file plan.json --batch-size 10",
        ),
        (
            "Carry out a plan, ten partitions at a time, and save the way back in plan.rollback.json:",
            "kafkapy reassign-partitions --execute --reassignment-json-file plan.json --batch-size 10",
        ),
        (
            "Start the moves on a running cluster, with at most 50 MB/s for each broker:",
            "kafkapy reassign-partitions --bootstrap-server broker1:9092 --execute --reassignment-json-file plan.json "
            "--throttle 50000000",
        ),
        ("List the moves under way:", "kafkapy reassign-partitions --list"),
    ),
)
def reassign_partitions(
    ctx: typer.Context,
    generate: GenerateOption = False,
    execute: ExecuteOption = False,
    verify: VerifyOption = False,
    cancel: CancelOption = False,
    list_: ListOption = False,
    topics_to_move_json_file: TopicsToMoveOption = None,
    broker_list: BrokerListOption = None,
    reassignment_json_file: ReassignmentFileOption = None,
    disable_rack_aware: DisableRackAwareOption = False,
    drain_broker: DrainOption = None,
    add_broker: AddOption = None,
    set_replication_factor: ReplicationFactorOption = None,
    rebalance: RebalanceOption = False,
    demote_broker: DemoteOption = None,
    fix_racks: FixRacksOption = False,
    strategy: StrategyOption = None,
    tolerance: ToleranceOption = None,
    seed: SeedOption = None,
    save: SaveOption = None,
    simulate: SimulateOption = False,
    batch_size: BatchSizeOption = None,
    batch_bytes: BatchBytesOption = None,
    throttle: ThrottleOption = None,
    additional: AdditionalOption = False,
    replica_alter_log_dirs_throttle: LogDirsThrottleOption = None,
    disallow_replication_factor_change: DisallowFactorOption = False,
    timeout: TimeoutOption = 10_000,
    preserve_throttles: PreserveThrottlesOption = False,
    wait: WaitOption = None,
    no_elect: NoElectOption = False,
    rollback_file: RollbackOption = None,
    cluster: ClusterOption = None,
    log_dirs: LogDirsOption = None,
    bootstrap_server: BootstrapOption = None,
    bootstrap_controller: BootstrapControllerOption = None,
    command_config: CommandConfigOption = None,
    output: OutputOption = Output.KAFKA,
) -> None:
    """Plan moves of replicas between brokers, show what they cost, and carry them out.

    A plan goes to standard output as Kafka prints it, its cost to standard error; with another --output both are rows.

    On a running cluster --execute starts the moves, and the brokers continue on their own; with --wait or batches it
    waits for them. A cluster directory has no broker processes, so --execute plays the moves until all are complete. If
    it waits, it also elects the preferred leaders of the plan's partitions at the end. After an interruption, the same
    --execute continues where it stopped. The way back is saved to a file before anything is changed. Throttles stay set
    until --verify finds nothing under way any more.
    """
    actions = {"generate": generate, "execute": execute, "verify": verify, "cancel": cancel, "list": list_}
    action = _action(actions, _given(ctx))
    chosen = selection(cluster, log_dirs, bootstrap_server, command_config, bootstrap_controller)
    try:
        if action == "generate":
            from .reassign_generate import Generation, run_generate

            asked = Generation(
                topics_to_move_json_file, broker_list, disable_rack_aware, drain_broker, add_broker,
                set_replication_factor, rebalance, demote_broker, fix_racks, strategy, tolerance, seed,
            )  # fmt: skip
            run_generate(chosen, asked, save, _playing(simulate, batch_size, batch_bytes, throttle), output)
        elif action == "simulate":
            from .reassign_simulate import run_simulate

            run_simulate(
                chosen, reassignment_json_file or "", _playing(True, batch_size, batch_bytes, throttle), output
            )
        elif action == "list":
            _list(chosen, output)
        elif action == "execute":
            from .reassign_execute import Execution, run_execute

            execution = Execution(
                reassignment_json_file or "", additional, throttle, replica_alter_log_dirs_throttle,
                disallow_replication_factor_change, rollback_file, batch_size, batch_bytes, wait, no_elect, timeout,
                _where(chosen),
            )  # fmt: skip
            run_execute(chosen, execution, output)
        elif action == "verify":
            from .reassign_verify import run_verify

            run_verify(chosen, reassignment_json_file or "", preserve_throttles, output)
        else:
            from .reassign_cancel import Cancellation, run_cancel

            cancellation = Cancellation(reassignment_json_file or "", preserve_throttles, timeout, _where(chosen))
            run_cancel(chosen, cancellation, output)
    except KafkaError as error:
        _fail(error, output)


def _action(actions: dict[str, bool], given: list[str]) -> str:
    """The action; who asks for a plan and for no job is told of the jobs that Kafka's tool does not know."""
    try:
        return chosen_action(actions, given)
    except UsageError as error:
        if actions["generate"] and str(error).startswith("Missing"):
            jobs = ", ".join(f"--{name.replace('_', '-')}" for name in JOB_OPTIONS)
            raise UsageError(f"{error}, or one of {jobs}") from None
        raise


CLUSTER_OPTIONS = ("cluster", "log_dirs", "bootstrap_server", "command_config", "output")


def _given(ctx: typer.Context) -> list[str]:
    """The options that stand on the command line, but for actions and those that every action takes."""
    actions = ("generate", "execute", "verify", "cancel", "list_")
    return [
        name
        for name in ctx.params
        if name not in actions
        and name not in CLUSTER_OPTIONS
        and (source := ctx.get_parameter_source(name)) is not None
        and source.name != "DEFAULT"
    ]


def _playing(simulate: bool, batch_size: int | None, batch_bytes: int | None, throttle: int | None) -> Any:
    from .reassign_simulate import Playing

    if not simulate and (batch_size is not None or batch_bytes is not None):
        raise UsageError("--batch-size and --batch-bytes go with --simulate")
    return Playing(simulate, batch_size, batch_bytes, throttle)


def _where(chosen: "Selection") -> str:
    """The options that name the cluster, for a command line that is proposed."""
    return f" {chosen.options}" if chosen.is_named else ""


def _list(chosen: "Selection", output: Output) -> None:
    from kafkapy.backends.selection import open_cluster
    from kafkapy.output.printing import print_rows
    from kafkapy.output.reassignment_lines import under_way_rows

    with closing(open_cluster(chosen)) as opened:
        print_rows(output, under_way_rows(opened.replica_control().under_way()))


def _fail(error: KafkaError, output: Output) -> NoReturn:
    """ReassignPartitionsCommand tells its failures on stdout."""
    fail_on_stdout(str(error) if error.name == "TerseException" else f"Error: {error}", output, error)
