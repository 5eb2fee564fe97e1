"""A cluster directory with a group that reads well, falls behind, stalls and catches up: what the pictures of lag show.

    python docs/pictures/lag_run.py DIR     make DIR and play there, for about six minutes

Records come all the time; how many of them the group is given a round changes from phase to phase. Everything is done
by kafkapy itself, as a user would: a producer's process and a consumer's process a round.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

ROUND_S = 3.0
PRODUCED = 120  # records a round
PHASES = (("reads well", 20, 200), ("falls behind", 30, 60), ("stalls", 20, 0), ("catches up", 35, 420))


def main(directory: str) -> None:
    cluster = str(Path(directory).resolve())
    kafkapy(cluster, "storage", "format", "--brokers", "3")
    kafkapy(cluster, "topics", "--create", "--topic", "orders", "--partitions", "3", "--replication-factor", "2")
    for phase, rounds, taken in PHASES:
        print(phase, flush=True)
        for _ in range(rounds):
            began = time.monotonic()
            play_round(cluster, taken)
            time.sleep(max(0.0, ROUND_S - (time.monotonic() - began)))


def play_round(cluster: str, taken: int) -> None:
    """Produce, and have the group read at most ``taken`` records."""
    keys = (random.randrange(10_000) for _ in range(PRODUCED))
    lines = "".join(f'order-{key}:{{"price": {key % 97}}}\n' for key in keys)
    keyed = ("--reader-property", "parse.key=true", "--reader-property", "key.separator=:")
    kafkapy(cluster, "console-producer", "--topic", "orders", *keyed, given=lines)
    if taken:
        reading = ("--topic", "orders", "--group", "billing", "--from-beginning", "--max-messages", str(taken))
        kafkapy(cluster, "console-consumer", *reading)


def kafkapy(cluster: str, *args: str, given: str = "") -> None:
    command = [sys.executable, "-m", "kafkapy", *args, "--cluster", cluster]
    subprocess.run(command, input=given, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
