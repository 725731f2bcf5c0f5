"""Critical-difference diagrams in the style of all figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.layout_engine import PlaceHolderLayoutEngine

from foldshift.inference.comparisons.rank_diagram import draw_diagram, layout
from foldshift.reporting.figure_style import plt
from foldshift.reporting.number_formats import p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from foldshift.inference.comparisons.ranks import CriticalDifference


def draw_critical_difference(result: CriticalDifference, *, blocks: str = "data sets") -> Figure:
    """Draw the average ranks of methods, with bars that join methods without a significant difference.

    Source: Demsar, J. (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1-30, Figure 1.
    """
    sizes = layout(result, _footer(result, blocks))
    figure = plt.figure(figsize=(sizes.width, sizes.height))
    # Saving would bring back the default layout engine, which moves axes that are placed by hand here.
    figure.set_layout_engine(PlaceHolderLayoutEngine(True, True))
    draw_diagram(figure.add_axes((0, 0, 1, 1)), result, sizes)
    return figure


def _footer(result: CriticalDifference, blocks: str) -> str:
    test = result.friedman
    pairs = {"nemenyi": "Nemenyi", "holm": "Wilcoxon with Holm's correction", "bonferroni_dunn": "Bonferroni-Dunn"}[result.method]
    small = {"exact": " p exact, from all orders of the ranks.", "Monte Carlo": " p from 99,999 random orders of the ranks."}
    return (
        f"Average ranks over {result.n_blocks} {blocks}, 1 is best. Friedman: chi-square {test.chi2:.2f}, "
        f"p {p_value(test.p_chi2)}; Iman-Davenport: F {test.f:.2f}, p {p_value(test.p_f)}. "
        f"Bars join methods not told apart at {result.alpha:g} ({pairs})." + small.get(test.distribution, "")
    )
