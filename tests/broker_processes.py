"""Real Kafka brokers that are processes of their own, so that they can be killed and paused, each by its process id."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.kafka_java import ending_with_us, kafka_java
from tests.real_kafka import RealCluster


class BrokerProcesses(RealCluster):
    """All brokers of a cluster directory, while the context lasts."""

    def _launched(self, properties: Path, log: Path) -> subprocess.Popen[bytes]:
        command = ending_with_us([*kafka_java("kafka.Kafka", "-Xmx256m"), str(properties)])
        with log.open("ab") as output:
            return subprocess.Popen(command, stdout=output, stderr=output)

    def _wait_for_end(self, broker_id: int) -> None:
        """One that does not end, as one that finds no quorum, is killed."""
        try:
            super()._wait_for_end(broker_id)
        except subprocess.TimeoutExpired:
            self.kill(broker_id)

    def kill(self, broker_id: int) -> None:
        """End a broker at once."""
        broker = self._process(broker_id)
        broker.kill()
        broker.wait()
        del self._brokers[broker_id]

    def pause(self, broker_id: int) -> None:
        """Stop a broker's process where it stands; its ports still accept connections."""
        broker = self._process(broker_id)
        broker.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, broker.pid, os.WSTOPPED | os.WNOWAIT)

    def resume(self, broker_id: int) -> None:
        """Let a broker's process go on."""
        self._process(broker_id).send_signal(signal.SIGCONT)

    def _process(self, broker_id: int) -> subprocess.Popen[bytes]:
        broker = self._brokers[broker_id]
        assert isinstance(broker, subprocess.Popen)
        return broker
