"""Tables, values and validators of configs. What Kafka itself says is in tests/reference."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import FormatError, KafkaError
from kafkapy.metadata.configs.config_def import ConfigKey, default_value, definition, parse, parse_value
from kafkapy.metadata.configs.config_types import check_value_sizes, parse_double, parse_type, to_text

TABLES = ("topic", "broker", "group", "client_metrics", "broker_quota", "client_quota", "ip_quota")


def key(config_type: str, validator: str = "-") -> ConfigKey:
    return ConfigKey("c", config_type, None, False, validator, "LOW", None, "read-only", False)


def refusal(config_key: ConfigKey, text: str) -> str:
    with pytest.raises(KafkaError) as refused:
        parse_value(config_key, text)
    assert refused.value.name == "InvalidConfigurationException"
    return str(refused.value)


@pytest.mark.parametrize("of", TABLES)
def test_every_default_is_a_value_of_its_config(of: str) -> None:
    for config in definition(of).values():
        if config.default is not None:
            assert to_text(parse_value(config, config.default)) == config.default
        assert to_text(default_value(config)) == config.default


@pytest.mark.parametrize("of", TABLES)
def test_names_are_unique(of: str) -> None:
    names = list(definition(of))
    assert len(names) == len(set(names)) > 0


def test_every_synonym_is_a_broker_config() -> None:
    for of in ("topic", "group"):
        assert all(config.synonym in definition("broker") for config in definition(of).values() if config.synonym)


@pytest.mark.parametrize(
    ("config_type", "text", "reason"),
    [
        ("BOOLEAN", "yes", "Expected value to be either true or false"),
        ("INT", "2147483648", "Not a number of type INT"),
        ("SHORT", "32768", "Not a number of type SHORT"),
        ("LONG", " abc", "Not a number of type LONG"),
        ("LONG", "", "Not a number of type LONG"),
        ("DOUBLE", "1_0", "Not a number of type DOUBLE"),
    ],
)
def test_text_of_the_wrong_type(config_type: str, text: str, reason: str) -> None:
    assert refusal(key(config_type), text) == f"Invalid value {text} for configuration c: {reason}"


@pytest.mark.parametrize(
    ("config_type", "validator", "text", "message"),
    [
        ("INT", "5..", "4", "Invalid value 4 for configuration c: Value must be at least 5"),
        ("DOUBLE", "0..1", "2", "Invalid value 2.0 for configuration c: Value must be no more than 1"),
        ("INT", "1..9|-1", "0", "Invalid value 0 for configuration c: Value must be between 1 and 9 or equal to -1"),
        ("STRING", "in:a|b", "A", "Invalid value A for configuration c: String must be one of: a, b"),
        ("STRING", "non-empty", " ", "Invalid value  for configuration c: String must be non-empty"),
        ("LIST", "list", "a,,b", "Configuration 'c' values must not be empty."),
        ("LIST", "list:a|b", "a,x", "Invalid value x for configuration c: String must be one of: a, b"),
        (
            "LIST",
            "non-empty-list",
            "",
            "Configuration 'c' must not be empty. Valid values include: any non-empty value",
        ),
    ],
)
def test_values_that_a_validator_refuses(config_type: str, validator: str, text: str, message: str) -> None:
    assert refusal(key(config_type, validator), text) == message


@given(st.integers(-(2**63), 2**63 - 1))
def test_longs_come_back(number: int) -> None:
    assert to_text(parse_value(key("LONG"), f"  {number}\n")) == str(number)


@given(st.floats())
def test_doubles_come_back(number: float) -> None:
    value = parse_double(str(to_text(number)))
    assert value == number or (math.isnan(value) and math.isnan(number))


@given(st.text())
def test_doubles_are_numbers_or_refused(text: str) -> None:
    try:
        value = parse_double(text)
    except FormatError:
        return
    assert isinstance(value, float)


def test_a_huge_hexadecimal_double_is_infinite() -> None:
    assert parse_double("-0x1p99999") == -math.inf


@given(
    st.lists(st.text(st.characters(codec="ascii", exclude_characters=", \t\n\x0b\f\r", min_codepoint=33), min_size=1))
)
def test_lists_come_back_without_blanks_and_repetitions(elements: list[str]) -> None:
    text = " , ".join(elements)
    assert parse_type("c", text, "LIST") == elements
    assert parse_value(key("LIST", "list"), text) == list(dict.fromkeys(elements))


def test_parse_gives_every_config_and_passes_over_others() -> None:
    keys = definition("client_metrics")
    assert parse(keys, {"interval.ms": "7", "nosuch": "1"}) == {"metrics": [], "interval.ms": 7, "match": []}


def test_a_required_config_has_to_be_given() -> None:
    with pytest.raises(KafkaError, match='Missing required configuration "process'):
        parse(definition("broker"), {})


def test_a_value_that_no_record_holds() -> None:
    check_value_sizes({"c": "x" * 32767})
    with pytest.raises(KafkaError, match="exceeds the maximum value size of 32767 bytes"):
        check_value_sizes({"c": "\U0001f600" * 16384})
