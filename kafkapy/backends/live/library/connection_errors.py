"""Why a broker cannot be talked to, in one line that names it and the setting to look at.

ConnectionLost         it could not be reached or hung up; another try may do
NobodyThere            the same, since nothing listens at its address
AuthenticationFailed   it and this client do not agree on who they are or what they speak; no other try would help
"""

from __future__ import annotations

import errno
import os
import ssl
from typing import TYPE_CHECKING, NamedTuple

from kafka import errors as library_errors

from kafkapy.backends.live.client_config import ClientConfig, Limit
from kafkapy.errors import KafkapyError

if TYPE_CHECKING:
    from kafkapy.backends.live.port_probe import Spoken

_TLS_ALERT = b"\x15\x03"
_NAME_MISMATCH = (62, 64)  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH
_NOT_YET_OR_EXPIRED = (9, 10)
_HANG_UPS = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError, ssl.SSLSyscallError)


class ConnectionLost(KafkapyError):
    """A broker could not be reached, or hung up; another try may do. ``limit`` is what was over, where it is that."""

    def __init__(self, message: str, limit: Limit | None = None) -> None:
        super().__init__(message)
        self.limit = limit


class NobodyThere(ConnectionLost):
    """No broker listens at an address that can be reached."""


class AuthenticationFailed(KafkapyError):
    """A broker does not let this client in, or is not to be trusted; another try would not help."""


class Address(NamedTuple):
    """Where a broker listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def unreachable(address: Address, error: Exception, limit: Limit) -> ConnectionLost:
    """There is no connection."""
    reason = text_of(error)
    words = reason.split()
    if "timed out" in reason:
        return ConnectionLost(f"broker {address} cannot be reached: no connection within {limit}", limit)
    if "DNS" in reason:
        reason = "the name does not resolve"
    elif words and (number := getattr(errno, words[-1], None)) is not None:
        reason = os.strerror(number).lower()
        if number == errno.ECONNREFUSED:
            return NobodyThere(f"broker {address} cannot be reached: {reason}")
    return ConnectionLost(f"broker {address} cannot be reached: {reason}")


def silent(address: Address, config: ClientConfig, limit: Limit) -> ConnectionLost:
    """There is a connection, and nothing comes."""
    return ConnectionLost(
        f"broker {address} accepted the connection and said nothing for {limit}: it may hang, or not speak "
        f"{config.security_protocol} on that port",
        limit,
    )


def tls_failure(address: Address, config: ClientConfig, error: OSError) -> KafkapyError:
    """TLS did not come about."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return AuthenticationFailed(f"broker {address} cannot be trusted: {_distrust(address, config, error)}")
    if isinstance(error, _HANG_UPS) or getattr(error, "reason", None) in (
        "WRONG_VERSION_NUMBER",
        "RECORD_LAYER_FAILURE",
    ):
        return wrong_protocol(address, config, "it does not answer in TLS")
    return AuthenticationFailed(f"TLS with broker {address} failed: {_tls_reason(error)}")


def _distrust(address: Address, config: ClientConfig, error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _NAME_MISMATCH:
        return (
            f"its certificate is not for {address.host} (an empty ssl.endpoint.identification.algorithm in "
            f"{config.place} would skip this check)"
        )
    if error.verify_code in _NOT_YET_OR_EXPIRED:
        return error.verify_message
    return (
        f"{error.verify_message} (ssl.truststore.location in {config.place} must hold the authority that signed its "
        "certificate)"
    )


def _tls_reason(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    if not reason:
        return error.strerror or type(error).__name__
    told = str(reason).lower().replace("_", " ")
    _, is_alert, alert = told.partition(" alert ")
    if is_alert and ("certificate" in alert or alert == "unknown ca"):
        return f"the broker says '{alert}' (ssl.keystore.location)"
    if is_alert:
        told = f"the broker says '{alert}'"
    return f"{told} (ssl.enabled.protocols, ssl.cipher.suites)"


def refusal(address: Address, config: ClientConfig, error: Exception, limit: Limit) -> KafkapyError:
    """What went wrong between the connection and the first request."""
    if isinstance(error, KafkapyError):
        return AuthenticationFailed(f"broker {address}: login with {config.sasl.mechanism} failed: {error}")
    if isinstance(error, library_errors.SaslAuthenticationFailedError):
        _, _, told = text_of(error).partition(": ")
        return AuthenticationFailed(
            f"broker {address} refused the login: {told or text_of(error)} (sasl.jaas.config in {config.place})"
        )
    if isinstance(error, library_errors.UnsupportedSaslMechanismError | library_errors.IllegalSaslStateError):
        return wrong_protocol(address, config, f"it does not offer login with {config.sasl.mechanism}")
    if isinstance(error, library_errors.KafkaTimeoutError | library_errors.RequestTimedOutError):
        return silent(address, config, limit)
    inner = error.args[0] if error.args else None
    if isinstance(inner, ssl.SSLError) and not isinstance(inner, _HANG_UPS):
        return tls_failure(address, config, inner)
    return wrong_protocol(address, config, f"there was no first answer ({text_of(error)})")


def not_kafka(data: bytes) -> str:
    """What to say of a first answer that is none of Kafka's."""
    return "it answered in TLS" if data.startswith(_TLS_ALERT) else "its answer is not in Kafka's protocol"


def wrong_protocol(address: Address, config: ClientConfig, symptom: str) -> KafkapyError:
    """Something is wrong in the way that a wrong security.protocol is: ask the port what it speaks."""
    from kafkapy.backends.live.port_probe import probe

    protocol = config.security_protocol
    spoken = probe(address.host, address.port, config.connection_timeout_ms / 1000)
    if spoken is None:
        return ConnectionLost(f"broker {address} could not be talked to in {protocol}: {symptom}")
    if spoken.agrees_with(protocol, config.sasl.mechanism):
        return ConnectionLost(f"broker {address}: {symptom}")
    mine = config.security_protocol + (f" with {config.sasl.mechanism}" if config.uses_sasl else "")
    return AuthenticationFailed(f"broker {address} speaks {spoken}, not {mine}: {_remedy(config, spoken)}")


def _remedy(config: ClientConfig, spoken: Spoken) -> str:
    if spoken.protocol == config.security_protocol:
        return f"see sasl.mechanism in {config.source}"
    if config.source is not None:
        return f"see security.protocol in {config.source}"
    return f"security.protocol={spoken.protocol} belongs in a file that you name with --command-config"


def text_of(error: BaseException) -> str:
    """What an error of the library says."""
    reason = error.args[0] if error.args else type(error).__name__
    return str(reason).strip() or type(error).__name__
