"""A private certification authority, for tests: what it signs, and the stores that keytool makes of that."""

from __future__ import annotations

import ipaddress
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

_DAY = timedelta(days=1)


class Identity:
    """A key and its certificate."""

    def __init__(self, name: str, key: ec.EllipticCurvePrivateKey, chain: list[x509.Certificate]) -> None:
        self.name = name
        self.key = key
        self.chain = chain

    def key_pem(self, password: str | None = None) -> str:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, _encryption(password)).decode()

    def chain_pem(self) -> str:
        return "".join(each.public_bytes(Encoding.PEM).decode() for each in self.chain)

    def pkcs12(self, password: str) -> bytes:
        name = self.name.encode()
        return pkcs12.serialize_key_and_certificates(
            name, self.key, self.chain[0], self.chain[1:], _encryption(password)
        )


def _encryption(password: str | None) -> KeySerializationEncryption:
    return NoEncryption() if password is None else BestAvailableEncryption(password.encode())


class Authority:
    """Signs certificates."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key, datetime.now(UTC) + 30 * _DAY)
        ca = x509.BasicConstraints(ca=True, path_length=None)
        self.certificate = builder.add_extension(ca, critical=True).sign(self._key, hashes.SHA256())

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def sign(self, name: str, hosts: tuple[str, ...] = (), until: datetime | None = None) -> Identity:
        """A new key with a certificate for it."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        builder = self._builder(subject, key, until or datetime.now(UTC) + 30 * _DAY)
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(each) for each in hosts]), critical=False
            )
        return Identity(name, key, [builder.sign(self._key, hashes.SHA256()), self.certificate])

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, until: datetime) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(until - 60 * _DAY)
            .not_valid_after(until)
        )


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def keytool(*args: str | Path) -> None:
    """Run keytool; skips the test where there is none."""
    tool = shutil.which("keytool")
    if tool is None:
        pytest.skip("keytool is not installed")
    done = subprocess.run([tool, *map(str, args)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def make_trust_store(path: Path, kind: str, certificates: list[str], password: str) -> Path:
    """A trust store of keytool's making, of these PEM certificates."""
    for number, pem in enumerate(certificates):
        file = path.with_name(f"{path.name}.{number}.pem")
        file.write_text(pem)
        named = ("-alias", f"ca{number}", "-file", file)
        keytool("-importcert", "-noprompt", *named, "-keystore", path, "-storetype", kind, "-storepass", password)
    return path


def make_key_store(path: Path, kind: str, identity: Identity, password: str, key_password: str | None = None) -> Path:
    """A key store of keytool's making."""
    source = path.with_name(f"{path.name}.p12")
    source.write_bytes(identity.pkcs12(password))
    given = ("-srckeystore", source, "-srcstoretype", "PKCS12", "-srcstorepass", password, "-srcalias", identity.name)
    made = ("-destkeystore", path, "-deststoretype", kind, "-deststorepass", password)
    keytool("-importkeystore", "-noprompt", *given, *made, "-destkeypass", key_password or password)
    return path
