"""The target `paper` brings its own configuration and stands alone."""

import pytest

from foldshift.core.errors import ConfigError
from foldshift.engine.config.paper_target import is_paper


def test_it_is_asked_for_by_its_name_or_its_plan():
    assert is_paper(["paper"]) and is_paper(["plan_paper"]) and is_paper(["paper", "archive"])
    assert not is_paper([]) and not is_paper(["saez_2022", "plan"])


def test_other_targets_beside_it_are_refused_with_the_command_for_them():
    with pytest.raises(ConfigError, match=r"snakemake saez_2022 wong_2015 --configfile config/paper.yaml"):
        is_paper(["saez_2022", "paper", "wong_2015"])
