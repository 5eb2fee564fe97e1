"""``kafkapy topics --create``, ``--alter``, ``--delete`` and ``--from-file``."""

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.errors import KafkaError
from kafkapy.output.output_format import Output

from .tool_errors import say
from .topic_reading import missing

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.selection import Selection


class Writing(NamedTuple):
    """How the cluster is opened to be changed."""

    chosen: "Selection"
    sync: bool
    legacy_placement: bool = False

    def open(self) -> "closing[Cluster]":
        from kafkapy.backends.selection import open_cluster_for_writing

        return closing(open_cluster_for_writing(*self))


def run_create(
    writing: Writing,
    topic: str,
    partitions: int | None,
    replication_factor: int | None,
    assignment: str | None,
    configs: list[str],
    if_not_exists: bool,
    output: Output,
) -> None:
    """Create a topic."""
    from kafkapy.backends.topic_changes import check_counts, create_topic, warning

    change = create_topic(topic, partitions, replication_factor, assignment, configs)
    for line in warning(topic):
        say(line, output)
    check_counts(partitions, replication_factor)
    with writing.open() as opened:
        try:
            opened.apply(change)
        except KafkaError as error:
            if not (if_not_exists and error.name == "TopicExistsException"):
                raise
            return
        say(f"Created topic {topic}.", output)


def run_alter(writing: Writing, topic: str, partitions: int, assignment: str | None, if_exists: bool) -> None:
    """Give topics more partitions."""
    from kafkapy.backends.topic_changes import create_partitions

    with writing.open() as opened:
        image, names = opened.image(), _named(opened, topic, if_exists)
        opened.apply(*(create_partitions(image, name, partitions, assignment) for name in names))


def run_delete(writing: Writing, topic: str, if_exists: bool) -> None:
    """Delete topics."""
    from kafkapy.metadata.changes import DeleteTopic

    with writing.open() as opened:
        opened.apply(*(DeleteTopic(name) for name in _named(opened, topic, if_exists)))


def _named(opened: "Cluster", topic: str, if_exists: bool) -> list[str]:
    from kafkapy.metadata.topic_selection import select_topics

    image = opened.image()
    found = [each.name for each in select_topics(image, topic)]
    if not found and topic and not if_exists:
        raise missing("Topic", topic, image.topics)
    return found


def run_from_file(chosen: "Selection", path: str, apply: bool, sync: bool, output: Output) -> None:
    """Compare topics with those of a file, and make them so where that is asked for."""
    from kafkapy.backends.selection import open_cluster
    from kafkapy.backends.topics_file import parse_topics, plan_topics
    from kafkapy.output.printing import print_rows

    with open(path, "rb") as file:
        wanted = parse_topics(file.read(), path)
    with Writing(chosen, sync).open() if apply else closing(open_cluster(chosen)) as opened:
        plan = plan_topics(opened, wanted)
        if apply:
            opened.apply(*plan.changes)
    if not plan.steps:
        print_rows(output, [("Nothing to change: the topics are as the file says.", None)])
    else:
        print_rows(output, [(step.line, {"type": "topic_change", **step._asdict()}) for step in plan.steps])
