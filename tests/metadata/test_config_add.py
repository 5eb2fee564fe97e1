"""--add-config, --add-config-file and --delete-config."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import UsageError
from kafkapy.metadata.configs.add_config import parse_add_config, parse_add_config_file, parse_delete_config

_NAME = st.text("abc.-_1", min_size=1)
_VALUE = st.text("xyz:/ 9", max_size=8).map(str.strip)


@given(st.dictionaries(_NAME, st.lists(_VALUE, min_size=1, max_size=3), min_size=1))
def test_pairs_come_back(configs: dict[str, list[str]]) -> None:
    text = ",".join(f"{name}=[{','.join(values)}]" for name, values in configs.items())
    assert parse_add_config(text) == {name: ",".join(values).strip() for name, values in configs.items()}


@pytest.mark.parametrize(
    ("text", "configs"),
    [
        ("k=v", {"k": "v"}),
        (" k = v , l=[a,b]", {"k": "v", "l": "a,b"}),
        ("k=", {"k": ""}),
        ("k=v,k=w", {"k": "w"}),
        (",", {}),
        ("SCRAM-SHA-256=[iterations=8192,password=pw]", {"SCRAM-SHA-256": "iterations=8192,password=pw"}),
    ],
)
def test_what_is_added(text: str, configs: dict[str, str]) -> None:
    assert parse_add_config(text) == configs


@pytest.mark.parametrize("text", ["", "k", "k=a=b", "k=v,,l=w"])
def test_what_is_no_pair(text: str) -> None:
    with pytest.raises(UsageError, match=r"^requirement failed: Invalid entity config: all configs to be added must"):
        parse_add_config(text)


def test_keys_with_other_characters() -> None:
    with pytest.raises(UsageError, match=r"^Invalid character found for config key: k!$"):
        parse_add_config("k!=v")
    with pytest.raises(UsageError, match=r"^Invalid character found for config key: k/l$"):
        parse_add_config_file(b"k/l=v")


def test_a_file_of_configs() -> None:
    assert parse_add_config_file(b"# comment\nk=v\nl : a,b\\\n ,c\n") == {"k": "v", "l": "a,b,c"}


def test_what_is_deleted() -> None:
    assert parse_delete_config(["a, b", "c,,d,"]) == ["a", "b", "c", "d"]
