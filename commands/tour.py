"""``kafkapy tour``: what kafkapy does, shown on a cluster that it makes for that. No script of Kafka's does this."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kafkapy.errors import UsageError
from kafkapy.output.output_format import Output
from kafkapy.subcommand import Subcommand, examples, new_app
from kafkapy.tour.step import StepName

from .scratch_directory import scratch_directory

if TYPE_CHECKING:
    from kafkapy.tour.step import Step

PROMPT = "Enter continues, q quits: "

app = new_app()


@app.command(
    cls=Subcommand,
    epilog=examples(
        ("Take the tour:", "kafkapy tour"),
        ("Keep the cluster that it creates, to work on it afterwards:", "kafkapy tour --keep my-tour"),
        ("What it shows:", "kafkapy tour --list"),
        ("The command lines of all steps, for a program:", "kafkapy tour --list --output json"),
        ("Only the explanation of the lines of a segment:", "kafkapy tour --step dump"),
    ),
)
def tour(
    list_: Annotated[bool, typer.Option("--list", help="List the steps, and exit.")] = False,
    step: Annotated[
        StepName | None,
        typer.Option("--step", metavar="STEP", help="Play up to this step of --list, and show only that one."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option("--keep", metavar="DIR", help="A new or empty directory to play in, which is kept."),
    ] = None,
    pause: Annotated[
        bool | None,
        typer.Option("--pause/--no-pause", help="Wait after each step.  [default: on a terminal]", show_default=False),
    ] = None,
    output: Annotated[
        Output, typer.Option("--output", help="With --list: as lines, or as rows with typed fields.")
    ] = Output.KAFKA,
) -> None:
    """Show what kafkapy does, step by step, on a temporary cluster.

    Every command is shown before it is run, as you would type it, and what it prints is explained. The cluster is in a
    temporary directory, which is removed at the end.
    """
    from kafkapy.tour.itinerary import STEPS

    if list_ and (step is not None or keep is not None or pause is not None):
        raise UsageError("--list only lists the steps: leave out --step, --keep and --pause")
    if list_:
        _print_steps(STEPS, output)
        return
    if pause is None:
        pause = os.isatty(0) and os.isatty(1)
    with scratch_directory(keep, "kafkapy-tour-") as directory:
        _Tour(directory, keep is not None, pause and step is None, step).play(STEPS)


class _Tour:
    """The tour as somebody takes it."""

    def __init__(self, directory: str, is_kept: bool, pauses: bool, only: StepName | None) -> None:
        from kafkapy.tour.shell import Shell

        self._shell = Shell(directory, _without_the_users_defaults())
        self._is_kept = is_kept
        self._pauses = pauses
        self._only = only

    def play(self, steps: "tuple[Step, ...]") -> None:
        """Play the steps, and say at the end what to try next."""
        from kafkapy.output.styled_lines import print_styled
        from kafkapy.output.tour_lines import end_lines, introduction_lines
        from kafkapy.tour.itinerary import SUGGESTIONS

        preparations = self._shell.preparations
        if self._only is None:
            print_styled(introduction_lines(len(steps), preparations, self._is_kept, _terminal_width()))
        for number, step in enumerate(steps, 1):
            if self._pauses and not _goes_on():
                return
            self._play_step(step, number, len(steps))
            if step.name == self._only:
                return
        print_styled(end_lines(SUGGESTIONS, preparations, self._is_kept))

    def _play_step(self, step: "Step", number: int, count: int) -> None:
        from kafkapy.output.styled_lines import print_styled
        from kafkapy.output.tour_lines import command_lines, played_lines, skipped_lines, step_lines
        from kafkapy.tour.play import play

        is_shown = self._only in (None, step.name)
        if is_shown:
            print_styled(step_lines(step, number, count))
        if step.needs_spark and (reason := _why_no_spark()):
            print_styled(skipped_lines(reason))
            return
        for command in step.commands:
            if is_shown:
                print_styled(command_lines(command))
            played = play(step, command, self._shell)
            if is_shown:
                print_styled(played_lines(played, _terminal_width()))


def _print_steps(steps: "tuple[Step, ...]", output: Output) -> None:
    from kafkapy.output.printing import print_rows
    from kafkapy.output.tour_lines import step_row

    width = max(len(step.name) for step in steps)
    print_rows(output, ((f"{step.name:{width}}  {step.title}", step_row(step)) for step in steps))


def _without_the_users_defaults() -> dict[str, str]:
    """The variable that keeps commands from printing as the user's config file says, and not as the tour explains."""
    from kafkapy.contexts.config_file import FILE_VARIABLE, config_path

    return {FILE_VARIABLE: os.devnull} if os.path.exists(config_path()) else {}


def _why_no_spark() -> str | None:
    from kafkapy.errors import KafkapyError
    from kafkapy.spark.java import check_pyspark, find_java

    try:
        find_java()
        check_pyspark()
    except KafkapyError as error:
        return str(error)
    return None


def _terminal_width() -> int | None:
    """None where nobody looks at lines of a width."""
    import shutil

    return shutil.get_terminal_size().columns if os.isatty(1) else None


def _goes_on() -> bool:
    """Wait for whoever takes the tour."""
    print(f"\n{PROMPT}", end="", flush=True)
    answer = sys.stdin.readline()
    return answer != "" and answer.strip().lower() not in ("q", "quit")
