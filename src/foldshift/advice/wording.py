"""The verdict and the paragraph for the methods section."""

from __future__ import annotations

import platform
import textwrap
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from foldshift.advice.report_interval import share_words
from foldshift.advice.structure.both_cuts import WORDS
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.planned_cv import Experiment, Repeated
    from foldshift.advice.report_interval import ScoreInterval
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
WIDTH, MOST_LINES, MOST_OF_ONE = 110, 12, 3  # columns and lines of the text for a terminal, and lines of one of its points


def used_versions() -> dict[str, str]:
    """Versions of Python and of the packages that the figures rest on."""
    found = {"python": platform.python_version()}
    for name in ("foldshift", "scikit-learn", "numpy", "scipy"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def cut_of(advice: Advice) -> str:
    """Name of the cut that was recommended."""
    return next(str(rule.advice) for rule in advice.rules if rule.part == "cut")


def groups_word(advice: Advice) -> str:
    """Word for what was declared and kept together."""
    return "group" if advice.declared.subsets is None else "subset"


def verdict(advice: Advice) -> tuple[str, str, str]:
    """Write three sentences: how to cut, the score of the learner, what to beware of."""
    interval, k = advice.interval, advice.n_splits
    groups = f", whole {groups_word(advice)}s together" if advice.facts["groups"] else ""
    repeats = f"{counted(advice.n_repeats, 'time')}" if advice.n_repeats > 1 else "once"
    how = f"Cut into {k} {CUT_WORDS[cut_of(advice)]}{groups}, {repeats}: cv={advice.cv_line}."
    both, on = advice.both, ""
    if both is not None and both.cv_line:
        how = f"Cut with {both.name}, {k} folds: cv={advice.cv_line}."
    if both is not None:
        on = f" on {WORDS[both.kind]}"
    ends = f"{advice.score.text(interval.low)} to {advice.score.text(interval.high)}"
    what = (
        f"{advice.learner} has {article(advice.score.name)} {advice.score.name} of {advice.score.text(interval.estimate)} "
        f"({100 * interval.confidence:g} % interval {ends}){on}"
    )
    base = advice.differences[-1]
    against = {
        "better": ", better than a baseline that ignores the inputs",
        "worse": ", worse than a baseline that ignores the inputs",
        "equivalent": ", no better in practice than a baseline that ignores the inputs",
        "not decided": ". Whether that beats a baseline that ignores the inputs is not decided",
    }[base.verdict]
    grave = [issue for issue in advice.faults if issue.severity in GRAVE]
    if grave:
        last = f"Beware: {grave[0].found} {grave[0].remedy}"
        if len(grave) > 1:
            last += f" {counted(len(grave) - 1, 'more such finding')} below."
    elif advice.split is not None and advice.split.shifted and advice.split_is_given:
        last = advice.split.said
    else:
        last = f"No {'grave ' * bool(advice.faults)}fault was found." + ("" if advice.split is None else f" {advice.split.said}")
    if advice.stopped:
        how += f" Note: {advice.stopped}."
    against += "" if both is None else f". The naive cut, {both.naive_name}, gives {advice.score.text(both.naive.estimate)}"
    return how, f"{what}{against}.", last if last.endswith((".", "below.")) else last + "."


def first_verdict(experiment: Experiment, intervals: tuple[ScoreInterval, ...], times: int) -> str:
    """Write one line on the score from so many repetitions."""
    score, one = experiment.score, intervals[0]
    begin = "First verdict" if times == 1 else "Verdict"
    often = "once" if times == 1 else f"{times} times"
    ends = f"{score.text(one.low)} to {score.text(one.high)}"
    return (
        f"{begin}, {experiment.k} folds {often}: {experiment.name} has {article(score.name)} {score.name} of "
        f"{score.text(one.estimate)} ({100 * one.confidence:g} % interval {ends})"
    )


def stopped_words(repeated: Repeated, not_made: list[str]) -> str:
    """Say what the budget stopped; empty if nothing."""
    said = []
    if repeated.fits.stopped:
        said.append(f"stopped by the budget after {repeated.fits.n_fits} of {repeated.planned} fits")
    if not_made:
        said.append(f"{'' if said else 'stopped by the budget, '}not made: {', '.join(not_made)}")
    return "; ".join(said)


def article(noun: str) -> str:
    """Choose ``a`` or ``an``."""
    return "an" if noun[0].lower() in "aeiou" or noun[:2] in ("F1", "R2") else "a"


def _honest_methods(advice: Advice, learner: str, confidence: float, random_state: int) -> str:
    """Write the paragraph for the honest cut, with the naive score named as such."""
    both, score, versions = advice.both, advice.score, advice.versions
    assert both is not None
    one = both.honest
    left_out = [line for line in both.prelude if "drop" in line or "delete" in line]
    without = ", without the columns that give the target away" if left_out else ""
    return (
        f"{learner} was evaluated by cross-validation with {both.name} ({advice.n_splits} folds) on "
        f"{counted(advice.data.n, 'row')}{without} (foldshift {versions['foldshift']}, scikit-learn {versions['scikit-learn']}, "
        f"random state {random_state}). {both.why} The {score.name} was {score.text(one.estimate)} ({100 * confidence:g} % "
        f"confidence interval {score.text(one.low)} to {score.text(one.high)}), which is about {one.target}."
    )


def what_to_do(advice: Advice) -> str:
    """Write one sentence on what to do next: the remedy of the worst issue, or how to report the score."""
    grave = [issue for issue in advice.faults if issue.severity in GRAVE]
    if grave:
        return grave[0].remedy
    if advice.split is not None and advice.split.shifted and advice.split_is_given:
        return "Use the split above in place of yours."
    if advice.subsets is not None:
        return advice.subsets.said
    return "Report the score with its interval; the paragraph for the methods section is ready."


def what_is_wrong(advice: Advice) -> str:
    """Write one sentence on what was found."""
    grave = [issue for issue in advice.faults if issue.severity in GRAVE]
    if not grave:
        return advice.verdict[2]
    more = (
        f" {counted(len(grave) - 1, 'more such finding')}: {', '.join(one.code.replace('_', ' ') for one in grave[1:])}."
        if len(grave) > 1
        else ""
    )
    return f"{grave[0].found}{more}"


def summary(advice: Advice) -> list[str]:
    """Write the answer in at most `MOST_LINES` lines for a terminal."""
    how, what, _ = advice.verdict
    how = how.split(": cv=")[0].rstrip(".") + "."
    said = [("Split", how), ("Score", what), ("Wrong", what_is_wrong(advice)), ("To do", what_to_do(advice))]
    lines = list[str]()
    for name, text in said:
        wrapped = textwrap.wrap(text, WIDTH - 7, break_long_words=False)
        if len(wrapped) > MOST_OF_ONE:
            wrapped = [*wrapped[: MOST_OF_ONE - 1], textwrap.shorten(" ".join(wrapped[MOST_OF_ONE - 1 :]), WIDTH - 7)]
        lines += [f"{name if place == 0 else '':<7}{line}" for place, line in enumerate(wrapped)]
    lines.append(f"{'Code':<7}cv = {advice.cv_line}")
    if advice.stopped:
        lines.append(f"{'Note':<7}{advice.stopped}.")
    return [*lines[: MOST_LINES - 1], f"{'More':<7}--verbose for everything, --html page.html for the page"]


def methods_paragraph(advice: Advice, learner: str, confidence: float, random_state: int) -> str:
    """Write a paragraph for the methods section of a paper, with all that others need to repeat it."""
    interval, k, r = advice.interval, advice.n_splits, advice.n_done
    data, versions = advice.data, advice.versions
    rows = counted(data.n, "row")
    together = counted(advice.facts["n_groups"], groups_word(advice))
    groups = f" in {together}, which were kept together" if advice.facts["groups"] else ""
    references = list(
        dict.fromkeys(rule.reference for rule in advice.rules if rule.part in ("cut", "interval") and rule.reference)
    )
    partitions = advice.partitions
    often = "once" if r == 1 else f"repeated {r} times with different partitions"
    if not partitions.all_differ:
        often = (
            f"once, as {partitions.n_made} seeds gave {partitions.in_words()}"
            if r == 1
            else f"repeated {r} times, with {partitions.in_words()}"
        )
    text = (
        f"{learner} was evaluated by {k}-fold cross-validation on {rows}{groups}, with {CUT_WORDS[cut_of(advice)]}, "
        f"{often} (foldshift {versions['foldshift']}, scikit-learn {versions['scikit-learn']}, random state "
        f"{random_state}). Its {advice.score.name} was "
        f"{advice.score.text(interval.estimate)} ({100 * confidence:g} % confidence interval "
        f"{advice.score.text(interval.low)} to {advice.score.text(interval.high)}; {interval.words}), which is about "
        f"{interval.target}."
    )
    if advice.both is not None and advice.both.cv_line:
        text = _honest_methods(advice, learner, confidence, random_state)
    if advice.both is not None:
        naive = advice.score.text(advice.both.naive.estimate)
        text += f" A naive cut ({advice.both.naive_name}), which is no estimate for {WORDS[advice.both.kind]}, gives {naive}."
    if advice.subsets is not None:
        text += f" {advice.subsets.said}"
    if len(advice.differences) > 1:
        text += f" {advice.differences[0].said}"
    made = bool(np.isfinite(interval.low))
    if not made:
        text += " No interval could be made."
    if advice.stopped:
        text += f" The work was {advice.stopped}."
    if references:
        text += f" References: {'; '.join(references)}."
    if made and interval.name == "corrected t" and advice.both is None:  # others say it when they say what they are about
        text += f" Models were trained on {share_words(k)} of the rows."
    return text
