"""The text of a shim: a POSIX shell script that ends as the kafkapy that wrote it.

    #!/bin/sh
    # A shim of kafkapy: kafka-topics.sh.
    exec /usr/bin/python3 -P -m kafkapy topics "$@"

``-P`` keeps a directory ``kafkapy`` in the caller's working directory from being taken for the program. Most commands
take the arguments of Kafka's script as they are; kafka-cluster.sh is two commands here, by its first word. A shim that
was made for a cluster directory leaves out what says where a running cluster is and how to log in to it.
"""

from __future__ import annotations

import os
from shlex import quote

MARK = "# A shim of kafkapy: "
CLUSTER_SCRIPT = "kafka-cluster.sh"
COMMANDS = (
    *("acls", "broker-api-versions", "configs", "console-consumer", "console-producer", "consumer-groups"),
    *("delete-records", "dump-log", "features", "get-offsets", "groups", "leader-election", "log-dirs"),
    *("metadata-quorum", "metadata-shell", "reassign-partitions", "share-groups", "storage", "streams-groups"),
    *("topics", "transactions"),
)
"""Commands with the shape of Kafka's script of the same name."""
SCRIPTS = tuple(sorted([*(f"kafka-{command}.sh" for command in COMMANDS), CLUSTER_SCRIPT]))

_SERVERS = ("--bootstrap-server", "--bootstrap-controller")
_BY_FIRST_WORD = """case "$1" in
    cluster-id) ;;
    *) set -- cluster "$@" ;;
esac
"""
_WITHOUT_SERVER = """skip=
for word do
    shift
    if [ -n "$skip" ]; then
        skip=
        continue
    fi
    case "$word" in
        {options}) skip=1 ;;
        {assignments}) ;;
        *) set -- "$@" "$word" ;;
    esac
done
KAFKAPY_CLUSTER={cluster}
export KAFKAPY_CLUSTER
"""


def shim(script: str, python: str, cluster: str | None) -> str:
    """The text of a script; ``python`` is the interpreter that has kafkapy."""
    command = script.removeprefix("kafka-").removesuffix(".sh")
    before = "" if cluster is None else _without_server(script, cluster)
    if script == CLUSTER_SCRIPT:
        before += _BY_FIRST_WORD
        command = ""
    words = " ".join(filter(None, (quote(python), "-P", "-m", "kafkapy", command)))
    return f'#!/bin/sh\n{MARK}{script}.\n{before}exec {words} "$@"\n'


def _without_server(script: str, cluster: str) -> str:
    options = list(_SERVERS)
    if not script.startswith("kafka-console-"):  # there it has the producer's or the consumer's configs, too
        options.append("--command-config")
    options += [option.removeprefix("-") for option in options]  # Kafka's tools take one dash, too,
    empty = [f"{option}=" for option in options]  # and the value behind a lonely equals sign
    short = ["-b", "-C", "-c"] if script == CLUSTER_SCRIPT else []
    return _WITHOUT_SERVER.format(
        options="|".join([*options, *empty, *short]),
        assignments="|".join(f"{option}=*" for option in options),
        cluster=quote(os.path.abspath(cluster)),
    )
