"""A cluster directory with a group that reads well, falls behind, stops and catches up: what the pictures of lag show.

    python docs/pictures/lag_run.py DIR     make DIR and play there, for about four minutes

Records come all the time; how many of them the group billing is given a round changes from phase to phase. The
group shipping reads all there is. Everything is done by kafkapy itself, by a process each.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

ROUND_S = 3.0
PRODUCED = 120  # records a round
PHASES = (("reads well", 12, 200), ("falls behind", 20, 70), ("stops", 20, 0), ("catches up", 18, 700))


def main(directory: str) -> None:
    """Play all phases."""
    cluster = str(Path(directory).resolve())
    kafkapy(cluster, "storage", "format", "--brokers", "3")
    kafkapy(cluster, "topics", "--create", "--topic", "orders", "--partitions", "1", "--replication-factor", "2")
    for phase, rounds, taken in PHASES:
        print(phase, flush=True)
        for _ in range(rounds):
            began = time.monotonic()
            play_round(cluster, taken)
            time.sleep(max(0.0, ROUND_S - (time.monotonic() - began)))


def play_round(cluster: str, taken: int) -> None:
    """Produce, and have the groups read: billing at most ``taken`` records."""
    lines = "".join(f"order {random.randrange(10_000)}\n" for _ in range(PRODUCED))
    kafkapy(cluster, "console-producer", "--topic", "orders", given=lines)
    consume(cluster, "shipping", 10 * PRODUCED)
    if taken:
        consume(cluster, "billing", taken)


def consume(cluster: str, group: str, count: int) -> None:
    """Have a group read, and commit."""
    reading = ("--topic", "orders", "--group", group, "--from-beginning", "--max-messages", str(count))
    kafkapy(cluster, "console-consumer", *reading)


def kafkapy(cluster: str, *args: str, given: str = "") -> None:
    """Run one command on the cluster."""
    command = [sys.executable, "-m", "kafkapy", *args, "--cluster", cluster]
    subprocess.run(command, input=given, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
