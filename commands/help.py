"""``kafkapy help``: the manual."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.subcommand import Subcommand, examples, new_app

if TYPE_CHECKING:
    from typer._click import Context
    from typer.core import TyperGroup

    from kafkapy.command_node import Node
    from kafkapy.manual.page import Page

LAST_COLUMN = 100

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("List the pages:", "kafkapy help"),
        ("Show the page of a command:", "kafkapy help topics"),
        ("Show the page of a subcommand of a command:", "kafkapy help cluster status"),
        ("Save a page as text:", "kafkapy help consumer-groups > consumer-groups.txt"),
    ),
)
def help_(
    ctx: typer.Context,
    page: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PAGE...]", help="A command, also by the name of Kafka's script.", show_default=False),
    ] = None,
) -> None:
    """Show the manual page of a command, or list the pages.

    On a terminal, if man is installed, it shows the page; otherwise the page is printed as text.

    A page may be named like Kafka's script: 'kafkapy help kafka-topics.sh'.
    """
    from kafkapy.command_node import node_of
    from kafkapy.manual.page import page_of

    root_ctx = ctx.find_root()
    root: TyperGroup = root_ctx.command  # type: ignore[assignment]
    if not page:
        _print(_contents(root, root_ctx))
        return
    words = _words(page)
    names = root.list_commands(root_ctx)
    name = max((each for each in names if f"{words}-".startswith(f"{each}-")), key=len, default=None)
    if words == "":
        _show(page_of(node_of(("kafkapy",), root, None)))
        return
    command = None if name is None else root.get_command(root_ctx, name)
    if name is None or command is None:
        raise _missing(words, names)
    _show(page_of(_find(node_of(("kafkapy", name), command, root_ctx), words)))


def _words(page: list[str]) -> str:
    """A page's name without the program's: ``kafkapy-cluster-status``, ``cluster status``, ``kafka-cluster.sh``."""
    name = f"{'-'.join(page).removesuffix('.sh')}-"
    for program in ("kafkapy-", "kafka-"):
        name = name.removeprefix(program)
    return name.strip("-")


def _find(node: "Node", words: str) -> "Node":
    from kafkapy.command_node import walk

    pages = {"-".join(each.path[1:]): each for each in walk(node)}
    if words not in pages:
        raise _missing(words, pages)
    return pages[words]


def _missing(name: str, pages: "list[str] | dict[str, Node]") -> UsageError:
    from kafkapy.near_misses import did_you_mean

    return UsageError(f"there is no page '{name}'{did_you_mean(name, pages) or '; kafkapy help lists them'}")


def _contents(root: "TyperGroup", ctx: "Context") -> Iterator[str]:
    """Every command with its summary, without an import of them."""
    formatter = ctx.make_formatter()
    root.format_commands(ctx, formatter)
    yield "The manual. 'kafkapy help PAGE' shows a page, 'kafkapy COMMAND --help' only the options."
    yield ""
    yield from formatter.getvalue().rstrip("\n").split("\n")


def _show(page: "Page") -> None:
    """Through man where somebody looks on and it is there, else as text."""
    import shutil
    import sys

    if sys.stdout.isatty() and shutil.which("man") is not None:
        import subprocess

        from kafkapy.manual.roff import roff

        if subprocess.run(["man", "-l", "-"], input=roff(page), text=True, check=False).returncode == 0:
            return
    from kafkapy.manual.plain_text import plain_text

    _print(plain_text(page, _width()))


def _print(lines: Iterator[str]) -> None:
    from kafkapy.output.printing import print_lines

    print_lines(lines)


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size().columns, LAST_COLUMN)
