"""Which Java runs Spark, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkapy.errors import KafkapyError
from kafkapy.spark.java import Java, find_java


def java(home: Path, version: str, has_release: bool = True) -> Path:
    """What looks like a Java of that version."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"""#!/bin/sh\necho 'openjdk version "{version}" 2020-01-01' >&2\n""")
    program.chmod(0o755)
    if has_release:
        home.joinpath("release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")


@pytest.mark.usefixtures("no_java")
def test_java_home_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "home", "21.0.1")))
    monkeypatch.setenv("PATH", str(java(tmp_path / "path", "17.0.15") / "bin"))
    assert find_java() == Java(str(tmp_path / "home"), "21.0.1")


@pytest.mark.usefixtures("no_java")
def test_path_serves_where_java_home_is_too_old_or_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{java(tmp_path / 'path', '17', has_release=False) / 'bin'}:/bin")
    wanted = Java(str(tmp_path / "path"), "17")
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "1.8.0_402")))
    assert find_java() == wanted
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert find_java() == wanted


@pytest.mark.usefixtures("no_java")
def test_no_java_is_one_line() -> None:
    with pytest.raises(KafkapyError, match=r"^Spark needs Java 17 or newer, but there is none: install it, or set"):
        find_java()


@pytest.mark.usefixtures("no_java")
def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(KafkapyError, match="there is none on the PATH, nor in JAVA_HOME=/nowhere: install it"):
        find_java()


@pytest.mark.usefixtures("no_java")
def test_an_old_java_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java(tmp_path / "old", "1.8.0_402")))
    with pytest.raises(KafkapyError, match=r"old has 1\.8\.0_402: set JAVA_HOME"):
        find_java()


@pytest.mark.parametrize(("version", "feature"), [("1.8.0_402", 8), ("17", 17), ("21.0.1", 21), ("26-ea", 26)])
def test_the_number_that_a_java_is_known_by(version: str, feature: int) -> None:
    assert Java("/x", version).feature == feature
