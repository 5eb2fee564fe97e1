"""Every error kafkapy raises on purpose.

    KafkapyError                 exit 1; its text is one line that says what, where and what to do
    ├── UsageError               exit 2; the command line itself is wrong
    ├── FormatError              bytes that are not what they claim to be
    │   ├── CorruptRecordError   a batch, message or record
    │   ├── CorruptIndexError    an .index, .timeindex or .txnindex
    │   ├── CorruptSnapshotError a producer .snapshot
    │   ├── CompressionError     a compressed body that does not decompress
    │   └── SchemaError          a message that does not fit its schema
    ├── DamagedFileError         a FormatError that was met at a known place in a file
    ├── KafkaError               what Kafka would refuse, by Kafka's name and in Kafka's words
    └── Unsupported              what this backend or this build cannot do

    KeyboardInterrupt
    └── Terminated               SIGTERM, where a command has something to tidy up; exit 143

Code in ``kafkapy.formats`` knows no files, so it raises a FormatError with a position relative to its
input at most; whoever opened the file turns it into a DamagedFileError.
"""

from __future__ import annotations


class KafkapyError(Exception):
    """The root: printed as one line on stderr, never as a traceback. ``hint`` is what was probably meant, for a second
    line: where the first is Kafka's, nothing is added to it."""

    exit_code = 1
    hint: str | None = None


class UsageError(KafkapyError):
    """The command line is wrong; whoever runs the command notes in ``command_path`` whose help tells more."""

    exit_code = 2
    command_path: str | None = None


class FormatError(KafkapyError):
    """Bytes that are not what they claim to be."""


class CorruptRecordError(FormatError):
    """A record batch, a message of a message set, or a record inside one."""


class CorruptIndexError(FormatError):
    """An entry of an .index, .timeindex or .txnindex file."""


class CorruptSnapshotError(FormatError):
    """A producer state .snapshot."""


class CompressionError(FormatError):
    """A compressed body that does not decompress, or would grow past its cap."""


class SchemaError(FormatError):
    """A message that does not fit its schema."""


class DamagedFileError(KafkapyError):
    """Damage at a known byte of a known file."""

    def __init__(self, path: str, position: int, reason: str) -> None:
        super().__init__(f"{path}: damaged at byte {position}: {reason}")
        self.path = path
        self.position = position
        self.reason = reason


class KafkaError(KafkapyError):
    """What a broker or controller would answer: ``name`` is the simple name of Kafka's exception, the text is its
    message, e.g. ``KafkaError("TopicExistsException", "Topic 'orders' already exists.")``."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Unsupported(KafkapyError):
    """What a backend or a build cannot do: names the operation, who cannot do it, and a hint."""

    def __init__(self, operation: str, where: str, hint: str) -> None:
        super().__init__(f"{operation} is not supported by {where}: {hint}")


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM; like Ctrl-C it passes whatever handles errors."""
