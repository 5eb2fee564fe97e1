"""Ports that nobody listens on."""

from __future__ import annotations

import random
import socket

from kafkapy.backends.directory_format import HOST


def free_base_port(count: int) -> int:
    """The first of ``count`` ports in a row that nobody listens on: below those that the system gives to clients, and
    from a random place, or two suites that start at once would take the same."""
    bases = range(12000, 32000, 50)
    for base in random.SystemRandom().sample(bases, len(bases)):
        try:
            for port in range(base, base + count):
                with socket.socket() as probe:
                    probe.bind((HOST, port))
        except OSError:
            continue
        return base
    raise RuntimeError("no free ports")
