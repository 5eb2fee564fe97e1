"""Stores of keytool's and of cryptography's making, with right and wrong passwords, and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from kafkapy.backends.live.key_stores import Store, WrongPasswordError, read_store
from kafkapy.errors import FormatError
from tests.certificates import Authority, Identity, make_key_store, make_trust_store

PASSWORD, KEY_PASSWORD = "store-geheim", "key-geheim-\xfc"
AUTHORITIES = [Authority("one"), Authority("two")]
IDENTITY = AUTHORITIES[0].sign("ann")


def der(identity: Identity) -> bytes:
    return identity.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
def test_the_certificates_of_a_trust_store(tmp_path: Path, kind: str) -> None:
    path = make_trust_store(tmp_path / "trust", kind, [each.pem for each in AUTHORITIES], PASSWORD)
    store = read_store(path.read_bytes(), PASSWORD, None, wants_key=False)
    expected = {each.certificate.public_bytes(Encoding.DER) for each in AUTHORITIES}
    assert set(store.certificates) == expected
    assert store.key is None
    with pytest.raises(WrongPasswordError):
        read_store(path.read_bytes(), PASSWORD + "x", None, wants_key=False)


def test_a_jks_trust_store_needs_no_password(tmp_path: Path) -> None:
    path = make_trust_store(tmp_path / "trust", "JKS", [AUTHORITIES[0].pem], PASSWORD)
    assert len(read_store(path.read_bytes(), None, None, wants_key=False).certificates) == 1


def test_the_key_of_a_jks_store_has_a_password_of_its_own(tmp_path: Path) -> None:
    data = make_key_store(tmp_path / "own", "JKS", IDENTITY, PASSWORD, KEY_PASSWORD).read_bytes()
    entry = read_store(data, PASSWORD, KEY_PASSWORD, wants_key=True).key
    assert entry is not None
    assert entry.key == der(IDENTITY)
    assert entry.chain == tuple(each.public_bytes(Encoding.DER) for each in IDENTITY.chain)
    assert repr(entry) == "<a private key>"
    with pytest.raises(WrongPasswordError, match="the key's password"):
        read_store(data, PASSWORD, None, wants_key=True)


@pytest.mark.parametrize("by_keytool", [True, False])
def test_the_key_of_a_pkcs12_store(tmp_path: Path, by_keytool: bool) -> None:
    made = make_key_store(tmp_path / "own", "PKCS12", IDENTITY, PASSWORD).read_bytes() if by_keytool else None
    data = made or IDENTITY.pkcs12(PASSWORD)
    entry = read_store(data, PASSWORD, None, wants_key=True).key
    assert entry is not None
    assert entry.key == der(IDENTITY)
    assert entry.chain == tuple(each.public_bytes(Encoding.DER) for each in IDENTITY.chain)
    with pytest.raises(WrongPasswordError):
        read_store(data, "wrong", None, wants_key=True)
    with pytest.raises(WrongPasswordError, match=r"ssl\.key\.password"):
        read_store(data, PASSWORD, "other", wants_key=True)


@given(st.binary(max_size=200))
def test_what_is_no_store_raises_a_format_error(data: bytes) -> None:
    for prefix in (b"", b"\xfe\xed\xfe\xed\0\0\0\2", b"\x30\x82"):
        try:
            store = read_store(prefix + data, None, None, wants_key=True)
        except FormatError:
            continue
        assert store == Store((), None)  # a JKS store of no entries


def test_a_damaged_jks_store_is_noticed_at_every_byte(tmp_path: Path) -> None:
    data = make_trust_store(tmp_path / "trust", "JKS", [AUTHORITIES[0].pem], PASSWORD).read_bytes()
    for position in range(4, len(data), 7):
        damaged = data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]
        with pytest.raises(FormatError):
            read_store(damaged, PASSWORD, None, wants_key=False)
