"""The tree of MetadataShell over an image; tests/reference asks Kafka's own shell for the same."""

import pytest

from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import EMPTY, Provenance
from kafkapy.metadata.image_tree import Directory, find_lines, resolve, root, tree_lines
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_file import load_file
from tests.metadata.shell_image import everything_read_back

IMAGE = replay(EMPTY, everything_read_back(), Provenance(5, 1, 1794799252920))
TREE = root(IMAGE, "4.3.1", "abc")


def cat(path: str) -> str:
    (found,) = resolve(TREE, path)
    assert isinstance(found.node, str)
    return found.node


def ls(path: str) -> list[str]:
    (found,) = resolve(TREE, path)
    assert isinstance(found.node, Directory)
    return sorted(found.node.names)


def test_the_directories():
    assert ls("/") == ["image", "local"]
    assert ls("image") == [
        "acls",
        "clientQuotas",
        "cluster",
        "configs",
        "delegationToken",
        "features",
        "producerIds",
        "provenance",
        "scram",
        "topics",
    ]
    assert ls("image/topics/byName/orders") == ["0", "1", "id", "name"]
    assert ls("image/configs") == ["BROKER", "BROKER:1", "CLIENT_METRICS:m", "GROUP:g", "TOPIC:orders"]
    assert ls("image/clientQuotas") == ["clientId(a\\(b\\))_user(u\\\\v)", "ip(127.0.0.1)"]
    assert ls("image/scram") == ["SCRAM-SHA-256", "SCRAM-SHA-512"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("local/version", "4.3.1"),
        ("image/provenance", "offset 5, epoch 1, time 2026-11-16T03:20:52.92Z[UTC]"),
        ("image/features/metadataVersion", "Optional[4.3-IV0]"),
        ("image/features/finalized_group.version", "1"),
        ("image/features/finalized_absent", "0"),
        (
            "image/topics/byName/orders/0",
            "PartitionRegistration(replicas=[1, 2], directories=[x1FvxV5tS-CzvP5OVrXOIw, 62WlZ-83SfGc8fQtyZw7WQ], "
            "isr=[1], removingReplicas=[1], addingReplicas=[2], elr=[2], lastKnownElr=[1], leader=1, "
            "leaderRecoveryState=RECOVERING, leaderEpoch=3, partitionEpoch=4)",
        ),
        ("image/topics/byId/62WlZ-83SfGc8fQtyZw7WQ/name", "pay.ments"),
        ("image/configs/BROKER:1/ssl.key.password", "secret"),
        ("image/producerIds/nextProducerId", "4000"),
        ("/image/./cluster/../scram/SCRAM-SHA-512/alice", None),
    ],
)
def test_the_leaves(path, text):
    assert cat(path) == (text or "ScramCredentialData(salt=73616c74, storedKey=00ff, serverKey=01, iterations=4096)")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("image/topics/byName/*/name", ["/image/topics/byName/orders/name", "/image/topics/byName/pay.ments/name"]),
        ("image/topics/byName/{orders,x}/?", ["/image/topics/byName/orders/0", "/image/topics/byName/orders/1"]),
        ("image/topics/byName/pay?ment{s}/id", ["/image/topics/byName/pay.ments/id"]),
        ("image/topics/byName/pay\\.ments", []),
        ("image/topics/byName/pay*\\.ments", ["/image/topics/byName/pay.ments"]),
        ("image/*/by{Id", []),
        ("image/nosuch", []),
        ("image/provenance/x", []),
        ("..", ["/"]),
    ],
)
def test_paths(path, found):
    assert [one.path for one in resolve(TREE, path)] == found


def test_a_working_directory():
    assert [found.name for found in resolve(TREE, "../local/v*", "/image")] == ["version"]


def test_find_and_tree():
    (topics,) = resolve(TREE, "image/topics")
    assert list(find_lines(topics.node, "image/topics"))[:3] == [
        "image/topics",
        "image/topics/byId",
        "image/topics/byId/62WlZ-83SfGc8fQtyZw7WQ",
    ]
    (local,) = resolve(TREE, "local")
    assert list(tree_lines(local.node)) == ["commitId:", "  abc", "version:", "  4.3.1"]


def test_an_image_with_nothing_has_a_tree():
    lines = list(tree_lines(root(EMPTY, "x", "y")))
    assert "    metadataVersion:" in lines
    assert "      Optional.empty" in lines


def test_a_file_alone_shows_what_is_in_it(golden):
    directory = golden / "clean" / "broker-1" / DIRECTORY_NAME
    image = load_file(str(directory / "00000000000000000000.log")).image
    assert image.provenance.offset == 996
    assert "orders" in image.topics
