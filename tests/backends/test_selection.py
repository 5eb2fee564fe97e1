"""Which cluster the options mean, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.backends.directory_format import make_cluster
from kafkapy.backends.selection import Selection, open_cluster, open_cluster_for_writing
from kafkapy.errors import FormatError, KafkapyError, UsageError
from kafkapy.log.files import Files
from kafkapy.metadata.changes import CreateTopic


@pytest.fixture(autouse=True)
def in_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KAFKAPY_CLUSTER", raising=False)


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    make_cluster(str(tmp_path / "c"), 2, files=Files(sync=False))
    return tmp_path / "c"


def test_option_then_variable_then_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Selection().directory == "kafkapy-cluster"
    monkeypatch.setenv("KAFKAPY_CLUSTER", "from-env")
    assert Selection().directory == "from-env"
    assert Selection("given").directory == "given"


@pytest.mark.parametrize("opening", [open_cluster, open_cluster_for_writing])
@pytest.mark.parametrize(
    ("selection", "options"),
    [
        (Selection("a", ("b",)), "--cluster and --log-dirs"),
        (Selection("a", (), "h:1"), "--cluster and --bootstrap-server"),
        (Selection(None, ("b",), "h:1"), "--log-dirs and --bootstrap-server"),
    ],
)
def test_two_clusters_cannot_be_meant(opening: object, selection: Selection, options: str) -> None:
    assert callable(opening)
    with pytest.raises(UsageError, match=options):
        opening(selection)


@pytest.mark.parametrize("address", ["localhost", "localhost:", ":9092", "localhost:0", "localhost:99999", "a:b", ","])
def test_an_address_has_a_host_and_a_port(address: str) -> None:
    with pytest.raises(UsageError, match="--bootstrap-server"):
        open_cluster(Selection(None, (), address))


def test_reading_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(KafkapyError, match="kafkapy storage format --cluster kafkapy-cluster"):
        open_cluster(Selection())
    assert list(tmp_path.iterdir()) == []


def test_a_first_writer_makes_the_default_one_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    opened = open_cluster_for_writing(Selection(), sync=False)
    opened.apply(CreateTopic("t", 1, 3))
    opened.close()
    assert capsys.readouterr() == ("", "kafkapy: created the cluster directory kafkapy-cluster with 3 brokers\n")
    open_cluster_for_writing(Selection(), sync=False).close()
    assert capsys.readouterr() == ("", "")
    assert set(open_cluster(Selection()).image().topics) == {"t"}


def test_a_directory_that_was_named_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(KafkapyError, match="there is no cluster directory named"):
        open_cluster_for_writing(Selection("named"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("opening", [open_cluster, open_cluster_for_writing])
def test_another_directory_is_not_a_cluster(tmp_path: Path, opening: object) -> None:
    assert callable(opening)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "file").write_text("mine")
    with pytest.raises(KafkapyError, match=r"d is not a cluster directory: it has no cluster\.yaml"):
        opening(Selection("d"))
    assert [path.name for path in (tmp_path / "d").iterdir()] == ["file"]


@pytest.mark.parametrize("opening", [open_cluster, open_cluster_for_writing])
def test_a_newer_version_is_left_alone(cluster: Path, opening: object) -> None:
    assert callable(opening)
    text = (cluster / "cluster.yaml").read_text().replace("version: 1", "version: 2")
    (cluster / "cluster.yaml").write_text(text)
    with pytest.raises(FormatError, match="version 2 was written by a newer kafkapy"):
        opening(Selection(str(cluster)))
    assert len(list(cluster.glob("broker-*/.kafka_cleanshutdown"))) == 2


def test_what_was_recovered_is_told(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with next(cluster.glob("broker-1/__cluster_metadata-0/*.log")).open("ab") as log:
        log.write(b"torn")
    open_cluster_for_writing(Selection(str(cluster))).close()
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("kafkapy: recovered ")
    assert "4 bytes of an unfinished batch cut off\n" in err


def test_log_dirs_are_read_only(cluster: Path) -> None:
    opened = open_cluster_for_writing(Selection(None, (str(cluster / "broker-1"),)))
    for write in (lambda: opened.apply(CreateTopic("t")), opened.new_producer_id):
        with pytest.raises(match="only read"):
            write()
    opened.flush()
    opened.close()
