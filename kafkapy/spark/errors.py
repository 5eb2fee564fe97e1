"""What is told of an error of Spark's: one line, and ours where ours it was.

An error in a Python worker comes back as text: a traceback inside the message of a Java exception. Its last line names
the class of the error, and for errors of kafkapy's it is all that there is to say.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from kafkapy.errors import DamagedFileError, KafkaError, KafkapyError, Unsupported

_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (.*))?$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last):\n"
_ERRNO = re.compile(r"\[Errno -?[0-9]+\] (.*?)(?:: '(.*)')?$")
_STATE = re.compile(r"\.? SQLSTATE: \w+.*$")
_OWN_TEXT = (DamagedFileError, KafkaError, Unsupported)
"""Made from more than their text."""


@contextmanager
def told_plainly() -> Iterator[None]:
    """An error of Spark's or Py4J's leaves this as one of ours, with the other as its cause."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JError, PySparkException) as error:
        raise told(error) from error


def told(error: BaseException) -> KafkapyError:
    """The error to raise in the place of one of Spark's or Py4J's."""
    text = _message(error)
    if _TRACEBACK in text:
        return _from_python(text.rpartition(_TRACEBACK)[2])
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line), type(error).__name__)
    return KafkapyError(_STATE.sub("", first.removeprefix("org.apache.spark.SparkException: ")))


def _message(error: BaseException) -> str:
    java = getattr(error, "java_exception", None)
    return str(error) if java is None else str(java)


def _from_python(traceback: str) -> KafkapyError:
    """From what stands behind the frames, which are indented."""
    found = _RAISED.search(traceback)
    if found is None:
        return KafkapyError("a Python worker of Spark's failed")
    name, text = found[1], found[2] or ""
    module, _, simple = name.rpartition(".")
    if module.startswith("kafkapy."):
        kind = getattr(import_module(module), simple, None)
        if isinstance(kind, type) and issubclass(kind, KafkapyError) and not issubclass(kind, _OWN_TEXT):
            return kind(text)
        return KafkapyError(text)
    known = getattr(builtins, name, None)
    errno = _ERRNO.match(text)
    if isinstance(known, type) and issubclass(known, OSError) and errno is not None:
        return KafkapyError(f"{errno[2]}: {errno[1]}" if errno[2] else errno[1])
    return KafkapyError(f"a Python worker of Spark's failed: {name}: {text}")
