"""Looks that fail and work again: what is shown of the last one that worked, and what ends it all."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from kafkapy.backends.live.client_config import Limit
from kafkapy.backends.live.library.network import AuthenticationFailed, ConnectionLost
from kafkapy.backends.selection import Selection, open_cluster, opened_anew
from kafkapy.errors import DamagedFileError, KafkaError, KafkapyError, Unsupported, UsageError
from kafkapy.lag.looks import looks
from kafkapy.lag.snapshots import Snapshots
from tests.group_cluster import damage_last_topic, made
from tests.lag.world import EVERYTHING, P0, T0, World


def logs(directory: Path) -> Selection:
    world = World(directory)
    world.produce(P0, [T0] * 5)
    world.commit("g", P0, 2)
    world.close()
    return Selection(log_dirs=(str(directory),))


def cluster_directory(directory: Path) -> Selection:
    return Selection(cluster=str(made(directory)))


@pytest.mark.parametrize("make", [logs, cluster_directory])
def test_a_directory_that_is_away_for_a_while(tmp_path: Path, make: object) -> None:
    here, away = tmp_path / "here", tmp_path / "away"
    chosen = make(here)  # type: ignore[operator]
    with closing(looks(chosen, Snapshots(EVERYTHING), 0.001)) as each:
        first = next(each)
        here.rename(away)
        failed = [next(each), next(each)]
        away.rename(here)
        again, more = next(each), next(each)
    assert first.points
    assert (first.outage, first.problems, again.outage, more.outage) == (None, [], None, None)
    for look in failed:
        assert look.outage is not None
        assert str(here) in look.outage.reason
        assert look.outage.since == failed[0].timestamp >= first.timestamp
        assert (look.points, look.seen) == (first.points, first.timestamp)
    assert again.points[0].rates_since == first.timestamp


def test_a_file_that_cannot_be_read_for_a_while(tmp_path: Path) -> None:
    chosen = logs(tmp_path / "logs")
    segment = next((tmp_path / "logs").glob("__consumer_offsets-0/*.log"))
    with closing(looks(chosen, Snapshots(EVERYTHING), 0.001)) as each:
        first = next(each)
        segment.rename(tmp_path / "kept")
        segment.mkdir()
        failed = next(each)
        segment.rmdir()
        (tmp_path / "kept").rename(segment)
        again = next(each)
    assert failed.outage is not None
    assert (first.outage, again.outage, len(again.points)) == (None, None, 1)


def test_metadata_that_is_damaged_is_a_problem_and_no_end(tmp_path: Path) -> None:
    chosen = cluster_directory(tmp_path / "cluster")
    with closing(looks(chosen, Snapshots(EVERYTHING), 0.001)) as each:
        first = next(each)
        damage_last_topic(tmp_path / "cluster")
        again, more = next(each), next(each)
    assert first.problems == []
    for look in (again, more):
        assert (look.outage, len(look.points)) == (None, len(first.points))
        (problem,) = look.problems
        assert "00000000000000000000.log: damaged at byte " in problem


def test_what_is_wrong_from_the_beginning_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KafkapyError, match="there is no cluster directory"):
        next(looks(Selection(cluster=str(tmp_path / "none")), Snapshots(EVERYTHING), 0))
    with pytest.raises(ConnectionLost), closing(looks(_nobody(), Snapshots(EVERYTHING), 0)) as each:
        next(each)


def _nobody() -> Selection:
    return Selection(bootstrap_server="127.0.0.1:1")


class Failing(Snapshots):
    """Fails with whatever it is given, after one look that works."""

    error: Exception | None = None

    def take(self, cluster: object, now: int, tell: object) -> list[object]:  # type: ignore[override]
        if self.error is not None:
            raise self.error
        return []


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionLost("broker 1 hung up"), "broker 1 hung up"),
        (KafkaError("CoordinatorLoadInProgressException", "still loading"), "still loading"),
        (DamagedFileError("x.log", 7, "half written"), "x.log: damaged at byte 7: half written"),
        (FileNotFoundError(2, "No such file or directory", "x.log"), "x.log: No such file or directory"),
        (AuthenticationFailed("broker 1 refused the login"), None),
        (KafkaError("ClusterAuthorizationException", "no"), None),
        (Unsupported("reading", "this", "do that"), None),
        (UsageError("wrong"), None),
    ],
)
def test_what_no_other_try_would_mend_ends_it(error: Exception, reason: str | None) -> None:
    snapshots = Failing(EVERYTHING)
    with closing(looks(_nobody(), snapshots, 0)) as each:
        assert next(each).outage is None
        snapshots.error = error
        if reason is None:
            with pytest.raises(type(error)):
                next(each)
            return
        outage = next(each).outage
        assert outage is not None
        assert outage.reason == reason
        snapshots.error = None
        assert next(each).outage is None


def test_new_connections_are_as_patient_as_they_are_told_but_no_more_than_the_settings_say() -> None:
    chosen = _nobody()._replace(properties={"default.api.timeout.ms": "8000", "request.timeout.ms": "8000"})
    first = open_cluster(chosen)
    for timeout_ms, limit in ((5000, (5000, "this")), (10_000, (8000, "default.api.timeout.ms"))):
        again = opened_anew(chosen, first, timeout_ms, "this")
        assert again.client.config.api_limit == Limit(*limit)  # type: ignore[attr-defined]
        again.close()
    first.close()
