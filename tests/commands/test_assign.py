from __future__ import annotations

import pytest

from tests.commands.running import Done, run


def assign(capfd: pytest.CaptureFixture[str], *args: str) -> Done:
    return run(capfd, "assign", *args)


def test_an_eager_group(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(capfd, "--assignor", "range", "--topics", "a:4,b:3", "--members", "3", "--then", "leave:m2")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "range (classic protocol), 3 members, 7 partitions\n"
        "  MEMBER  PARTITIONS  a    b\n"
        "  m1      3           0-1  0\n"
        "  m2      2           2    1\n"
        "  m3      2           3    2\n"
        "\n"
        "Step 1: leave:m2\n"
        "  MEMBER  PARTITIONS  a    b\n"
        "  m1      4           0-1  0-1\n"
        "  m3      3           2-3  2\n"
        "  m2 -> m1: b:1\n"
        "  m2 -> m3: a:2\n"
        "  2 of 7 partitions changed hands; meanwhile every member had to give up all that it had (eager).\n"
    )


def test_the_two_rebalances_of_a_cooperative_group(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(capfd, "--assignor", "cooperative-sticky", "--topics", "a:3", "--members", "1", "--then", "join:m2")
    assert done.lines[4:] == [
        "Step 1: join:m2",
        "  Rebalance 1 of 2",
        "  MEMBER  PARTITIONS  a",
        "  m1      2           0-1",
        "  m2      0           -",
        "  m1 -> (nobody): a:2",
        "  Rebalance 2 of 2",
        "  MEMBER  PARTITIONS  a",
        "  m1      2           0-1",
        "  m2      1           2",
        "  m1 -> m2: a:2",
        "  1 of 3 partitions changed hands; 1 had to be revoked, all others continued to be read (cooperative).",
    ]


def test_rows_tell_what_waits_and_where_it_came_from(capfd: pytest.CaptureFixture[str]) -> None:
    args = ("--assignor", "cooperative-sticky", "--topics", "a:2", "--members", "1", "--then", "join:m2")
    done = assign(capfd, *args, "--output", "jsonl")
    rows = [tuple(row.values()) for row in done.rows]
    assert list(done.rows[0]) == (["type", "step", "rebalance", "change", "member", "topic", "partition", "moved_from"])
    assert rows == [
        ("assignment", 0, 1, "start", "m1", "a", 0, None),
        ("assignment", 0, 1, "start", "m1", "a", 1, None),
        ("assignment", 1, 1, "join:m2", "m1", "a", 0, None),
        ("assignment", 1, 1, "join:m2", None, "a", 1, "m1"),
        ("assignment", 1, 2, "join:m2", "m1", "a", 0, None),
        ("assignment", 1, 2, "join:m2", "m2", "a", 1, "m1"),
    ]


def test_the_consumer_protocol(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(
        capfd, "--assignor", "uniform", "--topics", "a:2", "--members", "m1=a,b;m2", "--then", "topic:b:2",
        "--then", "topic:a:0", "--then", "leave:m2", "--then", "leave:m1",
    )  # fmt: skip
    assert done.lines == [
        "uniform (consumer protocol), 2 members, 2 partitions",
        "  MEMBER  PARTITIONS  a",
        "  m1      1           0",
        "  m2      1           1",
        "",
        "Step 1: topic:b:2",
        "  MEMBER  PARTITIONS  a  b",
        "  m1      2           0  0",
        "  m2      2           1  1",
        "  (new) -> m1: b:0",
        "  (new) -> m2: b:1",
        "  0 of 4 partitions changed hands; 0 had to be revoked, all others continued to be read (consumer protocol).",
        "",
        "Step 2: topic:a:0",
        "  MEMBER  PARTITIONS  b",
        "  m1      1           0",
        "  m2      1           1",
        "  0 of 2 partitions changed hands; 0 had to be revoked, all others continued to be read (consumer protocol).",
        "",
        "Step 3: leave:m2",
        "  MEMBER  PARTITIONS  b",
        "  m1      2           0-1",
        "  m2 -> m1: b:1",
        "  1 of 2 partitions changed hands; 0 had to be revoked, all others continued to be read (consumer protocol).",
        "",
        "Step 4: leave:m1",
        "  The group is empty.",
    ]


def test_racks(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(capfd, "--topics", "a:4", "--members", "2", "--racks", "r1,r2")
    assert done.lines[2:] == ["  m1      2           0,2", "  m2      2           1,3"]


def test_the_range_of_either_protocol(capfd: pytest.CaptureFixture[str]) -> None:
    assert assign(capfd, "--topics", "a:4", "--members", "2").lines[0].startswith("range (classic protocol)")
    done = assign(capfd, "--topics", "a:4", "--members", "2", "--group-protocol", "consumer")
    assert done.lines[0] == "range (consumer protocol), 2 members, 4 partitions"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (["--topics", "a", "--members", "2"], "--topics: 'a' is not NAME:COUNT with a count from 1 to 10000"),
        (["--topics", "a:0", "--members", "2"], "--topics: 'a:0' is not NAME:COUNT with a count from 1 to 10000"),
        (["--topics", "a:1,", "--members", "2"], "--topics: an empty name in 'a:1,'"),
        (["--topics", "a:1", "--members", "0"], "--members: 0 is not between 1 and 1000"),
        (["--topics", "a:1", "--members", "-1"], "--members: -1 is not between 1 and 1000"),
        (["--topics", "a:1", "--members", "+2"], "--members: +2 is not between 1 and 1000"),
        (
            ["--topics", "a:2,b:1,a:3", "--members", "1"],
            "--topics: a is given twice; for a topic that grows later, give --then topic:a:COUNT",
        ),
        (["--topics", "a:1", "--members", "m1;m1"], "--members: m1 is already a member"),
        (["--topics", "a:1", "--members", "=a"], "--members: '=a' names no member"),
        (
            ["--topics", "a:1", "--members", "m1=b"],
            "m1 subscribes to b, which is neither in --topics nor added by --then",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--then", "go"],
            "--then: 'go' is not one of join:MEMBER[=TOPIC,...], leave:MEMBER or topic:NAME:COUNT",
        ),
        (
            ["--topics", "a:2", "--members", "1", "--then", "leave:m9"],
            "--then leave:m9: there is no member m9 (there are m1)",
        ),
        (
            ["--topics", "a:2", "--members", "1", "--then", "topic:a:1"],
            "--then topic:a:1: a has 2 partitions, and a topic cannot lose partitions; 0 deletes it",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--assignor", "x"],
            "--assignor: 'x' is not one of range, roundrobin, sticky, cooperative-sticky, uniform",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--assignor", "sticky", "--group-protocol", "consumer"],
            "--assignor: the consumer protocol has uniform, range, not sticky",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--group-protocol", "x"],
            "--group-protocol: 'x' is neither classic nor consumer",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--assignor", "uniform", "--racks", "r1"],
            "--racks: the assignors of the consumer protocol do not look at racks",
        ),
        (
            ["--topics", "a:1", "--members", "1", "--replication-factor", "2"],
            "--replication-factor: there are fewer --racks than that",
        ),
    ],
)
def test_bad_usage(capfd: pytest.CaptureFixture[str], args: list[str], error: str) -> None:
    done = assign(capfd, *args)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"kafkapy: {error}. Try 'kafkapy assign --help'.\n"


def test_an_assignor_that_is_misspelled(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(capfd, "--topics", "a:1", "--members", "1", "--assignor", "stick")
    assert done.code == 2
    assert "cooperative-sticky, uniform; did you mean 'sticky'? Try" in done.err


def test_help_says_what_each_assignor_does(capfd: pytest.CaptureFixture[str]) -> None:
    done = assign(capfd, "--help")
    for name in ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform"):
        assert f"\n  {name}: " in done.out
