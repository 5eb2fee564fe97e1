"""What every kafkapy command shares: its common flags, its plain help, and Kafka's spellings of options.

Help stays plain text, since rich would double the time that ``--help`` takes. Options are grouped under their
``rich_help_panel`` and the epilog is printed as written: it holds worked examples (see :func:`examples`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, ClassVar

import typer
from typer._click import Command, Context, HelpFormatter, Parameter
from typer._click.exceptions import MissingParameter, UsageError
from typer._click.formatting import wrap_text
from typer.core import TyperCommand, TyperGroup, TyperOption

from kafkapy import __version__, errors, java_args, verbose
from kafkapy.contexts.context_option import add_options, cluster_meant, context_options, warn_unread, with_source
from kafkapy.folded_line import folded
from kafkapy.help_formatter import OwnFormatter
from kafkapy.row_options import row_view, with_row_options

KAFKA_VERSION = "4.3.1"
INDENT = "  "
MUCH_ALIKE = 0.8
"""How like a command a word is that was meant for it: 'use' is not like 'unset'."""
EXTRA_ARGUMENTS = "Got unexpected extra argument(s) ("
"""How Typer begins what it says of arguments that a command does not take."""
COMMAND_LINE = "    "
"""What a command line among the examples begins with."""
ARGUMENTS = "Arguments"
OPTIONS = "Options"
OTHER_OPTIONS = "Other options"
"""What has no group of its own: what stands without the name of an option, a command's own options, and those that all
commands have."""


def new_app() -> typer.Typer:
    """An empty Typer app with nothing that imports rich."""
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, add_completion=False)


def new_group(help_text: str, epilog: str) -> typer.Typer:
    """An app for a command that has commands of its own, such as ``kafkapy storage``."""
    return typer.Typer(
        cls=Subgroup,
        help=help_text,
        epilog=epilog,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
    )


def examples(*pairs: tuple[str, str]) -> str:
    """An epilog of worked examples, each a sentence and the command line that does it."""
    return "Examples:\n" + "\n".join(f"  {sentence}\n{COMMAND_LINE}{line}\n" for sentence, line in pairs).rstrip("\n")


def _show_version(ctx: Context, _: Parameter, given: bool) -> None:
    if given and not ctx.resilient_parsing:
        _print(f"kafkapy {__version__} (Kafka {KAFKA_VERSION})")
        ctx.exit()


def _show_help(ctx: Context, _: Parameter, given: bool) -> None:
    if given and not ctx.resilient_parsing:
        _print(ctx.get_help())
        ctx.exit()


def _print(text: str) -> None:
    """Write as all output is written, so that a full disk is told in the same words."""
    from kafkapy.output.sink import Sink

    Sink().write(f"{text}\n".encode("utf-8", "surrogateescape"))


def _switch_debug_on(_: Context, __: Parameter, given: bool) -> None:
    if given:
        os.environ["KAFKAPY_DEBUG"] = "1"


def _switch_verbose_on(_: Context, __: Parameter, given: bool) -> None:
    if given:
        os.environ[verbose.VARIABLE] = "1"
    if os.environ.get(verbose.VARIABLE, "0") not in ("", "0"):
        verbose.switch_on()


def _common_flag(name: str, help_text: str, callback: Any) -> TyperOption:
    return TyperOption(
        param_decls=[name], is_flag=True, expose_value=False, is_eager=True, help=help_text, callback=callback
    )


COMMON_OPTIONS: tuple[Parameter, ...] = (
    _common_flag(
        "--verbose",
        "Report on stderr what is read, written and sent. Same as KAFKAPY_VERBOSE=1.",
        _switch_verbose_on,
    ),
    _common_flag(
        "--debug", "On an error, show where in the program it arose. Same as KAFKAPY_DEBUG=1.", _switch_debug_on
    ),
    _common_flag("--version", "Show kafkapy's version and the version of Kafka it mirrors, then exit.", _show_version),
)


class OwnHelp(Command):
    """A command whose ``--help`` is written as all output is."""

    def get_help(self, ctx: Context) -> str:
        """The text of the help."""
        formatter = OwnFormatter(width=ctx.terminal_width, max_width=ctx.max_content_width)
        self.format_help(ctx, formatter)
        return formatter.getvalue().rstrip("\n")

    def get_help_option(self, ctx: Context) -> TyperOption | None:
        """``--help``."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


class Subcommand(OwnHelp, TyperCommand):
    """One command, spelled as Kafka's tool of the same name is."""

    optional_arguments: ClassVar[Mapping[str, str]] = {}
    """Long options that may leave their argument out, and the value that then stands for it."""

    takes_defaults: ClassVar[bool] = True
    """Whether its --output, --engine and --master are what the user's config.yaml has defaults for."""

    tells_of_config: ClassVar[bool] = False
    """Whether it says itself what is wrong with a config.yaml that cannot be read."""

    def __init__(self, name: str | None, *, params: list[Parameter] | None = None, **settings: Any) -> None:
        super().__init__(name, params=with_row_options(params or []), **settings)

    def get_params(self, ctx: Context) -> list[Parameter]:
        """The command's own options, then the common ones, then ``--help``. Where Kafka's tool has an option of the
        same name, as ``--verbose``, that one it is."""
        own = super().get_params(ctx)
        taken = {name for param in self.params for name in param.opts}
        common = [option for option in COMMON_OPTIONS if taken.isdisjoint(option.opts)]
        return [*own[: len(self.params)], *context_options(self.params), *common, *own[len(self.params) :]]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse, after bringing Kafka's spellings into Typer's."""
        params = (*self.params, *context_options(self.params))
        valued = {name for param in params if not getattr(param, "is_flag", False) for name in param.opts}
        try:
            spelled = java_args.normalise(args, valued, self.optional_arguments)
            values, extra, order = self.make_parser(ctx).parse_args(list(spelled))
            self._refuse_repeats(ctx, order)
            if self.takes_defaults:
                spelled = [*self._added(ctx, values, order), *spelled]
            return self._parsed(ctx, spelled, extra)
        except UsageError as error:
            # The parser leaves the context out of some errors; without it, the hint could not name the command.
            error.ctx = error.ctx or ctx
            raise
        except errors.UsageError as error:
            error.command_path = ctx.command_path
            raise

    def _parsed(self, ctx: Context, args: list[str], extra: Sequence[str]) -> list[str]:
        """Parse. Where an option is missing and there are ``extra`` arguments, these are what is told: one of them may
        be meant for it."""
        try:
            return super().parse_args(ctx, args)
        except MissingParameter:
            if extra:
                ctx.fail(f"{EXTRA_ARGUMENTS}{' '.join(extra)})")
            raise

    def _added(self, ctx: Context, values: Mapping[str, Any], order: Sequence[Parameter]) -> Sequence[str]:
        """What the user's file adds; nothing where only the program itself is asked about."""
        if ctx.resilient_parsing or values.get("help") or values.get("version"):
            return ()
        try:
            added = add_options(ctx, self.params, self.optional_arguments, values, order)
        except (errors.FormatError, OSError):
            if not self.tells_of_config:
                raise
            return ()
        if added.unread and not self.tells_of_config:
            warn_unread(added)
        return added.words

    @staticmethod
    def _refuse_repeats(ctx: Context, order: Sequence[Parameter]) -> None:
        """Refuse an option that takes one value and is given two, as jopt-simple does; Typer would take the last one,
        and a ``--delete --topic a --topic b`` would seem to have done all that it was asked."""
        given: set[str | None] = set()
        for param in order:
            takes_one = isinstance(param, TyperOption) and not param.is_flag and not param.multiple
            if takes_one and param.name in given:
                name = param.opts[-1].lstrip("-")
                raise UsageError(f"Found multiple arguments for option {name}, but you asked for only one", ctx)
            given.add(param.name)

    def invoke(self, ctx: Context) -> Any:
        """Run the command; an error in how it was called is to name the help that tells of its options, and one about
        what a context said is to name the context. What Kafka says stays as it is."""
        meant = cluster_meant(ctx, self.params)
        if meant is not None:
            verbose.tell(f"the cluster is {meant}")
        try:
            with row_view(ctx):
                return super().invoke(ctx)
        except errors.KafkaError:
            raise
        except errors.KafkapyError as error:
            error.args = (with_source(ctx, str(error)),)
            if isinstance(error, errors.UsageError):
                error.command_path = ctx.command_path
            raise
        except OSError as error:
            if isinstance(error.filename, str):
                error.filename = with_source(ctx, error.filename)
            raise

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """What can be given. What must be stands as it is: braces would be taken for alternatives."""
        return [piece.removeprefix("{").removesuffix("}") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the options, a section for each group."""
        for title, params in option_groups(self, ctx).items():
            with formatter.section(wrapped(title, formatter.width)):
                formatter.write_dl([record for param in params if (record := param.get_help_record(ctx))])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self, formatter)


class OwnGroup(OwnHelp, TyperGroup):
    """A command that has commands, behind flags of its own that are spelled as those of Kafka's tools are."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse, after bringing Kafka's spellings into Typer's."""
        flags = list(takewhile(lambda word: word.startswith("-"), args))
        return super().parse_args(ctx, [*java_args.normalise(flags, (), {}), *args[len(flags) :]])


class Subgroup(OwnGroup):
    """A group beneath the program itself."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Choose the command, or say which one was probably meant, or which there are."""
        from difflib import get_close_matches

        names = self.list_commands(ctx)
        if args[0] not in names:
            longer = [name for name in names if name.startswith(f"{args[0]}-")]
            meant = did_you_mean(longer or get_close_matches(args[0], names, cutoff=MUCH_ALIKE))
            there_are = f" (there are {', '.join(names)})"
            ctx.fail(f"no such command: {args[0]}{meant or there_are}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the commands, with the whole first sentence of what each does."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl([(name, first_sentence(command)) for name, command in commands if command is not None])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self, formatter)


def did_you_mean(candidates: Iterable[str]) -> str:
    """A suggestion to append to an error, or nothing."""
    names = " or ".join(candidates)
    return f" (did you mean {names}?)" if names else ""


def first_sentence(command: Command) -> str:
    """The first sentence of a command's help, which stands on its first line."""
    line = (command.help or "").strip().partition("\n")[0]
    return line.partition(". ")[0].rstrip(".") + "."


def write_examples(command: Command, formatter: HelpFormatter) -> None:
    """Write a command's epilog. A long command line is folded as a shell takes it, so that it can be copied."""
    if command.epilog:
        formatter.write_paragraph()
        for line in command.epilog.splitlines():
            text = line.removeprefix(COMMAND_LINE)
            indent = line.removesuffix(text)
            parts = folded(text, formatter.width - len(indent)) if indent else [wrapped(line, formatter.width)]
            for part in parts:
                formatter.write(f"{indent}{part}\n")


def wrapped(line: str, width: int) -> str:
    """A line over several where it is too long, those after the first indented."""
    return wrap_text(line.lstrip(), width, INDENT * line.startswith(INDENT), INDENT)


def option_groups(command: Command, ctx: Context) -> dict[str, list[Parameter]]:
    """A command's visible options under the titles of their groups, in the order of declaration; those that all
    commands have come last."""
    groups: dict[str, list[Parameter]] = {}
    for param in command.get_params(ctx):
        if not getattr(param, "hidden", False):
            groups.setdefault(_title(param, command), []).append(param)
    common = groups.pop(OTHER_OPTIONS, [])
    return groups | ({OTHER_OPTIONS: common} if common else {})


def _title(param: Parameter, command: Command) -> str:
    panel: str | None = getattr(param, "rich_help_panel", None)
    if panel is not None:
        return panel
    if param.param_type_name == "argument":
        return ARGUMENTS
    return OPTIONS if param in command.params else OTHER_OPTIONS
