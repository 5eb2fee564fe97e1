"""Writes man/*.1, a page for each command, from the commands themselves.

    python man/generate.py           write the pages
    python man/generate.py --check   write nothing; exit 1 and name the pages that are not what they should be

The pages hold kafkapy's version and no date, so the same commands always give the same bytes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kafkapy import __version__  # noqa: E402
from kafkapy.command_tree import Node, Option, command_tree, walk  # noqa: E402

EXIT_STATUS = (
    ("0", "Done."),
    ("1", "The operation failed; the error is one line on standard error."),
    ("2", "The command line is wrong."),
    ("130", "Interrupted."),
    ("141", "Standard output was closed by its reader."),
    ("143", "Terminated."),
)
ROFF_CHARACTERS = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"})


def main(args: list[str]) -> int:
    """Write the pages, or check them."""
    return publish(pages(), args, sorted((ROOT / "man").glob("*.1")))


def publish(files: dict[Path, str], args: list[str], present: list[Path]) -> int:
    """Make the files that are ``present`` exactly these, or with ``--check`` only say where they are not."""
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    extra = [path for path in present if path not in files]
    if args == ["--check"]:
        for path in (*stale, *extra):
            print(f"{path.relative_to(ROOT)} is stale: run `make docs-generated`", file=sys.stderr)
        return 1 if stale or extra else 0
    if args:
        print("the only argument is --check", file=sys.stderr)
        return 2
    for path in stale:
        path.write_text(files[path])
    for path in extra:
        path.unlink()
    return 0


def pages() -> dict[Path, str]:
    """Each page's path and text."""
    return {ROOT / "man" / f"{'-'.join(node.path)}.1": page(node) for node in walk(command_tree())}


def page(node: Node) -> str:
    """One command's page in roff."""
    name = "-".join(node.path)
    lines = [
        f'.TH "{name.upper()}" "1" "" "kafkapy {__version__}" "kafkapy manual"',
        ".SH NAME",
        f"{roff(name)} \\- {roff(node.summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {roff(' '.join(node.path))}",
        roff(" ".join(node.command.collect_usage_pieces(node.ctx))),
        ".SH DESCRIPTION",
        "\n.PP\n".join(roff(paragraph) for paragraph in node.description),
        *commands(node),
        ".SH OPTIONS",
        *options(node),
        ".SH EXAMPLES",
        *(line for example in node.examples for line in worked_example(*example)),
        ".SH EXIT STATUS",
        *(line for code, meaning in EXIT_STATUS for line in (".TP", f".B {code}", roff(meaning))),
        ".SH ENVIRONMENT",
        ".TP",
        ".B KAFKAPY_DEBUG",
        roff("Set to 1: the same as --debug."),
        *see_also(node),
    ]
    return "\n".join(lines) + "\n"


def commands(node: Node) -> list[str]:
    """The list of subcommands, for a page that has any."""
    lines = [".SH COMMANDS"] if node.children else []
    for child in node.children:
        lines += [".TP", f"\\fB{roff('-'.join(child.path))}\\fR(1)", roff(child.summary)]
    return lines


def options(node: Node) -> list[str]:
    """The options, with a subsection for each group where there are several."""
    lines = []
    groups = node.option_groups
    for title, group in groups.items():
        if len(groups) > 1:
            lines.append(f".SS {roff(title)}")
        for option in group:
            lines += [".TP", option_head(option), roff(option.help)]
    return lines


def option_head(option: Option) -> str:
    """An option's names in bold and what it takes in italics; of an argument, only that."""
    if option.is_argument:
        return f"\\fI{roff(option.metavar or '')}\\fR"
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option.names)
    return names if option.metavar is None else f"{names} \\fI{roff(option.metavar)}\\fR"


def worked_example(sentence: str, line: str) -> list[str]:
    """A sentence and, indented and unfilled, the command line."""
    return [".PP", roff(sentence), ".PP", ".RS 4", ".EX", roff(line), ".EE", ".RE"]


def see_also(node: Node) -> list[str]:
    """The pages of the parent and the children."""
    related = [child.path for child in node.children] + ([node.path[:-1]] if len(node.path) > 1 else [])
    return [".SH SEE ALSO", ",\n".join(f"\\fB{roff('-'.join(path))}\\fR(1)" for path in related)] if related else []


def roff(text: str) -> str:
    """Text that roff prints as it stands."""
    escaped = re.sub(r"\s+", " ", text).strip().translate(ROFF_CHARACTERS)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
