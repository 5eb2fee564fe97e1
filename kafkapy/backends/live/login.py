"""From Kafka's ``sasl.*`` settings to the client library's.

    PLAIN, SCRAM-SHA-256, SCRAM-SHA-512   username and password of PlainLoginModule or ScramLoginModule
    OAUTHBEARER                           oauth.py
    GSSAPI                                sasl_mechanisms.py, with the package ``gssapi``: a ticket or a keytab

Which login module a mechanism has does not matter to Java as long as its options fit, and it does not here.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafkapy.backends.live.client_config import Login
from kafkapy.backends.live.client_settings import SettingError
from kafkapy.backends.live.jaas import JaasError, LoginModule, parse_jaas

_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "GSSAPI")
_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule",
    "org.apache.kafka.common.security.scram.ScramLoginModule",
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule",
    "com.sun.security.auth.module.Krb5LoginModule",
}
_OAUTH = "org.apache.kafka.common.security.oauthbearer"
_HANDLERS = (
    f"{_OAUTH}.OAuthBearerLoginCallbackHandler",
    f"{_OAUTH}.secured.OAuthBearerLoginCallbackHandler",  # where it was before Kafka 4.0
    f"{_OAUTH}.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
)
_RETRIEVERS = (
    f"{_OAUTH}.DefaultJwtRetriever",
    f"{_OAUTH}.ClientCredentialsJwtRetriever",
    f"{_OAUTH}.FileJwtRetriever",
)


def login(properties: Mapping[str, str], source: str) -> Login:
    """The settings of the mechanism; the library's classes for it are in place afterwards."""
    mechanism = properties.get("sasl.mechanism", "GSSAPI")
    if mechanism not in _MECHANISMS:
        reason = f"{mechanism} is not supported, only {', '.join(_MECHANISMS)}"
        raise SettingError(source, "sasl.mechanism", reason)
    _check_classes(properties, source)
    module = _module(properties, source)
    found = Login(sasl_mechanism=mechanism)
    if mechanism == "OAUTHBEARER":
        from kafkapy.backends.live.library.oauth import token_provider

        found["sasl_oauth_token_provider"] = token_provider(properties, module.options, source)
    elif mechanism == "GSSAPI":
        found.update(_kerberos(properties, module, source))
    else:
        found.update(_password(module, mechanism, source))
    from kafkapy.backends.live.library.sasl_mechanisms import register

    register()
    return found


def _check_classes(properties: Mapping[str, str], source: str) -> None:
    for name, known in (
        ("sasl.login.callback.handler.class", _HANDLERS),
        ("sasl.oauthbearer.jwt.retriever.class", _RETRIEVERS),
    ):
        value = properties.get(name)
        if value and value not in known:
            raise SettingError(source, name, f"kafkapy cannot run Java classes and knows only {', '.join(known)}")


def _module(properties: Mapping[str, str], source: str) -> LoginModule:
    text = properties.get("sasl.jaas.config")
    if not text:
        reason = "it is missing; put the login module from Java's JAAS file (java.security.auth.login.config) here"
        raise SettingError(source, "sasl.jaas.config", reason)
    try:
        module = parse_jaas(text)
    except JaasError as error:
        raise SettingError(source, "sasl.jaas.config", str(error)) from None
    if module.name not in _MODULES:
        known = ", ".join(sorted(name.rpartition(".")[2] for name in _MODULES))
        raise SettingError(
            source, "sasl.jaas.config", f"its login module is not supported, only Kafka's and Java's {known}"
        )
    return module


def _password(module: LoginModule, mechanism: str, source: str) -> dict[str, str | bool]:
    for option in ("username", "password"):
        if option not in module.options:
            raise SettingError(source, "sasl.jaas.config", f"{mechanism} needs the login module's option {option}")
    by_token = module.options.get("tokenauth", "").lower() == "true"
    user = module.options["username"]
    if mechanism.startswith("SCRAM"):
        from kafkapy.backends.live.library.sasl_mechanisms import scram_name

        user = scram_name(user, by_token)
    return {"sasl_plain_username": user, "sasl_plain_password": module.options["password"]}


def _kerberos(properties: Mapping[str, str], module: LoginModule, source: str) -> dict[str, object]:
    import importlib.util

    if importlib.util.find_spec("gssapi") is None:
        from kafkapy.optional_packages import install_command

        reason = f"GSSAPI needs the Python package gssapi and the system's Kerberos: {install_command('gssapi')}"
        raise SettingError(source, "sasl.mechanism", reason)
    service = properties.get("sasl.kerberos.service.name") or module.options.get("serviceName")
    if not service:
        raise SettingError(source, "sasl.kerberos.service.name", "it is missing")
    from kafkapy.backends.live.library.sasl_mechanisms import KerberosLogin

    uses_keytab = module.options.get("useKeyTab", "").lower() == "true"
    keytab = module.options.get("keyTab") if uses_keytab else None
    cache = module.options.get("ticketCache")
    return {"sasl_kerberos_service_name": KerberosLogin(service, module.options.get("principal"), keytab, cache)}
