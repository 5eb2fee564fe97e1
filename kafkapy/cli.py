"""The entry point: runs a command line and turns whatever happens into an exit code.

    0    done                       1    the operation failed
    2    the command line is wrong  130  interrupted     141  nobody reads the output any more
    143  terminated

An error is one line on stderr that begins with ``kafkapy:``. A traceback appears only with --debug or
KAFKAPY_DEBUG=1.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkapy.debugging import is_debugging, show_where
from kafkapy.errors import KafkapyError, Terminated, UsageError
from kafkapy.standard_streams import fill_closed_streams

if TYPE_CHECKING:
    from typer._click import Context
    from typer._click.exceptions import NoSuchOption
    from typer._click.exceptions import UsageError as TyperUsageError

INTERRUPTED = 130
BROKEN_PIPE = 141
TERMINATED = 143
COMPLETE = "__complete"  # what the completions of shells call; before Typer is imported, since a user waits
PLAIN_WORDS = {
    "is not a valid int.": "is not a whole number.",
    "is not a valid int range.": "is not a whole number.",
    "is not a valid float.": "is not a number.",
    "is not a valid float range.": "is not a number.",
}
"""What Typer says, in plain English."""
GC_THRESHOLD = 50_000  # start-up makes many objects that stay: at the default it looks for garbage again and again


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``kafkapy`` with these arguments (the process's own by default); the result is the exit code."""
    gc.set_threshold(GC_THRESHOLD)
    fill_closed_streams()
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == [COMPLETE]:
        from kafkapy.completion.entry import complete

        return complete(args[1:])
    try:
        code = _run(args)
        gc.freeze()  # the interpreter looks for garbage once more when it ends
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except Terminated:
        return TERMINATED
    except KeyboardInterrupt:
        return INTERRUPTED
    except KafkapyError as error:
        return _fail(str(error), error.exit_code, error.hint)
    except OSError as error:
        code = _fail(f"{error.filename}: {error.strerror}" if error.filename is not None else str(error), 1)
        _drop_output()
        return code
    except Exception as error:
        hint = "" if is_debugging() else "; run again with --debug"
        return _fail(f"internal error: {type(error).__name__}: {error}{hint}", 1)


def _run(args: list[str]) -> int:
    from typer import Abort, Exit
    from typer._click.exceptions import NoArgsIsHelpError
    from typer._click.exceptions import UsageError as TyperUsageError

    from kafkapy.lazy_group import root_command

    root = root_command()
    try:
        with root.make_context("kafkapy", args) as ctx:
            return root.invoke(ctx) or 0
    except Exit as request:
        return request.exit_code
    except Abort:
        return INTERRUPTED
    except NoArgsIsHelpError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    except TyperUsageError as error:
        return _fail_usage(_usage_text(error, args), error.ctx.command_path if error.ctx else None)
    except UsageError as error:
        return _fail_usage(str(error), error.command_path, error.hint)


def _usage_text(error: TyperUsageError, line: Sequence[str]) -> str:
    from typer._click.exceptions import BadParameter, NoSuchOption

    from kafkapy.subcommand import EXTRA_ARGUMENTS, did_you_mean

    if isinstance(error, NoSuchOption):
        from kafkapy.unknown_option import meant_by

        meant = None if error.ctx is None else meant_by(error.option_name, error.ctx, line)
        return f"no such option: {error.option_name}{meant or did_you_mean(_options_meant(error))}"
    if error.ctx is not None and error.message.startswith(EXTRA_ARGUMENTS):
        return _extra_arguments(error.message.removeprefix(EXTRA_ARGUMENTS).removesuffix(")"), error.ctx, line)
    text = error.format_message().replace("\n\t", " ")  # choices stand in lines of their own
    for wrong, plain in PLAIN_WORDS.items():
        text = f"{text.removesuffix(wrong)}{plain}" if text.endswith(wrong) else text
    choices = getattr(error.param.type, "choices", ()) if isinstance(error, BadParameter) and error.param else ()
    choice = _choice_meant(error.message, choices)
    return text[:1].lower() + (text[1:].removesuffix(".") if choice else text[1:]) + choice


def _extra_arguments(words: str, ctx: Context, line: Sequence[str]) -> str:
    from kafkapy.subcommand import did_you_mean
    from kafkapy.unknown_argument import meant_by

    first, _, others = words.partition(" ")
    return f"unexpected argument{'s' * bool(others)}: {words}{did_you_mean(meant_by(first, ctx, line))}"


def _options_meant(error: NoSuchOption) -> list[str]:
    """Those of the options much like the one that was given whose names are like its own, dashes aside; beside one that
    is very much like it, no others."""
    from kafkapy.near_misses import SIMILAR, VERY_SIMILAR, near_miss

    name = error.option_name.lstrip("-")
    for similarity in (VERY_SIMILAR, SIMILAR):
        found = [each for each in error.possibilities or () if near_miss(name, [each.lstrip("-")], similarity)]
        if found:
            return found
    return []


def _choice_meant(message: str, choices: Sequence[str]) -> str:
    """Which choice was probably meant by the value that a message names first, in quotes."""
    if not choices:
        return ""
    from kafkapy.near_misses import did_you_mean

    return did_you_mean(message.removeprefix("'").partition("'")[0], choices)


def _fail_usage(text: str, command_path: str | None, hint: str | None = None) -> int:
    end = "" if text.endswith((".", "?", "!")) else "."
    return _fail(f"{text}{end} Try '{command_path or 'kafkapy'} --help'.", UsageError.exit_code, hint)


def _fail(text: str, code: int, hint: str | None = None) -> int:
    """Say what went wrong after everything that was already printed."""
    with suppress(OSError):
        sys.stdout.flush()
    with suppress(OSError):
        show_where()
        for line in (text,) if hint is None else (text, hint):
            print("kafkapy:", _one_line(line), file=sys.stderr, flush=True)
    return code


def _one_line(text: str) -> str:
    """Keep line breaks and terminal controls that came out of a file or an argument from being obeyed."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _drop_output() -> None:
    """Point stdout at nothing, or the interpreter's last flush would fail and print about it."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
