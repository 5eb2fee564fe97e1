"""In a checkout, makes the sibling directory ``commands/`` importable as ``kafkapy.commands``.

Not shipped: the wheel puts that directory here instead (see pyproject.toml), so that an installed kafkapy
never takes the top-level module name ``commands``.
"""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parent.parent / "commands")]
