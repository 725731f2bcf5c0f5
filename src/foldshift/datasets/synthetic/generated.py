"""Data sets given by a rule or a published table of counts: no download, the same on every machine."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from foldshift.core.errors import SourceError, unknown
from foldshift.datasets.readers.raw_table import RawTable

if TYPE_CHECKING:
    from foldshift.core.types import FloatArray

DECIMALS = 6  # of generated numbers: the last bits of sine and square root differ between machines


def uniform(seed: int, n_rows: int, n_columns: int) -> FloatArray:
    """Draw uniform numbers in [0, 1) by SplitMix64, written out so that they never change with a library.

    Source: Steele, Lea, Flood (2014). Fast splittable pseudorandom number generators. OOPSLA, figure 13.
    """
    counter = np.arange(1, n_rows * n_columns + 1, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))
    z = counter * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(n_rows, n_columns)


def noise(seed: int, n_rows: int) -> FloatArray:
    """Draw nearly normal numbers of mean 0 and variance 1: the sum of twelve uniform ones minus six, by additions only."""
    numbers = uniform(seed, n_rows, 12)
    total = np.zeros(n_rows)
    for column in numbers.T:
        total += column
    return total - 6.0


def friedman1() -> RawTable:
    """Friedman's first function of ten inputs, five of which matter: 500 rows.

    ``y = 10 sin(pi x1 x2) + 20 (x3 - 0.5)^2 + 10 x4 + 5 x5 + e``, x uniform on [0, 1], e of standard deviation 1.
    Source: Friedman, J.H. (1991). Multivariate adaptive regression splines. Annals of Statistics 19, section 4.3.
    """
    x = uniform(1, 500, 10)
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4] + noise(2, 500)
    return _numeric(x, y)


def _circuit(seed: int, n_rows: int) -> FloatArray:
    """Inputs of Friedman's alternating current circuit: resistance, frequency, inductance, capacity."""
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    return np.round(low + (high - low) * uniform(seed, n_rows, 4), DECIMALS)


def friedman2() -> RawTable:
    """Friedman's second function: the impedance of a circuit, noise of standard deviation 125, 400 rows (Friedman 1991, section
    4.4)."""
    x = _circuit(3, 400)
    reactance = x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])
    return _numeric(x, np.sqrt(x[:, 0] ** 2 + reactance**2) + 125 * noise(4, 400))


def friedman3() -> RawTable:
    """Friedman's third function: the phase angle of a circuit, noise of standard deviation 0.1, 300 rows (Friedman 1991, section
    4.4)."""
    x = _circuit(5, 300)
    reactance = x[:, 1] * x[:, 2] - 1 / (x[:, 1] * x[:, 3])
    return _numeric(x, np.arctan2(reactance, x[:, 0]) + 0.1 * noise(6, 300))


def steps() -> RawTable:
    """Steps of three inputs, whole numbers with many ties, 400 rows; the fourth input does not matter."""
    x = uniform(7, 400, 4)
    y = np.floor(4 * x[:, 0]) + np.floor(3 * x[:, 1]) * (x[:, 2] > 0.5) + np.floor(noise(8, 400) / 2 + 0.5)
    return _numeric(x, y)


def heavy_tail() -> RawTable:
    """Target with a heavy tail (Pareto of index 2), as costs have: 350 rows, three inputs."""
    x = uniform(9, 350, 3)
    scale = 1 + x[:, 0] + 2 * x[:, 1] * x[:, 2]
    return _numeric(x, scale / np.sqrt(1 - uniform(10, 350, 1)[:, 0]))


def monk_2() -> RawTable:
    """KEEL's `monk-2`: all 432 combinations of six attributes, with the classes of the *third* of the monk's problems.

    Class 1 is ``(A5 = 3 and A4 = 1) or (A5 != 4 and A2 != 3)``: the third problem without its noise, row by row. The rule of the
    second problem (exactly two attributes have their first value) agrees with at most 53 % of KEEL's labels, whichever class is
    called 1. Source: Thrun, S.B. et al. (1991). The MONK's problems. CMU-CS-91-197.
    """
    values = np.array(list(itertools.product((1, 2, 3), (1, 2, 3), (1, 2), (1, 2, 3), (1, 2, 3, 4), (1, 2))))
    _, a2, _, a4, a5, _ = values.T
    labels = np.where(((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)), "1", "0")
    frame = pd.DataFrame(values.astype(np.float64), columns=[f"A{i}" for i in range(1, 7)])
    frame["Class"] = pd.Categorical(labels, categories=["0", "1"])
    return RawTable(frame, "Class", dict.fromkeys(frame.columns[:-1], "integer") | {"Class": "nominal"})


# Squares of the board and their labels in the order of the codes.
SQUARES = {
    "TopLeft": "xob",
    "TopMiddle": "xob",
    "TopRight": "xob",
    "MiddleLeft": "xob",
    "MiddleMiddle": "obx",
    "MiddleRight": "obx",
    "BottomLeft": "xob",
    "BottomMiddle": "oxb",
    "BottomRight": "oxb",
}
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe() -> RawTable:
    """Tic-tac-toe: all 958 boards at the end of a game in which x moves first; positive if x has three in a row.

    Source: Aha, D.W. (1991). Incremental constructive induction: an instance-based approach. ICML. UCI data set 101.
    """
    boards, ended = {"b" * 9}, set[str]()
    for player in "xoxoxoxox":
        moved = {board[:square] + player + board[square + 1 :] for board in boards for square in range(9) if board[square] == "b"}
        ended |= {board for board in moved if _wins(board, player) or "b" not in board}
        boards = moved - ended
    final = sorted(ended)
    frame = pd.DataFrame(
        {
            name: pd.Categorical([board[i] for board in final], categories=list(order))
            for i, (name, order) in enumerate(SQUARES.items())
        }
    )
    frame["Class"] = pd.Categorical(
        ["positive" if _wins(board, "x") else "negative" for board in final], categories=["positive", "negative"]
    )
    return RawTable(frame, "Class", dict.fromkeys(frame.columns, "nominal"))


def _wins(board: str, player: str) -> bool:
    """Report whether a player has three in a row."""
    return any(all(board[square] == player for square in line) for line in LINES)


# Passengers by class (0 crew), adult, male: (died, survived).
TITANIC = {
    (1, 1, 1): (118, 57),
    (1, 1, 0): (4, 140),
    (1, 0, 1): (0, 5),
    (1, 0, 0): (0, 1),
    (2, 1, 1): (154, 14),
    (2, 1, 0): (13, 80),
    (2, 0, 1): (0, 11),
    (2, 0, 0): (0, 13),
    (3, 1, 1): (387, 75),
    (3, 1, 0): (89, 76),
    (3, 0, 1): (35, 13),
    (3, 0, 0): (17, 14),
    (0, 1, 1): (670, 192),
    (0, 1, 0): (3, 20),
}
# The standardised codes of KEEL's file.
TITANIC_CLASS = {1: -1.87, 2: -0.923, 3: 0.0214, 0: 0.965}
TITANIC_AGE = {1: -0.228, 0: 4.38}
TITANIC_SEX = {1: 0.521, 0: -1.92}


def titanic() -> RawTable:
    """Titanic: the 2201 people on board, from the published table of counts, coded as in KEEL's file.

    Source: Dawson, R.J.M. (1995). The "unusual episode" data revisited. Journal of Statistics Education 3(3).
    """
    rows = [
        (TITANIC_CLASS[cabin], TITANIC_AGE[adult], TITANIC_SEX[male], label)
        for (cabin, adult, male), counts in TITANIC.items()
        for label, count in zip(("-1.0", "1.0"), counts)
        for _ in range(count)
    ]
    frame = pd.DataFrame(rows, columns=["Class", "Age", "Sex", "Survived"])
    frame["Survived"] = pd.Categorical(frame["Survived"], categories=["-1.0", "1.0"])
    return RawTable(frame, "Survived", {"Class": "real", "Age": "real", "Sex": "real", "Survived": "nominal"})


def balance() -> RawTable:
    """Balance scale: all 625 combinations of weights and distances; it tips left, right, or balances.

    Source: Siegler, R.S. (1976). Three aspects of cognitive development. Cognitive Psychology 8, 481-520. UCI data set 12.
    """
    values = np.array(list(itertools.product(range(1, 6), repeat=4)))
    left, right = values[:, 0] * values[:, 1], values[:, 2] * values[:, 3]
    labels = np.select([left > right, left < right], ["left", "right"], "balanced")
    frame = pd.DataFrame(values.astype(np.float64), columns=["left_weight", "left_distance", "right_weight", "right_distance"])
    frame["tips"] = pd.Categorical(labels, categories=["left", "balanced", "right"])
    return RawTable(frame, "tips", dict.fromkeys(frame.columns[:-1], "integer") | {"tips": "nominal"})


GENERATED = {
    "friedman1": friedman1,
    "friedman2": friedman2,
    "friedman3": friedman3,
    "steps": steps,
    "heavy_tail": heavy_tail,
    "monk-2": monk_2,
    "tic-tac-toe": tic_tac_toe,
    "titanic": titanic,
    "balance": balance,
}


def generate(name: str) -> RawTable:
    """Make a generated data set."""
    if name not in GENERATED:
        raise SourceError(unknown("generated data set", name, GENERATED))
    return GENERATED[name]()


def _numeric(x: FloatArray, y: FloatArray) -> RawTable:
    """Make a table of numeric inputs x1, x2, ... and a numeric target y, rounded to `DECIMALS`."""
    frame = pd.DataFrame(np.round(x, DECIMALS), columns=[f"x{i + 1}" for i in range(x.shape[1])])
    frame["y"] = np.round(y, DECIMALS)
    whole = bool((frame["y"] == frame["y"].round()).all())
    return RawTable(frame, "y", dict.fromkeys(frame.columns[:-1], "real") | {"y": "integer" if whole else "real"})
