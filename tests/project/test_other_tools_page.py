"""The guide on other tools: its table is read as it is meant, and a name that is not there is found."""

import importlib
import re

import pytest

from try_other_tools import GUIDE, Name, is_there, names_in

FOUND = names_in(GUIDE.read_text(encoding="utf-8"))
MODULES = ("iterstrat", "mlxtend", "baycomp", "scikit_posthocs")  # oracles of other tests


def test_every_row_names_a_tool_its_version_and_a_name():
    table = GUIDE.read_text(encoding="utf-8").split("| --- |", 1)[1].strip().splitlines()[1:]
    assert len(table) == len({line.split("|")[1] for line in table}) >= 10
    rows = re.findall(r"^\| [^|]+ \| ([\w.-]+ [\w.]+) \|", "\n".join(table), re.MULTILINE)
    assert len(rows) == len(table) and {f"{name.package} {name.version}" for name in FOUND} == set(rows)
    assert len({name.package for name in FOUND}) == len({(name.package, name.version) for name in FOUND}), "one version a tool"


@pytest.mark.parametrize("name", [name for name in FOUND if name.path.startswith("sklearn.")], ids=lambda name: name.path)
def test_names_of_scikit_learn_are_there(name):
    module, _, last = name.path.rpartition(".")
    assert hasattr(importlib.import_module(module), last)


@pytest.mark.parametrize("name", [name for name in FOUND if name.path.split(".")[0] in MODULES], ids=lambda name: name.path)
def test_names_of_tools_that_are_at_hand_are_there(name, oracle):
    module, _, last = name.path.rpartition(".")
    assert hasattr(oracle(module), last)


def test_a_name_is_looked_for_where_it_is_public_and_where_it_is_defined(tmp_path):
    package = tmp_path / "tool" / "part"
    package.mkdir(parents=True)
    (tmp_path / "tool" / "__init__.py").write_text("")
    (package / "__init__.py").write_text("from ._one import Cut\nfrom ._one import Gone\n")
    (package / "_one.py").write_text("class Cut:\n    def fit(self, groups_on):\n        pass\n\ndef hidden():\n    pass\n")

    def there(path, argument=""):
        return is_there(tmp_path, Name("tool", "1", path, argument))

    assert there("tool.part.Cut") and there("tool.part.Cut.fit", "groups_on") and there("tool.part._one.hidden")
    wrong = ("tool.part.Gone", "tool.part.hidden", "tool.part.Cut.predict", "tool.other.Cut", "another.Cut")
    assert not any(map(there, wrong)) and not there("tool.part.Cut.fit", "time_on")
