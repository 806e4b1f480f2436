"""Builds the wheel with bashlex's parser table in it (instinct_shell/shell/bashlex_table.py); everything else stands in pyproject.toml."""

import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTable(build_py):
    """Copies the modules, then makes the table beside its reader. A development install gets it from `bin/setup`."""

    def run(self) -> None:
        """Build."""
        super().run()
        if not self.editable_mode:
            target = f"{self.build_lib}/instinct_shell/shell/bashlex_table.bin"
            code = f"from instinct_shell.shell.bashlex_table import build; build({target!r})"
            subprocess.run([sys.executable, "-c", code], check=True)


setup(cmdclass={"build_py": BuildWithTable})
