"""The ``kafkapy`` command itself: a group whose subcommands are imported only when one is chosen.

Names and one-line helps stand in command_names.py, so ``kafkapy --help`` imports no command at all, and a command pays
for its own imports only.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import typer.main
from typer._click import Command, Context, HelpFormatter

from kafkapy.command_names import COMMANDS, JOBS
from kafkapy.subcommand import COMMON_OPTIONS, OwnGroup, did_you_mean, examples, write_examples

DESCRIPTION = """Apache Kafka's admin scripts as one program.

A subcommand is named after Kafka's script (kafka-dump-log.sh is kafkapy dump-log), takes the same flags
and prints the same lines. Run 'kafkapy COMMAND --help' for its options, 'kafkapy help COMMAND' for its
manual page.

It works on running clusters (--bootstrap-server), on the disks of brokers that are running, stopped or
crashed (--log-dirs, which are only read), and on cluster directories, which need no broker (--cluster).
'kafkapy tour' shows most of it.
"""


class LazyGroup(OwnGroup):
    """Loads ``kafkapy.commands.<name>`` when ``<name>`` is asked for."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Every subcommand's name, in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Import the module of a subcommand; None when there is no such subcommand."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module("kafkapy.commands." + cmd_name.replace("-", "_"))
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Choose the subcommand, or say which one was probably meant."""
        if args[0] not in COMMANDS:
            name = args[0].removeprefix("kafka-").removesuffix(".sh")
            options = [each for param in self.get_params(ctx) for each in param.opts if each == f"--{name}"]
            ctx.fail(f"no such command: {args[0]}{did_you_mean(options or get_close_matches(name, COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the subcommands by what they are for, without importing them; the texts of all begin in one column."""
        width = max(map(len, COMMANDS))
        for job, names in JOBS.items():
            with formatter.section(job):
                formatter.write_dl([(name.ljust(width), COMMANDS[name]) for name in names])

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self, formatter)


def root_command() -> LazyGroup:
    """The ``kafkapy`` command."""
    return LazyGroup(
        name="kafkapy",
        help=DESCRIPTION,
        params=list(COMMON_OPTIONS),
        no_args_is_help=True,
        rich_markup_mode=None,
        epilog=examples(
            ("List the steps of the tour, which 'kafkapy tour' plays:", "kafkapy tour --list"),
            (
                "Show the records of every segment in a partition directory:",
                "kafkapy dump-log --files docs/samples/orders-0 --print-data-log",
            ),
            ("Learn what a subcommand can do:", "kafkapy dump-log --help"),
        ),
    )
