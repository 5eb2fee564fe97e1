"""The values that begin as what was typed does, each as the whole word that would then stand there.

What was typed before the last separator stays as it is, and what it names is not offered again; nor is an argument
that stands there already.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkapy.completion.command_line import CommandLine
from kafkapy.completion.values import Asked, pieces, values
from kafkapy.value_kind import ValueKind


def candidates(kind: ValueKind, line: CommandLine) -> list[str]:
    """What may stand in the place of the word that is being typed."""
    if kind.joint == " " and kind.then is not None:
        kind = kind.then if line.has_one_of(kind.kind.split("|")) else ValueKind(kind.kind)
    arguments = line.arguments()
    return [word for word in _words(kind, Asked(line, line.typed, separators=kind.separators)) if word not in arguments]


def _words(kind: ValueKind, asked: Asked) -> list[str]:
    *ended, typed = pieces(asked.typed, kind.separators)
    before, listed = "".join(ended), _listed(ended, kind.separators)
    if kind.then is not None and kind.joint in typed:
        name, joint, following = typed.partition(kind.joint)
        found = (
            f"{name}{joint}{each}"
            for each in _words(kind.then, asked._replace(typed=following, of=name, of_kind=kind.kind))
        )
        return [before + each for each in found if each not in listed]
    if kind.joint == "=":
        listed = {each.partition("=")[0] for each in listed}
    end = kind.joint if kind.is_then_needed else ""
    names = (name for name in values(kind.kind, asked._replace(typed=typed)) if name.startswith(typed))
    return [f"{before}{name}{end}" for name in names if name not in listed]


def _listed(ended: Sequence[str], separators: str) -> set[str]:
    """What stands there already; in lists of lists, as ``1:2,2:3``, what the last of them has."""
    listed = set()
    for piece in reversed(ended):
        if piece[-1] in separators[1:]:
            break
        listed.add(piece[:-1])
    return listed
