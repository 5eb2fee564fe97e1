"""``kafkapy lab``: scenarios of replicas that fail, played step by step."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_group

from .cluster_options import LinesOption
from .scratch_directory import scratch_directory

if TYPE_CHECKING:
    from kafkapy.lab.play import Played
    from kafkapy.lab.scenario import Scenario

app = new_group(
    "Play what happens to replicas when brokers fail, step by step, with every offset.\n\n"
    "Nothing but a scratch directory is touched. After each step a table shows for every replica where its log "
    "ends (LEO), up to where it knows records to be committed (HW, the high watermark), and what the leader knows "
    "of it.",
    examples(
        ("What there is to play:", "kafkapy lab list"),
        ("How the high watermark follows the log end:", "kafkapy lab run two-fetch-rounds"),
    ),
)

ScenarioArgument = Annotated[
    str,
    typer.Argument(
        metavar="SCENARIO|FILE.yaml", help="A scenario of 'kafkapy lab list', or a file.", show_default=False
    ),
]


@app.command(
    "list",
    cls=Subcommand,
    epilog=examples(
        ("What there is to play:", "kafkapy lab list"),
        ("The same for a program:", "kafkapy lab list --output json"),
    ),
)
def list_(output: LinesOption = Output.KAFKA) -> None:
    """List the scenarios that come with kafkapy."""
    from kafkapy.lab.library import shipped
    from kafkapy.output.lab_rows import scenario_rows
    from kafkapy.output.printing import print_rows

    scenarios = shipped()
    width = max(map(len, scenarios))
    print_rows(
        output, [(f"{name:{width}}  {each.title}", scenario_rows(name, each)) for name, each in scenarios.items()]
    )


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("What a scenario shows, and its steps:", "kafkapy lab show unclean-election"),
        ("Use it as the start of your own:", "kafkapy lab show unclean-election --source > mine.yaml"),
    ),
)
def show(
    scenario: ScenarioArgument,
    source: Annotated[bool, typer.Option("--source", help="Print the file itself, as a basis for a new one.")] = False,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Show what a scenario is about and its steps, without playing it."""
    from kafkapy.lab.library import load, path_of
    from kafkapy.output.lab_lines import scenario_lines, step_lines
    from kafkapy.output.lab_rows import step_rows
    from kafkapy.output.printing import print_lines, print_rows
    from kafkapy.output.styled_lines import print_styled

    if source:
        with open(path_of(scenario), encoding="utf-8") as file:
            print_lines(file.read().splitlines())
        return
    loaded = load(scenario)
    if output != Output.KAFKA:
        print_rows(output, [(None, row) for row in step_rows(loaded)])
        return
    print_styled([*scenario_lines(loaded), [("", "")], *step_lines(loaded.steps)])


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Play a scenario that comes with kafkapy:", "kafkapy lab run data-loss"),
        ("Play your own, and look into the logs afterwards:", "kafkapy lab run mine.yaml --keep logs"),
        ("Only the result of the third step, as rows:", "kafkapy lab run acks --step 3 --output jsonl"),
    ),
)
def run(
    scenario: ScenarioArgument,
    step: Annotated[
        int | None, typer.Option("--step", min=0, metavar="N", help="Play up to step N and show only that one.")
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="DIR", help="A new or empty directory to play in; its logs are kept."),
    ] = None,
    output: LinesOption = Output.KAFKA,
) -> None:
    """Play a scenario on a scratch directory, with a table for each partition after every step.

    What the scenario expects is compared with what is found; the exit code is 1 if they differ.
    """
    from contextlib import ExitStack, closing

    from kafkapy.errors import UsageError
    from kafkapy.lab.library import load
    from kafkapy.lab.play import play

    loaded = load(scenario)
    if step is not None and step > len(loaded.steps):
        raise UsageError(f"--step: the scenario has {len(loaded.steps)} steps")
    with ExitStack() as stack:
        directory = stack.enter_context(scratch_directory(keep, "kafkapy-lab-"))
        playing = _Playing(loaded, stack.enter_context(closing(play(loaded, directory))), step)
        _print(playing, output)
    playing.finish()


class _Playing:
    """A scenario as it is played: the steps that are to be shown, and what became of the checks."""

    def __init__(self, scenario: "Scenario", steps: Iterator["Played"], only: int | None) -> None:
        self.scenario = scenario
        self.checked = 0
        self.only = only
        self.last: Played | None = None
        self._steps = steps

    def __iter__(self) -> Iterator["Played"]:
        for played in self._steps:
            self.last = played
            self.checked += len(played.checks)
            number = 0 if played.step is None else played.step.number
            if self.only is None or number == self.only or played.failures:
                yield played
            if number == self.only:
                return

    @property
    def is_as_expected(self) -> bool:
        return self.last is None or not self.last.failures

    def finish(self) -> None:
        """The exit code of a run that is not as the scenario says."""
        from kafkapy.errors import KafkapyError

        if self.last is not None and self.last.step is not None and self.last.failures:
            first, step = self.last.failures[0], self.last.step
            raise KafkapyError(
                f"{self.scenario.location}:{first.line}: step {step.number} of {len(self.scenario.steps)} is not as "
                f"expected, in {len(self.last.failures)} of {len(self.last.checks)} values"
            )


def _print(playing: _Playing, output: Output) -> None:
    from kafkapy.output.lab_lines import played_lines, scenario_lines, summary_lines
    from kafkapy.output.lab_rows import played_rows
    from kafkapy.output.printing import print_rows
    from kafkapy.output.styled_lines import print_styled

    if output != Output.KAFKA:
        print_rows(output, ((None, row) for played in playing for row in played_rows(played)))
        return

    def lines() -> Iterator[Any]:
        if playing.only is None:
            yield from scenario_lines(playing.scenario)
        for played in playing:
            yield from played_lines(played, len(playing.scenario.steps))
        if playing.only is None and playing.is_as_expected:
            yield from summary_lines(playing.scenario, playing.checked)

    print_styled(lines())
