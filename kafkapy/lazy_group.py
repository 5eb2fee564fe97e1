"""The ``kafkapy`` command itself: a group whose subcommands are imported only when one is chosen.

Names and one-line helps stand in COMMANDS, so ``kafkapy --help`` imports no command at all, and a command pays
for its own imports only.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module

import typer.main
from typer._click import Command, Context, HelpFormatter
from typer.core import TyperGroup

from kafkapy.subcommand import COMMON_OPTIONS, OwnHelp, examples, write_examples

COMMANDS = {
    "acls": "List, add and remove ACLs: who may do what with topics, groups and the cluster itself.",
    "assign": "Show how an assignor divides partitions, and what moves when the group changes.",
    "broker-api-versions": "Show which versions of each request the brokers take, and which one a client would use.",
    "cluster": "Stop, kill, start and slow down the brokers of a cluster directory, and see where replicas stand.",
    "cluster-id": "Show the id of a cluster.",
    "config": "Give clusters names, and choose the one that commands mean.",
    "configs": "Show and change configs of topics, brokers, users, clients, groups and client metrics.",
    "console-consumer": "Print the records of topics, or run a command for each, as members of a group.",
    "console-producer": "Send each line of the standard input to a topic as a record.",
    "consumer-groups": "List, describe and delete consumer groups, and reset their offsets.",
    "consumer-offsets": "Show committed offsets, groups and transactions as they lie in the internal topics' logs.",
    "delete-records": "Delete the records of partitions up to an offset.",
    "doctor": "Check the surroundings and a cluster, and say what to do about what is wrong.",
    "dump-log": "Show what is inside log segments, indexes and producer snapshots.",
    "export": "Export topics to Parquet, JSON, CSV, ORC, Avro or text; a second run adds only what is new.",
    "features": "Show the features of a cluster, and change their levels.",
    "get-offsets": "Show offsets of partitions: the latest, the earliest, or by time.",
    "groups": "List groups of all types.",
    "help": "Show the manual page of a command, or list the pages.",
    "install-shims": "Write scripts with the names of Kafka's own, which run kafkapy in their place.",
    "lab": "Play what happens to replicas when brokers fail, step by step, and see every offset.",
    "lag": "Show how far groups are behind: records, time, rates, when they will have caught up, and what happened.",
    "leader-election": "Elect leaders of partitions: the preferred ones, or any where there is none.",
    "log-dirs": "Show the log dirs of brokers: which replicas they hold, and how large these are.",
    "lookup": "Show how Kafka finds a record: segment, index entries, batches, and how little of the log is read.",
    "maintenance": "Run once what brokers do in the background: retention, compaction, snapshots, expiry.",
    "metadata-quorum": "Describe the metadata quorum, and add and remove its controllers.",
    "metadata-shell": "Look at the metadata of a cluster as if it were files in directories.",
    "reassign-partitions": "Plan moves of replicas between brokers, with what they cost, and carry them out.",
    "replica-diff": "Compare the copies of partitions batch by batch: where they part, and which one to trust.",
    "share-groups": "List, describe and delete share groups, and reset where they are.",
    "sql": "Ask questions in SQL about records, batches, commits, transactions and metadata, on Spark.",
    "storage": "Make cluster directories, and see what log dirs are made of.",
    "streams-groups": "List, describe and delete streams groups, and reset their offsets.",
    "throughput": "Show what comes in, by topic, partition or producer and over time, and when retention will take it.",
    "topics": "Create, list, describe, alter and delete topics.",
    "tour": "Show what kafkapy does, step by step, on a cluster that it makes for that.",
    "transactions": "List and describe transactions, find those that hang, and abort them.",
}
"""Each subcommand with its one-line help; ``dump-log`` lives in commands/dump_log.py."""

DESCRIPTION = """Apache Kafka's admin scripts as one program.

A subcommand is named after Kafka's script (kafka-dump-log.sh is kafkapy dump-log), takes the same flags and prints
the same lines. Run 'kafkapy COMMAND --help' for what one can do, 'kafkapy help COMMAND' for its page of the manual.
"""


class LazyGroup(OwnHelp, TyperGroup):
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
            ctx.fail(f"no such command: {args[0]}{did_you_mean(get_close_matches(args[0], COMMANDS))}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Write the examples."""
        write_examples(self, formatter)


def did_you_mean(candidates: Iterable[str]) -> str:
    """A suggestion to append to an error, or nothing."""
    names = " or ".join(candidates)
    return f" (did you mean {names}?)" if names else ""


def root_command() -> LazyGroup:
    """The ``kafkapy`` command."""
    return LazyGroup(
        name="kafkapy",
        help=DESCRIPTION,
        params=list(COMMON_OPTIONS),
        no_args_is_help=True,
        rich_markup_mode=None,
        epilog=examples(
            (
                "Show the records of every segment in a partition directory:",
                "kafkapy dump-log --files docs/samples/orders-0 --print-data-log",
            ),
            ("Learn what a subcommand can do:", "kafkapy dump-log --help"),
        ),
    )
