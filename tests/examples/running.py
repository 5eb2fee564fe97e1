"""Running pages of examples: in a copy of the world, with what differs there from a reader's machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from tests.examples.pages import Example, Page
from tests.examples.shell import Shell

ELSEWHERE = {
    "/kafka/": "kafka/",
    "/lake/": "lake/",
    "--interval 10s": "--interval 1s",
}
"""What is written otherwise: paths that only root could make, and how long to wait."""

ADD_CONTEXT = "kafkapy config add dev --cluster kafkapy-cluster"
SNAPSHOT = "00000000000000000036-0000000001.checkpoint"

BEFORE = {
    "kafkapy topics --create --topic orders --partitions 3": "rm -r kafkapy-cluster",
    "kafkapy storage format --cluster my-cluster": "rm -rf my-cluster",
    "kafkapy storage format --cluster kafkapy-cluster": "rm -rf kafkapy-cluster",
    "kafkapy storage format --cluster demo": "rm -rf demo",
    "kafkapy cluster stop-broker 1 --cluster demo --output": "kafkapy cluster start-broker 1 --cluster demo",
    "kafkapy cluster start-broker 1": "kafkapy cluster kill-broker 1 --cluster demo",
    "kafkapy cluster start-broker 2 3": "kafkapy cluster kill-broker 2 3 --cluster demo",
    "kafkapy cluster kill-broker 1 --cluster demo --lose": "kafkapy cluster start-broker 1 --cluster demo",
    "kafkapy config use dev": ADD_CONTEXT,
    "kafkapy config show dev": ADD_CONTEXT,
    "kafkapy config remove dev": ADD_CONTEXT,
    "kafkapy lab run mine.yaml": "kafkapy lab show unclean-election --source > mine.yaml",
    "kafkapy reassign-partitions --generate --drain-broker": "rm -f plan.json",
    "kafkapy metadata-shell -s 0000": f"cp kafkapy-cluster/broker-1/bootstrap.checkpoint {SNAPSHOT}",
}
"""What a reader would have done before: the beginning of a line, and the command that goes before it, unless the page
has it already."""

NOT_HERE = {
    "pip install": "installs; .ci/run does it for the wheel and the sdist",
    "KAFKAPY_NO_EXT=1 pip install": "installs; .ci/run does it for the sdist",
    "python3 -m venv": "installs and runs the tests; .ci/run runs these lines word for word",
    "make ": "works on the checkout; .ci/run is what make ci runs",
}
"""What is not run, by its beginning, and why."""

WHOLE_TOURS = ("kafkapy tour", "kafkapy tour --keep my-tour")
"""Not run, either: tests/tour takes one to its end and keeps it, tests/spark the step that starts Spark."""

LEFT_OUT = "..."
SOME_LINES = r"(?:.*\n)*?"

VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
    (re.compile(r"\b1[789]\d{11}\b"), "TIME"),
    (re.compile(r"(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{22}(?![\w-])"), "ID"),
)
"""What is another in each run."""


Around = Callable[[str], AbstractContextManager[Mapping[str, str]]]
"""Of a line, what holds while it runs: the value is what is written otherwise in it."""


def nothing_else(_line: str) -> AbstractContextManager[Mapping[str, str]]:
    return nullcontext({})


def is_run(line: str) -> bool:
    return line not in WHOLE_TOURS and not line.startswith(tuple(NOT_HERE))


def run_page(page: Page, is_wanted: Callable[[Example], bool], around: Around = nothing_else) -> None:
    """Run those examples of a page that are wanted; each must end well, and print what the page says."""
    shell = Shell()
    wanted = [each for each in page.examples if is_wanted(each) and is_run(each.line)]
    for number, example in enumerate(wanted):
        with around(example.line) as other:
            line = prepared(example.line, shell, [each.line for each in wanted[:number]], other)
            shown = shell.run(line)
            asks_for_code = number + 1 < len(wanted) and wanted[number + 1].line == "echo $?"
            assert shown.code == 0 or asks_for_code, f"{page.name}: {line}\n{shown.text}"
        if example.printed is not None:
            check_printed(f"{page.name}: {line}", example.printed, shown.text)


def prepared(line: str, shell: Shell, done: Sequence[str], other: Mapping[str, str]) -> str:
    """The line as it can be run here, after what goes before it."""
    for beginning, command in BEFORE.items():
        if line.startswith(beginning) and command not in done:
            assert shell.run(command).code == 0, command
    for written, here in (ELSEWHERE | dict(other)).items():
        line = line.replace(written, here)
    return line


def check_printed(what: str, said: str, printed: str) -> None:
    """Compare, but for what is volatile or left out."""
    said, printed = settled(said), settled(printed)
    pattern = "".join(SOME_LINES if line == LEFT_OUT else line_pattern(line) for line in said.splitlines())
    if re.fullmatch(pattern, printed) is None:
        pytest.fail(f"{what}\n--- it says\n{said}--- it prints\n{printed}")


def line_pattern(line: str) -> str:
    """A line, parts of which may be left out."""
    return ".*".join(map(re.escape, line.split(LEFT_OUT))) + "\n"


def settled(text: str) -> str:
    """Text without what changes from run to run, and without blanks at the ends of lines."""
    for pattern, name in VOLATILE:
        text = pattern.sub(name, text)
    text = "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
    return text + "\n" if text else ""


def enter(directory: Path, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go into a copy of the world, where no setting of whoever runs the tests counts."""
    shutil.copytree(world, directory, symlinks=True)
    monkeypatch.chdir(directory)
    for name in ("KAFKAPY_CLUSTER", "KAFKAPY_CONTEXT", "KAFKAPY_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("KAFKAPY_CONFIG", str(directory / "config.yaml"))
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(directory / "home"))
