"""Tokens for SASL/OAUTHBEARER: made here, read from a file, or fetched from an identity provider.

Without ``sasl.login.callback.handler.class`` the token is an unsecured one (``alg: none``) of the claims that the login
module's options name, which only brokers in development take. With Kafka's ``OAuthBearerLoginCallbackHandler`` it comes
from ``sasl.oauthbearer.token.endpoint.url``: a ``file:`` is read, any other asked with the client credentials grant. A
token is kept until it is about to expire, so that the connections of one command share it.

No error shows a token, a secret, or what an endpoint said beyond OAuth's own ``error`` and ``error_description``.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple

from kafka.net.sasl.oauth import AbstractTokenProvider

from kafkapy.backends.live.client_settings import SettingError
from kafkapy.errors import KafkapyError

_UNSECURED = "unsecuredLogin"
_RESERVED = ("iat", "exp")
_EXPIRES_SOON_S = 30
_DEFAULT_LIFETIME = "3600"
_LARGEST_ANSWER = 1 << 20
_DONE = (200, 201)
_FINAL = (400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 501, 505)  # no use to ask again


class TokenError(KafkapyError):
    """There is no token to log in with."""


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """Where tokens come from; they are asked for whenever a connection logs in."""

    def __init__(self, extensions: Mapping[str, str]) -> None:
        self._extensions = dict(extensions)
        self._token = ""
        self._expires = 0.0

    def token(self) -> str:
        if time.time() > self._expires - _EXPIRES_SOON_S:
            self._token = self._new_token()
            self._expires = _expiry(self._token)
        return self._token

    def extensions(self) -> dict[str, str]:
        return self._extensions

    @abstractmethod
    def _new_token(self) -> str: ...


class UnsecuredTokens(TokenProvider):
    """Tokens of the claims in the options of the login module."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(_with_prefix(options, f"{_UNSECURED}Extension_"))
        self._claims = _claims(options)
        try:
            self._lifetime_s = int(options.get(f"{_UNSECURED}LifetimeSeconds", _DEFAULT_LIFETIME))
        except ValueError:
            raise TokenError(f"{_UNSECURED}LifetimeSeconds is not a number") from None
        principal = options.get(f"{_UNSECURED}PrincipalClaimName", "").strip() or "sub"
        if not self._claims.get(principal):
            raise TokenError(f'the login module needs the option {_UNSECURED}StringClaim_{principal}="NAME"')

    def _new_token(self) -> str:
        now = time.time()
        claims = {"exp": now + self._lifetime_s, "iat": now, **self._claims}
        return f"{_encoded({'alg': 'none'})}.{_encoded(claims)}."


def _claims(options: Mapping[str, str]) -> dict[str, Any]:
    claims: dict[str, Any] = dict(_with_prefix(options, f"{_UNSECURED}StringClaim_"))
    for name, value in _with_prefix(options, f"{_UNSECURED}NumberClaim_").items():
        try:
            claims[name] = float(value)
        except ValueError:
            raise TokenError(f"{_UNSECURED}NumberClaim_{name} is not a number") from None
    for name, value in _with_prefix(options, f"{_UNSECURED}ListClaim_").items():
        claims[name] = value[1:].split(value[0]) if len(value) > 1 else []
    for name in _RESERVED:
        if name in claims:
            raise TokenError(f"the claim {name} cannot be set by an option")
    return claims


class FileTokens(TokenProvider):
    """A token that some other program keeps fresh in a file."""

    def __init__(self, path: str, extensions: Mapping[str, str]) -> None:
        super().__init__(extensions)
        self._path = path

    def _new_token(self) -> str:
        try:
            with open(self._path, encoding="utf-8") as file:
                token = file.read().strip()
        except OSError as error:
            raise TokenError(f"{self._path}: {error.strerror} (sasl.oauthbearer.token.endpoint.url)") from None
        if token.count(".") != 2:
            raise TokenError(f"{self._path}: it holds no token (sasl.oauthbearer.token.endpoint.url)")
        return token


class Endpoint(NamedTuple):
    """Where and how to ask for tokens."""

    url: str
    client_id: str
    client_secret: str
    scope: str | None
    encodes_header: bool
    connect_timeout_s: float
    read_timeout_s: float
    backoff_s: float
    backoff_max_s: float
    tls: Any  # the settings of tls.py
    may_take_s: float

    def __repr__(self) -> str:
        return f"<token endpoint {self.url}>"


class EndpointTokens(TokenProvider):
    """Tokens of an identity provider, by the client credentials grant."""

    def __init__(self, endpoint: Endpoint, extensions: Mapping[str, str]) -> None:
        super().__init__(extensions)
        self._endpoint = endpoint

    def _new_token(self) -> str:
        end = time.monotonic() + self._endpoint.may_take_s
        backoff = self._endpoint.backoff_s
        while True:
            status, answer = self._ask()
            if status in _DONE or status in _FINAL or time.monotonic() + backoff > end:
                return self._token_of(status, answer)
            time.sleep(backoff)
            backoff = min(2 * backoff, self._endpoint.backoff_max_s)

    def _ask(self) -> tuple[int, bytes]:
        """The status and body of the answer; status 0 and the reason where there was none."""
        from http.client import HTTPException

        try:
            with self._connected() as connection:
                connection.request("POST", self._target(), self._body(), self._headers())
                connection.sock.settimeout(self._endpoint.read_timeout_s)
                response = connection.getresponse()
                return response.status, response.read(_LARGEST_ANSWER)
        except TimeoutError:
            return 0, b"it did not answer in time (sasl.login.connect.timeout.ms, sasl.login.read.timeout.ms)"
        except (OSError, HTTPException) as error:
            reason = getattr(error, "verify_message", None) or getattr(error, "strerror", None) or type(error).__name__
            return 0, str(reason).encode()

    def _connected(self) -> Any:
        from contextlib import closing
        from http.client import HTTPConnection, HTTPSConnection
        from urllib.parse import urlsplit

        from kafkapy.backends.live.tls import tls_context

        url = urlsplit(self._endpoint.url)
        timeout = self._endpoint.connect_timeout_s
        if url.scheme == "https":
            context = tls_context(self._endpoint.tls)
            return closing(HTTPSConnection(url.hostname or "", url.port, timeout=timeout, context=context))
        return closing(HTTPConnection(url.hostname or "", url.port, timeout=timeout))

    def _target(self) -> str:
        from urllib.parse import urlsplit

        url = urlsplit(self._endpoint.url)
        return (url.path or "/") + (f"?{url.query}" if url.query else "")

    def _body(self) -> bytes:
        scope = self._endpoint.scope
        return f"grant_type=client_credentials{f'&scope={self._escaped(scope)}' if scope else ''}".encode()

    def _headers(self) -> dict[str, str]:
        login = f"{self._escaped(self._endpoint.client_id)}:{self._escaped(self._endpoint.client_secret)}"
        return {
            "Accept": "application/json",
            "Authorization": f"Basic {b64encode(login.encode()).decode()}",
            "Cache-Control": "no-cache",
            "Content-Type": "application/x-www-form-urlencoded",
        }

    def _escaped(self, text: str) -> str:
        from urllib.parse import quote_plus

        return quote_plus(text, safe="*-._") if self._endpoint.encodes_header else text

    def _token_of(self, status: int, answer: bytes) -> str:
        where = f"token endpoint {self._endpoint.url}"
        if status not in _DONE:
            told = answer.decode("utf-8", "replace") if not status else f"HTTP {status}{_oauth_error(answer)}"
            raise TokenError(f"{where} returned no token: {told}")
        fields = _json(answer)
        token = fields.get("access_token") or fields.get("id_token")
        if not isinstance(token, str) or token.strip().count(".") != 2:
            raise TokenError(f"{where} returned no token: its answer has no JWT as access_token or id_token")
        return token.strip()


def _oauth_error(answer: bytes) -> str:
    fields = _json(answer)
    told = [fields[name] for name in ("error", "error_description") if isinstance(fields.get(name), str)]
    return f" ({': '.join(told)})" if told else ""


def _json(text: bytes) -> dict[str, Any]:
    import json

    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _encoded(fields: Mapping[str, Any]) -> str:
    import json

    return urlsafe_b64encode(json.dumps(fields, separators=(",", ":")).encode()).decode().rstrip("=")


def _expiry(token: str) -> float:
    """When a token ends, in seconds; now where it does not tell, so that it is not kept."""
    body = token.split(".")[1]
    try:
        expires = _json(urlsafe_b64decode(body + "=" * (-len(body) % 4))).get("exp")
    except ValueError:
        expires = None
    return float(expires) if isinstance(expires, int | float) else 0.0


def _with_prefix(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in options.items() if name.startswith(prefix)}


def token_provider(properties: Mapping[str, str], options: Mapping[str, str], source: str) -> TokenProvider:
    """The provider that the settings and the login module's options ask for."""
    url = properties.get("sasl.oauthbearer.token.endpoint.url")
    handler = properties.get("sasl.login.callback.handler.class", "").rpartition(".")[2]
    if handler in ("", "OAuthBearerUnsecuredLoginCallbackHandler"):
        if url:
            name = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
            raise SettingError(source, "sasl.login.callback.handler.class", f"the token endpoint needs it to be {name}")
        try:
            return UnsecuredTokens(options)
        except TokenError as error:
            raise SettingError(source, "sasl.jaas.config", str(error)) from None
    if not url:
        raise SettingError(source, "sasl.oauthbearer.token.endpoint.url", "it is missing")
    return _from_url(url, properties, options, source)


def _from_url(
    url: str, properties: Mapping[str, str], options: Mapping[str, str], source: str
) -> FileTokens | EndpointTokens:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    extensions = _with_prefix(options, "extension_")
    if parts.scheme == "file":
        return FileTokens(unquote(parts.path), extensions)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingError(source, "sasl.oauthbearer.token.endpoint.url", "it is not an http, https or file address")
    return EndpointTokens(_endpoint(url, properties, options, source), extensions)


def _endpoint(url: str, properties: Mapping[str, str], options: Mapping[str, str], source: str) -> Endpoint:
    from kafkapy.backends.live.tls_stores import Settings

    def ms(name: str, default: int) -> float:
        return int(properties.get(name, default)) / 1000

    prefix = "sasl.oauthbearer.client.credentials"
    return Endpoint(
        url=url,
        client_id=_required(properties, options, f"{prefix}.client.id", "clientId", source),
        client_secret=_required(properties, options, f"{prefix}.client.secret", "clientSecret", source),
        scope=properties.get("sasl.oauthbearer.scope") or options.get("scope"),
        encodes_header=properties.get("sasl.oauthbearer.header.urlencode", "").lower() == "true",
        connect_timeout_s=ms("sasl.login.connect.timeout.ms", 10_000),
        read_timeout_s=ms("sasl.login.read.timeout.ms", 10_000),
        backoff_s=ms("sasl.login.retry.backoff.ms", 100),
        backoff_max_s=ms("sasl.login.retry.backoff.max.ms", 10_000),
        tls=Settings({name: value for name, value in options.items() if name.startswith("ssl.")}, source),
        may_take_s=ms("sasl.login.retry.backoff.max.ms", 10_000),
    )


def _required(properties: Mapping[str, str], options: Mapping[str, str], setting: str, option: str, source: str) -> str:
    value = properties.get(setting) or options.get(option, "").strip()
    if not value:
        raise SettingError(source, setting, f"it is missing, and so is the login module's option {option}")
    return value
