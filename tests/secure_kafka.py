"""A real Kafka 4.3.1 broker with every kind of listener, an authorizer, and users who may do little.

    name          protocol         who gets in
    PLAINTEXT     PLAINTEXT        everybody, and may do everything (User:ANONYMOUS)
    LOGIN         SASL_SSL         alice and bob by PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER (unsecured)
    OPEN_LOGIN    SASL_PLAINTEXT   alice and bob by PLAIN
    OPEN_TLS      SSL              everybody (User:ANONYMOUS)
    CERTIFICATE   SSL              whoever has a certificate of the private authority
    EXPIRED       SSL              everybody; the broker's certificate is no longer valid
    ELSEWHERE     SSL              everybody; the broker's certificate is for another host

alice may describe and read the topic ``open`` and the group ``readers``; bob may nothing.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType

from kafkapy.backends.directory_format import make_cluster
from kafkapy.log.files import Files
from tests.broker_processes import BrokerProcesses
from tests.certificates import Authority, Identity
from tests.free_ports import free_base_port
from tests.in_process import run_kafkapy
from tests.tool_server import ToolRun, shared_tools

HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parent.parent
START_S = 180.0
PASSWORDS = {"alice": "Wonder,land=1;#'x", "bob": "kein-Zutritt-7"}
SECRETS = (*PASSWORDS.values(), "keystore-secret-1", "key-secret-2", "truststore-secret-3")
KEY_STORE_PASSWORD, KEY_PASSWORD, TRUST_STORE_PASSWORD = SECRETS[-3:]
_LISTENERS = {
    "LOGIN": "SASL_SSL",
    "OPEN_LOGIN": "SASL_PLAINTEXT",
    "OPEN_TLS": "SSL",
    "CERTIFICATE": "SSL",
    "EXPIRED": "SSL",
    "ELSEWHERE": "SSL",
}
_SECURITY = "org.apache.kafka.common.security"
MODULES = {
    "PLAIN": f"{_SECURITY}.plain.PlainLoginModule",
    "SCRAM-SHA-256": f"{_SECURITY}.scram.ScramLoginModule",
    "SCRAM-SHA-512": f"{_SECURITY}.scram.ScramLoginModule",
    "OAUTHBEARER": f"{_SECURITY}.oauthbearer.OAuthBearerLoginModule",
}


def jaas(mechanism: str, **options: str) -> str:
    """A value of sasl.jaas.config."""
    words = "".join(f' {name}="{value}"' for name, value in options.items())
    return f"{MODULES[mechanism]} required{words};"


class SecureKafka:
    """The broker, while the context lasts."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.authority = Authority("kafkapy tests")
        self.carol = self.authority.sign("carol")
        directory = scratch / "cluster"
        make_cluster(str(directory), 1, files=Files(sync=False))
        properties: list[str] = []
        self._cluster = BrokerProcesses(directory, scratch, properties)
        base = free_base_port(len(_LISTENERS))
        self._ports = {name: base + number for number, name in enumerate(_LISTENERS)}
        properties += self._properties()
        self._numbers = iter(range(1_000_000))

    def __enter__(self) -> SecureKafka:
        self._cluster.__enter__()
        try:
            self._wait_until_up()
            self._make_users()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for broker_id in self._cluster.running:
            self._cluster.kill(broker_id)

    # Where it listens

    def address(self, listener: str = "PLAINTEXT") -> str:
        return self._cluster.address(1) if listener == "PLAINTEXT" else f"{HOST}:{self._ports[listener]}"

    def _properties(self) -> list[str]:
        names = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **_LISTENERS}
        extra = [f"{name}://{HOST}:{port}" for name, port in self._ports.items()]
        plain, controller = f"PLAINTEXT://{self.address()}", f"CONTROLLER://{self._cluster.controller_address(1)}"
        trusted = self.write("ca.pem", self.authority.pem)
        return [
            f"listeners={','.join([plain, controller, *extra])}",
            f"advertised.listeners={','.join([plain, *extra])}",
            f"listener.security.protocol.map={','.join(f'{name}:{kind}' for name, kind in names.items())}",
            "inter.broker.listener.name=PLAINTEXT",
            "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users=User:ANONYMOUS",
            "offsets.topic.num.partitions=1",
            "group.initial.rebalance.delay.ms=0",
            "delegation.token.secret.key=signs-delegation-tokens",
            *(line for name in _LISTENERS if "SSL" in _LISTENERS[name] for line in self._tls_lines(name)),
            "listener.name.certificate.ssl.client.auth=required",
            "listener.name.certificate.ssl.truststore.type=PEM",
            f"listener.name.certificate.ssl.truststore.location={trusted}",
            *self._login_lines("login", tuple(MODULES)),
            *self._login_lines("open_login", ("PLAIN",)),
        ]

    def _tls_lines(self, listener: str) -> list[str]:
        hosts = ("elsewhere.example",) if listener == "ELSEWHERE" else (HOST, "localhost")
        until = datetime.now(UTC) - timedelta(days=1) if listener == "EXPIRED" else None
        store = self.write(f"{listener}.pem", _pem(self.authority.sign("broker", hosts, until)))
        prefix = f"listener.name.{listener.lower()}.ssl.keystore"
        return [f"{prefix}.type=PEM", f"{prefix}.location={store}"]

    @staticmethod
    def _login_lines(listener: str, mechanisms: tuple[str, ...]) -> list[str]:
        users = {f"user_{user}": password for user, password in PASSWORDS.items()}
        prefix = f"listener.name.{listener}"
        modules = [
            f"{prefix}.{name.lower()}.sasl.jaas.config={jaas(name, **(users if name == 'PLAIN' else {}))}"
            for name in mechanisms
        ]
        return [f"{prefix}.sasl.enabled.mechanisms={','.join(mechanisms)}", *modules]

    # Its users

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + START_S
        while self.kafka("TopicCommand", "PLAINTEXT", None, "--list").code != 0:
            if time.monotonic() > deadline or self._cluster.has_crashed():
                raise AssertionError(f"the broker did not come up:\n{self._cluster.outputs()}")
            time.sleep(0.2)

    def _make_users(self) -> None:
        for (user, password), size in itertools.product(PASSWORDS.items(), (256, 512)):
            file = self.write(f"{user}-{size}.scram", f"SCRAM-SHA-{size}=iterations=4096,password={password}\n")
            entity = ("--entity-type", "users", "--entity-name", user)
            self._must("ConfigCommand", "--alter", *entity, "--add-config-file", str(file))
        for topic in ("open", "closed"):
            self._must("TopicCommand", "--create", "--topic", topic, "--partitions", "2", "--replication-factor", "1")
        grant = ("--add", "--allow-principal", "User:alice", "--operation", "Describe", "--operation", "Read")
        self._must("AclCommand", *grant, "--topic", "open", "--group", "readers")

    def _must(self, tool: str, *args: str) -> None:
        done = self.kafka(tool, "PLAINTEXT", None, *args)
        assert done.code == 0, done

    # Running commands

    def write(self, name: str, text: str) -> Path:
        path = self.scratch / name
        path.write_text(text)
        return path

    def config(self, **settings: str | Path | None) -> Path:
        """A file for --command-config; an underscore in a name stands for a dot."""
        lines = {name.replace("_", "."): value for name, value in settings.items() if value is not None}
        return self.config_file(lines)

    def config_file(self, settings: Mapping[str, str | Path]) -> Path:
        def escaped(value: str) -> str:
            return value.replace("\\", "\\\\").replace("\n", "\\n")

        lines = [f"{name}={escaped(str(value))}" for name, value in settings.items()]
        return self.write(f"client-{next(self._numbers)}.properties", "\n".join(lines) + "\n")

    def login(self, user: str, mechanism: str = "SCRAM-SHA-256", password: str | None = None, **more: str) -> Path:
        """A file for a user of LOGIN."""
        return self.config(
            security_protocol="SASL_SSL",
            sasl_mechanism=mechanism,
            sasl_jaas_config=jaas(mechanism, username=user, password=password or PASSWORDS[user]),
            ssl_truststore_type="PEM",
            ssl_truststore_location=self.scratch / "ca.pem",
            **more,
        )

    def kafka(self, tool: str, listener: str, config: Path | None, *args: str) -> ToolRun:
        """What Kafka's tool does."""
        return shared_tools().run(tool, self._args(listener, config, args))

    def kafkapy(self, command: str, listener: str, config: Path | None, *args: str) -> ToolRun:
        """What kafkapy does, in this process."""
        return run_kafkapy([command, *self._args(listener, config, args)], None, 60.0)

    def start_kafkapy(self, command: str, listener: str, config: Path | None, *args: str) -> subprocess.Popen[str]:
        """kafkapy as a process of its own, with every word of its tracebacks."""
        words = [sys.executable, "-m", "kafkapy", command, *self._args(listener, config, args)]
        environment = {**os.environ, "KAFKAPY_DEBUG": "1"}
        return subprocess.Popen(
            words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def _args(self, listener: str, config: Path | None, args: tuple[str, ...]) -> list[str]:
        given = ("--command-config", str(config)) if config is not None else ()
        where = () if "--bootstrap-server" in args else ("--bootstrap-server", self.address(listener))
        return [*where, *given, *args]

    # Its failures

    def pause(self) -> None:
        """Stop the broker's process where it stands; its ports still accept connections."""
        self._cluster.pause(1)

    def resume(self) -> None:
        self._cluster.resume(1)

    def kill(self) -> None:
        self._cluster.kill(1)

    def start(self) -> None:
        """Start it again after it was killed."""
        self._cluster.start(1)
        self._wait_until_up()


def _pem(identity: Identity) -> str:
    return identity.key_pem() + identity.chain_pem()
