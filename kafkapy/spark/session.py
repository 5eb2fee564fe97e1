"""A Spark session of our own: quiet, quick to start, and gone with its JVM when the command ends.

A process has one session at most. Where one is there already it is used, and left as it was.

However a command ends, nothing is left of its session: not by an error, Ctrl-C or SIGTERM, at which the JVM gets a few
seconds and is killed then, not by a second one of these, and not by a kill (see ``jvm``).

Start-up is most of what a small question costs. Measured (CPU s until a first count is done): 8.3 with C1 and serial GC
alone, 3.5 with the class archive (``class_archive.py``). C1 only would make a long job pay three times for what the JVM
does of it; C2 from the start makes a small one pay half as much again: so C2 is there, and begins ten times later than
it would.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import kafkapy
from kafkapy.debugging import is_debugging
from kafkapy.errors import KafkapyError, UsageError
from kafkapy.signals import terminated_like_interrupted, undisturbed
from kafkapy.spark import register
from kafkapy.spark.java import check_pyspark, find_java

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from kafkapy.spark.class_archive import ClassArchive
    from kafkapy.spark.jvm import Jvm

LOOPBACK = "127.0.0.1"
QUICK_START = (
    *("-XX:+UseSerialGC", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"),
    *("-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000"),
    *("-XX:Tier4CompileThreshold=150000", "-XX:Tier4BackEdgeThreshold=400000"),
)
LAUNCHER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
DEFAULTS = {
    "spark.app.name": "kafkapy",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.python.daemon.module": "kafkapy.spark.daemon",
    "spark.python.task.killTimeout": "0s",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_CHATTY = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_END_SECONDS = 120
"""How long a JVM may take to end: it may have an archive of classes to write."""
_QUICK_END_SECONDS = 3
_MEMORY = re.compile(r"[0-9]+[kmgt]b?", re.IGNORECASE)


class SparkOptions(NamedTuple):
    """What may be said about a session."""

    master: str = "local[*]"
    conf: tuple[tuple[str, str], ...] = ()
    driver_memory: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether driver and executors are one process here."""
        return self.master.startswith("local")


@contextmanager
def open_session(options: SparkOptions) -> Iterator[SparkSession]:
    """A session that knows ``format("kafkalog")``."""
    check_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        found = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
        register(found)
        yield found
        return
    check(options)
    with _own_session(options) as session:
        yield session


def check(options: SparkOptions) -> None:
    """Refuse what Spark would refuse after a JVM's start, or not at all."""
    if options.driver_memory is not None and not _MEMORY.fullmatch(options.driver_memory):
        raise UsageError(f"--driver-memory: '{options.driver_memory}' is not a size such as 512m or 4g")
    for key, _ in options.conf:
        if not key.startswith("spark."):
            raise UsageError(f"--conf: '{key}' is not a Spark setting: these begin with spark.")


@contextmanager
def _own_session(options: SparkOptions) -> Iterator[SparkSession]:
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.version import __version__

    from kafkapy.spark.class_archive import ClassArchive
    from kafkapy.spark.jvm import environment

    java = find_java()
    is_quiet = not is_debugging()
    if is_quiet:
        _hush()
    if os.isatty(2):
        print("kafkapy: starting Spark ...", file=sys.stderr, flush=True)
    archive = ClassArchive(java, _find_spark_home(), __version__)
    with (
        terminated_like_interrupted(),
        TemporaryDirectory(prefix="kafkapy-spark-", ignore_cleanup_errors=True) as scratch,
        environment(_environment(options, java.home)),
    ):
        conf = _spark_conf(options, archive.java_option(), scratch)
        with _jvm(conf, scratch, archive, is_quiet) as jvm:
            session = jvm.talk(lambda: _session(options, conf, jvm))
            yield session
            if archive.is_made_now:
                with suppress(Exception):  # what was asked for is done
                    jvm.talk(lambda: _load_classes(session))


@contextmanager
def _jvm(conf: SparkConf, scratch: str, archive: ClassArchive, is_quiet: bool) -> Iterator[Jvm]:
    """A JVM that is given time to write its archive, unless something went wrong."""
    from kafkapy.spark.jvm import Jvm

    jvm = Jvm(conf, scratch, is_quiet)
    try:
        jvm.wait_until_it_listens()
        yield jvm
        archive.finish(jvm.end(_END_SECONDS))
    except BaseException:
        with undisturbed():
            jvm.end(_QUICK_END_SECONDS if jvm.is_up and not archive.is_made_now else 0)
            archive.finish(is_good=False)
        raise
    finally:
        _forget()


def _forget() -> None:
    """Have PySpark know that there is no JVM any more."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is not None:
        context._jsc = None
        context.stop()
    if SparkContext._gateway is not None:
        with suppress(Exception):
            SparkContext._gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None


def _hush() -> None:
    """PySpark prints an error of a query, with all of Java's frames, before it raises it. Both it and Py4J tell of a
    JVM that is gone: we know, since we ended it, or say so ourselves."""
    import logging
    import warnings

    from pyspark.logger import PySparkLogger

    for name in _CHATTY:
        PySparkLogger.getLogger(name).disabled = True
    logging.getLogger().addHandler(logging.NullHandler())  # Py4J tells of some by the root logger
    warnings.filterwarnings("ignore", "Unable to cleanly shutdown Spark JVM", RuntimeWarning)


def _spark_conf(options: SparkOptions, archive_option: str | None, scratch: str) -> SparkConf:
    """Every setting, those that were given last: what is given of Java's options stands behind ours. Spark makes the
    directory of its warehouse at the first sign of a table, where it stands if nothing else is said; what else it
    writes goes where Java has its temporary files."""
    from pyspark import SparkConf

    given = dict(options.conf)
    settings = {**DEFAULTS, "spark.master": options.master, "spark.sql.warehouse.dir": scratch}
    if options.is_local:
        settings |= {"spark.driver.bindAddress": LOOPBACK, "spark.driver.host": LOOPBACK}
    if options.driver_memory is not None:
        settings["spark.driver.memory"] = options.driver_memory
    settings |= given
    java_options = [*QUICK_START, f'-Djava.io.tmpdir="{scratch}"', archive_option, given.get(_JAVA_OPTIONS)]
    settings[_JAVA_OPTIONS] = " ".join(each for each in java_options if each)
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    return conf


def _environment(options: SparkOptions, java_home: str) -> dict[str, str]:
    """Spark's Python is ours, unless another was named, and finds the kafkapy that runs here."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(kafkapy.__file__)))
    paths = [package, os.environ.get("PYTHONPATH", "")]
    return {
        "JAVA_HOME": java_home,
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
        "PYTHONPATH": os.pathsep.join(each for each in paths if each),
        "SPARK_LAUNCHER_OPTS": LAUNCHER,
        **({"SPARK_LOCAL_IP": LOOPBACK} if options.is_local else {}),
    }


def _session(options: SparkOptions, conf: SparkConf, jvm: Jvm) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    from kafkapy.spark.errors import told

    try:
        context = SparkContext(conf=conf, gateway=jvm.connect())
    except Py4JError as error:
        raise KafkapyError(f"no session at {options.master}: {told(error)}") from error
    # The server of accumulators would print that the JVM is gone.
    context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]
    session = SparkSession(context)
    register(session)
    return session


def _load_classes(session: SparkSession) -> None:
    """Before the first JVM of its kind writes the archive: have it load what other commands will need."""
    if os.isatty(2):
        print("kafkapy: making Spark start faster from now on", file=sys.stderr, flush=True)
    session.sparkContext.parallelize([1], 1).map(str).collect()
    numbers = "SELECT id, cast(id AS STRING) AS text FROM range(100)"
    session.sql(
        f"SELECT text, count(*), max(a.id), timestamp_millis(max(a.id)) FROM ({numbers}) a JOIN ({numbers}) b "
        "USING (text) WHERE a.id > 7 GROUP BY text ORDER BY 2 DESC, text LIMIT 10"
    ).collect()
