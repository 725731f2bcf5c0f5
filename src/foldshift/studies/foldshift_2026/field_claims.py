"""Claims on cuts that the protocol lists, each as one comparison of two cuts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from foldshift.studies.foldshift_2026.cuts_and_methods import RERANDOMISED

if TYPE_CHECKING:
    from foldshift.core.types import Task

SAEZ, MORENO, TWINS, ANTI = "Saez 2022", "Moreno-Torres 2012", "Vakayil 2022", "Papenberg 2021"
CLUSTERS, CHEMISTRY, DISCREPANCY, KOHAVI = "Spezia 2025", "Galvao 2005", "Guo 2019", "Kohavi 1995"
OURS, FOLKLORE = "this project", "folklore"
NUMBERS, CLASSES = "regression", "classification"


class FieldClaim(NamedTuple):
    """A claim of the field, as one comparison: in a measure, `lower` is below `higher`.

    Both are cuts; None: the reference of the task; a number: the reference with so many folds.
    """

    claim: str
    source: str
    task: Task
    measure: str
    lower: str | int | None
    higher: str | int | None


CLAIMS = tuple(
    FieldClaim._make(one)
    for one in (
        ("a stratified target lowers the estimated error", SAEZ, NUMBERS, "bias_whole", "TSCV", None),
        ("a stratified target makes the estimate vary less between partitions", SAEZ, NUMBERS, "spread", "TSCV", None),
        ("a stratified target brings the estimate nearer to the truth", SAEZ, NUMBERS, "error_one", "TSCV", None),
        ("ten strata do as much as total stratification", FOLKLORE, NUMBERS, "error_one", "TSCV", "SCV10"),
        ("neighbours in different folds bring the estimate nearer to the truth", MORENO, CLASSES, "error_one", "DOB-SCV", None),
        ("so do neighbours along a path", MORENO, CLASSES, "error_one", "DB-SCV", None),
        ("neighbours in different folds make it vary less", MORENO, CLASSES, "spread", "DOB-SCV", None),
        ("neighbours in the same fold make it too high", MORENO, CLASSES, "bias_whole", None, "MS-SCV"),
        ("neighbours in different folds make it too low", OURS, CLASSES, "bias_whole", "DOB-SCV", None),
        ("twins in different folds make the estimate too low", OURS, NUMBERS, "bias_whole", "Twinning", None),
        ("twins in different folds make the estimate too low", OURS, CLASSES, "bias_whole", "Twinning", None),
        ("twins in different folds bring the estimate nearer to the truth", TWINS, NUMBERS, "error_one", "Twinning", None),
        ("twins in different folds bring the estimate nearer to the truth", TWINS, CLASSES, "error_one", "Twinning", None),
        ("equal means of the inputs bring the estimate nearer to the truth", ANTI, NUMBERS, "error_one", "ABA", None),
        ("equal means of the inputs bring the estimate nearer to the truth", ANTI, CLASSES, "error_one", "ABA", None),
        ("a share of every cluster brings the estimate nearer to the truth", CLUSTERS, CLASSES, "error_one", "CBDSCV", None),
        ("a share of every cluster of a class brings it nearer", CLUSTERS, CLASSES, "error_one", "SCBCV", None),
        ("a share of every cluster of a class makes it vary less", CLUSTERS, CLASSES, "spread", "SCBCV", None),
        ("folds that each span the data bring the estimate nearer to the truth", CHEMISTRY, NUMBERS, "error_one", "SPXY", None),
        ("balance of target and inputs brings the estimate nearer to the truth", OURS, NUMBERS, "error_one", "CB-TSCV", None),
        ("balance of classes and inputs brings the estimate nearer to the truth", OURS, CLASSES, "error_one", "CB-SCV", None),
        ("balance of target and inputs makes it vary less", OURS, NUMBERS, "spread", "CB-TSCV", None),
        ("balance of classes and inputs makes it vary less", OURS, CLASSES, "spread", "CB-SCV", None),
        ("balance of target and inputs makes it lower", OURS, NUMBERS, "bias_whole", "CB-TSCV", None),
        ("balance of classes and inputs makes it lower", OURS, CLASSES, "bias_whole", "CB-SCV", None),
        ("balance of target and inputs finds the better learner more often", OURS, NUMBERS, "choice", None, "CB-TSCV"),
        ("balance of classes and inputs finds the better learner more often", OURS, CLASSES, "choice", None, "CB-SCV"),
        ("stratified classes bring the estimate nearer to the truth", KOHAVI, CLASSES, "error_one", None, "CV"),
        ("stratified classes make it vary less", KOHAVI, CLASSES, "spread", None, "CV"),
        ("ten folds bring the estimate nearer to the truth than five", KOHAVI, NUMBERS, "error_one", 10, 5),
        ("ten folds bring the estimate nearer to the truth than five", KOHAVI, CLASSES, "error_one", 10, 5),
        ("two folds make the estimate too high", KOHAVI, NUMBERS, "bias_whole", 10, 2),
        ("two folds make the estimate too high", KOHAVI, CLASSES, "bias_whole", 10, 2),
        ("a sequence of least discrepancy makes the estimate lower", DISCREPANCY, CLASSES, "bias_whole", "BDSCV", "CV"),
        ("a sequence of least discrepancy brings it nearer to the truth", DISCREPANCY, CLASSES, "error_one", "BDSCV", "CV"),
        ("a sequence of least discrepancy brings it nearer to the truth", DISCREPANCY, NUMBERS, "error_one", "BDSCV", None),
        ("the best of twenty random cuts brings it nearer to the truth", FOLKLORE, NUMBERS, "error_one", RERANDOMISED, None),
        ("the best of twenty random cuts brings it nearer to the truth", FOLKLORE, CLASSES, "error_one", RERANDOMISED, None),
    )
)
