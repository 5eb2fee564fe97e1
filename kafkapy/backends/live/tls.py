"""From Kafka's ``ssl.*`` settings to a TLS context.

The stores are read when the context is made, which is when the first connection needs it. What differs from Java:
without a trust store the system's authorities are trusted, not those of a Java runtime; and OpenSSL's ciphers are
chosen from by their Java names.
"""

from __future__ import annotations

import ssl

from kafkapy.backends.live.client_settings import words
from kafkapy.backends.live.tls_stores import Settings, check_stores, load_own, load_trusted

_VERSIONS = {
    "TLSv1": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
_WITHOUT = {
    ssl.TLSVersion.TLSv1_1: ssl.OP_NO_TLSv1_1,
    ssl.TLSVersion.TLSv1_2: ssl.OP_NO_TLSv1_2,
}
_CONTEXTS = ("TLS", *_VERSIONS)  # what ssl.protocol may say; ssl.enabled.protocols decides
_TLS_1_3_SUITES = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}


def tls_context(settings: Settings) -> ssl.SSLContext:
    """A client's context."""
    check_tls(settings)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    # In Java every certificate of a trust store is an anchor, also one that another authority signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = bool(settings.values.get("ssl.endpoint.identification.algorithm", "https"))
    _choose_versions(context, settings)
    _choose_ciphers(context, settings)
    load_trusted(context, settings)
    load_own(context, settings)
    return context


def check_tls(settings: Settings) -> None:
    """Refuse what is wrong in itself, before anything is connected."""
    algorithm = settings.values.get("ssl.endpoint.identification.algorithm", "https")
    if algorithm.lower() not in ("", "https"):
        raise settings.error("ssl.endpoint.identification.algorithm", f"{algorithm} is neither https nor empty")
    if (protocol := settings.get("ssl.protocol")) not in (None, *_CONTEXTS):
        raise settings.error("ssl.protocol", f"{protocol} is not one of {', '.join(_CONTEXTS)}")
    check_stores(settings)


def _choose_versions(context: ssl.SSLContext, settings: Settings) -> None:
    names = words(settings.values.get("ssl.enabled.protocols", "")) or ["TLSv1.2", "TLSv1.3"]
    unknown = [name for name in names if name not in _VERSIONS]
    if unknown:
        reason = f"{unknown[0]} is not supported, only {', '.join(_VERSIONS)}"
        raise settings.error("ssl.enabled.protocols", reason)
    versions = {_VERSIONS[name] for name in names}
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    for version, option in _WITHOUT.items():
        if min(versions) < version < max(versions) and version not in versions:
            context.options |= option


def _choose_ciphers(context: ssl.SSLContext, settings: Settings) -> None:
    suites = words(settings.values.get("ssl.cipher.suites", ""))
    if not suites:
        return
    newest = _TLS_1_3_SUITES.intersection(suites)
    speaks_1_3 = context.maximum_version == ssl.TLSVersion.TLSv1_3
    if not newest and speaks_1_3:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    elif speaks_1_3 and newest != _TLS_1_3_SUITES:
        missing = ", ".join(sorted(_TLS_1_3_SUITES - newest))
        reason = f"either all of TLS 1.3's suites or none can be used: add {missing}, or leave out all of them"
        raise settings.error("ssl.cipher.suites", reason)
    older = [openssl_cipher(suite) for suite in suites if suite not in _TLS_1_3_SUITES]
    if not older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        return
    for name in [*older, ":".join(older)]:  # of a list OpenSSL would take what it knows
        try:
            context.set_ciphers(name)
        except ssl.SSLError:
            raise settings.error("ssl.cipher.suites", f"OpenSSL has no {name}") from None


def openssl_cipher(suite: str) -> str:
    """OpenSSL's name of a cipher suite before TLS 1.3: ``TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`` is
    ``ECDHE-RSA-AES128-GCM-SHA256``."""
    exchange, _, cipher = suite.removeprefix("TLS_").partition("_WITH_")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20_POLY1305").replace("_CBC", "")
    for name in ("AES", "CAMELLIA", "ARIA"):
        cipher = cipher.replace(f"{name}_128", f"{name}128").replace(f"{name}_256", f"{name}256")
    words_ = ([] if exchange == "RSA" else [exchange]) + [cipher]
    return "_".join(words_).replace("_", "-")
