"""What metavars say, and that every option whose value can be completed says so."""

from __future__ import annotations

import pytest

from kafkapy.command_tree import command_tree, walk
from kafkapy.value_kind import ValueKind, choices, file_suffix, takes_directories, takes_files, value_kind

PARTITION = ValueKind("PARTITION")
VALUE = ValueKind("VALUE")
ONLY_THE_USER_KNOWS = {
    *("BYTES", "CLASS", "COMMAND", "DURATION", "EPOCH", "HOST", "ID", "MINUTES", "MS", "N"),
    *("NAME=VALUE", "N|LIST", "OFFSET", "PART", "PORT", "PROTOCOL", "REGEX", "SIZE", "TIME", "TIME[,TIME...]"),
    *("ID@HOST:PORT:DIRECTORY-ID[,...]", "NAME:COUNT[,...]", "RACK[,...]", "RACK[,RACK...]", "[STATEMENT...]"),
}


@pytest.mark.parametrize(
    ("metavar", "kind"),
    [
        ("TOPIC", ValueKind("TOPIC")),
        ("TOPIC[,TOPIC...]", ValueKind("TOPIC", ",")),
        ("CONFIG=VALUE", ValueKind("CONFIG", "", "=", VALUE, True)),
        ("CONFIG=VALUE[,...]", ValueKind("CONFIG", ",", "=", VALUE, True)),
        ("TOPIC[:PARTITION,...]", ValueKind("TOPIC", "", ":", PARTITION._replace(separators=","))),
        ("TOPIC:PARTITION[,...]", ValueKind("TOPIC", ",", ":", PARTITION, True)),
        ("TOPIC[:PARTITION][,...]", ValueKind("TOPIC", ",", ":", PARTITION)),
        ("TOPIC[:PARTITION]", ValueKind("TOPIC", "", ":", PARTITION)),
        ("TOPIC:CONFIG=VALUE", ValueKind("TOPIC", "", ":", ValueKind("CONFIG", "", "=", VALUE, True), True)),
        ("BROKER:BROKER[,...]", ValueKind("BROKER", ":,")),
        ("COL[:desc]", ValueKind("COL", "", ":", ValueKind("desc"))),
        ("SCENARIO|FILE.yaml", ValueKind("SCENARIO", or_file=True)),
        ("TOPIC|REGEX", ValueKind("TOPIC")),
        ("SPEC|MS", ValueKind("SPEC")),
        ("HOST:PORT[,...]", ValueKind("HOST:PORT", ",")),
        ("EVENT@N", ValueKind("EVENT")),
        ("HOST", None),
        ("PROPERTY=VALUE", ValueKind("PROPERTY", "", "=", VALUE, True)),
        ("[cat|ls [METADATA-PATH...]]", ValueKind("cat|ls", "", " ", ValueKind("METADATA-PATH"))),
        ("[CONTEXT]", ValueKind("CONTEXT")),
        ("[PAGE...]", ValueKind("PAGE")),
        ("[STATE,...]", ValueKind("STATE", ",")),
        ("[classic|consumer,...]", ValueKind("classic|consumer", ",")),
        ("topic|date[,...]", ValueKind("topic|date", ",")),
        ("TRANSACTIONAL-ID", ValueKind("TRANSACTIONAL-ID")),
        ("TOPICS", None),
        ("N", None),
    ],
)
def test_a_metavar_says_what_a_value_is(metavar: str, kind: ValueKind | None) -> None:
    assert value_kind(metavar) == kind


def test_a_metavar_of_small_letters_has_the_choices() -> None:
    assert choices("classic|consumer") == ("classic", "consumer")
    assert choices("[none|gzip]") == ("none", "gzip")
    assert choices("all|-1|0|1") == ("all", "-1", "0", "1")
    assert choices("earliest|latest|OFFSET") == ("earliest", "latest")
    assert choices("NAME|FILE.yaml") == choices("topic|date[,...]") == ()


def test_a_metavar_of_files() -> None:
    assert all(map(takes_files, ("FILE", "DIR[,DIR...]", "[DIR]", "PATH", "FILE.yaml")))
    assert not any(map(takes_files, ("DIRECTORY-ID", "SCENARIO|FILE.yaml")))
    assert all(map(takes_directories, ("DIR", "DIR[,DIR...]", "[DIR]")))
    assert not any(map(takes_directories, ("FILE", "PATH", "DIRECTORY-ID")))
    assert [file_suffix(each) for each in ("FILE.json", "FILE", "SCENARIO|FILE.yaml", "DIR")] == [".json", "", "", ""]


def test_every_option_completes_but_those_that_only_the_user_knows() -> None:
    """A new option that takes a name has to say which; one that does not is listed here."""
    silent = {
        each.metavar
        for node in walk(command_tree())
        for each in (*node.options, *node.arguments)
        if each.metavar and not (each.choices or each.takes_files or each.value_kind)
    }
    assert silent == ONLY_THE_USER_KNOWS


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("--topic", "TOPIC"),
        ("--topic-id", "TOPIC-ID"),
        ("--group", "GROUP"),
        ("--broker", "BROKER"),
        ("--broker-list", "BROKER"),
        ("--partition", "PARTITION"),
        ("--transactional-id", "TRANSACTIONAL-ID"),
        ("--producer-id", "PRODUCER-ID"),
        ("--feature", "FEATURE"),
        ("--release-version", "RELEASE"),
        ("--state", "STATE"),
        ("--sort-by", "COL"),
        ("--context", "CONTEXT"),
    ],
)
def test_every_option_of_that_name_takes_that_kind(option: str, kind: str) -> None:
    found = {
        (" ".join(node.path), each.value_kind.kind if each.value_kind else each.metavar)
        for node in walk(command_tree())
        for each in node.options
        if option in each.names
    }
    assert {(path, kind) for path, _ in found} == found != set()
