"""An archive of the classes that a Kafka broker loads, with which a JVM starts in a third of the CPU time.

It is made once, beside Kafka's jars, by a JVM that runs a broker until it listens and writes down what it has loaded as
it ends. It is renamed when it is complete; where it cannot be made, or does not fit the JVM, brokers start without.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path

from kafkapy.backends.cluster_file import read_cluster_file
from kafkapy.backends.directory_format import HOST, broker_properties, make_cluster, ports
from kafkapy.log.files import Files
from tests.free_ports import free_base_port

# The archive is for one collector only. A compiler that optimizes more costs more than a test's broker can earn back.
QUICK = ("-Xlog:disable", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
START_S = 120.0
WRITE_S = 120.0


@cache
def quick_start(libs: Path) -> tuple[str, ...]:
    """The flags of a JVM that has these jars as its classpath, and starts fast."""
    java = shutil.which("java")
    assert java is not None
    archive = libs.parent / f"{libs.name}-{_build(java)}.jsa"
    if not archive.exists():
        _make(java, libs, archive)
    return (*QUICK, f"-XX:SharedArchiveFile={archive}") if archive.exists() else QUICK


def _build(java: str) -> str:
    """What tells this JVM from others, which cannot use its archive."""
    home = Path(os.path.realpath(java)).parent.parent
    told = f"{home}{(home / 'release').read_text() if (home / 'release').exists() else ''}"
    import hashlib

    return hashlib.sha256(told.encode()).hexdigest()[:12]


def _make(java: str, libs: Path, archive: Path) -> None:
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix="archive.") as work:
        directory, written = Path(work, "cluster"), Path(work, "classes.jsa")
        make_cluster(str(directory), 1, files=Files(sync=False))
        base = free_base_port(2)
        config = Path(work, "server.properties")
        config.write_text("\n".join(broker_properties(str(directory), read_cluster_file(str(directory)), 1, base)))
        command = [java, *QUICK, f"-XX:ArchiveClassesAtExit={written}", "-Xmx256M", "-cp", f"{libs}/*"]
        broker = subprocess.Popen(
            [*command, "kafka.Kafka", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            _wait_until_it_listens(broker, ports(1, base)[0])
            broker.terminate()
            broker.wait(WRITE_S)
        except subprocess.TimeoutExpired:
            return
        finally:
            broker.kill()
            broker.wait()
        if written.exists():
            written.rename(archive)


def _wait_until_it_listens(broker: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_S
    while broker.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
