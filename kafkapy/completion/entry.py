"""``kafkapy __complete SHELL METAVAR WORD...``: the values for the last word, one a line.

SHELL is bash, zsh or fish. Bash hands its words over as they were typed, with their quotes, and takes values in the
same spelling: what stands there already is not spelled anew, since the script has to find it again. Fish does so with
the last word only, and quotes values itself; it shows what stands behind a tab beside each. Zsh does all by itself.
Whatever goes wrong, and whatever takes too long, ends with nothing.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Sequence
from types import FrameType

from kafkapy.debugging import is_debugging

LONGEST_WAIT_S = 2.0
_QUOTES = "'\""
_SPECIAL_IN_BASH = re.compile(r"""[^\w@%+=:,./-]""")
_SPECIAL_IN_DOUBLE_QUOTES = re.compile(r'[$`"\\]')
_WORD_PART = re.compile(r"""'([^']*)'?|"((?:\\.|[^"\\])*)"?|\\(.)|([^'"\\]+)|\\$""", re.DOTALL)


def complete(args: Sequence[str]) -> int:
    """Print what fits; the exit code is 0 whatever happens."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT_S)
    try:
        values = [value for value in _complete(args[0], args[1], args[2:]) if value.replace("\t", "", 1).isprintable()]
        sys.stdout.buffer.write("".join(f"{value}\n" for value in values).encode())
        sys.stdout.flush()
    except Exception:
        if is_debugging():
            raise
    os._exit(0)  # connections and threads of a running cluster's client are not waited for


def _give_up(_: int, __: FrameType | None) -> None:
    os._exit(0)


def _complete(shell: str, metavar: str, words: Sequence[str]) -> list[str]:
    from kafkapy.completion.candidates import candidates
    from kafkapy.completion.command_line import CommandLine
    from kafkapy.value_kind import value_kind

    kind = value_kind(metavar)
    if kind is None or not words:
        return []
    if shell == "zsh":
        return candidates(kind, CommandLine(words))
    *before, typed = words
    if shell == "fish":
        return [f"{value}\t{kind.shown}" for value in candidates(kind, CommandLine([*before, unquoted(typed)]))]
    return [spelled(value, typed) for value in candidates(kind, CommandLine([unquoted(word) for word in words]))]


def unquoted(word: str) -> str:
    """A word as the shell would understand it, expansions aside; a quote that is still open ends with the word."""
    parts = []
    for single, double, escaped, plain in _WORD_PART.findall(word):
        parts.append(single or re.sub(r'\\([$`"\\])', r"\1", double) or escaped or plain)
    return "".join(parts)


def spelled(value: str, typed: str) -> str:
    """A value for bash, where a word stands that it begins with: behind an open quote without that quote."""
    if typed[:1] == "'":
        return value
    if typed[:1] == '"':
        return _SPECIAL_IN_DOUBLE_QUOTES.sub(r"\\\g<0>", value)
    if any(quote in typed for quote in _QUOTES):
        return _SPECIAL_IN_BASH.sub(r"\\\g<0>", value)
    rest = value[len(unquoted(typed)) :]
    if (len(typed) - len(typed.rstrip("\\"))) % 2:
        typed = typed[:-1]  # it was to spell what comes next
    return typed + _SPECIAL_IN_BASH.sub(r"\\\g<0>", rest)
