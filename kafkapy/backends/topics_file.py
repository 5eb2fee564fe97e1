"""Topics as a file says they should be, and the changes that make them so.

    orders:                      # or a list, of entries with a name
      partitions: 6
      replication_factor: 3      # or assignment: [[1, 2], [2, 3]], the brokers of each partition
      configs:
        retention.ms: 86400000
        cleanup.policy: [compact, delete]
      prune_configs: true        # remove configs that are not listed

A topic that is not there is created, one with fewer partitions gets more, configs are set. What a topic does not name
stays as it is; topics that the file does not name are left alone, and none is ever deleted. What cannot be done so,
such as fewer partitions or another replication factor, is refused before anything is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

from kafkapy.backends.cluster import Cluster
from kafkapy.errors import FormatError, KafkaError, KafkapyError
from kafkapy.metadata.changes import DEFAULT, AlterConfigs, Change, CreatePartitions, CreateTopic
from kafkapy.metadata.config_checks import checker
from kafkapy.metadata.configs.effective import DYNAMIC_SOURCES, ConfigEntry
from kafkapy.metadata.controller import Controller
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import BROKER, EMPTY, TOPIC, MetadataImage
from kafkapy.metadata.topics_image import TopicImage

Assignment = tuple[tuple[int, ...], ...]
FIELDS = ("partitions", "replication_factor", "assignment", "configs", "prune_configs")


class WantedTopic(NamedTuple):
    """A topic of the file; None is what it leaves open."""

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignment: Assignment = ()
    configs: Mapping[str, str] = {}
    prune_configs: bool = False


class Step(NamedTuple):
    """One thing that would change: ``action`` is create, add_partitions, set_config or remove_config."""

    topic: str
    action: str
    config: str | None = None
    before: str | int | None = None
    after: str | int | None = None

    @property
    def line(self) -> str:
        """What a person reads."""
        if self.action == "create":
            return f"+ {self.topic}: create with {self.after}"
        if self.action == "add_partitions":
            return f"~ {self.topic}: partitions {self.before} -> {self.after}"
        before = "not set" if self.before is None else self.before
        if self.action == "set_config":
            return f"~ {self.topic}: set {self.config}={self.after} (was {before})"
        return f"~ {self.topic}: remove {self.config} (was {before})"


class Defaults(NamedTuple):
    """What a topic gets that does not say how many."""

    partitions: int = 1
    replication_factor: int = 1


KAFKA_DEFAULTS = Defaults()


class Plan(NamedTuple):
    """The changes for ``Cluster.apply``, and what they come to."""

    changes: tuple[Change, ...]
    steps: tuple[Step, ...]


def parse_topics(data: bytes, location: str) -> list[WantedTopic]:
    """The topics of a file; ``location`` is what errors name."""
    import yaml

    try:
        document = yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise FormatError(f"{location}: not YAML: {' '.join(str(error).split())}") from None
    topics = [_topic(name, fields, location) for name, fields in _entries(document, location)]
    seen: set[str] = set()
    for topic in topics:
        if topic.name in seen:
            raise FormatError(f"{location}: topic {topic.name} is listed twice")
        seen.add(topic.name)
    return topics


def plan_topics(cluster: Cluster, wanted: list[WantedTopic]) -> Plan:
    """What has to change in a cluster, of whose metadata only what concerns these topics is asked for."""
    image = cluster.image()
    topics = {each.name: image.topics[each.name] for each in wanted if each.name in image.topics}
    own = {name: _own(entries) for name, entries in cluster.config_entries(TOPIC, list(topics)).items()}
    concerned = EMPTY._replace(
        features=dict(image.features),
        brokers=dict(image.brokers),
        topics=topics,
        topics_by_id={topic.id: topic for topic in topics.values()},
        configs={(BROKER, ""): image.config(BROKER, ""), **{(TOPIC, name): configs for name, configs in own.items()}},
    )
    return make_plan(concerned, wanted, _defaults(cluster))


def _own(entries: list[ConfigEntry] | KafkapyError) -> dict[str, str]:
    if isinstance(entries, KafkapyError):
        raise entries
    return {entry.name: entry.value or "" for entry in entries if entry.source == DYNAMIC_SOURCES["topics"]}


def _defaults(cluster: Cluster) -> Defaults:
    """As one of the brokers has them."""
    broker = str(min(cluster.live_brokers))
    entries = cluster.config_entries(BROKER, [broker])[broker]
    if isinstance(entries, KafkapyError):
        raise entries
    values = {entry.name: entry.value for entry in entries}
    return Defaults(int(values.get("num.partitions") or 1), int(values.get("default.replication.factor") or 1))


def make_plan(image: MetadataImage, wanted: list[WantedTopic], defaults: Defaults = KAFKA_DEFAULTS) -> Plan:
    """What has to change for the topics to be as wanted; a KafkapyError names all that cannot be done."""
    changes: list[Change] = []
    steps: list[Step] = []
    refused: list[str] = []
    for topic in wanted:
        existing = image.topics.get(topic.name)
        problems = [] if existing is None else list(_problems(topic, existing))
        try:
            new = list(_changes(image, topic, existing))
            after = image if problems else _after(image, new, defaults)
        except KafkaError as error:
            problems.append(f"{topic.name}: {error}")
        refused += problems
        if not problems:
            steps += _steps(image, after, topic.name)
            changes += new
            image = after
    if refused:
        raise KafkapyError(f"nothing was changed: {'; '.join(refused)}")
    return Plan(tuple(changes), tuple(steps))


def _creation(topic: WantedTopic) -> CreateTopic:
    return CreateTopic(
        topic.name,
        DEFAULT if topic.partitions is None else topic.partitions,
        DEFAULT if topic.replication_factor is None else topic.replication_factor,
        topic.assignment,
        topic.configs,
    )


def _problems(wanted: WantedTopic, topic: TopicImage) -> Iterator[str]:
    present, first = len(topic.partitions), topic.partitions[min(topic.partitions)]
    count = len(wanted.assignment) or wanted.partitions
    if count is not None and count < present:
        yield f"{topic.name} has {present} partitions, and cannot have fewer: the file says {count}"
    factor = len(first.replicas) - len(first.adding_replicas)
    if wanted.replication_factor not in (None, factor):
        yield (
            f"{topic.name} has replication factor {factor}, and the file says {wanted.replication_factor}: "
            "that takes a reassignment"
        )
    for number, replicas in enumerate(wanted.assignment[:present]):
        if replicas != topic.partitions[number].replicas:
            yield (
                f"{topic.name}-{number} is on brokers {list(topic.partitions[number].replicas)}, and the file says "
                f"{list(replicas)}: that takes a reassignment"
            )


def _changes(image: MetadataImage, wanted: WantedTopic, topic: TopicImage | None) -> Iterator[Change]:
    if topic is None:
        yield _creation(wanted)
        return
    present, count = len(topic.partitions), len(wanted.assignment) or wanted.partitions
    if count is not None and count > present:
        yield CreatePartitions(topic.name, count, wanted.assignment[present:] or None)
    before = image.config(TOPIC, topic.name)
    changed = {name: value for name, value in wanted.configs.items() if before.get(name) != value}
    removed = tuple(name for name in sorted(before) if wanted.prune_configs and name not in wanted.configs)
    if changed or removed:
        yield AlterConfigs(TOPIC, topic.name, changed, removed)


def _after(image: MetadataImage, changes: list[Change], defaults: Defaults) -> MetadataImage:
    """The image if the changes were made; where replicas would go is left to chance."""
    for change in changes:
        controller = Controller(
            image,
            Random(0),
            checker(image),
            live=set(image.brokers),
            default_partitions=defaults.partitions,
            default_replication_factor=defaults.replication_factor,
        )
        image = replay(image, controller.apply(change))
    return image


def _steps(before: MetadataImage, after: MetadataImage, name: str) -> Iterator[Step]:
    old, new = before.topics.get(name), after.topics[name]
    old_configs, new_configs = before.config(TOPIC, name), after.config(TOPIC, name)
    if old is None:
        yield Step(name, "create", after=_described(new, new_configs))
        return
    if len(old.partitions) != len(new.partitions):
        yield Step(name, "add_partitions", before=len(old.partitions), after=len(new.partitions))
    for config in sorted({*old_configs, *new_configs}):
        if config not in new_configs:
            yield Step(name, "remove_config", config, old_configs[config])
        elif old_configs.get(config) != new_configs[config]:
            yield Step(name, "set_config", config, old_configs.get(config), new_configs[config])


def _described(topic: TopicImage, configs: Mapping[str, str]) -> str:
    replicas = len(topic.partitions[0].replicas)
    shown = ", ".join(f"{name}={value}" for name, value in sorted(configs.items()))
    return f"partitions={len(topic.partitions)}, replication_factor={replicas}" + (f", {shown}" if shown else "")


def _entries(document: Any, location: str) -> Iterator[tuple[Any, Any]]:
    if isinstance(document, dict):
        yield from document.items()
    elif isinstance(document, list) and all(isinstance(entry, dict) and "name" in entry for entry in document):
        for entry in document:
            yield entry["name"], {key: value for key, value in entry.items() if key != "name"}
    else:
        raise FormatError(f"{location}: expected topics by name, or a list of topics that have a name each")


def _topic(name: Any, fields: Any, location: str) -> WantedTopic:
    place = f"{location}: topic {name}"
    if not isinstance(name, str):
        raise FormatError(f"{place}: a name must be text: put it in quotes")
    fields = {} if fields is None else fields
    if not isinstance(fields, dict):
        raise FormatError(f"{place}: expected fields with values")
    unknown = next((key for key in fields if key not in FIELDS), None)
    if unknown is not None:
        raise FormatError(f"{place}: unknown field {unknown}; the fields are {', '.join(FIELDS)}")
    prune = fields.get("prune_configs", False)
    if not isinstance(prune, bool):
        raise FormatError(f"{place}: prune_configs must be true or false")
    partitions, factor = (_count(fields, key, place) for key in ("partitions", "replication_factor"))
    assignment = _assignment(fields.get("assignment"), place)
    if assignment and (partitions, factor) != (None, None):
        raise FormatError(f"{place}: assignment already says how many partitions and replicas there are")
    return WantedTopic(name, partitions, factor, assignment, _configs(fields.get("configs"), place), prune)


def _count(fields: Mapping[str, Any], key: str, place: str) -> int | None:
    count = fields.get(key)
    if count is not None and (type(count) is not int or count < 1):
        raise FormatError(f"{place}: {key} must be a whole number of at least 1, not {count}")
    return count


def _assignment(value: Any, place: str) -> Assignment:
    if value is None:
        return ()
    if (
        not isinstance(value, list)
        or not value
        or not all(isinstance(replicas, list) and replicas for replicas in value)
        or not all(type(broker) is int for replicas in value for broker in replicas)
    ):
        raise FormatError(
            f"{place}: assignment must be a list of broker ids for each partition, as in [[1, 2], [2, 3]]"
        )
    return tuple(tuple(replicas) for replicas in value)


def _configs(value: Any, place: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FormatError(f"{place}: configs must be names with values")
    return {str(name): _config_value(each, f"{place}: config {name}") for name, each in value.items()}


def _config_value(value: Any, place: str) -> str:
    """A config's text: what YAML made a number or a truth value is what Kafka's parser would read."""
    if isinstance(value, list):
        return ",".join(_config_value(each, place) for each in value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise FormatError(f"{place}: its value is not one that a config can have")
