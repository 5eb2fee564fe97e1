"""ACLs that kafkapy wrote into a cluster directory are in force on a real broker, and those of the broker are read."""

from __future__ import annotations

from pathlib import Path

from kafkapy.backends.directory_format import make_cluster
from kafkapy.cli import main
from kafkapy.formats.uuid import random_uuid
from tests.kafka_jars import kafka_libs
from tests.real_kafka import RealCluster

AUTHORIZER = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:ANONYMOUS",
)


def listed(capfd, *where: str) -> list[str]:
    capfd.readouterr()
    assert main(["acls", "--list", *where]) == 0
    return capfd.readouterr().out.splitlines()


def test_acls_graduate(tmp_path: Path, capfd) -> None:
    kafka_libs()
    directory = tmp_path / "cluster"
    make_cluster(str(directory), 1)
    name = random_uuid()
    add = ["acls", "--cluster", str(directory), "--add", "--producer", "--idempotent", "--topic", name]
    assert main([*add, "--allow-principal", "User:alice"]) == 0
    assert main([*add[:4], "--topic", "gone", "--deny-principal", "User:eve"]) == 0
    assert main(["acls", "--cluster", str(directory), "--remove", "--force", "--topic", "gone"]) == 0
    before = listed(capfd, "--cluster", str(directory))
    assert len(before) == 8
    with RealCluster(directory, tmp_path, AUTHORIZER) as cluster:
        assert sorted(cluster.tool("AclCommand", "--list").splitlines()) == sorted(before)
        where = ("--bootstrap-server", cluster.address(1))
        assert listed(capfd, *where) == before
        assert main(["acls", *where, "--add", "--group", "g", "--allow-principal", "User:bob"]) == 0
        assert main(["acls", *where, "--remove", "--force", "--topic", name]) == 0
    assert [line.split(",")[0] for line in listed(capfd, "--cluster", str(directory))] == [
        "Current ACLs for resource `ResourcePattern(resourceType=GROUP",
        "\t(principal=User:bob",
        "",
        "Current ACLs for resource `ResourcePattern(resourceType=CLUSTER",
        "\t(principal=User:alice",
        "",
    ]
