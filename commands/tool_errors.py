"""What a command tells beside its output: failures in Kafka's lines, without the ``kafkapy:`` of every other error, and
what could not be read while the rest was shown."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import typer

from kafkapy.debugging import show_where
from kafkapy.errors import KafkaError, KafkapyError
from kafkapy.output.output_format import Output

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.log.topic_partition import TopicPartition


def warn(line: str) -> None:
    """Write a line to stderr."""
    from kafkapy.output.printing import print_lines
    from kafkapy.output.sink import Sink

    print_lines([line], Sink(2))


def say(line: str, output: Output) -> None:
    """Write the line where Kafka's tool does, to stdout; where rows are wanted, to stderr."""
    from kafkapy.output.printing import print_lines

    if output != Output.KAFKA:
        warn(line)
    else:
        print_lines([line])


def tell_hint(error: KafkapyError | None) -> None:
    """Write what was probably meant, where an error that was told in Kafka's words knows it."""
    if error is not None and error.hint is not None:
        warn(f"kafkapy: {error.hint}")


def tell_near_miss(what: str, name: str, known: Iterable[str]) -> None:
    """Write what was probably meant by a name that is not there, where Kafka's words are no error."""
    from kafkapy.near_misses import hint

    found = hint(what, name, known)
    if found is not None:
        warn(f"kafkapy: {found}")


def missing_partitions(partitions: Iterable["TopicPartition"], cluster: "Cluster") -> list[str]:
    """Of each partition that is not there, what was probably meant. It is only for that that topics are asked for, and
    controllers do not tell of them."""
    from kafkapy.near_misses import partition_hint

    with suppress(KafkapyError):
        topics = cluster.image().topics
        return [hint for hint in dict.fromkeys(partition_hint(*each, topics) for each in partitions) if hint]
    return []


def tell_missing_partitions(partitions: Iterable["TopicPartition"], cluster: "Cluster") -> None:
    """Write of each partition that is not there what was probably meant."""
    for hint in missing_partitions(partitions, cluster):
        warn(f"kafkapy: {hint}")


def fail(line: str, error: KafkapyError | None = None) -> NoReturn:
    """Write the line, and the hint of the error that it tells, to stderr, and end with exit code 1."""
    show_where()
    warn(line)
    tell_hint(error)
    raise typer.Exit(1)


def fail_on_stdout(line: str, output: Output, error: KafkapyError | None = None) -> NoReturn:
    """Write the line where Kafka's tool does, to stdout, and end with exit code 1; where rows are wanted, to stderr."""
    show_where()
    say(line, output)
    tell_hint(error)
    raise typer.Exit(1)


def java_text(error: KafkapyError) -> str:
    """An error as Java prints one that is the cause of another: the class stands before the message."""
    return f"org.apache.kafka.common.errors.{error.name}: {error}" if isinstance(error, KafkaError) else str(error)


def tell_problems(problems: Iterable[str]) -> None:
    """Tell on stderr what could not be read."""
    for problem in problems:
        warn(f"kafkapy: {problem}")


def finish(problems: Iterable[str]) -> None:
    """Tell what is missing from what was shown; exit 1 where something is."""
    missing = list(problems)
    tell_problems(missing)
    if missing:
        raise typer.Exit(1)
