"""The options of ``kafkapy console-consumer`` that are about groups and commands, and what they mean together."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from kafkapy.errors import UsageError

if TYPE_CHECKING:
    from kafkapy.backends.consuming import Limits
    from kafkapy.backends.group_run import GroupRun
    from kafkapy.backends.retry_topics import RetryTopics
    from kafkapy.backends.selection import Selection
    from kafkapy.backends.waiting import Meanwhile
    from kafkapy.output.record_formatter import RecordPrinter

GROUP = "As members of a group (what they have read is committed, and the next run continues from there)"
EXEC = "A command for each record, instead of printing it (with --group)"


def _text(metavar: str, help_text: str, panel: str, *names: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help_text, rich_help_panel=panel)


GroupOption = Annotated[
    str | None,
    _text("GROUP", "Consume as a member of this group, from its committed offsets on.", GROUP),
]
MembersOption = Annotated[
    int | None,
    _text(
        "N",
        "Run this many members in this process, each with its share of the partitions; every rebalance is reported.",
        GROUP,
    ),
]
ThenOption = Annotated[
    list[str] | None,
    _text(
        "EVENT@N",
        "After N records in total, let a member join or leave: join@100, leave:2@200. Can be given more than once.",
        GROUP,
    ),
]
ExecOption = Annotated[
    str | None,
    _text(
        "COMMAND",
        "Run through the shell, with the value as standard input and KAFKAPY_TOPIC, _PARTITION, _OFFSET, _TIMESTAMP, "
        "_KEY, _HEADERS (JSON) and _ATTEMPT set. A record whose command fails is moved on (see --retry-delays); "
        "its offset is committed only when it is done, or safe where it was moved to. A command that the shell cannot "
        "run (exit code 126 or 127) ends the run, and its record stays.",
        EXEC,
        "--exec",
    ),
]
ExecTimeoutOption = Annotated[
    str | None, _text("TIME", "A command that takes longer is killed and counts as failed: 500ms, 30s, 5m.", EXEC)
]
RetryDelaysOption = Annotated[
    str | None,
    _text(
        "TIME[,TIME...]",
        "A record that failed waits in the topic TOPIC.GROUP.retry.TIME and is tried again after that time: "
        "10s,1m,10m for three more tries. Without --follow, records that are not due yet are left to the next run.",
        EXEC,
    ),
]
DeadLetterOption = Annotated[
    str | None,
    _text("TOPIC", "Where a record goes after its last try; by default TOPIC.GROUP.dead-letter.", EXEC),
]


class GroupFlags(NamedTuple):
    """What was given of these options."""

    group: str | None
    members: int | None
    then: list[str] | None
    command: str | None
    exec_timeout: str | None
    retry_delays: str | None
    dead_letter_topic: str | None

    def group_id(self, configs: Mapping[str, str], partition: int | None) -> str | None:
        """The group that is meant; None for none, when nothing else of a group may be given."""
        ids = dict.fromkeys(each for each in (self.group, configs.get("group.id")) if each is not None)
        if len(ids) > 1:
            found = ", ".join(f"'{each}'" for each in ids)
            raise UsageError(
                "The group ids provided in different places (directly using '--group', via '--consumer-property', or "
                f"via '--consumer.config') do not match. Detected group ids: {found}"
            )
        if ids and partition is not None:
            raise UsageError("Options group and partition cannot be specified together")
        self._check(bool(ids))
        return next(iter(ids), None)

    def _check(self, has_group: bool) -> None:
        if not has_group:
            for name, value in (("--members", self.members), ("--then", self.then), ("--exec", self.command)):
                if value is not None and value != []:
                    raise UsageError(f"{name} needs --group")
        if self.command is not None and not self.command.strip():
            raise UsageError("--exec: the command is empty, so every record would be committed with nothing done")
        if self.command is None:
            for name in ("exec_timeout", "retry_delays", "dead_letter_topic"):
                if getattr(self, name) is not None:
                    raise UsageError(f"--{name.replace('_', '-')} needs --exec")
        if self.members is not None and self.members < 1:
            raise UsageError("--members: there must be at least one")


class GroupRequest(NamedTuple):
    """A group and what it consumes."""

    group_id: str
    configs: Mapping[str, str]
    topic: str | None
    include: str | None
    from_beginning: bool
    limits: "Limits"
    selection: "Selection"


def consume_as_group(
    request: GroupRequest,
    flags: GroupFlags,
    printer: "RecordPrinter",
    tell: Callable[[str], object],
    meanwhile: "Meanwhile",
) -> None:
    """Consume, and print each record or run the command for it; both call ``meanwhile`` where they take their time."""
    from kafkapy.backends.group_events import parse_events
    from kafkapy.backends.group_options import GroupOptions
    from kafkapy.backends.group_run import GroupRun, consume
    from kafkapy.backends.group_subscription import GroupSubscription
    from kafkapy.backends.record_handler import PrintingHandler
    from kafkapy.backends.retry_topics import RetryTopics, parse_delays
    from kafkapy.backends.shared_cluster import shared_cluster
    from kafkapy.backends.start_position import parse_reset
    from kafkapy.backends.waiting import Time

    options = GroupOptions.of(request.group_id, request.configs)
    members = flags.members or 1
    exclude_internal = request.configs.get("exclude.internal.topics", "true").strip().lower() == "true"
    retry = None
    if flags.command is not None:
        if not options.auto_commit:
            raise UsageError("--exec commits what is done: enable.auto.commit=false contradicts it")
        retry = RetryTopics(request.group_id, parse_delays(flags.retry_delays), flags.dead_letter_topic)
    run = GroupRun(
        shared=shared_cluster(request.selection, tell, Time()),
        options=options,
        subscription=GroupSubscription(request.topic, request.include, exclude_internal, retry),
        reset=parse_reset(request.from_beginning, request.configs.get("auto.offset.reset")),
        limits=request.limits,
        members=members,
        events=parse_events(flags.then or (), members),
        anchored=retry is not None,
        tells_rebalances=flags.members is not None or bool(flags.then),
        meanwhile=meanwhile,
    )
    if retry is None:
        handler = PrintingHandler(printer)
        is_whole = consume(run, handler, tell, lambda: f"Processed a total of {printer.count} messages")
    else:
        is_whole = _execute(run, flags, retry, tell)
    if not is_whole:
        raise typer.Exit(1)


def _execute(run: "GroupRun", flags: GroupFlags, retry: "RetryTopics", tell: Callable[[str], object]) -> bool:
    from kafkapy.backends.exec_handler import ExecHandler
    from kafkapy.backends.group_run import consume
    from kafkapy.backends.retry_topics import Delay
    from kafkapy.backends.retrying import RetryingHandler

    timeout = None if flags.exec_timeout is None else Delay.parse(flags.exec_timeout)
    command = ExecHandler(flags.command or "", timeout, run.meanwhile)
    handler = RetryingHandler(command, retry, run.shared.time.now_ms)

    def tell_on_a_line(line: str) -> None:
        command.end_line()
        tell(line)

    try:
        return consume(run, handler, tell_on_a_line, lambda: handler.summary)
    finally:
        command.close()
