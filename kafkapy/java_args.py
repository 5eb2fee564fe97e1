"""Accepts option spellings of Kafka's Java tools, which parse with jopt-simple or argparse4j.

What these take and Typer does not, as seen with Kafka 4.3.1's tools:

    -files x                 one dash before a long name
    -files=x                 the same with the value attached
    --files= x               nothing after the equals sign: the value is the next word
    --key-decoder-class      an optional argument left out: the option's default stands for it
    -h                       --help

An optional argument is left out when the next word looks like an option, or when there is none. The value of
an option that must have one is the next word whatever it looks like, so ``--producer-id -1`` needs no quoting.
Words after a bare ``--`` are not options.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence


def normalise(args: Sequence[str], required: Collection[str], optional: Mapping[str, str]) -> list[str]:
    """The same command line in the spelling that Typer knows.

    ``required`` names the long options (with their dashes) that must have a value; ``optional`` maps those that
    may leave it out to the value that then stands for it. Every other option is a flag or unknown, and only
    has its dashes corrected.
    """
    out: list[str] = []
    rest = list(reversed(args))
    while rest:
        word = rest.pop()
        if word == "--":
            return [*out, word, *reversed(rest)]
        if not _is_long_option(word):
            out.append("--help" if word == "-h" else word)
            continue
        name, _, value = word.partition("=")
        name = "--" + name.lstrip("-")
        if name in optional:
            if not value:
                value = rest.pop() if rest and not _looks_like_an_option(rest[-1]) else optional[name]
            out.append(f"{name}={value}")
        elif name in required and not value:
            out.append(name)
            if rest:
                out.append(rest.pop())
        else:
            out.append(name + word[len(word.partition("=")[0]) :])
    return out


def _looks_like_an_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-", "--")


def _is_long_option(word: str) -> bool:
    """Whether a word is a long option with one dash or two; ``-h`` and ``-15`` are not."""
    name = word.removeprefix("-").removeprefix("-")
    return word.startswith("-") and len(name) > 1 and name[0].isalpha()
