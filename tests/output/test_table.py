"""Tables for people: what names a row stays, numbers are whole, and lines fit where they can."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from kafkapy.output.row_view import RowView
from kafkapy.output.table import GOES_FIRST, NAMES_A_ROW, render

MEMBER = "worker-1-a097de5d-6d6f-4b6c-811d-cfff637def39"
NOON = 1_794_830_400_000
OFFSET = {
    "type": "offset", "group": "billing", "group_state": "Stable", "topic": "orders", "partition": 7,
    "leader_epoch": 3, "current_offset": 123456, "log_start_offset": 5, "log_end_offset": 234567, "lag": 111111,
    "consumer_id": MEMBER, "host": "/127.0.0.1", "client_id": "worker-1", "metadata": "by hand",
    "commit_timestamp": NOON,
}  # fmt: skip


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> Any:
    return lambda width: monkeypatch.setenv("COLUMNS", str(width))


def title_words(lines: list[str]) -> list[str]:
    return " ".join(lines[: next(number for number, line in enumerate(lines) if "──" in line)]).split()


def test_a_wide_table_has_every_column(columns: Any) -> None:
    columns(250)
    lines = render([OFFSET]).splitlines()
    assert len(title_words(lines)) == sum(len(name.split("_")) for name in OFFSET if name != "type")
    assert MEMBER in lines[-2]
    assert "2026-11-16 12:00:00.000" in lines[-2]


@pytest.mark.parametrize(("width", "member"), [(80, "worker-1…637def39"), (120, "worker-1…637def39")])
def test_a_narrow_table_keeps_what_names_a_row(columns: Any, width: int, member: str) -> None:
    columns(width)
    lines = render([OFFSET, OFFSET | {"partition": 8}]).splitlines()
    rows = [line for line in lines if "billing" in line]
    assert [line.split()[:1] for line in rows] == [["billing"]] * 2, "no row takes two lines"
    for text in ("orders", " 7 ", "123456", "234567", "111111", member):
        assert text in rows[0]
    assert max(map(len, lines)) <= width
    assert {"group", "topic", "partition", "consumer", "lag"} <= set(title_words(lines))


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state", "__share_group_state"])
@pytest.mark.parametrize("width", [80, 100, 160])
def test_kafkas_own_topics_are_not_broken(columns: Any, topic: str, width: int) -> None:
    columns(width)
    throughput = {
        "type": "throughput", "topic": topic, "bytes": 830, "records": 6, "batches": 4, "byte_rate": 23055.556,
        "record_rate": 166.667, "records_per_batch": 1.5, "bytes_per_batch": 207.5, "largest_batch": 336,
        "codecs": {"none": 4}, "compression_ratio": 1.0, "first_timestamp": NOON, "last_timestamp": NOON + 36,
    }  # fmt: skip
    lines = render([throughput]).splitlines()
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if topic in line] == [topic]


MEMBER_ROW = {
    "type": "member", "group": "billing", "group_state": "Stable", "consumer_id": MEMBER, "group_instance_id": None,
    "host": "/127.0.0.1", "client_id": "console-consumer", "partitions": 4, "current_epoch": 4,
    "current_assignment": {"orders": [0, 1, 2], "payments": [4]}, "target_epoch": 5,
    "target_assignment": {"orders": [0, 1, 2]}, "upgraded": True,
}  # fmt: skip
GROUP_ROW = {
    "type": "group", "group": "billing", "group_type": "Consumer", "protocol": "consumer", "state": "Stable",
    "coordinator_id": 1, "coordinator": "broker-1.example:9092", "assignment_strategy": "uniform", "group_epoch": 17,
    "target_assignment_epoch": 16, "members": 3,
}  # fmt: skip
STREAMS_ROW = {
    "type": "streams_member", "group": "app", "member_id": MEMBER, "process_id": MEMBER, "client_id": "app-1",
    "host": "/10.0.0.1", "member_epoch": 31, "target_assignment_epoch": 32, "topology_epoch": 33,
    "active_tasks": {"0": [0, 1]}, "standby_tasks": {}, "warmup_tasks": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "asked"),
    [
        (MEMBER_ROW, ["current_epoch", "current_assignment", "target_epoch", "target_assignment"]),
        (MEMBER_ROW | {"group": "a-group-with-a-long-name"}, ["current_assignment", "target_assignment"]),
        (GROUP_ROW, ["group_epoch", "target_assignment_epoch"]),
        (OFFSET, ["leader_epoch"]),
        (STREAMS_ROW, ["member_epoch", "target_assignment_epoch", "topology_epoch"]),
    ],
)
@pytest.mark.parametrize("width", [40, 80])
def test_what_verbose_asks_for_is_there(columns: Any, width: int, row: dict[str, Any], asked: list[str]) -> None:
    columns(width)
    shown = render([row], RowView(is_verbose=True))
    assert not set(asked).intersection(" ".join(shown.partition("Not shown: ")[2].split()).split(", "))
    cells = "".join(shown.split())
    for name in asked:
        value = row[name]
        assert str(value if isinstance(value, int) else value["orders"][0]) in cells
    assert max(map(len, shown.splitlines())) <= width


def test_verbose_shows_no_column_that_is_empty(columns: Any) -> None:
    columns(80)
    classic = MEMBER_ROW | dict.fromkeys(("current_epoch", "target_epoch", "target_assignment", "upgraded"))
    words = title_words(render([classic], RowView(is_verbose=True)).splitlines())
    assert "assignment" in words
    assert not {"epoch", "target", "upgraded"}.intersection(words)


def test_without_verbose_what_it_asks_for_goes_first(columns: Any) -> None:
    columns(80)
    told = " ".join(render([MEMBER_ROW]).split()).partition("Not shown: ")[2]
    assert "current_assignment" in told
    assert "partitions" not in told


def test_a_described_transaction_is_whole(columns: Any) -> None:
    columns(80)
    row = {
        "type": "transaction", "coordinator": 1, "transactional_id": "payments-1", "producer_id": 4711,
        "producer_epoch": 3, "state": "Ongoing", "timeout_ms": 60000, "start_timestamp": NOON, "duration_ms": 3000,
        "partitions": ["orders-0"],
    }  # fmt: skip
    assert [line.split()[0] for line in render([row]).splitlines() if line] == list(row)[1:]


def test_a_column_that_is_kept_is_not_made_up(columns: Any) -> None:
    columns(80)
    assert "size" not in render([{"type": "replica", "topic": "orders", "partition": 0, "log_end_offset": 7}])


def test_the_size_of_a_replica_stays_before_that_of_its_disk(columns: Any) -> None:
    columns(80)
    names = {"type": "replica", "broker_id": 1, "log_dir": "/var/lib/kafka/data-1", "topic": "orders", "partition": 0}
    sizes = {"size": 4099, "offset_lag": 12, "total_bytes": 10**12, "usable_bytes": 10**11}
    shown = render([names | sizes])
    assert "4099" in shown
    assert "Not shown: total_bytes" in shown


def test_where_no_table_fits_a_row_is_a_block_of_lines(columns: Any) -> None:
    columns(40)
    long = "a few words too long for one line of it"
    lines = render([OFFSET, OFFSET | {"partition": 8, "metadata": long}]).splitlines()
    assert max(map(len, lines)) <= 40
    first, second = lines[: lines.index("")], lines[lines.index("") + 1 : -1]
    assert [line.split()[0] for line in first if line[0] != " "] == list(OFFSET)[1:]
    for text in ("billing", "orders", "123456", "234567", "111111"):
        assert any(line.endswith(f"  {text}") for line in first)
    values = [line[len("commit_timestamp") + 2 :] for line in second]
    assert MEMBER in "".join(values)
    assert long in " ".join(values)


def test_long_names_take_more_lines(columns: Any) -> None:
    columns(60)
    name = "a-name-so-long-that-no-line-of-sixty-columns-has-room-for-all-of-it"
    lines = render([{"type": "offset", "topic": name, "partition": 1, "offset": 10**12}]).splitlines()
    assert "".join(line.split()[0] for line in lines if line.strip() and line.split()[0] in name) == name


def test_control_characters_are_text(columns: Any) -> None:
    columns(80)
    lines = render([{"type": "t", "metadata": "a\0b\x1b[2J\x9bc", "n": 1}, {"type": "t", "metadata": "x", "n": 2}])
    rows = lines.splitlines()[-3:-1]
    assert rows[0].startswith(r" a\x00b\x1b[2J\x9bc ")
    assert rows[0].index(" 1") == rows[1].index(" 2")
    assert "first" in render([{"type": "t", "value": "first\nsecond"}]).splitlines()[-3]


NAMES = st.sampled_from([*sorted(NAMES_A_ROW), *GOES_FIRST, "partition", "offset", "lag", "key", "value"])
VALUES = st.integers(0, 10**18) | st.text("ab c\n", max_size=60) | st.none() | st.booleans()


@given(
    st.lists(st.dictionaries(NAMES, VALUES, min_size=1), min_size=1, max_size=4),
    st.integers(10, 200),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_numbers_that_stay_are_whole(columns: Any, rows: list[dict[str, Any]], width: int) -> None:
    columns(width)
    text = render([{"type": "t", **row} for row in rows])
    for row in rows:
        for name, value in row.items():
            is_number = isinstance(value, int) and not isinstance(value, bool)
            if is_number and name not in GOES_FIRST and not any(isinstance(each.get(name), str) for each in rows):
                assert str(value) in text


def test_objects_are_told_by_name_and_value(columns: Any) -> None:
    columns(120)
    assert "min.insync.replicas=1, retention.ms=-1" in render(
        [{"type": "t", "kept": {"min.insync.replicas": "1", "retention.ms": "-1"}}]
    )
    assert '{"a": [1]}' in render([{"type": "t", "value": {"a": [1]}}])
    voters = [{"id": 1, "endpoints": ("A://a:1", "B://b:2")}, {"id": 2, "endpoints": ()}]
    shown = render([{"type": "quorum", "leader_id": 1, "current_voters": voters}])
    assert "id=1 endpoints=A://a:1, B://b:2, id=2 endpoints=" in shown


def test_configs_have_no_synonyms_in_a_table(columns: Any) -> None:
    columns(120)
    synonym = {"source": "DEFAULT_CONFIG", "name": "log.segment.bytes", "value": "7"}
    shown = render([{"type": "config", "name": "segment.bytes", "value": "9", "synonyms": [synonym]}])
    assert "segment.bytes  9" in shown
    assert "log.segment.bytes" not in shown


def test_the_source_of_a_config_is_not_broken(columns: Any) -> None:
    columns(80)
    row = {"type": "config", "entity_type": "topics", "entity_name": "orders", "source": "DEFAULT_CONFIG"}
    names = ["follower.replication.throttled.replicas", "cleanup.policy"]
    shown = render([{**row, "name": name, "value": "9223372036854775807"} for name in names])
    assert shown.count(" DEFAULT_CONFIG ") == 2


def test_the_source_of_a_setting_makes_room_for_its_value(columns: Any) -> None:
    columns(80)
    file = "/home/somebody/.config/kafkapy/config.yaml"
    sources = {"config file": (file, "the default place"), "cluster": ("/home/somebody/clusters/demo", f"{file}:4")}
    rows = [{"type": "setting", "name": name, "value": each[0], "source": each[1]} for name, each in sources.items()]
    assert "/home/somebody/clusters/demo " in render(rows)


WIDE_TEXT = "値は日本語で、かなり長い文章です。これは折り返しが必要です。🎉"


@pytest.mark.parametrize("width", [24, 40, 60, 80])
def test_wide_characters_take_two_columns(columns: Any, width: int) -> None:
    """In tables and in blocks, and where an id loses its middle."""
    columns(width)
    row = {"type": "member", "group": "größe-日本語の名前", "consumer_id": f"消費者-{MEMBER}", "value": WIDE_TEXT}
    lines = render([row, row | {"value": "tab\there"}]).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(character in "".join(lines) for character in WIDE_TEXT)
    assert "\t" not in "".join(lines)


def test_one_long_name_does_not_break_the_other_rows(columns: Any) -> None:
    columns(80)
    row = {"type": "replica", "broker_id": 1, "log_dir": "/var/lib/kafka/data/broker-1", "topic": "orders", "size": 7}
    lines = render([row] * 9 + [row | {"topic": "x" * 200}]).splitlines()
    assert len([line for line in lines if "orders" in line and row["log_dir"] in line]) == 9
    assert max(map(len, lines)) <= 80


def test_names_become_narrower_before_a_table_becomes_blocks(columns: Any) -> None:
    columns(80)
    row = {
        "type": "lag", "group": "g" * 60, "topic": "t" * 60, "partition": 0, "committed_offset": 1,
        "log_end_offset": 1, "lag": 0, "time_lag_ms": 0, "verdict": "ok",
    }  # fmt: skip
    lines = render([row | {"lag": 1}]).splitlines()
    assert any("──" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_block_has_no_lines_without_a_value(columns: Any) -> None:
    columns(20)
    rows = [{"type": "x", "name": "a" * 30, "offset": 10**18, "text": None}, {"type": "x", "offset": 1, "text": "b"}]
    blocks = render(rows).split("\n\n")
    assert ["text" in block for block in blocks[:2]] == [False, True]
    assert ["name" in block for block in blocks[:2]] == [True, False]
    assert render(rows, RowView(("name", "offset", "text"))).count("text") == 2, "what was chosen is shown"


@pytest.mark.parametrize(
    ("path", "width", "is_table"), [("data/broker-1", 80, True), ("/x" * 25, 80, False), ("/x" * 25, 120, True)]
)
def test_what_is_copied_is_not_broken(columns: Any, path: str, width: int, is_table: bool) -> None:
    columns(width)
    ids = {"cluster_id": "vTCMbDm2TwSF21vf0Qb7Nw", "directory_id": "Z8t0uYqiTmSqS7celX05Bw"}
    row = {"type": "storage", "path": path, **ids, "node_id": 1, "version": "1", "problem": None}
    shown = render([row, row])
    assert ("──" in shown) is is_table
    assert [shown.split().count(each) for each in (path, *ids.values())] == [2, 2, 2]
