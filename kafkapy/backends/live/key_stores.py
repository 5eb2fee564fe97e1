"""Key stores and trust stores of Java's: JKS read here, PKCS12 by the package ``cryptography``.

JKS, all numbers big-endian:

    u4 0xFEEDFEED, u4 version (1 or 2), u4 number of entries, then the entries:
        u4 tag, UTF alias, u8 time, and then
        for tag 1, a private key:  u4 length, the key under protection, u4 number of certificates, certificates
        for tag 2, a certificate:  the certificate
    20 bytes: SHA-1 of the password as UTF-16, the ASCII text "Mighty Aphrodite" and everything before

A certificate is its type as UTF (in version 2 only), a u4 length and DER; it is not encrypted. A key is an
EncryptedPrivateKeyInfo, whose octets are 20 bytes of salt, the PKCS#8 key xor a stream of SHA-1 digests (of the
password and the digest before, at first the salt), and SHA-1 of password and key.

Java reads either format whichever type is configured, and so does ``read_store``: keytool has made PKCS12 by default
since Java 9, Kafka's default type is JKS, and many a file named ``.jks`` is the former.
"""

from __future__ import annotations

import hashlib
from struct import Struct
from typing import NamedTuple

from kafkapy.errors import FormatError

_MAGIC = b"\xfe\xed\xfe\xed"
_WORD = Struct(">I")
_SALT = _DIGEST = 20
_WHITENER = b"Mighty Aphrodite"
_PRIVATE_KEY, _CERTIFICATE = 1, 2
# SEQUENCE { SEQUENCE { OID 1.3.6.1.4.1.42.2.17.1.1, NULL }, OCTET STRING }: only Sun's own protection ends like this.
_SUN_PROTECTION = bytes.fromhex("300e060a2b060104012a021101010500")


class WrongPasswordError(FormatError):
    """A store or key that its password does not open."""


class KeyEntry(NamedTuple):
    """A private key (PKCS#8, DER) with its certificates, its own first (DER)."""

    key: bytes
    chain: tuple[bytes, ...]

    def __repr__(self) -> str:
        return "<a private key>"


class Store(NamedTuple):
    """What a store holds: certificates to trust, and the first private key."""

    certificates: tuple[bytes, ...]
    key: KeyEntry | None


def read_store(data: bytes, password: str | None, key_password: str | None, wants_key: bool) -> Store:
    """A store of either format; without a password, a JKS store's integrity is not checked, as in Java."""
    if data.startswith(_MAGIC):
        return _read_jks(data, password, key_password, wants_key)
    return _read_pkcs12(data, password, key_password)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def take(self, size: int) -> bytes:
        taken = self._data[self._position : self._position + size]
        if len(taken) < size:
            raise FormatError("it ends too early")
        self._position += size
        return taken

    def word(self) -> int:
        number: int = _WORD.unpack(self.take(4))[0]
        return number

    def utf(self) -> bytes:
        return self.take(int.from_bytes(self.take(2)))

    def certificate(self, version: int) -> bytes:
        if version == 2 and (kind := self.utf()) != b"X.509":
            raise FormatError(f"a certificate of type {kind.decode(errors='replace')}")
        return self.take(self.word())


def _read_jks(data: bytes, password: str | None, key_password: str | None, wants_key: bool) -> Store:
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if password is not None and hashlib.sha1(_java_chars(password) + _WHITENER + body).digest() != digest:
        raise WrongPasswordError("the password is wrong, or the file is damaged")
    reader = _Reader(body)
    reader.take(4)
    version = reader.word()
    if version not in (1, 2):
        raise FormatError(f"a JKS store of version {version}")
    trusted: list[bytes] = []
    protected: list[tuple[bytes, tuple[bytes, ...]]] = []
    for _ in range(reader.word()):
        tag, _, _ = reader.word(), reader.utf(), reader.take(8)
        if tag == _PRIVATE_KEY:
            key = reader.take(reader.word())
            chain = tuple(reader.certificate(version) for _ in range(reader.word()))
            protected.append((key, chain))
            trusted += chain[:1]  # as Java's trust managers do
        elif tag == _CERTIFICATE:
            trusted.append(reader.certificate(version))
        else:
            raise FormatError(f"an entry of unknown kind {tag}")
    if not wants_key or not protected:
        return Store(tuple(trusted), None)
    key, chain = protected[0]
    secret = key_password if key_password is not None else password or ""
    return Store(tuple(trusted), KeyEntry(_unprotect(key, _java_chars(secret)), chain))


def _unprotect(info: bytes, password: bytes) -> bytes:
    start = info.find(_SUN_PROTECTION)
    if start < 0:
        raise FormatError("a key under a protection that is not Sun's")
    octets = _octet_string(info[start + len(_SUN_PROTECTION) :])
    salt, sealed, check = octets[:_SALT], octets[_SALT:-_DIGEST], octets[-_DIGEST:]
    stream, digest = bytearray(), salt
    while len(stream) < len(sealed):
        digest = hashlib.sha1(password + digest).digest()
        stream += digest
    key = bytes(a ^ b for a, b in zip(sealed, stream, strict=False))
    if hashlib.sha1(password + key).digest() != check:
        raise WrongPasswordError("the key's password is wrong")
    return key


def _octet_string(der: bytes) -> bytes:
    """The octets of a DER OCTET STRING."""
    if len(der) < 2 or der[0] != 0x04:
        raise FormatError("a damaged private key")
    if der[1] < 0x80:
        return der[2 : 2 + der[1]]
    size = der[1] & 0x7F
    return der[2 + size : 2 + size + int.from_bytes(der[2 : 2 + size])]


def _java_chars(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


def _read_pkcs12(data: bytes, password: str | None, key_password: str | None) -> Store:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    if not data.startswith(b"\x30"):
        raise FormatError("neither a JKS nor a PKCS12 store")
    try:
        store = load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        # The package does not tell the two apart, and its text may change.
        raise WrongPasswordError("the password is wrong, or it is not a PKCS12 store") from None
    if key_password not in (None, password):
        raise WrongPasswordError("a PKCS12 store has one password: ssl.key.password must be the store's")
    found = ([store.cert] if store.cert else []) + list(store.additional_certs)
    certificates = tuple(entry.certificate.public_bytes(Encoding.DER) for entry in found)
    if store.key is None:
        return Store(certificates, None)
    key = store.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return Store(certificates, KeyEntry(key, certificates))
