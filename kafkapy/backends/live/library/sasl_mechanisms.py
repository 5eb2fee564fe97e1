"""SASL mechanisms where the client library's fall short, put into their place in its registry.

SCRAM: a user's name with ``,`` or ``=`` has to be escaped, delegation tokens need an extension of the first message,
and a broker must not make the password cheap to guess by asking for few iterations.

GSSAPI: the library takes whatever ticket is in the default cache; Java's login module may name a keytab, a principal or
another cache.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kafka.net.sasl import register_sasl_mechanism
from kafka.net.sasl.gssapi import SaslMechanismGSSAPI
from kafka.net.sasl.scram import SaslMechanismScram, ScramClient

from kafkapy.errors import KafkapyError

_FEWEST_ITERATIONS = 4096
_TOKEN_MARK = ",,tokenauth"  # no escaped name has a comma


class MechanismError(KafkapyError):
    """What the broker sent, or the system has, is not what the mechanism needs."""


def register() -> None:
    """Have the library use these."""
    for name in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        register_sasl_mechanism(name, Scram, overwrite=True)
    register_sasl_mechanism("GSSAPI", Kerberos, overwrite=True)


def scram_name(user: str, by_token: bool) -> str:
    """A user's name as it goes into a message; the library knows no place for how it is to be taken."""
    escaped = user.replace("=", "=3D").replace(",", "=2C")
    return escaped + _TOKEN_MARK if by_token else escaped


class _ScramClient(ScramClient):  # type: ignore[misc]
    def __init__(self, user: str, password: str, mechanism: str) -> None:
        super().__init__(user.removesuffix(_TOKEN_MARK), password, mechanism)
        self._extension = b",tokenauth=true" if user.endswith(_TOKEN_MARK) else b""

    def first_message(self) -> bytes:
        bare: bytes = b"n=" + self.user + b",r=" + self.nonce + self._extension
        self.auth_message += bare
        return b"n,," + bare

    def process_server_first_message(self, server_first_message: bytes) -> None:
        try:
            super().process_server_first_message(server_first_message)
        except (KeyError, ValueError):
            raise MechanismError("its first SCRAM message makes no sense") from None

    def create_salted_password(self, salt: bytes, iterations: int) -> None:
        if iterations < _FEWEST_ITERATIONS:
            raise MechanismError(f"it asks for {iterations} SCRAM iterations, fewer than {_FEWEST_ITERATIONS}")
        super().create_salted_password(salt, iterations)

    def process_server_final_message(self, server_final_message: bytes) -> None:
        import base64
        from hmac import compare_digest

        fields = dict(pair.partition(b"=")[::2] for pair in server_final_message.split(b","))
        if not compare_digest(base64.b64decode(fields.get(b"v", b"")), self.server_signature):
            raise MechanismError("it does not know the user's password itself: this is not the broker it claims to be")


class Scram(SaslMechanismScram):  # type: ignore[misc]
    """SCRAM-SHA-256 and SCRAM-SHA-512."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self._scram_client = _ScramClient(
            config["sasl_plain_username"], config["sasl_plain_password"], config["sasl_mechanism"]
        )


class KerberosLogin:
    """The options of Java's Krb5LoginModule that decide whose ticket is used, for which service."""

    def __init__(self, service: str, principal: str | None, keytab: str | None, cache: str | None) -> None:
        self.service = service
        self.principal = principal
        self.keytab = keytab
        self.cache = cache


class Kerberos(SaslMechanismGSSAPI):  # type: ignore[misc]
    """GSSAPI with the credentials that the login module names; the exchange of tokens is the library's."""

    def __init__(self, **config: Any) -> None:
        gssapi = import_module("gssapi")
        wanted: KerberosLogin = config["sasl_kerberos_service_name"]
        self._is_done = self._is_authenticated = False
        self.auth_id = f"{wanted.service}@{config['host']}"
        try:
            name = gssapi.Name(self.auth_id, name_type=gssapi.NameType.hostbased_service)
            self.gssapi_name = name.canonicalize(gssapi.MechType.kerberos)
            self._client_ctx = gssapi.SecurityContext(
                name=self.gssapi_name, creds=_credentials(wanted), usage="initiate"
            )
            self._next_token = self._client_ctx.step(None)
        except gssapi.exceptions.GSSError as error:
            raise MechanismError(f"Kerberos: {error}") from None


def _credentials(wanted: KerberosLogin) -> Any:
    """What to log in with; None is what the system has by default."""
    gssapi = import_module("gssapi")
    if not (wanted.principal or wanted.keytab or wanted.cache):
        return None
    name = gssapi.Name(wanted.principal, gssapi.NameType.kerberos_principal) if wanted.principal else None
    store = {}
    if wanted.keytab:
        store["client_keytab"] = wanted.keytab.removeprefix("file:")
        store["ccache"] = "MEMORY:kafkapy"
    elif wanted.cache:
        store["ccache"] = wanted.cache.removeprefix("file:")
    return gssapi.Credentials(name=name, usage="initiate", store=store or None)
