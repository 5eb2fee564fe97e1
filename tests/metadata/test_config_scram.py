"""SCRAM credentials."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.errors import KafkaError, UsageError
from kafkapy.metadata.configs.scram import (
    ScramSpec,
    check_alteration,
    parse_spec,
    upsertion,
)
from kafkapy.metadata.scram import new_salt


def test_specs() -> None:
    assert parse_spec("SCRAM-SHA-256", "iterations=8192,password=pw") == ScramSpec(8192, "pw")
    assert parse_spec("SCRAM-SHA-256", "iterations=-1,password=pw") == ScramSpec(4096, "pw")
    assert parse_spec("SCRAM-SHA-512", "password=a,b=c") == ScramSpec(4096, "a,b=c")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "passwd=x",
            "Invalid credential property SCRAM_SHA_256: it has to be [password=...] or [iterations=N,password=...]",
        ),
        ("iterations=5,password=x", "Iterations 5 is less than the minimum 4096 required for SCRAM-SHA-256"),
        ("iterations=,password=x", 'For input string: ""'),
    ],
)
def test_refused_specs(text: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_spec("SCRAM-SHA-256", text)
    assert str(refused.value) == message


def test_the_example_of_rfc_7677() -> None:
    import base64

    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    credential = upsertion("u", "SCRAM-SHA-256", ScramSpec(4096, "pencil"), salt).credential
    assert credential is not None
    assert base64.b64encode(credential.stored_key) == b"WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY="
    assert base64.b64encode(credential.server_key) == b"wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    assert (credential.salt, credential.iterations) == (salt, 4096)


def test_refused_alterations() -> None:
    good, other = ScramSpec(4096, "pw"), "SCRAM-SHA-512"
    check_alteration("u", [good], [], [])
    check_alteration("u", [], [other], [other])
    with pytest.raises(KafkaError, match="Too many iterations"):
        check_alteration("u", [ScramSpec(16385, "pw")], [], [])
    with pytest.raises(KafkaError, match="Password must not be empty"):
        check_alteration("u", [ScramSpec(4096, "")], [], [])
    with pytest.raises(KafkaError, match="cannot be altered twice in the same request"):
        check_alteration("u", [good], [other], [other])
    with pytest.raises(KafkaError, match="does not exist"):
        check_alteration("u", [good], [other], [])
    with pytest.raises(KafkaError, match="Username must not be empty"):
        check_alteration("", [], [other], [other])


@given(st.integers())
def test_salts_are_numbers_of_130_bits_in_base_36(seed: int) -> None:
    salt = new_salt(Random(seed))
    assert int(salt, 36) == Random(seed).getrandbits(130)
