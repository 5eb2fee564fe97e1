"""An export on a cluster, in a process of its own: source, directory, master and split size are its arguments."""

from __future__ import annotations

import sys

from kafkapy.export.file_format import Compression, Format
from kafkapy.export.request import Request
from kafkapy.export.run import Export
from kafkapy.spark.engine import SparkEngine
from kafkapy.spark.session import SparkOptions, open_session
from kafkapy.tables.scan import Scan
from tests.spark.standalone_cluster import cluster_conf


def main(source: str, out: str, master: str, split_bytes: str) -> None:
    scan = Scan((source,), frozenset(("orders",)), split_bytes=int(split_bytes))
    request = Request("records", Format.JSON, out, scan, Compression.NONE)
    with open_session(SparkOptions(master, tuple(cluster_conf().items()))) as session:
        print(Export(request, print).run(SparkEngine(session)).rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
