"""The options of ``kafkapy reassign-partitions``, and which go with which action."""

from typing import Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.metadata.reassignment.strategy import Strategy

from .option_kinds import flag, value

ACTIONS = "What to do (exactly one)"
KAFKAS = "Which moves"
JOBS = "Plans for common jobs (with --generate, instead of topics and brokers)"
PLAN = "How to plan (with --generate)"
SIMULATION = "Try it first"
EXECUTION = "How to execute"

GenerateOption = Annotated[
    bool,
    flag("--generate", "Propose a plan and show its cost; nothing moves.", ACTIONS),
]
ExecuteOption = Annotated[bool, flag("--execute", "Carry out the moves of --reassignment-json-file.", ACTIONS)]
VerifyOption = Annotated[
    bool,
    flag(
        "--verify",
        "Show how far the moves of a file are; when none is under way any more, remove the throttles.",
        ACTIONS,
    ),
]
CancelOption = Annotated[
    bool,
    flag("--cancel", "Take back moves that are under way; completed ones stay, and are reported.", ACTIONS),
]
ListOption = Annotated[bool, flag("--list", "List the moves under way.", ACTIONS)]

TopicsToMoveOption = Annotated[
    str | None,
    value(
        "--topics-to-move-json-file",
        "FILE.json",
        'The topics to plan for: {"topics": [{"topic": "t"}], "version": 1}',
        KAFKAS,
    ),
]
BrokerListOption = Annotated[
    str | None,
    value("--broker-list", "BROKER[,BROKER...]", "The brokers that may be given replicas.", KAFKAS),
]
ReassignmentFileOption = Annotated[
    str | None,
    value("--reassignment-json-file", "FILE.json", "A plan, as --generate prints it.", KAFKAS),
]
DisableRackAwareOption = Annotated[bool, flag("--disable-rack-aware", "Plan as if there were no racks.", KAFKAS)]

DrainOption = Annotated[
    list[int] | None,
    typer.Option(
        "--drain-broker",
        metavar="BROKER",
        help="Empty a broker. Repeatable.",
        rich_help_panel=JOBS,
        show_default=False,
    ),
]
AddOption = Annotated[
    list[int] | None,
    typer.Option(
        "--add-broker",
        metavar="BROKER",
        help="Give a new broker its share. Repeatable.",
        rich_help_panel=JOBS,
        show_default=False,
    ),
]
ReplicationFactorOption = Annotated[
    int | None,
    value(
        "--set-replication-factor",
        "N",
        "Give every partition this many replicas, or only those of --topics-to-move-json-file.",
        JOBS,
    ),
]
RebalanceOption = Annotated[
    bool,
    flag("--rebalance", "Bring all brokers to their shares.", JOBS),
]
DemoteOption = Annotated[
    list[int] | None,
    typer.Option(
        "--demote-broker",
        metavar="BROKER",
        help="Make a broker lead nothing; no data moves. Repeatable.",
        rich_help_panel=JOBS,
        show_default=False,
    ),
]
FixRacksOption = Annotated[
    bool,
    flag("--fix-racks", "Spread replicas that share a rack and need not.", JOBS),
]

StrategyOption = Annotated[
    Strategy | None,
    typer.Option(
        "--strategy",
        help="Place everything anew as Kafka does, move the fewest bytes, or reach the best balance. The default is "
        "kafka for Kafka's own options, minimal for the common jobs.",
        rich_help_panel=PLAN,
    ),
]
ToleranceOption = Annotated[
    float | None,
    value(
        "--tolerance",
        "PART",
        "How far from its share of replicas, leaders and bytes a broker may stay, from 0 to 1. The default is 0.1 "
        "(10%), and more if Kafka's own draw would move fewer bytes.",
        PLAN,
    ),
]
SeedOption = Annotated[
    int | None,
    value("--seed", "N", "Make Kafka's random placement repeatable; minimal compares itself with it.", PLAN),
]
SaveOption = Annotated[
    str | None,
    value("--save", "FILE.json", "Also write the plan to a new file, if there is anything to do.", PLAN),
]
SimulateOption = Annotated[
    bool,
    flag(
        "--simulate",
        "Play the plan of --generate or --reassignment-json-file step by step on a copy of the metadata.",
        SIMULATION,
    ),
]
BatchSizeOption = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        metavar="N",
        help="Move at most this many partitions at a time.",
        rich_help_panel=EXECUTION,
        min=1,
    ),
]
BatchBytesOption = Annotated[
    int | None,
    typer.Option(
        "--batch-bytes", metavar="N", help="Move at most this many bytes at a time.", rich_help_panel=EXECUTION, min=1
    ),
]
ThrottleOption = Annotated[
    int | None,
    typer.Option(
        "--throttle",
        metavar="BYTES",
        help="The most bytes per second that a broker sends or receives. With --generate and --simulate, the plan "
        "then shows how long it takes; with --execute, it is set for the brokers and stays set until --verify "
        "or --cancel.",
        rich_help_panel=EXECUTION,
        min=1,
    ),
]
AdditionalOption = Annotated[
    bool,
    flag(
        "--additional", "Execute in addition to other moves under way, or change their target or throttle.", EXECUTION
    ),
]
LogDirsThrottleOption = Annotated[
    int | None,
    typer.Option(
        "--replica-alter-log-dirs-throttle",
        metavar="BYTES",
        help="The most bytes per second that a broker moves between its log dirs; set until --verify or --cancel.",
        rich_help_panel=EXECUTION,
        min=1,
    ),
]
DisallowFactorOption = Annotated[
    bool,
    flag(
        "--disallow-replication-factor-change",
        "Refuse a plan that gives a partition more or fewer replicas.",
        EXECUTION,
    ),
]
TimeoutOption = Annotated[
    int,
    value(
        "--timeout",
        "MS",
        "How long to wait for a replica to exist before its move to another log dir begins.",
        EXECUTION,
    ),
]
PreserveThrottlesOption = Annotated[
    bool,
    flag("--preserve-throttles", "Leave the throttles as they are.", EXECUTION),
]
WaitOption = Annotated[
    bool | None,
    typer.Option(
        "--wait/--no-wait",
        help="Wait until all moves are complete, or only start them, as Kafka's tool does. Running brokers continue "
        "on their own, so by default only batches are waited for. In a cluster directory the moves are played; "
        "after --no-wait, 'kafkapy cluster replicate --until-caught-up' or the same --execute continues them.",
        rich_help_panel=EXECUTION,
        show_default=False,
    ),
]
NoElectOption = Annotated[
    bool,
    flag(
        "--no-elect",
        "Leave the leaders as they are when all is complete, as Kafka's tool does, instead of electing the "
        "preferred ones of the plan's partitions.",
        EXECUTION,
    ),
]
RollbackOption = Annotated[
    str | None,
    value(
        "--rollback-file",
        "FILE.json",
        "Where to save the plan that leads back; by default beside the plan, as NAME.rollback.json. No file is "
        "overwritten.",
        EXECUTION,
    ),
]

REQUIRED = {
    "generate": ("topics_to_move_json_file", "broker_list"),
    "execute": ("reassignment_json_file",),
    "verify": ("reassignment_json_file",),
    "cancel": ("reassignment_json_file",),
    "list": (),
}
JOB_OPTIONS = (*("drain_broker", "add_broker", "set_replication_factor", "rebalance", "demote_broker", "fix_racks"),)
PERMITTED = {
    "generate": (
        *("disable_rack_aware", "strategy", "tolerance", "seed", "save", "throttle", *JOB_OPTIONS),
        *("simulate", "batch_size", "batch_bytes"),
    ),
    "simulate": ("reassignment_json_file", "throttle", "batch_size", "batch_bytes"),
    "execute": (
        *("additional", "throttle", "replica_alter_log_dirs_throttle", "timeout", "disallow_replication_factor_change"),
        *("batch_size", "batch_bytes", "wait", "no_elect", "rollback_file"),
    ),
    "verify": ("preserve_throttles",),
    "cancel": ("preserve_throttles", "timeout", "bootstrap_controller"),
    "list": ("bootstrap_controller",),
}
"""What may go with an action, beside what must. Kafka has neither --throttle with --generate nor the plans' options."""


def chosen_action(actions: dict[str, bool], given: list[str]) -> str:
    """The one action that is asked for; a UsageError in Kafka's words where it and the options do not go together."""
    named = [name for name, is_asked in actions.items() if is_asked]
    if not named and "simulate" in given:
        named = ["simulate"]
        given = [name for name in given if name != "simulate"]
    if len(named) != 1:
        listed = ", ".join(f"--{name}" for name in actions)
        raise UsageError(f"Command must include exactly one action: {listed}")
    action = named[0]
    jobs = [name for name in given if name in JOB_OPTIONS]
    if len(jobs) > 1:
        raise UsageError(f"Options {_flags(jobs)} are different jobs: give one of them")
    required = REQUIRED.get(action, ("reassignment_json_file",))
    for name in () if jobs and action == "generate" else required:
        if name not in given:
            raise UsageError(f'Missing required argument "[{_flag(name)}]"')
    for name in given:
        if name not in required and name not in PERMITTED[action]:
            raise UsageError(f'Option "[{_flag(name)}]" can\'t be used with action "[{action}]"')
    return action


def _flags(names: list[str]) -> str:
    return " and ".join(f"--{_flag(name)}" for name in names)


def _flag(name: str) -> str:
    return name.replace("_", "-")
