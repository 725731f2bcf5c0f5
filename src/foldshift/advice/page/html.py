"""The page: one file of HTML with pictures in it, no network, light and dark, for screens of any width and for paper."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from foldshift.advice.expected import expected_of
from foldshift.advice.page.charts import curve_chart, cuts_chart, interval_chart, split_chart
from foldshift.advice.power import in_words
from foldshift.advice.report_interval import share_words
from foldshift.advice.structure.both_cuts import WORDS
from foldshift.advice.structure.same_other_all import TRAINED
from foldshift.advice.wording import CUT_WORDS, cut_of, what_is_wrong, what_to_do
from foldshift.core.counting import bincount
from foldshift.core.page.web_page import figure, folded, paragraph, table, whole_page
from foldshift.core.repr import figures
from foldshift.reporting.number_formats import EMPTY
from foldshift.shift.report.drift_text import counted

if TYPE_CHECKING:
    from foldshift.advice.expected import Expected
    from foldshift.advice.result import Advice
    from foldshift.advice.rules import Evidence, Rule
    from foldshift.advice.score import Score
    from foldshift.advice.split_shift import CutShift


def page(advice: Advice) -> str:
    """Make the page as text."""
    title = f"Advice for {advice.learner} on {advice.data.name}"
    parts = [
        _verdict(advice), _both(advice), _subsets(advice), _issues(advice), _data(advice), _split(advice), _cuts(advice),
        _repetitions(advice), _score(advice), _difference(advice), _more_rows(advice), _cautions(advice), _methods(advice),
    ]  # fmt: skip
    return whole_page(title, parts, advice.to_dict())


def _evidence(kind: Evidence, shown: str) -> str:
    words = {
        "theorem": "Evidence: theorem.",
        "measured": "Evidence: measured where the truth is known.",
        "measured here": "Evidence: measured on this table.",
        "definition": "Evidence: follows from what it means.",
    }
    return f"<p class='evidence'>{escape(words[kind])} {escape(shown)}</p>"


def _verdict(advice: Advice) -> str:
    """Answer first: the split, the score, what is wrong, what to do; then the code and the picture."""
    how, what, _ = advice.verdict
    texts = [how.split(": cv=")[0].rstrip(".") + ".", what, what_is_wrong(advice), what_to_do(advice)]
    texts += [f"{capital(text)}." for text in advice.not_respected]
    if advice.stopped:
        texts.append(f"The work was {advice.stopped}.")
    caption = (
        f"{capital(advice.score.name)} of {advice.learner}, with {100 * advice.interval.confidence:g} % intervals. Print "
        "the thick one. Open circle: a baseline that ignores the inputs."
    )
    return (
        "<section id='verdict' class='verdict'>"
        + "".join(paragraph(text.replace(" %", "\u00a0%")) for text in texts)
        + "</section>\n"
        f"<pre>{escape(advice.code)}</pre>\n"
        + paragraph(f"{_names(advice)} {advice.ran.said}", "soft")
        + figure(interval_chart(advice), caption)
    )


def _names(advice: Advice) -> str:
    """Say what the names in the code are."""
    declared = [name for name, values in advice.declared._asdict().items() if values is not None and name in advice.code]
    if "groups=groups" in advice.code and "groups = " not in advice.code:
        declared.insert(0, "groups")
    names = ["table", "target", "learner", *(f"{name}" for name in declared)]
    code = ["X", "y", "learner", *declared]
    return f"{', '.join(code[:-1])} and {code[-1]} are your {', '.join(names[:-1])} and {names[-1]}."


def capital(text: str) -> str:
    """Begin a text with a capital letter."""
    return f"{text[:1].upper()}{text[1:]}"


def _both(advice: Advice) -> str:
    """The honest score beside the naive one."""
    both, score = advice.both, advice.score
    if both is None:
        return ""
    rows = [
        (name, score.text(one.estimate), score.text(one.low), score.text(one.high))
        for name, one in ((f"{both.name}: report this", both.honest), (f"naive: {both.naive_name}", both.naive))
    ]
    honest, naive = score.text(both.honest.estimate), score.text(both.naive.estimate)
    heading = f"{capital(score.name)} {honest}, " + ("by the naive cut as well" if honest == naive else f"not {naive}")
    return folded(
        "both",
        heading,
        paragraph(both.why),
        table(["cut", score.name, "from", "to"], rows, (1, 2, 3)),
        *(
            []
            if both.kind == "rows"
            else [
                paragraph(
                    f"The naive cut is no estimate for {WORDS[both.kind]}: it tests on rows that are like those trained on."
                )
            ]
        ),
    )


def _subsets(advice: Advice) -> str:
    """Scores of models of the same, the other and all subsets."""
    found, score = advice.subsets, advice.score
    if found is None:
        return ""
    rows = [
        (f"trained on {TRAINED[part]}", *map(score.text, (one.estimate, one.low, one.high)))
        for part, one in (("other", found.other), ("all", found.all), ("same", found.same))
        if one is not None
    ]
    which = (
        "" if found.n_tested == found.n_subsets else f" {found.n_tested} of the {found.n_subsets} subsets were drawn to test on."
    )
    return folded(
        "subsets",
        f"Trained on other subsets {rows[0][1]}, on all {rows[1][1]}" + (f", on the same one {rows[2][1]}" if rows[2:] else ""),
        paragraph(found.said),
        table(["models", score.name, "from", "to"], rows, (1, 2, 3)),
        paragraph(
            f"All are tested on the same rows, in {found.n_folds} folds of each subset, and trained on "
            f"{share_words(found.n_folds)} of the rows named.{which}"
        ),
        *(paragraph(capital(one.said)) for one in (found.other_less_all, found.same_less_all) if one is not None),
        _evidence("measured here", "Same, other and all subsets: Hocking et al. 2024, arXiv 2410.08643."),
    )


def _rule(advice: Advice, part: str) -> Rule:
    return next(rule for rule in advice.rules if rule.part == part)


def _score(advice: Advice) -> str:
    score, rule = advice.score, _rule(advice, "interval")
    rows = [
        (("print this: " if one.use else "not: ") + one.words, *map(score.text, (one.estimate, one.low, one.high)))
        for one in advice.intervals
    ]
    one = advice.interval
    return folded(
        "score",
        f"{capital(score.name)} {score.text(one.estimate)} ({score.text(one.low)} to {score.text(one.high)}): why this interval",
        paragraph(f"It is about {one.target}. {rule.say}"),
        _evidence(rule.evidence, rule.shown),
        _halves(advice),
        table(["interval", score.name, "from", "to"], rows, (1, 2, 3)),
        *(paragraph(f"Why not the {one.words}: {one.why}") for one in advice.intervals if not one.use),
    )  # fmt: skip


def _halves(advice: Advice) -> str:
    if advice.halves is None:
        return ""
    shown = f"{advice.halves['n']} random halves, in pairs, each held against the other."
    return paragraph(advice.halves["said"]) + _evidence("measured here", shown)


def _difference(advice: Advice) -> str:
    rule = _rule(advice, "difference")
    words = {
        "better": "Better than a baseline",
        "worse": "Worse than a baseline",
        "equivalent": "No better than a baseline, in practice",
        "not decided": "Whether it is better than a baseline is not decided",
    }
    return folded(
        "difference",
        words[advice.differences[-1].verdict],
        *(paragraph(one.said) for one in advice.differences),
        paragraph(rule.say),
        _evidence(rule.evidence, rule.shown),
    )


def _more_rows(advice: Advice) -> str:
    caution = next(one for one in advice.rules if one.id == "caution-more-rows")
    return folded(
        "rows",
        "Four times the rows halve the width of the interval",
        paragraph(f"{caution.say} Here: {4 * advice.data.n:,} rows in place of {advice.data.n:,}."),
        _evidence(caution.evidence, caution.shown),
    )


def _split(advice: Advice) -> str:
    split = advice.split
    if split is None:
        return folded(
            "split",
            "Your split was not judged",
            paragraph("Not judged: " + ("; ".join(advice.notes) or "no columns to look at") + "."),
        )
    text = [paragraph(split.said)]
    text.append(
        paragraph(
            f"Its target differs between training and test part by {split.distance:.3f} on average, in random cuts by "
            f"{split.chance:.3f}; {100 * split.percentile:.0f} % of {split.n_random:,} random cuts are closer."
        )
    )
    column, fold, distance = split.worst
    if np.isfinite(distance):
        text.append(paragraph(f"The input and fold that differ most: {column} in fold {fold + 1}, by {distance:.3f}."))
    if np.isfinite(split.auc):
        tells = "tells" if split.p_value < 0.05 else "does not tell"
        text.append(
            paragraph(
                f"A classifier {tells} the rows of the fold that differs most from the others: area under the ROC curve "
                f"{split.auc:.2f}, p {split.p_value:.2g} (times the number of folds)."
            )
        )
    if split.power is not None:
        text.append(paragraph(in_words(split.power)))
    picture = split_chart(split)
    caption = (
        "Mean distance between training and test part, by column: dot, this split; upright mark, random cuts of the same sizes. "
        "The columns furthest from chance."
    )
    whose = "Your" if advice.split_is_given else "The default"
    heading = f"{whose} split is {'shifted' if split.shifted else 'as good as random ones'}"
    return folded(
        "split", heading, figure(picture, caption) if picture else "", *text,
        _evidence("measured here", "A permutation test, 5 % over all columns (Holm): distances are those of Kolmogorov and "
                  "Smirnov, of nominal columns total variation."),
    )  # fmt: skip


def _cuts(advice: Advice) -> str:
    rule, folds = _rule(advice, "cut"), _rule(advice, "folds")
    chosen = cut_of(advice)
    text = [
        paragraph(rule.say),
        _evidence(rule.evidence, rule.shown),
        paragraph(folds.say),
        _evidence(folds.evidence, folds.shown),
    ]
    heading = f"Why {CUT_WORDS[chosen]}, where rows are cut at random" if advice.both else f"Why {CUT_WORDS[chosen]}"
    if not advice.cuts:
        return folded("cuts", heading, *text)
    expected, biases = expected_of(advice.facts, advice.n_splits), any(np.isfinite(one.bias) for one in advice.cuts)
    rows = [
        (one.cut + (" (recommended)" if one.cut == chosen else ""), CUT_WORDS.get(one.cut, ""), f"{one.target:.3f}",
         f"{one.inputs:.3f}", f"{one.worst:.3f}")
        for one in advice.cuts
    ]  # fmt: skip
    estimates = [
        (one.cut, _spread(advice, one), *([_bias(advice.score, one)] if biases else []), *_expected_cells(expected, one.cut))
        for one in advice.cuts
    ]
    head = ["cut", "spread", *(["bias on halves"] if biases else []), *(["expected bias", "off by"] if expected else [])]
    measured = [one.n_partitions for one in advice.cuts if one.n_partitions > 1]
    few = " (fewer where fewer differ)" if len(set(measured) - {1}) > 1 else ""
    spread = (
        f"Spread: standard deviation of the {advice.score.name} between partitions, from {max(measured)} of each{few}, so that "
        "it is known to a third of itself; what one cross-validation owes to the luck of the cut."
        if measured
        else "The spread between partitions was not measured: the work plan has none for a table and a learner of this size."
    )
    caption = (
        f"Distance between training and test part on this table, {advice.n_splits} folds, mean of five cuts: the nearer to 0, "
        "the more alike. Filled: the target. Open: the inputs, on average."
    )
    return folded(
        "cuts", heading, figure(cuts_chart(advice, chosen), caption), *text,
        table(["cut", "in words", "target", "inputs", "worst input"], rows, (2, 3, 4), (1,)),
        paragraph("Smaller distances are no better estimates by themselves: a test part made like its training part is also an "
                   "easier one. What the cut does to the estimate:", "soft"),
        table(head, estimates, range(1, len(head))), paragraph(spread, "soft"),
        paragraph("Bias on halves: halves of this table were cross-validated and held against the other halves, the truth for "
                   "the same models: estimate less truth, ± standard error over pairs of halves.", "soft") if biases else "",
        _expected_words(advice, expected),
    )  # fmt: skip


def _expected_cells(expected: dict[str, Expected], cut: str) -> tuple[str, ...]:
    """The study's results for a cut: its bias, and the distance of one estimate; none if it covers nothing alike."""
    if not expected:
        return ()
    if cut not in expected:
        return EMPTY, EMPTY
    one = expected[cut]
    return f"{one.bias:+.1f} ± {one.bias_error:.1f} %", f"{one.off:.0f} %"


def _expected_words(advice: Advice, expected: dict[str, Expected]) -> str:
    if not expected:
        return ""
    one = next(iter(expected.values()))
    error = "error rate" if advice.facts["task"] == "classification" else "mean squared error"
    root = " (of its root: about half as much)" if advice.facts["task"] == "regression" else ""
    return paragraph(
        f"Expected bias, off by: the study of honest cuts, {one.n_populations} populations, samples of {one.n_sample:,} rows, "
        f"{advice.n_splits} folds, where the truth is known: the {error} of the model of all rows. Bias: how much higher (+) or "
        "lower the estimate was, on average over populations ± standard error. Off by: how far one estimate was from the truth, "
        f"as root mean square. Both are in per cent of the truth{root}. All cuts saw the same samples: their order is known "
        "better than each bias.",
        "soft",
    )  # fmt: skip


def _bias(score: Score, one: CutShift) -> str:
    if not np.isfinite(one.bias):
        return EMPTY
    scale = 100 if score.percent else 1
    # Two digits of the error, and of the bias as far.
    digits = 1 if score.percent or one.bias_error <= 0 else max(0, 1 - int(np.floor(np.log10(one.bias_error))))
    return f"{scale * one.bias:+.{digits}f} ± {scale * one.bias_error:.{digits}f}{' points' if score.percent else ''}"


def _spread(advice: Advice, one: CutShift) -> str:
    if one.n_partitions == 1:
        return "one partition"
    return advice.score.text(one.spread) if np.isfinite(one.spread) else EMPTY


def _repetitions(advice: Advice) -> str:
    rule, found = _rule(advice, "repetitions"), advice.repetitions
    cost = f"One fit takes {advice.seconds_per_fit:.2g} s here; one repetition of {advice.n_splits} folds {advice.n_splits * advice.seconds_per_fit:.2g} s."  # noqa: E501
    picture = ""
    text = [rule.say]
    if found is not None:
        if found.repetitions is None:
            text.append(
                f"{counted(found.n_partitions, 'repetition')} were made; how many are enough cannot be told: {found.note}."
            )
        else:
            text.append(
                f"{counted(found.repetitions, 'repetition')} keep{'s' * (found.repetitions == 1)} that promise, as "
                f"{counted(found.n_partitions, 'repetition')} showed; the score is from {advice.n_done}. "
                f"Repeating for ever would take {100 * found.most_gain:.0f} % off the variance of one repetition."
            )
        picture = figure(
            curve_chart(found),
            "Standard error of the mean of r repetitions, as a share of that of one. The dashed line is the floor that no number "
            "of repetitions passes: only more rows do.",
        )
    heading = "One cross-validation is made" if advice.n_repeats == 1 else f"{advice.n_repeats} repetitions are advised"
    if found is not None and found.repetitions is not None and found.repetitions <= advice.n_repeats:
        heading = f"{capital(counted(advice.n_repeats, 'repetition'))} {'is' if advice.n_repeats == 1 else 'are'} enough"
    return folded("repetitions", heading, picture, *map(paragraph, text), paragraph(cost), _evidence(rule.evidence, rule.shown))


def _issues(advice: Advice) -> str:
    blocks = [
        f"<div class='fault {issue.severity}'><h3>{escape(issue.code.replace('_', ' '))} ({escape(issue.severity)})</h3>"
        f"<p>{escape(issue.found)}</p><dl><dt>How it was found</dt><dd>{escape(issue.how)}</dd><dt>Why it matters</dt>"
        f"<dd>{escape(issue.why)}</dd><dt>What to do</dt><dd>{escape(issue.remedy)}</dd></dl></div>"
        for issue in advice.faults
    ]
    codes = ", ".join(issue.code.replace("_", " ") for issue in advice.faults)
    heading = f"{counted(len(blocks), 'finding')}: {codes}" if blocks else "No fault was found"
    rows = [(one.code, one.name, one.result, one.text) for one in advice.checks]
    every = table(["check", "", "result", ""], rows, (), (1,)) if rows else ""
    return folded("faults", heading, *blocks, every)


def _data(advice: Advice) -> str:
    data = advice.data
    rows = [("rows", f"{data.n:,}"), ("columns", f"{np.shape(data.X)[1]:,}")]
    kinds = [column.kind for column in data.columns]
    if kinds:
        rows.append(("kinds", ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))))
        gaps = [column.name for column in data.columns if not column.categories and np.isnan(column.train).any()]
        rows.append(
            ("with gaps", ", ".join(gaps[:8]) + (f" and {len(gaps) - 8} more" if len(gaps) > 8 else "") if gaps else "none")
        )
    if data.classes:
        counts = bincount(data.target.astype(int))
        shown = [f"{name}: {count:,}" for name, count in zip(data.classes, counts)]
        rows.append((data.name, ", ".join(shown[:10]) + (f" and {len(shown) - 10} more classes" if len(shown) > 10 else "")))
    else:
        low, middle, high = map(figures, np.quantile(data.target, [0, 0.5, 1]))
        different = len(np.unique(data.target))
        rows.append((data.name, f"{low} to {high}, median {middle}, {different:,} different values"))
    if data.groups is not None:
        rows.append(("groups", f"{data.n_groups:,}"))
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in rows)
    what = "classes" if data.classes else "a quantity"
    heading = f"{data.n:,} rows, {np.shape(data.X)[1]:,} columns, {f'{len(data.classes)} ' if data.classes else ''}{what}"
    return folded("data", heading, f"<dl>{listed}</dl>", *(paragraph(note + ".", "soft") for note in advice.notes))


def _cautions(advice: Advice) -> str:
    others = [rule for rule in advice.rules if rule.part == "caution" and rule.id != "caution-more-rows"]
    if not others:
        return ""
    return folded(
        "cautions",
        " ".join(rule.say for rule in others[:1]).split(";")[0].split(":")[0].rstrip("."),
        *(paragraph(rule.say) + _evidence(rule.evidence, rule.shown) for rule in others),
    )


def _methods(advice: Advice) -> str:
    references = list(dict.fromkeys(rule.reference for rule in advice.rules if rule.reference))
    budget = f" of a budget of {advice.budget:.0f} s" if advice.budget is not None else ""
    versions = ", ".join(f"{name} {number}" for name, number in advice.versions.items())
    return folded(
        "methods", "For the methods section", f"<pre>{escape(advice.methods)}</pre>",
        "<ul class='soft'>" + "".join(f"<li>{escape(one)}</li>" for one in references) + "</ul>",
        paragraph(f"{versions}. Worked out in {advice.seconds:.0f} s{budget}; all figures are in "
                   "JSON at the end of this file, and in what to_json writes.", "soft"),
    )  # fmt: skip
