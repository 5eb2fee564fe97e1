"""References to secrets that lie elsewhere: files, directories, the environment."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkapy.backends.live.client_settings import SettingError
from kafkapy.backends.live.config_providers import resolve_references

PACKAGE = "org.apache.kafka.common.config.provider"


def resolve(value: str, provider: str, **params: str) -> str:
    properties = {
        "config.providers": "p",
        "config.providers.p.class": f"{PACKAGE}.{provider}",
        **{f"config.providers.p.param.{name.replace('_', '.')}": text for name, text in params.items()},
        "client.id": value,
    }
    return resolve_references(properties, "c.properties")["client.id"]


def test_a_key_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "s.properties"
    path.write_text("password=p\\u00e4ss=w\xf6rd\U0001f511\nuser = ann\n", encoding="utf-8")
    assert (
        resolve(f"<${{p:{path}:user}}|${{p:{path}:password}}>", "FileConfigProvider")
        == "<ann|p\xe4ss=w\xf6rd\U0001f511>"
    )


def test_a_file_of_a_directory_keeps_its_line_end(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"geheim\r\n")
    assert resolve(f"${{p:{tmp_path}:password}}", "DirectoryConfigProvider") == "geheim\r\n"


def test_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKAPY_TEST_SECRET", "geheim")
    assert resolve("${p:KAFKAPY_TEST_SECRET}", "EnvVarConfigProvider") == "geheim"
    with pytest.raises(SettingError, match="leads to nothing"):
        resolve("${p:KAFKAPY_TEST_SECRET}", "EnvVarConfigProvider", allowlist_pattern="OTHER_.*")


def test_paths_that_are_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for place in ("in", "."):
        (tmp_path / place / "secret").write_text("geheim")
    allowed = str(tmp_path / "in")
    assert resolve(f"${{p:{allowed}:secret}}", "DirectoryConfigProvider", allowed_paths=allowed) == "geheim"
    for path in (tmp_path, tmp_path / "in" / ".."):
        with pytest.raises(SettingError, match="leads to nothing"):
            resolve(f"${{p:{path}:secret}}", "DirectoryConfigProvider", allowed_paths=allowed)


def test_what_names_no_provider_stays() -> None:
    assert resolve("${other:x}-${p", "EnvVarConfigProvider") == "${other:x}-${p"
    assert resolve_references({"client.id": "${env:HOME}"}, "c") == {"client.id": "${env:HOME}"}


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    told = f"c.properties: client.id: ${{p:{missing}:x}} cannot be read: No such file or directory"
    with pytest.raises(SettingError, match=re.escape(told)):
        resolve(f"${{p:{missing}:x}}", "FileConfigProvider")


@pytest.mark.parametrize("name", ["Vault", "", "FileConfigProvider"])
def test_other_providers_are_refused(name: str) -> None:
    properties = {"config.providers": "p", "config.providers.p.class": name and f"com.example.{name}"}
    with pytest.raises(SettingError, match=re.escape("c: config.providers.p.class: ")):
        resolve_references(properties, "c")
