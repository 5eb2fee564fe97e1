"""Tokens: made here, out of a file, and from an endpoint that a test runs itself, over TLS too."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from kafkapy.backends.live.client_settings import SettingError
from kafkapy.backends.live.library.oauth import TokenError, TokenProvider, token_provider
from tests.certificates import Authority

HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
SECRET = "streng+geheim"
AUTHORITY = Authority("one")


def jwt(**claims: Any) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(each).encode()).decode().rstrip("=") for each in parts) + "."


def claims_of(token: str) -> dict[str, Any]:
    body = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    return claims


class Endpoint(HTTPServer):
    """Answers with what it is told to, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, bytes]] = []
        self.asked: list[tuple[str, dict[str, str], str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/token?realm=a"


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.append((self.path, dict(self.headers), body))
        status, answer = self.server.answers.pop(0)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Tests print nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def provider(url: str, options: dict[str, str] | None = None, **settings: str) -> TokenProvider:
    properties = {
        "sasl.login.callback.handler.class": HANDLER,
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.oauthbearer.client.credentials.client.id": "me",
        "sasl.oauthbearer.client.credentials.client.secret": SECRET,
        "sasl.login.retry.backoff.ms": "1",
        "sasl.login.retry.backoff.max.ms": "200",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }
    return token_provider(properties, options or {}, "c")


def test_an_unsecured_token_has_the_claims_of_the_options() -> None:
    options = {
        "unsecuredLoginStringClaim_sub": "ann",
        "unsecuredLoginNumberClaim_level": "3",
        "unsecuredLoginListClaim_scope": "|read|write",
        "unsecuredLoginLifetimeSeconds": "60",
        "unsecuredLoginExtension_traceId": "1",
    }
    made = token_provider({}, options, "c")
    claims = claims_of(made.token())
    assert (claims["sub"], claims["level"], claims["scope"]) == ("ann", 3.0, ["read", "write"])
    assert claims["exp"] - claims["iat"] == pytest.approx(60)
    assert made.extensions() == {"traceId": "1"}
    assert made.token() == made.token()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, 'the login module needs the option unsecuredLoginStringClaim_sub="NAME"'),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginStringClaim_exp": "1"}, "the claim exp cannot be set"),
        (
            {"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginNumberClaim_n": SECRET},
            "unsecuredLoginNumberClaim_n is",
        ),
        ({"unsecuredLoginStringClaim_sub": "a", "unsecuredLoginLifetimeSeconds": SECRET}, "unsecuredLoginLifetimeSeco"),
    ],
)
def test_options_that_make_no_token(options: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingError) as caught:
        token_provider({}, options, "c")
    assert str(caught.value).startswith(f"c: sasl.jaas.config: {reason}")
    assert SECRET not in str(caught.value)


def test_an_endpoint_without_its_handler_is_an_error() -> None:
    with pytest.raises(SettingError, match=r"sasl\.login\.callback\.handler\.class: the token endpoint needs it"):
        token_provider({"sasl.oauthbearer.token.endpoint.url": "https://a/"}, {}, "c")


def test_a_file_is_read_again_when_its_token_ends(tmp_path: Path) -> None:
    path = tmp_path / "my token"
    first, second = jwt(exp=time.time() - 1), jwt(exp=time.time() + 3600)
    path.write_text(first + "\n")
    made = provider(f"file://{str(path).replace(' ', '%20')}", {"extension_a": "b"})
    assert made.token() == first
    path.write_text(second)
    assert made.token() == second
    path.unlink()
    assert made.token() == second
    assert made.extensions() == {"a": "b"}


def test_a_file_without_a_token(tmp_path: Path) -> None:
    made = provider(f"file://{tmp_path}/none")
    with pytest.raises(TokenError, match="No such file or directory"):
        made.token()
    (tmp_path / "none").write_text(SECRET)
    with pytest.raises(TokenError, match="it holds no token") as caught:
        made.token()
    assert SECRET not in str(caught.value)


def test_the_client_credentials_grant(endpoint: Endpoint) -> None:
    token = jwt(exp=time.time() + 3600)
    endpoint.answers = [(200, json.dumps({"access_token": token}).encode())]
    made = provider(endpoint.url, sasl_oauthbearer_scope="a b")
    assert made.token() == token
    assert made.token() == token  # one request for both
    ((path, headers, body),) = endpoint.asked
    assert (path, body) == ("/token?realm=a", "grant_type=client_credentials&scope=a b")
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode() == f"me:{SECRET}"


def test_the_secret_may_be_an_option_and_be_encoded(endpoint: Endpoint) -> None:
    endpoint.answers = [(201, json.dumps({"id_token": jwt(exp=1)}).encode())]
    made = provider(
        endpoint.url,
        {"clientId": "you", "clientSecret": SECRET},
        sasl_oauthbearer_client_credentials_client_id="",
        sasl_oauthbearer_header_urlencode="true",
    )
    made.token()
    login = base64.b64decode(endpoint.asked[0][1]["Authorization"].removeprefix("Basic ")).decode()
    assert login == "you:streng%2Bgeheim"


def test_a_passing_failure_is_tried_again(endpoint: Endpoint) -> None:
    token = jwt(exp=time.time() + 3600)
    endpoint.answers = [(503, b""), (500, b"oops"), (200, json.dumps({"access_token": token}).encode())]
    assert provider(endpoint.url, sasl_login_retry_backoff_max_ms="10000").token() == token


@pytest.mark.parametrize(
    ("status", "answer", "told"),
    [
        (401, b'{"error":"invalid_client","error_description":"nobody"}', "HTTP 401 (invalid_client: nobody)"),
        (403, SECRET.encode(), "HTTP 403"),
        (200, b'{"access_token":"streng+geheim"}', "its answer has no JWT as access_token or id_token"),
        (200, b"streng+geheim", "its answer has no JWT as access_token or id_token"),
    ],
)
def test_an_endpoint_that_gives_no_token(endpoint: Endpoint, status: int, answer: bytes, told: str) -> None:
    endpoint.answers = [(status, answer)]
    with pytest.raises(TokenError) as caught:
        provider(endpoint.url).token()
    assert str(caught.value) == f"token endpoint {endpoint.url} returned no token: {told}"


def test_nobody_at_the_endpoint() -> None:
    with pytest.raises(
        TokenError, match=r"token endpoint http://127\.0\.0\.1:1/ returned no token: Connection refused"
    ):
        provider("http://127.0.0.1:1/").token()


def test_an_endpoint_over_tls_is_trusted_by_the_login_modules_options(tmp_path: Path, endpoint: Endpoint) -> None:
    broker = AUTHORITY.sign("provider", ("127.0.0.1",))
    (tmp_path / "own.pem").write_text(broker.key_pem() + broker.chain_pem())
    (tmp_path / "ca.pem").write_text(AUTHORITY.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "own.pem")
    endpoint.socket = context.wrap_socket(endpoint.socket, server_side=True)
    url = endpoint.url.replace("http:", "https:")
    token = jwt(exp=time.time() + 3600)
    endpoint.answers = [(200, json.dumps({"access_token": token}).encode())]
    trusted = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(tmp_path / "ca.pem")}
    assert provider(url, trusted).token() == token
    with pytest.raises(TokenError, match="certificate"):
        provider(url).token()


def test_missing_credentials_are_told() -> None:
    with pytest.raises(SettingError, match=r"client\.secret: it is missing, and so is the login module's option"):
        provider("https://a/", sasl_oauthbearer_client_credentials_client_secret="")
