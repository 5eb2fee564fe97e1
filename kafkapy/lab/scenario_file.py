"""Scenarios as files.

    title: What it is about            # one line
    text: What it shows, and why       # a paragraph or more
    setup:
      topics: {t: [1, 2]}              # the brokers of each topic's partition, in assignment order: the first leads
      configs: {min.insync.replicas: 2}
      leader-epochs: off               # as before Kafka 0.11
      eligible-leader-replicas: on
      replica-lag-time-max-ms: 30000
      acks: all                        # of a produce that does not say
    steps:
      - produce: m1                    # a step is one word of ``steps.STEPS`` with its argument and its options,
        acks: 1
        say: Words for who watches     # and may have words, an error that it must end in, and claims
        fails: NotEnoughReplicasException
        expect: {leader: 1, 2: {leo: 0, hw: 0}}
        assert: {acknowledged: [m1]}
      - catch-up                       # a step without an argument is its name alone

Whatever is not as it should be is a FormatError with the line, and the number of the step.
"""

from __future__ import annotations

from kafkapy.errors import FormatError, KafkaError
from kafkapy.lab.claims import assertions, expectations
from kafkapy.lab.place import Place, parse
from kafkapy.lab.produce_steps import acks
from kafkapy.lab.scenario import Claim, Scenario, Setup, Step
from kafkapy.lab.step_kind import StepKind
from kafkapy.lab.steps import STEPS
from kafkapy.metadata.config_control import MIN_IN_SYNC_REPLICAS

DEFAULT_TOPICS = {"t": (1, 2)}
SETUP = ("topics", "configs", "leader-epochs", "eligible-leader-replicas", "replica-lag-time-max-ms", "acks")
CONFIGS = (MIN_IN_SYNC_REPLICAS, "unclean.leader.election.enable")
OF_EVERY_STEP = ("say", "fails", "expect", "assert")
OPTIONS = ("topic", *dict.fromkeys(option for kind in STEPS.values() for option in kind.options))


def read_scenario(path: str) -> Scenario:
    """The scenario of a file."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return parse_scenario(data.decode(), path)
    except UnicodeDecodeError:
        raise FormatError(f"{path}: not UTF-8") from None


def parse_scenario(text: str, location: str) -> Scenario:
    """The scenario of a text; ``location`` is what errors name."""
    document = parse(text, location)
    fields = document.fields("a scenario", ("title", "text", "setup", "steps"))
    for needed in ("title", "steps"):
        if needed not in fields:
            raise document.error(f"a scenario must have {needed}")
    setup = _setup(fields["setup"]) if "setup" in fields else Setup(DEFAULT_TOPICS, {})
    steps = [_step(number, place, setup) for number, place in enumerate(fields["steps"].items("steps"), 1)]
    words = fields["text"].text("text").strip() if "text" in fields else ""
    return Scenario(location, fields["title"].text("title"), words, setup, tuple(steps))


def _setup(place: Place) -> Setup:
    fields = place.fields("setup", SETUP)
    setup = Setup(
        _topics(fields["topics"]) if "topics" in fields else DEFAULT_TOPICS,
        _configs(fields["configs"]) if "configs" in fields else {},
    )
    if "leader-epochs" in fields:
        setup = setup._replace(leader_epochs=fields["leader-epochs"].flag("leader-epochs"))
    if "eligible-leader-replicas" in fields:
        field = fields["eligible-leader-replicas"]
        setup = setup._replace(eligible_leader_replicas=field.flag("eligible-leader-replicas"))
    if "replica-lag-time-max-ms" in fields:
        field = fields["replica-lag-time-max-ms"]
        setup = setup._replace(replica_lag_time_max_ms=field.integer("replica-lag-time-max-ms", least=1))
    if "acks" in fields:
        setup = setup._replace(acks=acks("acks", fields["acks"], setup))
    return setup


def _topics(place: Place) -> dict[str, tuple[int, ...]]:
    from kafkapy.metadata.topic_names import validate

    topics = {}
    for topic, field in place.fields("topics").items():
        try:
            validate(topic)
        except KafkaError as error:
            raise field.error(f"topic {topic}: {error}") from None
        replicas = tuple(each.integer(f"topic {topic}") for each in field.items(f"topic {topic}"))
        if not replicas or len(set(replicas)) < len(replicas):
            raise field.error(f"topic {topic}: expected brokers, each once, in assignment order")
        topics[topic] = replicas
    if not topics:
        raise place.error("topics: there must be at least one")
    return topics


def _configs(place: Place) -> dict[str, str]:
    found = {}
    for name, field in place.fields("configs", CONFIGS).items():
        if name == MIN_IN_SYNC_REPLICAS:
            found[name] = str(field.integer(name, least=1))
        else:
            found[name] = str(field.flag(name)).lower()
    return found


def _step(number: int, place: Place, setup: Setup) -> Step:
    place.within = f"step {number}"
    if not place.is_mapping:
        alone = place.one_of("", [name for name, kind in STEPS.items() if kind.argument is None])
        return Step(number, place.line, alone, None, {}, alone)
    fields = place.fields("", (*STEPS, *OPTIONS, *OF_EVERY_STEP))
    actions = [name for name in fields if name in STEPS]
    if len(actions) > 1:
        raise fields[actions[1]].error(f"a step does one thing: {actions[0]} or {actions[1]}")
    options = {name: fields[name] for name in fields if name in OPTIONS}
    if not actions:
        for name, field in options.items():
            raise field.error(f"{name} only works with a step, and there is none here")
    action = next(iter(actions), None)
    step = Step(number, place.line, action, None, {}, _text(action, fields), claims=_claims(fields, setup))
    if action is not None:
        step = _with_action(step, STEPS[action], fields[action], options, setup)
    return step._replace(
        say=fields["say"].text("say").strip() if "say" in fields else "",
        fails=fields["fails"].text("fails") if "fails" in fields else None,
    )


def _with_action(step: Step, kind: StepKind, place: Place, options: dict[str, Place], setup: Setup) -> Step:
    assert step.action is not None
    if kind.argument is None and place.value is not None:
        raise place.error(f"{step.action}: takes no argument")
    argument = None if kind.argument is None else kind.argument(step.action, place, setup)
    allowed = (*kind.options, "topic") if kind.topic else (*kind.options,)
    found = {}
    for name, field in options.items():
        if name not in allowed:
            raise field.error(f"{step.action}: has no option {name}; its options are {', '.join(allowed) or 'none'}")
        if name == "topic":
            found[name] = field.one_of("topic", setup.topics)
        else:
            found[name] = kind.options[name](name, field, setup)
    if kind.topic == "one" and len(setup.topics) > 1 and "topic" not in found:
        raise place.error(f"{step.action}: which topic? There are {', '.join(setup.topics)}")
    return step._replace(argument=argument, options=found)


def _claims(fields: dict[str, Place], setup: Setup) -> tuple[Claim, ...]:
    expected = expectations(fields["expect"], setup) if "expect" in fields else ()
    asserted = assertions(fields["assert"], setup) if "assert" in fields else ()
    return (*expected, *asserted)


def _text(action: str | None, fields: dict[str, Place]) -> str:
    """The step as one line."""
    if action is None:
        return "look"
    parts = [f"{action}: {_plain(fields[action])}" if fields[action].value is not None else action]
    parts += [f"{name}: {_plain(fields[name])}" for name in fields if name in OPTIONS]
    return ", ".join(parts)


def _plain(place: Place) -> str:
    value = place.value
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)
