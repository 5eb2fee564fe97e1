"""Our table of client settings, and what we read in sasl.jaas.config, against Kafka's clients themselves."""

from __future__ import annotations

import base64
import random
import subprocess
from pathlib import Path

from kafkapy.backends.live.client_settings import settings
from kafkapy.backends.live.jaas import JaasError, parse_jaas
from tests.kafka_java import kafka_java

# What texts are made of: everything that Java's tokenizer treats in a way of its own.
PARTS = (
    "org.a.M", " required ", ' user="a b"', " p='x\"y'", 'p="a\\"b\\\\c\\n\\101\\7z\\400"', "=", '"', "'", ";", "/",
    "//c\n", "/* c */", "\n", " a=1", " a=-x", " a=.5", " a=true", ' b="1"', "\xe9", " $x_-=y", "\\", "-", "1.5e",
    "a.b-c ", '"unterminated\n', ' a = "b" ', "\x85", 'p="12\\8"', "\\\n",
)  # fmt: skip


def judge(*args: str) -> list[str]:
    command = [*kafka_java("JudgeClientSettings"), *args]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.split("\n")[:-1]


def test_there_is_a_decision_on_every_setting_of_kafkas_clients() -> None:
    ours = [f"{each.name} {each.type}" for each in settings().values() if each.decision != "server"]
    assert ours == judge()


def test_login_modules_are_read_as_kafka_reads_them(tmp_path: Path) -> None:
    source = random.Random(7)
    texts = [_text(source) for _ in range(3_000)]
    asked = tmp_path / "texts"
    asked.write_text("".join(base64.b64encode(text.encode()).decode() + "\n" for text in texts))
    expected = [base64.b64decode(line).decode() for line in judge(str(asked))]
    assert [_read(text) for text in texts] == expected
    assert sum(map(bool, expected)) > 200


def _text(source: random.Random) -> str:
    if source.random() < 0.5:
        return "".join(source.choices(PARTS, k=source.randint(0, 8)))
    options = "".join(source.choices(PARTS, k=source.randint(0, 4)))
    return f"org.a.M required {options}{source.choice([';', ' ;', ''])}"


def _read(text: str) -> str:
    try:
        module = parse_jaas(text)
    except JaasError:
        return ""
    options = ", ".join(f"{name}={value}" for name, value in sorted(module.options.items()))
    return f"{module.name} {{{options}}}"
