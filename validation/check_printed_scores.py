"""Check which printed scores can come from the counts that their papers state or imply.

    python validation/check_printed_scores.py

A share of comparisons, of features or of rows is a whole number over a known one. Means of thousands of experiments (areas under
the curve, errors of numbers) can be any number and are left out.
"""

import re

import pandas as pd

from foldshift.inference import check_scores
from provenance_tables import ROOT, write_table

STUDIES = ROOT / "src" / "foldshift" / "studies"
N_EXPERIMENTS = 100  # of Moreno-Torres et al. (2012), Section V
REPEATS = (1, 2, 5, 10, 20, 50, 100, 200)  # of Cieslak and Chawla (2009), whose number the tables do not state
COLUMNS = ("study", "table", "item", "printed", "n", "about_n", "verdict", "nearest")


def printed(study, name):
    """Read a printed table; numbers stay as they were printed."""
    return pd.read_csv(STUDIES / study / "printed" / f"{name}.csv", dtype=str)


def checked(text, n, *, percent=False):
    """Verdict on a printed share of n, and the nearest share that is possible."""
    value, decimals = float(text), len(text.partition(".")[2])
    found = check_scores({"accuracy": value / 100 if percent else value}, n=n, decimals=decimals + 2 * percent)
    return found.verdict, found.nearest["accuracy"] * (100 if percent else 1)


def agreements():
    """Check shares of experiments with the truth's result: whole numbers of pairs times experiments."""
    study = "moreno_torres_2012"
    counts = printed(study, "table5_dobscv_5x2_agreement")
    pairs = len(counts) // 2  # every pair stands twice
    total = counts["times_same_result"].astype(int).sum() / 2
    for row in printed(study, "table6_accuracy").itertuples():
        if row.scheme == "Average":
            continue
        known = {"5x2": f"{pairs} pairs of Table V times {N_EXPERIMENTS} experiments"}.get(row.scheme)
        sizes = [pairs] if known else range(1, 37)  # pairs of nine classifiers
        others = printed(study, "table6_accuracy").query("scheme == @row.scheme")["percent_same_result"]
        fits = [m for m in sizes if all(checked(one, m * N_EXPERIMENTS, percent=True)[0] == "possible" for one in others)]
        m = fits[0] if fits else max(sizes)
        about = known or (
            f"numbers of pairs that all four shares allow: {', '.join(map(str, fits))}" if fits else "no number of pairs fits"
        )
        verdict, near = checked(row.percent_same_result, m * N_EXPERIMENTS, percent=True)
        yield (
            study,
            "table6_accuracy",
            f"{row.scheme}, {row.partitioner}",
            row.percent_same_result,
            m * N_EXPERIMENTS,
            about,
            verdict,
            near,
        )
        if row.scheme == "5x2" and row.partitioner == "DOB-SCV":
            own = f"{100 * total / (pairs * N_EXPERIMENTS):.3f}"
            verdict = "possible" if own == row.percent_same_result else "impossible"
            about = "sum of the counts of Table V over these experiments"
            yield (
                study,
                "table5_dobscv_5x2_agreement",
                "all pairs",
                own,
                m * N_EXPERIMENTS,
                about,
                verdict,
                float(row.percent_same_result),
            )


def failing_features():
    """Check shares of features that fail a test: whole numbers over features times repeats."""
    study = "cieslak_2009"
    features = printed(study, "table1_datasets").set_index("dataset")["features"].astype(int)
    for table in ("table2_ks_failing", "table4_ks_covariate_shift"):
        for name, rows in printed(study, table).groupby("dataset", sort=False):
            texts = [one for one in rows["proportion"] if re.fullmatch(r"[\d.]+", one)]
            fits = [r for r in REPEATS if all(checked(one, r * features[name])[0] == "possible" for one in texts)]
            n = int((fits[0] if fits else REPEATS[-1]) * features[name])
            about = (
                f"{features[name]} features times repeats; repeats that all shares allow: {', '.join(map(str, fits)) or 'none'}"
            )
            for row in rows.itertuples():
                if row.proportion in texts:
                    yield study, table, f"{name}, {row.condition}", row.proportion, n, about, *checked(row.proportion, n)


def main():
    """Write the table."""
    table = pd.DataFrame([*agreements(), *failing_features()], columns=COLUMNS)
    path = write_table("printed_scores_checked", table.round(6), n_experiments=N_EXPERIMENTS, repeats=REPEATS)
    print(table.groupby(["study", "table", "verdict"]).size().to_string(), path.name, sep="\n")
    print(table.drop_duplicates(["study", "table", "about_n"])[["table", "item", "n", "about_n", "verdict"]].to_string())


if __name__ == "__main__":
    main()
