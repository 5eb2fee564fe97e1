"""The archive of classes: made once, used then, and never in the way."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from kafkapy.spark.class_archive import ClassArchive
from kafkapy.spark.java import Java


@pytest.fixture
def java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, java_home: str) -> Java:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache"))
    return Java(java_home, "17.0.1")


def archive(java: Java, spark: str = "4.3.0") -> ClassArchive:
    return ClassArchive(java, "/spark", spark)


def run(java: Java, option: str | None) -> str:
    assert option is not None
    command = [f"{java.home}/bin/java", option.replace('"', ""), "-Xshare:auto", "-Xlog:cds=info", "-version"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_first_jvm_makes_it_and_the_next_uses_it(java: Java) -> None:
    first = archive(java)
    making = first.java_option()
    run(java, making)
    assert first.is_made_now
    assert archive(java).java_option() == making, "no archive has its real name before the JVM has ended"
    first.finish(is_good=True)
    second = archive(java)
    using = second.java_option()
    assert using is not None
    assert using.startswith("-XX:SharedArchiveFile=")
    assert not second.is_made_now
    assert "trying to map" in run(java, using)
    assert archive(java, "4.4.0").java_option() != using


def test_a_jvm_that_fails_leaves_nothing(java: Java, tmp_path: Path) -> None:
    failed = archive(java)
    run(java, failed.java_option())
    assert any(tmp_path.rglob("*.jsa.*"))
    failed.finish(is_good=False)
    assert not any(tmp_path.rglob("*.jsa*"))


def test_what_a_crash_left_and_what_nobody_uses_goes(java: Java, tmp_path: Path) -> None:
    directory = tmp_path / "a cache" / "kafkapy" / "spark"
    directory.mkdir(parents=True)
    ages = {"a.jsa": 40, "b.jsa": 20, "c.jsa.123": 1, "notes": 99}
    for name, days in ages.items():
        directory.joinpath(name).touch()
        os.utime(directory / name, times=(0, time.time() - days * 86_400))
    archive(java).java_option()
    assert sorted(os.listdir(directory)) == ["b.jsa", "notes"]


def test_no_directory_is_no_archive(java: Java, tmp_path: Path) -> None:
    (tmp_path / "a cache").write_text("a file")
    unable = archive(java)
    assert unable.java_option() is None
    assert not unable.is_made_now
    unable.finish(is_good=True)
