"""SCRAM credentials from passwords (RFC 5802), and the argument of ``storage format --add-scram``:

    SCRAM-SHA-256=[name=alice,password=secret,salt="base64",iterations=4096]

``saltedpassword`` may stand for the password, and then needs the salt. What is kept are two keys: who reads the
metadata log can check a login with them and cannot log in.
"""

from __future__ import annotations

from binascii import Error, a2b_base64
from random import Random, SystemRandom

from kafkapy.errors import FormatError, KafkaError
from kafkapy.formats.java_parsing import parse_int
from kafkapy.metadata.security_image import SCRAM_MECHANISMS, ScramCredential

DEFAULT_ITERATIONS = 4096
MIN_ITERATIONS = 4096
MAX_ITERATIONS = 16384
SALT_BITS = 130

MECHANISM_NUMBERS = {name: number for number, name in SCRAM_MECHANISMS.items()}
_DIGESTS = {1: "sha256", 2: "sha512"}


def new_salt(random: Random | None = None) -> bytes:
    """Random characters, as Kafka makes a salt: a number in base 36 of 130 bits; by default the system's randomness."""
    number, text = (random or SystemRandom()).getrandbits(SALT_BITS), ""
    while number or not text:
        number, digit = divmod(number, 36)
        text = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + text
    return text.encode("ascii")


def salted_password(mechanism: int, password: str, salt: bytes, iterations: int) -> bytes:
    import hashlib

    return hashlib.pbkdf2_hmac(_DIGESTS[mechanism], password.encode("utf-8", "surrogateescape"), salt, iterations)


def credential(mechanism: int, salted: bytes, salt: bytes, iterations: int) -> ScramCredential:
    """The keys that a salted password gives."""
    import hashlib
    import hmac

    digest = _DIGESTS[mechanism]
    client_key = hmac.digest(salted, b"Client Key", digest)
    server_key = hmac.digest(salted, b"Server Key", digest)
    return ScramCredential(salt, hashlib.new(digest, client_key).digest(), server_key, iterations)


def parse_argument(argument: str) -> tuple[str, int, ScramCredential]:
    """The user, the mechanism and the credential of an ``--add-scram``; KafkaError in StorageTool's words."""
    mechanism_name, equals, config = argument.strip().partition("=")
    if not equals:
        raise _refused(f"Failed to find equals sign in SCRAM argument '{argument.strip()}'")
    mechanism = MECHANISM_NUMBERS.get(mechanism_name)
    if mechanism is None:
        raise _refused(f"The add-scram mechanism {mechanism_name} is not supported.")
    if not config.startswith("["):
        raise _refused("Expected configuration string to start with [")
    if not config.endswith("]"):
        raise _refused("Expected configuration string to end with ]")
    parts = dict(map(_component, config[1:-1].split(",")))
    name = parts.pop("name", None)
    if name is None:
        raise _refused("You must supply 'name' to add-scram")
    return name, mechanism, _credential_of(mechanism, parts)


def _credential_of(mechanism: int, parts: dict[str, str]) -> ScramCredential:
    given_salt = _decode(parts.pop("salt", None), "salt")
    iterations = _iterations(parts.pop("iterations", None))
    password, salted_text = parts.pop("password", None), parts.pop("saltedpassword", None)
    if password is None and salted_text is None:
        raise _refused("You must supply one of 'password' or 'saltedpassword' to add-scram")
    if password is None and given_salt is None:
        raise _refused("You must supply 'salt' with 'saltedpassword' to add-scram")
    salted = _decode(salted_text, "saltedPassword") if password is None else None
    if parts:
        raise _refused(f"Unknown SCRAM configurations: {', '.join(sorted(parts))}")
    mechanism_text = SCRAM_MECHANISMS[mechanism].replace("-", "_")
    if iterations < MIN_ITERATIONS:
        raise _refused(f"The 'iterations' value must be >= {MIN_ITERATIONS} for add-scram using {mechanism_text}")
    if iterations > MAX_ITERATIONS:
        raise _refused(f"The 'iterations' value must be <= {MAX_ITERATIONS} for add-scram using {mechanism_text}")
    salt = new_salt() if given_salt is None else given_salt
    if salted is None:
        salted = salted_password(mechanism, password or "", salt, iterations)
    return credential(mechanism, salted, salt, iterations)


def _component(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise _refused(f"No equals sign found in SCRAM component: {text}")
    if len(value) >= 2 and value.startswith('"') and value.endswith('"'):
        value = value[1:-1]
    return key, value


def _decode(text: str | None, what: str) -> bytes | None:
    if text is None:
        return None
    try:
        return a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except (Error, ValueError):
        raise _refused(f"Failed to decode given {what}: {text}") from None


def _iterations(text: str | None) -> int:
    if text is None:
        return DEFAULT_ITERATIONS
    try:
        return parse_int(text)
    except FormatError:
        raise _refused(f"Failed to parse iterations count: {text}") from None


def _refused(message: str) -> KafkaError:
    return KafkaError("FormatterException", message)
