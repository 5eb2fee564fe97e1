"""All that knows the client library, which is loaded no further than what is used of it: short commands are short.

Its packages import producer, consumer and admin client as soon as any module of theirs is named. Before that, the two
packages are put in place unloaded: their modules are where they always are, and whoever asks a package for a name of
its own, e.g. ``from kafka import KafkaProducer``, has it loaded then, as a whole.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

_PACKAGES = ("kafka", "kafka.net")


def load_lazily() -> None:
    """Put the packages in place, unless someone has loaded them already."""
    for name in _PACKAGES:
        if name not in sys.modules:
            sys.modules[name] = _unloaded(name)


def _unloaded(name: str) -> ModuleType:
    spec = find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module, load = module_from_spec(spec), spec.loader.exec_module

    def get(wanted: str) -> Any:
        if find_spec(f"{name}.{wanted}") is not None:
            return import_module(f"{name}.{wanted}")
        if "__getattr__" in vars(module):
            del vars(module)["__getattr__"]
            load(module)
        return getattr(module, wanted)

    vars(module)["__getattr__"] = get
    return module


load_lazily()
