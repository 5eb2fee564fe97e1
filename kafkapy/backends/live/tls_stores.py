"""The certificates that a client trusts, and its own key: from files and settings into a TLS context.

OpenSSL takes a private key from a file only. A key that comes out of a store or a setting is put into one for a moment,
readable for this user alone and encrypted under a random password, so that a process that dies in between leaves
nothing that could be used.
"""

from __future__ import annotations

import contextlib
import os
import ssl
from collections.abc import Mapping
from typing import NamedTuple

from kafkapy.backends.live.client_settings import SettingError
from kafkapy.backends.live.key_stores import KeyEntry, Store, WrongPasswordError, read_store
from kafkapy.errors import FormatError

_STORE_TYPES = ("JKS", "PKCS12", "PEM")
_CERTIFICATE = "-----BEGIN CERTIFICATE-----"


class Settings(NamedTuple):
    """The ``ssl.*`` settings, and the file they stand in."""

    values: Mapping[str, str]
    source: str

    def __repr__(self) -> str:
        return f"<TLS settings of {self.source}>"

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def error(self, name: str, reason: str) -> SettingError:
        return SettingError(self.source, name, reason)


def check_stores(settings: Settings) -> None:
    """Refuse settings of stores that contradict each other, as Java does."""
    for store in ("truststore", "keystore"):
        _check_store(settings, store)
    if settings.get("ssl.truststore.certificates") and _type(settings, "truststore") != "PEM":
        raise settings.error("ssl.truststore.certificates", "it needs ssl.truststore.type=PEM")
    key, chain = settings.get("ssl.keystore.key"), settings.get("ssl.keystore.certificate.chain")
    if bool(key) != bool(chain):
        raise settings.error(
            "ssl.keystore.key", "it and ssl.keystore.certificate.chain need each other, and one of them is missing"
        )
    if key and _type(settings, "keystore") != "PEM":
        raise settings.error("ssl.keystore.key", "it needs ssl.keystore.type=PEM")


def _check_store(settings: Settings, store: str) -> None:
    kind, location = _type(settings, store), settings.get(f"ssl.{store}.location")
    password = settings.get(f"ssl.{store}.password")
    if kind not in _STORE_TYPES:
        raise settings.error(f"ssl.{store}.type", f"{kind} is not one of {', '.join(_STORE_TYPES)}")
    if location and settings.get(f"ssl.{store}.certificates" if store == "truststore" else "ssl.keystore.key"):
        raise settings.error(f"ssl.{store}.location", "the certificates are also given in the settings themselves")
    if password is not None and kind == "PEM":
        hint = "; the key's is ssl.key.password" if store == "keystore" else ""
        raise settings.error(f"ssl.{store}.password", f"a PEM file has no store password{hint}")
    if password is not None and not location:
        raise settings.error(f"ssl.{store}.password", f"it needs ssl.{store}.location")
    if store == "keystore" and location and kind != "PEM" and password is None:
        raise settings.error("ssl.keystore.location", "it needs ssl.keystore.password")


def _type(settings: Settings, store: str) -> str:
    return settings.values.get(f"ssl.{store}.type", "JKS").upper()


def load_trusted(context: ssl.SSLContext, settings: Settings) -> None:
    """Whom to trust: the trust store, else the system's authorities."""
    location = settings.get("ssl.truststore.location")
    name = "ssl.truststore.location" if location else "ssl.truststore.certificates"
    if not location and not settings.get(name):
        context.load_default_certs()
        return
    pem = _trusted_pem(settings, location)
    where = f"{location}: " if location else ""
    if _CERTIFICATE not in pem:
        raise settings.error(name, f"{where}it holds no certificate to trust")
    try:
        context.load_verify_locations(cadata=pem[pem.index(_CERTIFICATE) :])
    except (ssl.SSLError, ValueError):
        raise settings.error(name, f"{where}a certificate in it cannot be read") from None


def _trusted_pem(settings: Settings, location: str | None) -> str:
    if not location:
        return settings.values["ssl.truststore.certificates"]
    if _type(settings, "truststore") == "PEM":
        # What stands between certificates may be text in any encoding, of which OpenSSL wants none.
        return _read(settings, "ssl.truststore.location", location).decode("ascii", "ignore")
    store = _read_store(settings, "truststore", location, None)
    return "".join(map(ssl.DER_cert_to_PEM_cert, store.certificates))


def load_own(context: ssl.SSLContext, settings: Settings) -> None:
    """The key and certificate by which this client is known, if it has any."""
    location = settings.get("ssl.keystore.location")
    password = settings.get("ssl.key.password")
    if settings.get("ssl.keystore.key"):
        key = settings.values["ssl.keystore.key"].encode()
        chain = settings.values["ssl.keystore.certificate.chain"].encode()
        _load_pem(context, settings, "ssl.keystore.key", (chain, key), password)
    elif location and _type(settings, "keystore") == "PEM":
        pem = _read(settings, "ssl.keystore.location", location)
        _load_pem(context, settings, "ssl.keystore.location", (pem, pem), password, location)
    elif location:
        entry = _read_store(settings, "keystore", location, password).key
        if entry is None:
            raise settings.error("ssl.keystore.location", f"{location}: it holds no private key")
        _load_key(context, settings, "ssl.keystore.location", entry)


def _load_pem(
    context: ssl.SSLContext,
    settings: Settings,
    name: str,
    pem: tuple[bytes, bytes],
    password: str | None,
    location: str | None = None,
) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificates

    where = f"{location}: " if location else ""
    try:
        chain = tuple(cert.public_bytes(Encoding.DER) for cert in load_pem_x509_certificates(pem[0]))
    except ValueError:
        raise settings.error(name, f"{where}it holds no certificate that can be read") from None
    try:
        key = load_pem_private_key(_private_key(pem[1]), password.encode() if password else None)
    except TypeError:
        reason = "the key is not encrypted, but ssl.key.password is set" if password else "it needs ssl.key.password"
        raise settings.error(name, where + reason) from None
    except ValueError:
        raise settings.error(name, f"{where}no private key can be read{_maybe_password(password)}") from None
    entry = KeyEntry(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()), chain)
    _load_key(context, settings, name, entry)


def _maybe_password(password: str | None) -> str:
    return "; is ssl.key.password right?" if password else ""


def _private_key(pem: bytes) -> bytes:
    """The first private key of a PEM text."""
    import re

    found = re.search(rb"-----BEGIN ([A-Z ]*PRIVATE KEY)-----.*?-----END \1-----", pem, re.DOTALL)
    return found[0] if found else b""


def _load_key(context: ssl.SSLContext, settings: Settings, name: str, entry: KeyEntry) -> None:
    import secrets
    import tempfile

    from cryptography.hazmat.primitives.serialization import (
        BestAvailableEncryption,
        Encoding,
        PrivateFormat,
        load_der_private_key,
    )

    once = secrets.token_hex(32)
    key = load_der_private_key(entry.key, None)
    sealed = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(once.encode()))
    handle, path = tempfile.mkstemp(prefix="kafkapy-", suffix=".pem")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write("".join(map(ssl.DER_cert_to_PEM_cert, entry.chain)).encode() + sealed)
        context.load_cert_chain(path, password=once)
    except ssl.SSLError as error:
        raise settings.error(
            name, f"the key cannot be used: {(error.reason or 'TLS error').replace('_', ' ').lower()}"
        ) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def _read(settings: Settings, name: str, location: str) -> bytes:
    try:
        with open(location, "rb") as file:
            return file.read()
    except OSError as error:
        raise settings.error(name, f"{location}: {error.strerror}") from None


def _read_store(settings: Settings, store: str, location: str, key_password: str | None) -> Store:
    name = f"ssl.{store}.location"
    data = _read(settings, name, location)
    password = settings.get(f"ssl.{store}.password")
    try:
        return read_store(data, password, key_password, wants_key=store == "keystore")
    except WrongPasswordError as error:
        kind = "ssl.key.password" if "key's" in str(error) else f"ssl.{store}.password"
        raise settings.error(kind, f"{location}: {error}") from None
    except FormatError as error:
        raise settings.error(name, f"{location}: {error}") from None
