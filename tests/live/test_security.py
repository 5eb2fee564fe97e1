"""Logging in to a real broker in every way, every way to fail at it, and what a user sees who may not.

Kafka's own tool is asked the same for what it tells a user without rights. Whatever fails does so in one line and soon,
and no secret is in anything that a failing run printed, tracebacks included.
"""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.certificates import Authority, make_key_store, make_trust_store
from tests.relay import Relay
from tests.secure_kafka import (
    HOST,
    KEY_PASSWORD,
    KEY_STORE_PASSWORD,
    MODULES,
    PASSWORDS,
    SECRETS,
    TRUST_STORE_PASSWORD,
    SecureKafka,
    jaas,
)
from tests.tool_server import ToolRun

WRONG = "Wr0ng!Geheim"
SOON_S = 60.0
Settings = dict[str, str | Path]
PATIENT: Settings = {"default.api.timeout.ms": "600000"}  # who tried again for so long would be ended by the test


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecureKafka]:
    with SecureKafka(tmp_path_factory.mktemp("secure")) as kafka:
        yield kafka


@pytest.fixture
def trusting(secure: SecureKafka) -> Settings:
    return {"ssl.truststore.type": "PEM", "ssl.truststore.location": secure.scratch / "ca.pem"}


def error_line(run: ToolRun) -> str:
    """The one line that a failed run printed."""
    assert run.code == 1, run
    lines = run.err.splitlines()
    assert len(lines) == 1, run
    assert not any(secret in run.out + run.err for secret in (*SECRETS, WRONG)), run
    return lines[0].removeprefix("kafkapy: ")


def topics(secure: SecureKafka, listener: str, settings: Settings | None = None) -> ToolRun:
    """Which topics this client sees."""
    config = None if settings is None else secure.config_file(settings)
    return secure.kafkapy("topics", listener, config, "--list")


def with_password(mechanism: str, password: str = PASSWORDS["alice"], user: str = "alice") -> Settings:
    module = jaas(mechanism, username=user, password=password)
    return {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism, "sasl.jaas.config": module}


def with_token(**claims: str) -> Settings:
    module = jaas("OAUTHBEARER", **claims)
    return {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", "sasl.jaas.config": module}


# Getting in


@pytest.mark.parametrize("mechanism", [name for name in MODULES if name != "OAUTHBEARER"])
def test_a_password_logs_in(secure: SecureKafka, trusting: Settings, mechanism: str) -> None:
    assert topics(secure, "LOGIN", with_password(mechanism) | trusting) == ToolRun(0, "open\n", "")


def test_a_token_logs_in(secure: SecureKafka, trusting: Settings) -> None:
    settings = with_token(unsecuredLoginStringClaim_sub="alice") | trusting
    assert topics(secure, "LOGIN", settings) == ToolRun(0, "open\n", "")


def test_a_delegation_token_logs_in(secure: SecureKafka, trusting: Settings) -> None:
    create = ("--create", "--max-life-time-period", "-1")
    token, hmac = secure.kafka("DelegationTokenCommand", "LOGIN", secure.login("alice"), *create).lines[-1].split()[:2]
    module = jaas("SCRAM-SHA-512", username=token, password=hmac, tokenauth="true")
    settings = with_password("SCRAM-SHA-512") | trusting | {"sasl.jaas.config": module}
    run = topics(secure, "LOGIN", settings)
    # The controller has made the token before the broker knows it: Kafka's own tool is refused at first, too.
    deadline = time.monotonic() + SOON_S
    while run.code and time.monotonic() < deadline:
        time.sleep(0.2)
        run = topics(secure, "LOGIN", settings)
    assert run == ToolRun(0, "open\n", "")
    without = jaas("SCRAM-SHA-512", username=token, password=hmac)
    assert "refused the login" in error_line(topics(secure, "LOGIN", settings | {"sasl.jaas.config": without}))


def test_a_password_logs_in_without_tls(secure: SecureKafka) -> None:
    settings = with_password("PLAIN") | {"security.protocol": "sasl_plaintext"}
    assert topics(secure, "OPEN_LOGIN", settings) == ToolRun(0, "open\n", "")


def test_a_password_may_stand_in_another_file(secure: SecureKafka, trusting: Settings) -> None:
    secrets = secure.write("secrets.properties", f"alice={PASSWORDS['alice']}\n")
    settings = with_password("PLAIN", f"${{file:{secrets}:alice}}") | trusting
    settings["config.providers"] = "file"
    settings["config.providers.file.class"] = "org.apache.kafka.common.config.provider.FileConfigProvider"
    assert topics(secure, "LOGIN", settings) == ToolRun(0, "open\n", "")
    assert secure.kafka("TopicCommand", "LOGIN", secure.config_file(settings), "--list").out == "open\n"


@pytest.mark.parametrize("kind", ["JKS", "PKCS12"])
@pytest.mark.parametrize("configured", ["JKS", "PKCS12"])
def test_stores_of_keytool_open_whichever_type_is_configured(secure: SecureKafka, kind: str, configured: str) -> None:
    trusted = secure.scratch / f"trust-{kind}-{configured}"
    make_trust_store(trusted, kind, [secure.authority.pem], TRUST_STORE_PASSWORD)
    own = secure.scratch / f"own-{kind}-{configured}"
    key_password = KEY_PASSWORD if kind == "JKS" else KEY_STORE_PASSWORD
    make_key_store(own, kind, secure.carol, KEY_STORE_PASSWORD, key_password)
    settings: Settings = {
        "security.protocol": "SSL",
        "ssl.truststore.location": trusted,
        "ssl.truststore.password": TRUST_STORE_PASSWORD,
        "ssl.truststore.type": configured,
        "ssl.keystore.location": own,
        "ssl.keystore.password": KEY_STORE_PASSWORD,
        "ssl.keystore.type": configured,
        "ssl.key.password": key_password,
    }
    assert topics(secure, "CERTIFICATE", settings) == ToolRun(0, "\n", "")  # carol sees none


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("password", [None, KEY_PASSWORD])
def test_a_certificate_in_pem_gets_in(
    secure: SecureKafka, trusting: Settings, inline: bool, password: str | None
) -> None:
    key, chain = secure.carol.key_pem(password), secure.carol.chain_pem()
    settings: Settings = {"security.protocol": "SSL", "ssl.keystore.type": "PEM"}
    if password is not None:
        settings["ssl.key.password"] = password
    if inline:
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": secure.authority.pem}
        settings |= {"ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain}
    else:
        settings |= trusting
        settings["ssl.keystore.location"] = secure.write(f"carol-{password is None}.pem", key + chain)
    assert topics(secure, "CERTIFICATE", settings) == ToolRun(0, "\n", "")


def test_an_empty_algorithm_does_not_look_at_the_host_name(secure: SecureKafka, trusting: Settings) -> None:
    settings = {"security.protocol": "SSL", "ssl.endpoint.identification.algorithm": "", **trusting}
    assert topics(secure, "ELSEWHERE", settings).code == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ssl.enabled.protocols", "TLSv1.2"),
        ("ssl.enabled.protocols", "TLSv1.3"),
        ("ssl.cipher.suites", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("ssl.cipher.suites", "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256"),
    ],
)
def test_a_broker_agrees_on_the_tls_that_is_asked_for(
    secure: SecureKafka, trusting: Settings, name: str, value: str
) -> None:
    assert topics(secure, "OPEN_TLS", {"security.protocol": "SSL", name: value, **trusting}).code == 0


# Not getting in


@pytest.mark.parametrize("mechanism", [name for name in MODULES if name != "OAUTHBEARER"])
def test_a_wrong_password_is_told_at_once(secure: SecureKafka, trusting: Settings, mechanism: str) -> None:
    line = error_line(topics(secure, "LOGIN", with_password(mechanism, WRONG) | trusting | PATIENT))
    assert line.startswith(f"broker {secure.address('LOGIN')} refused the login: Authentication failed")
    assert re.search(r"\(sasl\.jaas\.config in .*client-\d+\.properties\)$", line)


def test_an_expired_token_is_told(secure: SecureKafka, trusting: Settings) -> None:
    claims = {"unsecuredLoginStringClaim_sub": "alice", "unsecuredLoginLifetimeSeconds": "-60"}
    line = error_line(topics(secure, "LOGIN", with_token(**claims) | trusting))
    assert line.startswith(f'broker {secure.address("LOGIN")} refused the login: {{"status":"invalid_token"}}')


def test_a_mechanism_that_the_broker_lacks(secure: SecureKafka) -> None:
    settings = with_password("SCRAM-SHA-256") | {"security.protocol": "SASL_PLAINTEXT"}
    line = error_line(topics(secure, "OPEN_LOGIN", settings))
    spoken, mine = "SASL_PLAINTEXT with PLAIN", "SASL_PLAINTEXT with SCRAM-SHA-256"
    assert line.startswith(f"broker {secure.address('OPEN_LOGIN')} speaks {spoken}, not {mine}: see sasl.mechanism in ")


_MECHANISMS = "OAUTHBEARER or PLAIN or SCRAM-SHA-256 or SCRAM-SHA-512"


@pytest.mark.parametrize(
    ("protocol", "listener", "spoken"),
    [
        ("PLAINTEXT", "LOGIN", f"SASL_SSL with {_MECHANISMS}"),
        ("PLAINTEXT", "OPEN_TLS", "SSL"),
        ("PLAINTEXT", "CERTIFICATE", "SSL with a client's certificate (ssl.keystore.location)"),
        ("PLAINTEXT", "OPEN_LOGIN", "SASL_PLAINTEXT with PLAIN"),
        ("SSL", "PLAINTEXT", "PLAINTEXT"),
        ("SSL", "LOGIN", f"SASL_SSL with {_MECHANISMS}"),
        ("SSL", "OPEN_LOGIN", "SASL_PLAINTEXT with PLAIN"),
        ("SASL_SSL", "OPEN_TLS", "SSL"),
        ("SASL_SSL", "PLAINTEXT", "PLAINTEXT"),
        ("SASL_SSL", "OPEN_LOGIN", "SASL_PLAINTEXT with PLAIN"),
        ("SASL_PLAINTEXT", "PLAINTEXT", "PLAINTEXT"),
        ("SASL_PLAINTEXT", "OPEN_TLS", "SSL"),
        ("SASL_PLAINTEXT", "LOGIN", f"SASL_SSL with {_MECHANISMS}"),
    ],
)
def test_a_wrong_protocol_is_told_with_the_right_one(
    secure: SecureKafka, trusting: Settings, protocol: str, listener: str, spoken: str
) -> None:
    settings = with_password("PLAIN") | trusting | PATIENT | {"security.protocol": protocol}
    line = error_line(topics(secure, listener, settings))
    mine = protocol + (" with PLAIN" if protocol.startswith("SASL") else "")
    assert line.startswith(f"broker {secure.address(listener)} speaks {spoken}, not {mine}: see security.protocol in ")


def test_without_a_file_the_option_for_one_is_told(secure: SecureKafka) -> None:
    line = error_line(topics(secure, "OPEN_TLS"))
    remedy = "security.protocol=SSL belongs in a file that you name with --command-config"
    assert line == f"broker {secure.address('OPEN_TLS')} speaks SSL, not PLAINTEXT: {remedy}"


def test_an_authority_that_is_not_trusted(secure: SecureKafka) -> None:
    other = secure.write("other.pem", Authority("somebody else").pem)
    stores: list[Settings] = [{}, {"ssl.truststore.type": "PEM", "ssl.truststore.location": other}]
    for trusted in stores:
        line = error_line(topics(secure, "OPEN_TLS", {"security.protocol": "SSL", **trusted}))
        assert line.startswith(f"broker {secure.address('OPEN_TLS')} cannot be trusted: ")
        assert "(ssl.truststore.location in " in line


def test_a_certificate_that_expired(secure: SecureKafka, trusting: Settings) -> None:
    line = error_line(topics(secure, "EXPIRED", {"security.protocol": "SSL", **trusting}))
    assert line == f"broker {secure.address('EXPIRED')} cannot be trusted: certificate has expired"


def test_a_certificate_for_another_host(secure: SecureKafka, trusting: Settings) -> None:
    line = error_line(topics(secure, "ELSEWHERE", {"security.protocol": "SSL", **trusting}))
    assert f"its certificate is not for {HOST} (an empty ssl.endpoint.identification.algorithm in " in line


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_a_broker_that_wants_a_certificate(secure: SecureKafka, trusting: Settings, version: str) -> None:
    settings = {"security.protocol": "SSL", "ssl.enabled.protocols": version, **trusting}
    line = error_line(topics(secure, "CERTIFICATE", settings))
    where = f"TLS with broker {secure.address('CERTIFICATE')} failed: "
    assert re.fullmatch(re.escape(where) + r"the broker says '.*certificate.*' \(ssl\.keystore\.location\)", line)


def test_a_certificate_that_the_broker_does_not_trust(secure: SecureKafka, trusting: Settings) -> None:
    mallory = Authority("somebody else").sign("mallory")
    own = secure.write("mallory.pem", mallory.key_pem() + mallory.chain_pem())
    settings = {"security.protocol": "SSL", "ssl.keystore.type": "PEM", "ssl.keystore.location": own, **trusting}
    line = error_line(topics(secure, "CERTIFICATE", settings))
    assert line.startswith(f"TLS with broker {secure.address('CERTIFICATE')} failed: the broker says ")


# What a user without rights sees


DENIED = [
    ("topics", "TopicCommand", ("--list",)),
    ("topics", "TopicCommand", ("--describe",)),
    ("topics", "TopicCommand", ("--describe", "--topic", "open")),
    ("topics", "TopicCommand", ("--describe", "--topic", "closed")),
    ("topics", "TopicCommand", ("--create", "--topic", "new", "--partitions", "1", "--replication-factor", "1")),
    ("topics", "TopicCommand", ("--alter", "--topic", "open", "--partitions", "5")),
    ("topics", "TopicCommand", ("--delete", "--topic", "open")),
    ("topics", "TopicCommand", ("--delete", "--topic", "closed")),
    ("consumer-groups", "ConsumerGroupCommand", ("--list",)),
    ("consumer-groups", "ConsumerGroupCommand", ("--describe", "--group", "readers")),
    ("consumer-groups", "ConsumerGroupCommand", ("--describe", "--group", "others")),
    ("get-offsets", "GetOffsetShell", ()),
    ("get-offsets", "GetOffsetShell", ("--topic", "closed")),
    ("configs", "ConfigCommand", ("--describe", "--entity-type", "topics", "--entity-name", "open")),
    ("configs", "ConfigCommand", ("--describe", "--entity-type", "brokers", "--entity-name", "1")),
    ("acls", "AclCommand", ("--list",)),
]


@pytest.mark.parametrize(("command", "tool", "args"), DENIED, ids=str)
@pytest.mark.parametrize("user", ["alice", "bob"])
def test_a_user_without_rights_sees_what_kafkas_tool_shows(
    secure: SecureKafka, user: str, command: str, tool: str, args: tuple[str, ...]
) -> None:
    config = secure.login(user)
    expected = secure.kafka(tool, "LOGIN", config, *args)
    run = secure.kafkapy(command, "LOGIN", config, *args)
    assert _facts(run) == _facts(expected), (run, expected)
    assert not re.search("no such|internal error", run.err)
    if expected.code:
        assert run.code == 1
    assert not any(secret in run.out + run.err for secret in SECRETS)


@pytest.mark.parametrize("user", ["alice", "bob"])
def test_a_consumer_of_a_topic_that_it_may_not_see_is_told_so(secure: SecureKafka, user: str) -> None:
    run = secure.kafkapy("console-consumer", "LOGIN", secure.login(user), "--topic", "closed", "--timeout-ms", "1")
    assert (run.code, run.err) == (1, "kafkapy: Not authorized to access topics: [closed]\n")


def _facts(run: ToolRun) -> list[str]:
    """What was printed, without the frames of Java's stack and what is of one connection only, in any order."""
    stack = re.compile(r"\s+at |Caused by: | \(org\.|(java|org)\.[\w.]+Exception: ")
    lines = [line for line in run.out.splitlines() if line and not stack.match(line)]
    return sorted(re.sub(r"processor=\d+, connectionId=[\d.:-]+|Session@\w+", "*", line) for line in lines)


# Secrets


FAILING: list[tuple[str, Settings]] = [
    ("LOGIN", with_password("PLAIN", WRONG)),
    ("LOGIN", with_password("SCRAM-SHA-512", WRONG)),
    ("OPEN_TLS", with_password("PLAIN", WRONG)),
    ("PLAINTEXT", with_password("PLAIN", WRONG)),
    ("LOGIN", with_password("PLAIN", f'{WRONG}"{WRONG}')),
    ("LOGIN", with_password("PLAIN") | {"sasl.jaas.config": f"{MODULES['PLAIN']} required username={WRONG}"}),
    ("LOGIN", with_password("PLAIN") | {"sasl.jaas.config": f"{WRONG} required;"}),
    ("LOGIN", with_password("PLAIN") | {"ssl.truststore.location": "/nowhere", "ssl.truststore.password": WRONG}),
    ("LOGIN", with_password("PLAIN", WRONG) | {"request.timeout.ms": "soon"}),
    ("LOGIN", with_password("PLAIN", WRONG) | {"sasl.login.class": "Own"}),
    ("LOGIN", with_password("PLAIN", WRONG) | {"ssl.keystore.key": WRONG, "ssl.keystore.certificate.chain": WRONG}),
    ("LOGIN", with_token(unsecuredLoginStringClaim_sub="alice", unsecuredLoginNumberClaim_n=WRONG)),
    ("LOGIN", with_token(extension_secret=WRONG)),
]


@pytest.mark.parametrize(("listener", "settings"), FAILING, ids=range(len(FAILING)))
def test_no_secret_is_in_what_a_failing_run_prints(
    secure: SecureKafka, trusting: Settings, listener: str, settings: Settings
) -> None:
    stores = trusting if "ssl.truststore.password" not in settings else {}
    config = secure.config_file({**stores, **settings})
    with secure.start_kafkapy("topics", listener, config, "--list") as process:
        words = Path(f"/proc/{process.pid}/cmdline").read_bytes() if Path("/proc/self/cmdline").exists() else b""
        out, err = process.communicate()
    assert process.returncode == 1
    assert "Traceback" in err
    assert "internal error" not in err
    for secret in (*SECRETS, WRONG):
        assert secret not in out + err
        assert secret.encode() not in words


# Brokers that fail


def test_a_port_that_accepts_and_never_answers(secure: SecureKafka, trusting: Settings) -> None:
    with socket.create_server((HOST, 0)) as silent:
        port = silent.getsockname()[1]
        for protocol in ("PLAINTEXT", "SSL"):
            settings = {"socket.connection.setup.timeout.ms": "500", "security.protocol": protocol, **trusting}
            config = secure.config_file(settings)
            run = secure.kafkapy("topics", "PLAINTEXT", config, "--list", "--bootstrap-server", f"{HOST}:{port}")
            assert error_line(run) == (
                f"broker {HOST}:{port} accepted the connection and said nothing for 500 ms "
                f"(socket.connection.setup.timeout.ms): it may hang, or not speak {protocol} on that port"
            )


def test_a_port_that_speaks_something_else(secure: SecureKafka) -> None:
    with socket.create_server((HOST, 0)) as server:
        address = f"{HOST}:{server.getsockname()[1]}"
        thread = threading.Thread(target=_answer_as_a_web_server, args=(server,))
        thread.start()
        run = secure.kafkapy("topics", "PLAINTEXT", None, "--list", "--bootstrap-server", address)
        server.shutdown(socket.SHUT_RDWR)
        thread.join()
    reason = "there was no first answer (its answer is not in Kafka's protocol)"
    assert error_line(run) == f"broker {address} could not be talked to in PLAINTEXT: {reason}"


def _answer_as_a_web_server(server: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while True:
            client, _ = server.accept()
            with client:
                client.recv(1)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_nobody_there(secure: SecureKafka) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))  # not listening
        address = f"{HOST}:{taken.getsockname()[1]}"
        done = secure.kafkapy("topics", "PLAINTEXT", None, "--list", "--bootstrap-server", address)
        line, hint = done.err.splitlines()
        assert line == f"kafkapy: broker {address} cannot be reached: connection refused"
        assert hint.startswith("kafkapy: is a broker running there?")


def test_ctrl_c_in_the_middle_leaves_no_word(secure: SecureKafka) -> None:
    secure.pause()
    try:
        with secure.start_kafkapy("topics", "PLAINTEXT", None, "--list") as process:
            _wait_for_connection(process.pid)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=SOON_S)
    finally:
        secure.resume()
    assert (process.returncode, out, err) == (130, "", "")


def test_a_broker_that_stops_answering_is_named_with_the_setting(secure: SecureKafka) -> None:
    config = secure.config_file({"socket.connection.setup.timeout.ms": "1000"})
    secure.pause()
    try:
        line = error_line(secure.kafkapy("topics", "PLAINTEXT", config, "--list"))
    finally:
        secure.resume()
    assert line.startswith(f"broker {secure.address()} accepted the connection and said nothing for 1000 ms ")


@pytest.mark.parametrize("is_killed", [True, False])
def test_a_broker_that_dies_or_hangs_in_the_middle_of_a_command(secure: SecureKafka, is_killed: bool) -> None:
    timeouts = {"request.timeout.ms": "2000", "default.api.timeout.ms": "2000"}
    config = secure.config_file({**timeouts, "socket.connection.setup.timeout.ms": "1000"})
    fail, recover = (secure.kill, secure.start) if is_killed else (secure.pause, secure.resume)
    try:
        with Relay(secure.address(), before_second_request=fail) as relay:
            run = secure.kafkapy("topics", "PLAINTEXT", config, "--list", "--bootstrap-server", relay.address)
    finally:
        recover()
    told = "could not be talked to" if is_killed else "did not answer Metadata within 2000 ms (request.timeout.ms)"
    assert f"broker {relay.address} {told}" in error_line(run)
    assert topics(secure, "PLAINTEXT").lines[-2:] == ["closed", "open"]


def _wait_for_connection(pid: int) -> None:
    """Until the process has a socket, which it has when it waits for an answer."""
    deadline = time.monotonic() + SOON_S
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):  # a file that it has closed meanwhile
            links = [path.readlink() for path in Path(f"/proc/{pid}/fd").iterdir()]
            if sum(str(link).startswith("socket:") for link in links) > 2:  # two are the event loop's own
                return
        time.sleep(0.05)
    raise AssertionError("no connection was made")
