"""SCRAM credentials as ConfigCommand asks for them, made as ``kafkapy.metadata.scram`` does (RFC 5802).

    SaltedPassword = PBKDF2-HMAC(password, salt, iterations)
    StoredKey      = H(HMAC(SaltedPassword, "Client Key"))
    ServerKey      = HMAC(SaltedPassword, "Server Key")

The metadata log gets the salt, the iterations and the two keys; the password is not kept anywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kafkapy.errors import FormatError, KafkaError, UsageError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.metadata.changes import AlterScramCredential
from kafkapy.metadata.scram import (
    DEFAULT_ITERATIONS,
    MAX_ITERATIONS,
    MECHANISM_NUMBERS,
    MIN_ITERATIONS,
    credential,
    salted_password,
)


class ScramSpec(NamedTuple):
    """What ``--add-config 'SCRAM-SHA-256=[iterations=8192,password=pw]'`` asks for."""

    iterations: int
    password: str


def parse_spec(mechanism: str, text: str) -> ScramSpec:
    """The text after ``SCRAM-SHA-256=``, already without its brackets."""
    import re

    match = re.fullmatch(r"(?:iterations=(-?[0-9]*),)?password=(.*)", text)
    if not match:
        # Kafka's tool repeats the text, which has the password in it.
        raise UsageError(
            f"Invalid credential property {mechanism.replace('-', '_')}: it has to be [password=...] or "
            "[iterations=N,password=...]"
        )
    iterations = _parse_iterations(match[1])
    if iterations < MIN_ITERATIONS:
        raise UsageError(f"Iterations {iterations} is less than the minimum {MIN_ITERATIONS} required for {mechanism}")
    return ScramSpec(iterations, match[2])


def _parse_iterations(text: str | None) -> int:
    if text in (None, "-1"):
        return DEFAULT_ITERATIONS
    try:
        return parse_int(text or "")
    except FormatError as error:
        raise UsageError(str(error)) from None


def check_alteration(
    user: str, upserted: Sequence[ScramSpec], deleted: Sequence[str], existing: Collection[str]
) -> None:
    """Raises the KafkaError with which the client or the controller refuses to change a user's credentials.

    ``deleted`` and ``existing`` are mechanisms. Kafka 4.3.1 takes one mechanism of a user at a time.
    """
    if not user:
        raise _unacceptable("Username must not be empty")
    if not all(spec.password for spec in upserted):
        raise _unacceptable("Password must not be empty")
    if deleted and deleted[0] not in existing:
        raise KafkaError("ResourceNotFoundException", "Attempt to delete a user credential that does not exist")
    if not deleted and upserted and upserted[0].iterations > MAX_ITERATIONS:
        raise _unacceptable("Too many iterations")
    if len(upserted) + len(deleted) > 1:
        raise KafkaError("DuplicateResourceException", "A user credential cannot be altered twice in the same request")


def _unacceptable(message: str) -> KafkaError:
    return KafkaError("UnacceptableCredentialException", message)


def upsertion(user: str, mechanism: str, spec: ScramSpec, salt: bytes) -> AlterScramCredential:
    """The change that gives a user the credential of a password."""
    number = MECHANISM_NUMBERS[mechanism]
    salted = salted_password(number, spec.password, salt, spec.iterations)
    return AlterScramCredential(user, number, credential(number, salted, salt, spec.iterations), salted)
