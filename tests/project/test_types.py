"""Editors complete the public names and show no error in the README and the gallery."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def pyright():
    """Run pyright over files in a folder, with the package of this checkout; return its errors as lines."""
    program = Path(sys.executable).with_name("pyright")
    if not program.exists():
        pytest.skip("pyright is not installed: pip install 'pyright[nodejs]'")

    def errors(folder, root):
        settings = {"include": ["."], "extraPaths": [str(root / "src")], "typeCheckingMode": "basic"}
        (folder / "pyrightconfig.json").write_text(json.dumps(settings))
        command = [program, "--outputjson", "--pythonpath", sys.executable, "--project", folder]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        found = json.loads(done.stdout)
        assert found["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py")))
        return [
            f"{Path(one['file']).name}, line {one['range']['start']['line'] + 1}: {one['message']}"
            for one in found["generalDiagnostics"]
            if one["severity"] == "error"
        ]

    return errors


@pytest.mark.slow
def test_an_editor_shows_no_error_in_the_readme_and_the_gallery(root, tmp_path, pyright):
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)):
        (tmp_path / f"readme_{number}.py").write_text(block)
    for file in (root / "docs" / "gallery").glob("*.py"):
        (tmp_path / file.name).write_text(file.read_text())
    assert pyright(tmp_path, root) == []


def test_an_error_would_be_found(root, tmp_path, pyright):
    (tmp_path / "wrong.py").write_text("from foldshift.partition import make_folds\n\nmake_folds(1, None, [1, 2])\n")
    assert any("partitioner" in line for line in pyright(tmp_path, root))
