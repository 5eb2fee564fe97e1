"""Packages without which a part of kafkapy does not work, and how to install them.

Never by way of an extra of kafkapy's own name: what PyPI has under it is another project. The packages themselves are
named, and the Python that is to have them: it is often not the one that ``pip`` belongs to.
"""

from __future__ import annotations

import sys

from kafkapy.errors import KafkapyError

REQUIREMENTS = {
    "pyarrow": "pyarrow>=18",
    "fastavro": "fastavro>=1.9",
    "pyspark": "pyspark>=4.1",
    "scipy": "scipy>=1.14",
}
"""What stands in pyproject.toml under the extras that users install."""


def install_command(*packages: str) -> str:
    """A command line that installs packages for the Python that runs now."""
    from shlex import join

    wanted = [REQUIREMENTS.get(package, package) for package in packages]
    return join([sys.executable or "python3", "-m", "pip", "install", *wanted])


def check_installed(*packages: str) -> None:
    """Refuse to go on without these; all that are missing are named at once."""
    from importlib.util import find_spec

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise KafkapyError(f"{' and '.join(missing)} {are} not installed: {install_command(*missing)}")
