"""Addresses of bootstrap servers, as written and as Kerberos wants them."""

from __future__ import annotations

import re

import pytest

from kafkapy.backends.live.library.network import Address, ConnectionLost
from kafkapy.backends.live.opening import canonical, parse_addresses
from kafkapy.errors import UsageError


def test_hosts_and_ports() -> None:
    found = parse_addresses("a:1, [::1]:65535 ,b.c:9092,", "--x")
    assert found == [Address("a", 1), Address("::1", 65535), Address("b.c", 9092)]
    assert [str(each) for each in found] == ["a:1", "[::1]:65535", "b.c:9092"]


def test_the_name_of_a_listener_says_nothing() -> None:
    assert parse_addresses("PLAINTEXT://a:1,SSL://[::1]:2", "--x") == parse_addresses("a:1,[::1]:2", "--x")


@pytest.mark.parametrize("text", ["a", ":1", "a:", "a:0", "a:65536", "a:-1", "a:\u0661", "a:1 b:2", ",", ""])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(UsageError, match=r"--x.*(not HOST:PORT|names no address)"):
        parse_addresses(text, "--x")


def test_canonical_names_are_those_of_the_addresses() -> None:
    found = canonical([Address("127.0.0.1", 9092), Address("127.0.0.1", 9092)])
    assert len(found) == 1
    assert found[0].port == 9092
    with pytest.raises(
        ConnectionLost, match=re.escape("broker no.such.invalid:1 cannot be reached: the name does not")
    ):
        canonical([Address("no.such.invalid", 1)])
