"""``--verbose``: what is read, written and sent, told on stderr while it happens.

Files, directories, connections and processes are seen where Python itself reports them, by an audit hook, so that no
command can forget to tell. Each is told once. Requests are told by who sends them (backends/live/library). What other
processes do, such as Spark's executors, is not seen here.

Invariant: a line names files, addresses and kinds of requests, never what is in them, so that no secret appears.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any, ClassVar

VARIABLE = "KAFKAPY_VERBOSE"
TMP_SUFFIX = ".tmp"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_SYSTEM = ("/dev/", "/proc/", "/sys/", "/etc/", "/usr/lib/", "/usr/share/")
_MEMORY = "/dev/shm/"  # files of users, in memory
_PROGRAM = (os.path.dirname(__file__), os.path.join(os.path.dirname(os.path.dirname(__file__)), "commands"))
_LIBRARIES = (os.path.dirname(os.__file__), sys.prefix)


class _Teller:
    """Whether anything is told, and what was."""

    is_on = False
    told: ClassVar[set[str]] = set()


def switch_on() -> None:
    """Tell from now on; a hook cannot be taken away again."""
    if not _Teller.is_on:
        _Teller.is_on = True
        sys.addaudithook(_hook)


def tell(text: str) -> None:
    """Write a line, where it is asked for."""
    if _Teller.is_on:
        with suppress(OSError, ValueError):
            print("kafkapy:", "".join(c if c.isprintable() else "?" for c in text), file=sys.stderr)


def _hook(event: str, details: tuple[Any, ...]) -> None:
    describe = _EVENTS.get(event)
    if describe is None:
        return
    with suppress(Exception):  # whatever is wrong in here must not become an error of what is watched
        text = describe(*details)
        if text is not None and text not in _Teller.told:
            _Teller.told.add(text)
            tell(text)


def _opened(path: object, _: object, flags: int) -> str | None:
    name = _shown(path)
    if name is None or name.endswith(TMP_SUFFIX):
        return None  # one that is renamed when it is whole is told then
    if flags & _WRITING:
        return f"writes {name}"
    return f"reads {name}" if os.path.isfile(path) else None  # type: ignore[arg-type]


def _renamed(source: object, target: object, *_: object) -> str | None:
    old, new = _shown(source), _shown(target)
    if old is None or new is None:
        return None
    return f"writes {new}" if old.endswith(TMP_SUFFIX) else f"renames {old} to {new}"


def _on_path(verb: str) -> Any:
    def describe(path: object = ".", *_: object) -> str | None:
        name = _shown(path)
        return None if name is None or name.endswith(TMP_SUFFIX) else f"{verb} {name}"

    return describe


def _connected(_: object, address: Any) -> str | None:
    return f"connects to {address[0]}:{address[1]}" if isinstance(address, tuple) else None


def _started(executable: object, *_: object) -> str | None:
    return f"runs {os.fsdecode(executable)}" if isinstance(executable, str | bytes) else None


def _shown(path: object) -> str | None:
    """A path as it is to be read; None for a descriptor and for what belongs to the program and its surroundings."""
    if isinstance(path, int) or path is None:
        return None
    whole = os.path.abspath(os.fsdecode(path))  # type: ignore[arg-type]
    inside = any(whole == place or whole.startswith(place + os.sep) for place in (*_PROGRAM, *_LIBRARIES))
    is_system = whole.startswith(_SYSTEM) and not whole.startswith(_MEMORY)
    if inside or is_system or "/site-packages/" in whole:
        return None
    here = os.getcwd() + os.sep
    return whole.removeprefix(here)


_EVENTS = {
    "open": _opened,
    "os.rename": _renamed,
    "os.remove": _on_path("removes"),
    "os.rmdir": _on_path("removes"),
    "os.mkdir": _on_path("makes"),
    "os.listdir": _on_path("lists"),
    "os.scandir": _on_path("lists"),
    "socket.connect": _connected,
    "subprocess.Popen": _started,
}
