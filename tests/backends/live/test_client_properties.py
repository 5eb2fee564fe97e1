"""From a Java client's .properties file to the settings of a connection: what is honoured, refused, and told."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from kafkapy.backends.live.client_config import ClientConfig
from kafkapy.backends.live.client_properties import client_config, read_client_properties
from kafkapy.backends.live.client_settings import SettingError, settings
from kafkapy.errors import KafkapyError

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
KERBEROS = "com.sun.security.auth.module.Krb5LoginModule"
SECRET = "streng-geheim"
JAAS = "sasl.jaas.config"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": f'{PLAIN} required username="ann" password="{SECRET}";',
}


def read(**properties: str) -> ClientConfig:
    return client_config({name.replace("_", "."): value for name, value in properties.items()}, "c.properties")


def refused(properties: dict[str, str]) -> str:
    with pytest.raises(SettingError) as caught:
        client_config(properties, "c.properties")
    assert SECRET not in str(caught.value)
    return str(caught.value).removeprefix("c.properties: ")


def test_a_file_as_people_have_it(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        "# made by hand\n"
        "security.protocol = SASL_PLAINTEXT\n"
        "sasl.mechanism: SCRAM-SHA-512\n"
        f"sasl.jaas.config={SCRAM} required \\\n"
        '   username="ann,b=c" \\\n'
        f'   password="{SECRET}";  \n'
        "request.timeout.ms=7000\n"
        "client.id=me\n"
    )
    config = read_client_properties(str(path))
    assert (config.security_protocol, config.request_timeout_ms, config.client_id) == ("SASL_PLAINTEXT", 7000, "me")
    assert dict(config.sasl) == {
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "ann=2Cb=3Dc",
        "sasl_plain_password": SECRET,
    }
    assert config.ssl_context is None
    assert config.source == str(path)


def test_pairs_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text("client.id=file\nretries=5\n")
    config = read_client_properties(str(path), ["client.id=pair=1"])
    assert (config.client_id, config.retries) == ("pair=1", 5)
    with pytest.raises(SettingError, match="--command-property: retries: Invalid value x"):
        read_client_properties(None, ["retries=x"])


def test_without_settings_the_defaults_are_kafkas() -> None:
    config = read()
    assert config == ClientConfig()._replace(source="c.properties")
    assert (config.request_timeout_ms, config.api_timeout_ms, config.connection_timeout_ms) == (30_000, 60_000, 10_000)
    assert (config.retry_backoff_ms, config.retry_backoff_max_ms, config.connection_timeout_max_ms) == (
        100,
        1000,
        30_000,
    )


def test_settings_of_sockets_and_retries() -> None:
    config = read(receive_buffer_bytes="65536", send_buffer_bytes="-1", retries="3", retry_backoff_max_ms="5000")
    assert config.socket_options == ((socket.SOL_SOCKET, socket.SO_RCVBUF, 65536),)
    assert (config.retries, config.retry_backoff_max_ms) == (3, 5000)
    assert read(client_dns_lookup="resolve_canonical_bootstrap_servers_only").canonical_bootstrap


def test_the_api_time_out_is_at_least_that_of_a_request() -> None:
    assert read(request_timeout_ms="90000").api_timeout_ms == 90_000
    assert refused({"request.timeout.ms": "2000", "default.api.timeout.ms": "1000"}) == (
        "default.api.timeout.ms: it must be no smaller than request.timeout.ms"
    )


def test_no_secret_is_shown_by_what_holds_it() -> None:
    config = client_config(LOGIN, "c.properties")
    assert config.sasl["sasl_plain_password"] == SECRET
    for shown in (repr(config), str(config), repr(config.sasl), f"{config.sasl}", repr([config])):
        assert SECRET not in shown
    assert "<login by PLAIN>" in repr(config)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("request.timeout.ms", "soon", "Invalid value soon: Not a number of type INT"),
        ("request.timeout.ms", "1_000", "Invalid value 1_000: Not a number of type INT"),
        ("request.timeout.ms", str(1 << 31), f"Invalid value {1 << 31}: Not a number of type INT"),
        ("request.timeout.ms", "-1", "Invalid value -1: Value must be at least 0"),
        ("metadata.max.age.ms", "x", "Invalid value x: Not a number of type LONG"),
        ("sasl.login.refresh.window.factor", "1.5", "Invalid value 1.5: Value must be no more than 1"),
        ("enable.metrics.push", "maybe", "Invalid value maybe: Expected value to be either true or false"),
        ("security.protocol", "TLS", "TLS is not one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"),
        ("client.dns.lookup", "any", "any is not one of use_all_dns_ips, resolve_canonical_bootstrap_servers_only"),
    ],
)
def test_a_value_that_is_wrong(name: str, value: str, reason: str) -> None:
    assert refused({name: value}) == f"{name}: {reason}"


REFUSED = [each.name for each in settings().values() if each.decision == "refused"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_honoured_is_an_error(name: str) -> None:
    assert re.fullmatch(re.escape(name) + ": .*, so this cannot be honoured", refused({name: SECRET}))
    assert client_config({name: ""}, "c.properties") == read()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.keymanager.algorithm", "SunX509"),
        ("ssl.trustmanager.algorithm", "PKIX"),
        ("ssl.engine.factory.class", "org.apache.kafka.common.security.ssl.DefaultSslEngineFactory"),
    ],
)
def test_a_value_that_changes_nothing_is_no_error(name: str, value: str) -> None:
    assert client_config({name: value}, "c.properties") == read()


def test_an_unknown_setting_is_told_without_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    config = client_config({"schema.registry.url": SECRET, "basic.auth.user.info": SECRET}, "c.properties")
    assert config == read()
    told = "no client has these settings, so they are ignored: basic.auth.user.info, schema.registry.url"
    assert capsys.readouterr().err == f"kafkapy: c.properties: {told}\n"


def test_the_file_of_a_node_is_full_of_settings_that_no_client_has(capsys: pytest.CaptureFixture[str]) -> None:
    config = client_config(
        {"process.roles": "controller", "node.id": "4", "log.dirs": "/kafka", "request.timeout.ms": "1000"},
        "controller.properties",
    )
    assert config.request_timeout_ms == 1000
    assert capsys.readouterr().err == ""


def test_an_unknown_setting_of_security_is_an_error() -> None:
    assert refused({"ssl.truststore.locaton": "/ca"}) == (
        "ssl.truststore.locaton: no client has this setting; did you mean 'ssl.truststore.location'?"
    )


def test_settings_of_brokers_and_of_consumers_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    config = client_config({"ssl.client.auth": "required", "group.id": "g", "max.poll.records": "x"}, "c.properties")
    assert dict(config.role_settings) == {"group.id": "g", "max.poll.records": "x"}
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({JAAS: ""}, f"{JAAS}: it is missing; put the login module from"),
        ({JAAS: f"{PLAIN} required"}, f"{JAAS}: a semicolon is missing at the end"),
        ({JAAS: f"{PLAIN} {SECRET};"}, f"{JAAS}: after the login module there should be 'required'"),
        ({JAAS: f'{PLAIN} required password="{SECRET}"{SECRET}";'}, f"{JAAS}: option 2 is not NAME="),
        ({JAAS: f'{PLAIN} required username="a";'}, f"{JAAS}: PLAIN needs the login module's option password"),
        ({JAAS: f"com.{SECRET} required;"}, f"{JAAS}: its login module is not supported, only"),
        ({"sasl.mechanism": "AWS_MSK_IAM"}, "sasl.mechanism: AWS_MSK_IAM is not supported, only PLAIN,"),
        ({"sasl.login.callback.handler.class": "Mine"}, "sasl.login.callback.handler.class: kafkapy cannot run Java"),
    ],
)
def test_a_login_that_is_wrong(changes: dict[str, str], reason: str) -> None:
    assert refused(LOGIN | changes).startswith(reason)


def test_kerberos_without_its_package_is_told() -> None:
    try:
        import gssapi  # noqa: F401
    except ImportError:
        config = f"{KERBEROS} required useTicketCache=true;"
        login = {"security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": config}
        assert refused(login).startswith("sasl.mechanism: GSSAPI needs the Python package gssapi")
    else:
        pytest.skip("gssapi is installed")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.properties"
    with pytest.raises(KafkapyError, match=re.escape(f"{path}: No such file or directory (--command-config)")):
        read_client_properties(str(path))


def test_an_escape_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "bad.properties"
    path.write_text("client.id=\\u00zz\n")
    with pytest.raises(KafkapyError, match=re.escape(f"{path}: Malformed \\uxxxx encoding.")):
        read_client_properties(str(path))
