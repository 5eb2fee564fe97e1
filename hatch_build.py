"""The build hook: what a wheel holds beyond the files of the checkout.

The kernel of the bulk path, kafkapy/kernel/_kernel.pyx, is compiled when Cython and a C compiler are there. Where
they are not, or with KAFKAPY_NO_EXT=1, the install is plain Python: slower, and the same in every line it prints. An
editable install gets the compiled module beside its source, since the checkout itself is what is imported.

The checkout's commands/ becomes kafkapy/commands, so that an install never takes the module name ``commands``; in an
editable install kafkapy/commands.py is the bridge to it. Every page of man/ is installed as shared data, so that
``man kafkapy`` works in the environment.
"""

from __future__ import annotations

import os
import shutil
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

KERNEL = "kafkapy.kernel._kernel"


class CustomBuildHook(BuildHookInterface[Any]):
    """Compiles the kernel where that is possible, and finds the man pages."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add to ``build_data``; ``version`` is "standard" or "editable"."""
        self.scratch = TemporaryDirectory(prefix="kafkapy-build-")
        root = Path(self.root)
        if version != "editable":
            build_data["force_include"][str(root / "commands")] = "kafkapy/commands"
        for page in sorted(root.glob("man/*.1")):
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"
        source = root.joinpath(*KERNEL.split(".")).with_suffix(".pyx")
        if source.exists() and os.environ.get("KAFKAPY_NO_EXT") != "1":
            self._add_kernel(source, version == "editable", build_data)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what the compiler made."""
        self.scratch.cleanup()

    def _add_kernel(self, source: Path, editable: bool, build_data: dict[str, Any]) -> None:
        try:
            compiled = compile_extension(Path(self.root), source, self.scratch.name)
        except (Exception, SystemExit) as error:
            # Cython and setuptools raise errors of many kinds, and leave by SystemExit where no compiler is found.
            self.app.display_warning(f"kafkapy is installed without its compiled kernel, so it is slower: {error}")
            return
        if editable:
            shutil.copy2(compiled, source.with_name(compiled.name))
        else:
            build_data["force_include"][str(compiled)] = f"{source.relative_to(self.root).parent}/{compiled.name}"
        build_data["pure_python"] = False
        build_data["infer_tag"] = True


def compile_extension(root: Path, source: Path, scratch: str) -> Path:
    """Compile a .pyx; every file this makes is under ``scratch``."""
    from Cython.Build import cythonize
    from setuptools import Distribution, Extension

    # -O2 would print at about two thirds of the speed.
    extension = Extension(KERNEL, [str(source.relative_to(root))], extra_compile_args=["-O3", "-g0"])
    with chdir(root):
        distribution = Distribution(
            {"name": "kafkapy", "ext_modules": cythonize([extension], build_dir=scratch, quiet=True)}
        )
        command = distribution.get_command_obj("build_ext")
        command.build_temp = scratch
        command.build_lib = str(Path(scratch, "lib"))
        command.ensure_finalized()
        command.run()
        return Path(command.get_ext_fullpath(KERNEL))
