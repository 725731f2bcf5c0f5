"""Copy the catalogue of data sets into the library when a wheel is built; all else is in pyproject.toml.

A clone has the catalogue once, in `config/datasets.tsv`. A symbolic link beside the module would be a text file on Windows.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithCatalogue(build_py):
    """Build the library and add the catalogue."""

    def run(self) -> None:
        """Copy the modules, then the catalogue; an editable install finds it in the clone."""
        if not self.editable_mode:  # what an earlier build left would go into the wheel, modules that are gone among it
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "foldshift", "datasets", "catalogue.tsv")
            self.copy_file("config/datasets.tsv", str(target))


setup(cmdclass={"build_py": BuildWithCatalogue})
