"""SCRAM against the example of RFC 7677, and brokers that cheat."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest

from kafkapy.backends.live.library.sasl_mechanisms import MechanismError, Scram, scram_name

NONCE = b"rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
CLIENT_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)
SERVER_FINAL = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def scram(user: str = "user", by_token: bool = False) -> Any:
    made = Scram(
        sasl_mechanism="SCRAM-SHA-256",
        sasl_plain_username=scram_name(user, by_token),
        sasl_plain_password="pencil",
        security_protocol="SASL_SSL",
    )
    made._scram_client.nonce = NONCE
    return made


def test_the_example_of_the_rfc() -> None:
    client = scram()
    assert client.auth_bytes() == b"n,,n=user,r=" + NONCE
    client.receive(SERVER_FIRST)
    assert client.auth_bytes() == CLIENT_FINAL
    client.receive(SERVER_FINAL)
    assert client.is_authenticated()


def test_names_are_escaped_and_tokens_marked() -> None:
    assert scram("a=b,c").auth_bytes() == b"n,,n=a=3Db=2Cc,r=" + NONCE
    assert scram("id", by_token=True).auth_bytes() == b"n,,n=id,r=" + NONCE + b",tokenauth=true"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (SERVER_FIRST.replace(b"i=4096", b"i=4095"), "it asks for 4095 SCRAM iterations, fewer than 4096"),
        (SERVER_FIRST.replace(b"rOpr", b"xxxx"), "its first SCRAM message makes no sense"),
        (b"e=other-error", "its first SCRAM message makes no sense"),
        (b"\xff", "its first SCRAM message makes no sense"),
    ],
)
def test_a_broker_whose_first_message_is_wrong(message: bytes, reason: str) -> None:
    client = scram()
    client.auth_bytes()
    with pytest.raises(MechanismError, match=re.escape(reason)):
        client.receive(message)


@pytest.mark.parametrize("message", [b"v=" + base64.b64encode(bytes(32)), b"v=", b"v=?", b"e=other-error", b""])
def test_a_broker_that_does_not_know_the_password(message: bytes) -> None:
    client = scram()
    client.auth_bytes()
    client.receive(SERVER_FIRST)
    client.auth_bytes()
    with pytest.raises(MechanismError, match="this is not the broker it claims to be"):
        client.receive(message)
    assert not client.is_authenticated()
