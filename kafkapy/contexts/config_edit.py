"""Changes of ``config.yaml``: as few lines as possible, so that comments and order stay as the user wrote them.

A changed text is read again and must say exactly what was meant. Where lines alone cannot do it, as in a file that is
written in one line, the file is written anew from its content and its comments are lost, which is told. A file that
was not checked is never written anew: it says what nobody understands.

The file is replaced as a whole and only its owner can read it: after a crash it is the old one or the new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from kafkapy.contexts.config_file import FILE_VARIABLE, ConfigFile, Context, Setting, decode
from kafkapy.errors import FormatError, KafkapyError

Meaning = tuple[str | None, Mapping[str, str], Mapping[str, Mapping[str, str]]]


def use(config: ConfigFile, name: str, tell: Callable[[str], object]) -> None:
    """Make a context the current one."""

    def edit(lines: list[str]) -> list[str]:
        if config.current is None:
            return [f"current: {_quoted(name)}", *lines]
        at = config.current.line - 1
        return [*lines[:at], _with_value(lines[at], config.current.value, name), *lines[at + 1 :]]

    _write(config._replace(current=Setting(name)), edit, tell)


def add(config: ConfigFile, name: str, settings: Mapping[str, str], tell: Callable[[str], object]) -> None:
    """Add a context behind all others, or put it in the place of the one of that name."""
    contexts = {**config.contexts, name: Context(name, 0, {key: Setting(value) for key, value in settings.items()})}

    def edit(lines: list[str]) -> list[str]:
        block = [f"  {line}" for line in _context_lines(name, settings)]
        if name in config.contexts:
            first, last = _span(config.contexts[name])
            return [*lines[: first - 1], *block, *lines[last:]]
        if config.contexts:
            at = max(_span(context)[1] for context in config.contexts.values())
            return [*lines[:at], *block, *lines[at:]]
        for at, line in enumerate(lines):
            if line.split("#")[0].rstrip() in ("contexts:", "contexts: {}"):
                return [*lines[:at], line.replace(" {}", "", 1), *block, *lines[at + 1 :]]
        return [*lines, "contexts:", *block]

    _write(config._replace(contexts=contexts), edit, tell)


def remove(config: ConfigFile, name: str, tell: Callable[[str], object]) -> None:
    """Remove a context; one that is the current one leaves none."""
    was_current = config.current is not None and config.current.value == name
    first, last = _span(config.contexts[name])

    def edit(lines: list[str]) -> list[str]:
        gone = {*range(first, last + 1), *((config.current.line,) if was_current and config.current else ())}
        return [line for number, line in enumerate(lines, 1) if number not in gone]

    left = {key: context for key, context in config.contexts.items() if key != name}
    _write(config._replace(contexts=left, current=None if was_current else config.current), edit, tell)


def _span(context: Context) -> tuple[int, int]:
    """The first and the last line of a context."""
    return context.line, max(setting.last_line for setting in context.settings.values())


def _with_value(line: str, old: str, new: str) -> str:
    head, colon, tail = line.partition(":")
    return head + colon + tail.replace(old, new, 1)


def _write(wanted: ConfigFile, edit: Callable[[list[str]], list[str]], tell: Callable[[str], object]) -> None:
    if os.path.exists(wanted.path) and not os.path.isfile(wanted.path):
        raise KafkapyError(f"{wanted.path} is not a file that can be replaced: name one with ${FILE_VARIABLE}")
    before = _text(wanted.path)
    after = "".join(f"{line}\n" for line in edit(before.splitlines()))
    if not _says(after, wanted):
        if not wanted.is_checked:
            raise KafkapyError(f"{wanted.path} cannot be changed line by line: edit it")
        after = encode(wanted)
        if "#" in before:
            tell(f"{wanted.path} had to be rewritten: its comments are lost; the old file is {wanted.path}.old")
            _replace(f"{wanted.path}.old", before)
    _replace(wanted.path, after)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _says(text: str, wanted: ConfigFile) -> bool:
    try:
        return _meaning(decode(text, wanted.path, wanted.is_checked)) == _meaning(wanted)
    except FormatError:
        return False


def _meaning(config: ConfigFile) -> Meaning:
    contexts = {name: _values(context.settings) for name, context in config.contexts.items()}
    return None if config.current is None else config.current.value, _values(config.defaults), contexts


def _values(settings: Mapping[str, Setting]) -> dict[str, str]:
    return {key: setting.value for key, setting in settings.items()}


def encode(config: ConfigFile) -> str:
    """The file without comments."""
    current, defaults, contexts = _meaning(config)
    lines = [] if current is None else [f"current: {_quoted(current)}"]
    if defaults:
        lines += ["defaults:", *(f"  {line}" for line in _setting_lines(defaults))]
    if contexts:
        lines.append("contexts:")
        lines += [f"  {line}" for name, settings in contexts.items() for line in _context_lines(name, settings)]
    return "".join(f"{line}\n" for line in lines)


def _context_lines(name: str, settings: Mapping[str, str]) -> list[str]:
    return [f"{_quoted(name)}:", *(f"  {line}" for line in _setting_lines(settings))]


def _setting_lines(settings: Mapping[str, str]) -> list[str]:
    lines = []
    for key, value in settings.items():
        is_list = key == "log-dirs" and "," in value
        text = f"[{', '.join(map(_quoted, value.split(',')))}]" if is_list else _quoted(value)
        lines.append(f"{key}: {text}")
    return lines


def _quoted(text: str) -> str:
    """A YAML scalar: plain where that reads back as the same text, also in a list."""
    import sys

    import yaml

    marks = set(text) & set("[]{},#&*!|>'\"%@`")
    plain = text.isprintable() and not marks and ": " not in text and not text.endswith(":")
    if plain and yaml.safe_load(text) == text:
        return text
    return yaml.safe_dump(text, default_style='"', width=sys.maxsize).rstrip("\n")


def _replace(path: str, text: str) -> None:
    import tempfile

    target = os.path.realpath(path)  # a link to a file that is kept elsewhere stays one
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    descriptor, beside = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".config-")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
