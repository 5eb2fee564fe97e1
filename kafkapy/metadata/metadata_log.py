"""Loading the metadata of a cluster from the log dirs of its nodes, as one image. Nothing is written.

Of several log dirs the one with the highest (last epoch, end offset) is the truth, for a follower's log may end
earlier; what is damaged in one is no loss where another has it. How one is read is in metadata_replay.py.

After a crash the last segment may end in a torn batch. The log ends before it: the bytes behind are counted in
``torn_bytes`` and whoever writes next cuts them off. All else that is missing is damage (metadata_damage.py): a batch
that whole ones follow, an end before what a snapshot or the leader epochs tell of, a log without records beside
partitions. ``salvage_metadata`` says so in ``damage`` and gives what is before; ``load_metadata`` refuses.

Where no record was ever written (the cluster was formatted and never started), ``bootstrap.checkpoint`` is the image:
the records that the first controller will write.

Who appends uses ``write_epoch``: the highest epoch that any node has heard of. A batch with a lower one would be
cut off by the next leader.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from kafkapy.formats.snapshot_id import BOOTSTRAP_FILE_NAME
from kafkapy.metadata.delta import replay
from kafkapy.metadata.image import EMPTY
from kafkapy.metadata.metadata_damage import emptied, missing_from
from kafkapy.metadata.metadata_directory import DIRECTORY_NAME, MetadataDirectory, look_at
from kafkapy.metadata.metadata_replay import LoadedMetadata, load_directory
from kafkapy.metadata.metadata_snapshot import read_snapshot


def load_metadata(*log_dirs: str) -> LoadedMetadata | None:
    """The metadata in these log dirs of one cluster, None where they hold none; DamagedFileError where it is not all
    there."""
    loaded = salvage_metadata(*log_dirs)
    if loaded is not None and loaded.damage is not None:
        raise loaded.damage
    return loaded


def salvage_metadata(*log_dirs: str) -> LoadedMetadata | None:
    """The same as far as it can be read from the beginning."""
    directories = [look_at(log_dir) for log_dir in log_dirs if os.path.isdir(os.path.join(log_dir, DIRECTORY_NAME))]
    loaded = _load_farthest(directories) if directories else None
    if loaded is not None:
        loaded = loaded._replace(damage=loaded.damage or missing_from(loaded.reach, directories))
        if loaded.has_records:
            return loaded
    for log_dir in log_dirs:
        bootstrap = _load_bootstrap(log_dir, loaded)
        if bootstrap is not None:
            loaded = bootstrap
            break
    return loaded if loaded is None or loaded.damage else loaded._replace(damage=emptied(log_dirs))


def _load_farthest(directories: Sequence[MetadataDirectory]) -> LoadedMetadata:
    """The log that reaches farthest; where it cannot be read that far, another that can."""
    write_epoch = max(epoch for directory in directories for epoch in directory.epochs)
    in_order = sorted(directories, key=lambda directory: directory.reach, reverse=True)
    farthest = load_directory(in_order[0], write_epoch)
    damage = farthest.damage
    for directory in in_order[1:]:
        if _is_all(farthest, in_order[0]):
            break
        loaded = load_directory(directory, write_epoch)
        damage = damage or loaded.damage
        farthest = max(farthest, loaded, key=lambda each: (each.reach, each.damage is None))
    return farthest._replace(damage=None if _is_all(farthest, in_order[0]) else damage)


def _is_all(loaded: LoadedMetadata, farthest: MetadataDirectory) -> bool:
    return loaded.damage is None and loaded.reach >= farthest.reach


def _load_bootstrap(log_dir: str, loaded: LoadedMetadata | None) -> LoadedMetadata | None:
    path = os.path.join(log_dir, BOOTSTRAP_FILE_NAME)
    if not os.path.isfile(path):
        return None
    image = replay(EMPTY, read_snapshot(path).records)
    loaded = loaded or LoadedMetadata(EMPTY, 0, 0, 0, log_dir)
    return loaded._replace(image=image._replace(provenance=loaded.image.provenance), from_bootstrap=True)
