"""The verdict and the paragraph for the methods section."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import numpy as np

from foldshift.advice.report_interval import share_words
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.result import Advice

CUT_WORDS = {
    "CV": "random folds",
    "SCV": "folds stratified by class",
    "TSCV": "folds stratified by the target, value by value",
    "DOB-SCV": "folds stratified by class and neighbourhood",
    "CB-SCV": "folds balanced in classes and inputs",
    "CB-TSCV": "folds balanced in target and inputs",
    "CB-CV": "folds balanced in the inputs",
    "SCV10": "folds stratified by the target in ten strata",
    "ABA": "anticlustering: folds with the same means of the inputs",
    "random groups": "whole groups at random",
}
GRAVE = ("fault", "beware")


def used_versions() -> dict[str, str]:
    """Versions of what the figures rest on; dict."""
    found = {"python": platform.python_version()}
    for name in ("foldshift", "scikit-learn", "numpy", "scipy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def cut_of(advice: Advice) -> Any:
    """Name of the cut that was recommended."""
    return next(rule.advice for rule in advice.rules if rule.part == "cut")


def verdict(advice: Advice) -> tuple[str, str, str]:
    """Three sentences: how to cut, what the learner reaches, what to beware of."""
    told, k = advice.interval, advice.n_splits
    groups = ", whole groups together" if advice.facts["groups"] else ""
    repeats = f"{counted(advice.n_repeats, 'time')}" if advice.n_repeats > 1 else "once"
    how = f"Cut into {k} {CUT_WORDS[cut_of(advice)]}{groups}, {repeats}: cv={advice.cv_line}."
    ends = f"{advice.score.text(told.low)} to {advice.score.text(told.high)}"
    what = (
        f"{advice.learner} has {article(advice.score.name)} {advice.score.name} of {advice.score.text(told.estimate)} "
        f"({100 * told.confidence:g} % interval {ends})"
    )
    base = advice.differences[-1]
    against = {
        "better": "better than a baseline that ignores the inputs",
        "worse": "worse than a baseline that ignores the inputs",
        "equivalent": "no better in practice than a baseline that ignores the inputs",
        "not decided": "and whether that beats a baseline that ignores the inputs is not decided",
    }[base.verdict]
    grave = [fault for fault in advice.faults if fault.severity in GRAVE]
    if grave:
        last = f"Beware: {grave[0].found} {grave[0].mend}"
        if len(grave) > 1:
            last += f" {counted(len(grave) - 1, 'more such finding')} below."
    elif advice.split is not None and advice.split.shifted and advice.split_is_given:
        last = advice.split.said
    else:
        last = f"No {'grave ' * bool(advice.faults)}fault was found" + (
            "" if advice.split is None else f"; {_small(advice.split.said)}"
        )
    return how, f"{what}, {against}.", last if last.endswith((".", "below.")) else last + "."


def article(noun: str) -> str:
    """``a`` or ``an``."""
    return "an" if noun[0].lower() in "aeiou" else "a"


def _small(text: str) -> str:
    return text[0].lower() + text[1:]


def methods_paragraph(advice: Advice, learner: str, confidence: float, random_state: int) -> str:
    """A paragraph for the methods section of a paper, with what somebody else needs to do it again: all steps of the learner."""
    told, k, r = advice.interval, advice.n_splits, advice.n_done
    data, versions = advice.data, advice.versions
    rows = counted(data.n, "row")
    groups = f" in {counted(advice.facts['n_groups'], 'group')}, which were kept together" if advice.facts["groups"] else ""
    references = list(
        dict.fromkeys(rule.reference for rule in advice.rules if rule.part in ("cut", "interval") and rule.reference)
    )
    often = "once" if r == 1 else f"repeated {r} times with different partitions"
    text = (
        f"{learner} was evaluated by {k}-fold cross-validation on {rows}{groups}, with {CUT_WORDS[cut_of(advice)]}, "
        f"{often} (foldshift {versions['foldshift']}, scikit-learn {versions['scikit-learn']}, random state "
        f"{random_state}). Its {advice.score.name} was "
        f"{advice.score.text(told.estimate)} ({100 * confidence:g} % confidence interval {advice.score.text(told.low)} to "
        f"{advice.score.text(told.high)}; {told.words}), which is about {told.target}."
    )
    if len(advice.differences) > 1:
        text += f" {advice.differences[0].said}"
    if not np.isfinite(told.low):
        text += " No interval could be made."
    return (
        text
        + (f" References: {'; '.join(references)}." if references else "")
        + (f" Models were trained on {share_words(k)} of the rows." if "trained" not in told.target else "")
    )
