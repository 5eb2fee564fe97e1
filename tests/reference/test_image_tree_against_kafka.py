"""Kafka's MetadataShell as judge of the tree over an image, for a real log and for an image with everything in it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kafkapy.metadata.image_tree import Directory, find_lines, resolve, root, tree_lines
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME
from kafkapy.metadata.metadata_file import load_file
from kafkapy.metadata.metadata_snapshot import Snapshot, encode_snapshot
from tests.golden_set import golden
from tests.kafka_java import kafka_java
from tests.metadata.shell_image import everything

__all__ = ["golden"]

COMMIT = "26b251a451ce941d"


def shell(path: Path, expected: list[str], *command: str) -> list[str]:
    """What Kafka's shell prints. It may answer before it has loaded the file, so it is asked up to four times."""
    java = [*kafka_java("org.apache.kafka.shell.MetadataShell"), "-s", str(path), *command]
    for _ in range(4):
        printed = subprocess.run(java, capture_output=True, text=True, check=True).stdout.splitlines()
        if printed == expected:
            break
    return printed


@pytest.fixture
def full(tmp_path: Path) -> Path:
    path = tmp_path / "00000000000000000500-0000000002.checkpoint"
    path.write_bytes(encode_snapshot(Snapshot(tuple(everything()), 5), 2, 1794799252900))
    return path


@pytest.fixture
def real(golden: Path, tmp_path: Path) -> Path:
    source = golden / "clean" / "broker-1" / DIRECTORY_NAME / "00000000000000000000.log"
    return Path(shutil.copy(source, tmp_path))


@pytest.mark.parametrize("kind", ["full", "real"])
def test_the_whole_tree(kind, request):
    path = request.getfixturevalue(kind)
    ours = list(tree_lines(root(load_file(str(path)).image, "4.3.1", COMMIT)))
    assert ours == shell(path, ours, "tree", "/")


def test_find(full):
    (found,) = resolve(root(load_file(str(full)).image, "4.3.1", COMMIT), "image")
    ours = list(find_lines(found.node, "image"))
    assert ours == shell(full, ours, "find", "image")


def test_globs(full):
    tree = root(load_file(str(full)).image, "4.3.1", COMMIT)
    paths = ["image/topics/byName/*/id", "image/c*/{BROKER,TOPIC:orders}/*", "image/cluster/brokers/?"]
    texts = [found.node for path in paths for found in resolve(tree, path) if not isinstance(found.node, Directory)]
    assert texts == shell(full, texts, "cat", *paths)
