"""Which cluster a command line means: ``--log-dirs``, ``--bootstrap-server``, ``--cluster``, or the default."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from kafkapy.backends.cluster_file import FILE_NAME
from kafkapy.errors import KafkapyError, UsageError

if TYPE_CHECKING:
    from kafkapy.backends.cluster import Cluster
    from kafkapy.backends.log_dirs import LogDirsCluster

VARIABLE = "KAFKAPY_CLUSTER"
DEFAULT_DIRECTORY = "kafkapy-cluster"
DEFAULT_BROKERS = 3
KINDS = ("cluster", "log_dirs", "bootstrap_server", "bootstrap_controller")


class Selection(NamedTuple):
    """The options that name a cluster."""

    cluster: str | None = None
    log_dirs: tuple[str, ...] = ()
    bootstrap_server: str | None = None
    command_config: str | None = None
    bootstrap_controller: str | None = None
    timeout_ms: int | None = None
    """How long a running cluster may take for one thing; what the client's configs say where it is None."""
    timeout_setting: str = "--timeout"
    """What to name in an error as the reason for that limit."""
    command_pairs: tuple[str, ...] = ()
    """NAME=VALUE, as --command-property has them: settings that win over those of command_config."""
    properties: Mapping[str, str] | None = None
    """The client's configs where they are read already; only a running cluster looks at them."""

    @property
    def is_live(self) -> bool:
        """Whether a running cluster is meant."""
        return bool(self.bootstrap_server or self.bootstrap_controller)

    @property
    def directory(self) -> str:
        """The cluster directory that is meant where nothing else is named."""
        return self.cluster or os.environ.get(VARIABLE) or DEFAULT_DIRECTORY

    @property
    def is_named(self) -> bool:
        """Whether an option names a cluster."""
        return any(getattr(self, kind) for kind in KINDS)

    @property
    def name(self) -> str:
        """What to call the cluster: what the option that names it says."""
        return self.bootstrap_controller or self.bootstrap_server or ",".join(self.log_dirs) or self.directory

    @property
    def options(self) -> str:
        """The options that name it, for a command line that is proposed."""
        from shlex import join

        kind = next((kind for kind in reversed(KINDS) if getattr(self, kind)), "cluster")
        config = ("--command-config", self.command_config) if self.command_config else ()
        return join((_option(kind), self.name, *config))


def _option(kind: str) -> str:
    return "--" + kind.replace("_", "-")


def refuse_running(selection: Selection, operation: str) -> None:
    """Refuse a running cluster, for what reads files and nothing else."""
    if selection.is_live:
        raise UsageError(
            f"{operation} reads files, not a running cluster: give --log-dirs with the directories of its brokers, "
            "which are only read and may be in use"
        )


def file_paths(selection: Selection, operation: str, absolute: bool = True) -> tuple[str, ...]:
    """The cluster directory or the log dirs, for what reads files and nothing else. Workers of Spark's run in other
    directories than this process."""
    refuse_running(selection, operation)
    open_cluster(selection).close()
    paths = selection.log_dirs or (selection.directory,)
    return tuple(map(os.path.abspath, paths)) if absolute else paths


def open_cluster(selection: Selection) -> Cluster:
    """The cluster, to be read."""
    named = [name for name in KINDS if getattr(selection, name)]
    if len(named) > 1:
        options = " and ".join(map(_option, named))
        raise UsageError(f"{options} name different clusters: give only one of them")
    if selection.is_live:
        from kafkapy.backends.live.opening import open_live

        return open_live(selection)
    if selection.command_config:
        raise UsageError("--command-config goes with --bootstrap-server")
    if selection.log_dirs:
        from kafkapy.backends.log_dirs import LogDirsCluster

        return LogDirsCluster(*selection.log_dirs)
    return _open_directory(selection.directory)


def open_cluster_for_writing(
    selection: Selection, sync: bool = True, legacy_placement: bool = False, wait_s: float | None = None
) -> Cluster:
    """The cluster, to be changed; the default directory is made where it is not there. To be closed.

    Where another process writes to it, that is waited for: for ``wait_s``, by default a little while.
    """
    if selection.log_dirs or selection.is_live:
        return open_cluster(selection)
    directory = selection.directory
    from kafkapy.backends.directory import DirectoryCluster
    from kafkapy.backends.log_dir_lock import LogDirLockError
    from kafkapy.backends.waiting import WRITER_WAITS_S, Time, waited
    from kafkapy.log.files import Files

    if not os.path.isdir(directory) and selection.cluster is None:
        from kafkapy.backends.directory_format import make_cluster

        make_cluster(directory, DEFAULT_BROKERS, files=Files(sync))
        _tell(f"kafkapy: created the cluster directory {directory} with {DEFAULT_BROKERS} brokers")
    check_directory(directory)
    timeout_s = WRITER_WAITS_S if wait_s is None else wait_s
    try:
        cluster = waited(
            lambda: DirectoryCluster(directory, Files(sync), tell=_tell_recovered), timeout_s, _tell, Time()
        )
    except LogDirLockError:
        raise
    except KafkapyError as error:
        raise _broken(error, directory) from None
    if legacy_placement:
        from kafkapy.metadata.legacy import place

        cluster.placer = place
    if cluster.recovered:
        finish_transactions(cluster)
    return cluster


@contextmanager
def reopened(selection: Selection, opened: Cluster, to_write: bool = False) -> Iterator[Cluster]:
    """A cluster that is open, opened once more to be read, or to be changed; of a running one, one connection does."""
    if selection.is_live:
        yield opened
        return
    again = open_cluster_for_writing(selection) if to_write else open_cluster(selection)
    try:
        yield again
    finally:
        again.close()


def opened_anew(selection: Selection, opened: Cluster, timeout_ms: int, setting: str) -> Cluster:
    """A cluster that was open, opened once more to be read; a running one over new connections, where one thing takes
    no longer than ``timeout_ms``."""
    if not selection.is_live:
        return open_cluster(selection)
    from kafkapy.backends.live.live_cluster import LiveCluster

    assert isinstance(opened, LiveCluster)
    return opened.anew(timeout_ms, setting)


def finish_transactions(cluster: LogDirsCluster) -> None:
    """What a coordinator does when it has loaded its states: write the markers of transactions whose end is decided.

    Done after a crash and whenever brokers come back, since markers may have had to wait for them.
    """
    from kafkapy.coordinator.internal_topics import TRANSACTION_STATE

    if TRANSACTION_STATE not in cluster.image().topics:
        return
    for transactional_id in cluster.transactions().recover():
        _tell(f"kafkapy: finished the transaction of {transactional_id}")


def _tell_recovered(line: str) -> None:
    _tell(f"kafkapy: recovered {line}")


def _tell(line: str) -> None:
    import sys

    print(line, file=sys.stderr)


def check_directory(directory: str) -> None:
    """Refuse what is not a cluster directory."""
    if not os.path.isdir(directory):
        from shlex import quote

        from kafkapy.near_misses import did_you_mean_path

        hint = did_you_mean_path(directory)
        if hint:
            raise KafkapyError(f"there is no cluster directory {directory}{hint}")
        raise KafkapyError(
            f"there is no cluster directory {directory}: create one with 'kafkapy storage format --cluster "
            f"{quote(directory)} --brokers 3', or name another with --cluster or ${VARIABLE}, a running cluster with "
            "--bootstrap-server, or brokers' log dirs with --log-dirs"
        )
    if not os.path.exists(os.path.join(directory, FILE_NAME)):
        raise _broken(KafkapyError(f"{directory} is not a cluster directory: it has no {FILE_NAME}"), directory)


def _open_directory(directory: str) -> Cluster:
    check_directory(directory)
    from kafkapy.backends.directory_reader import DirectoryReader

    try:
        return DirectoryReader(directory)
    except KafkapyError as error:
        raise _broken(error, directory) from None


def _broken(error: KafkapyError, directory: str) -> KafkapyError:
    """An error about a cluster directory that cannot be opened, with who knows what to do about it."""
    from shlex import quote

    others = f"--cluster, --context or ${VARIABLE} name another"
    error.hint = error.hint or f"'kafkapy doctor --cluster {quote(directory)}' explains what to do; {others}"
    return error
