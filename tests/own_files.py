"""Three files as users have them: `python tests/own_files.py FOLDER` writes them. What they hold depends on nothing else."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

NAMES = ("houses.csv", "screening.csv.gz", "sensors.csv")


def houses(n=600):
    """Regression: strings, dates, missing values, umlauts, an index; as a German spreadsheet writes it."""
    rng = np.random.default_rng(1)
    size, built = rng.gamma(9, 12, n).round(1), rng.integers(1900, 2024, n)
    town = rng.choice(["Köln", "Münster", "Görlitz", "Ulm"], n, p=[0.4, 0.3, 0.1, 0.2])
    price = 2400 * size * (1 + 0.5 * (town == "Köln")) + 900 * (built - 1900) + rng.normal(0, 30_000, n)
    frame = pd.DataFrame(
        {
            "Straße": [f"Mühlenweg {i + 1}" for i in range(n)],
            "Ort": town,
            "Größe": size,
            "Baujahr": built.astype(object),
            "Heizung": rng.choice(["Gas", "Öl", "keine"], n),
            "Verkauft am": pd.date_range("2019-03-01", periods=n).strftime("%d.%m.%Y"),
            "Preis": price.round(2),
        }
    )
    frame.loc[rng.choice(n, 12, replace=False), "Baujahr"] = "-"
    frame.loc[rng.choice(n, 9, replace=False), "Größe"] = np.nan
    frame.loc[rng.choice(n, 5, replace=False), "Ort"] = "k. A."
    return frame


def screening(n=800):
    """Classes: 5 % positive ones, and one of two rows."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(n, 4)).round(3), columns=["marker_a", "marker_b", "pressure", "pulse"])
    frame["age"] = rng.integers(18, 90, n)
    frame["smoker"] = rng.choice(["yes", "no", "NULL"], n, p=[0.3, 0.68, 0.02])
    ill = frame["marker_a"] + 0.5 * frame["marker_b"] + 0.4 * rng.normal(size=n)
    frame["finding"] = np.where(ill >= np.sort(ill)[-n // 20], "positive", "negative")
    frame.loc[[17, 400], "finding"] = "unclear"
    frame.insert(0, "patient_id", rng.permutation(10 * n)[:n])
    return frame


def sensors(n=100_000):
    """Regression: 100,000 rows of 10 columns."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 9))
    frame = pd.DataFrame(X.round(4), columns=[f"sensor_{i}" for i in range(1, 10)])
    frame["load"] = (X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n)).round(4)
    return frame


def write_own_files(folder, n_sensors=100_000):
    """Write the three files into a folder that exists.

    Parameters
    ----------
    folder : path-like
    n_sensors : int, default=100,000
        Rows of the largest.
    """
    folder = Path(folder)
    houses().to_csv(folder / NAMES[0], sep=";", decimal=",", encoding="cp1252")
    screening().to_csv(folder / NAMES[1], index=False)
    sensors(n_sensors).to_csv(folder / NAMES[2], index=False)


if __name__ == "__main__":
    write_own_files(sys.argv[1])
