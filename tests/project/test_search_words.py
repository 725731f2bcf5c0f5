"""A stranger's words lead to the page that answers them: a simple search over titles and first paragraphs puts it first."""

import math
import re
from collections import Counter

import pytest

# What people type, by the page that answers it.
ASKED = {
    "docs/questions/stratified_regression": (
        "stratified k-fold continuous target regression",
        "StratifiedKFold continuous target",
        "stratified train test split continuous y",
        "stratified sampling regression bins",
    ),
    "docs/questions/confidence_interval": (
        "confidence interval cross-validation",
        "cross_val_score standard deviation error bar",
        "standard error of cross-validation score",
        "confidence interval for accuracy of a classifier",
    ),
    "docs/questions/corrected_t_test": (
        "corrected resampled t-test python",
        "Nadeau Bengio correction",
        "paired t-test on cross-validation folds",
        "5x2cv paired t test",
    ),
    "docs/questions/repeated_group_k_fold": (
        "repeated group k-fold",
        "RepeatedGroupKFold sklearn",
        "repeated stratified group k-fold",
    ),
    "docs/questions/nested_groups": (
        "groups nested cross-validation",
        "GridSearchCV groups inner loop",
        "nested cross-validation hyperparameter tuning groups",
    ),
    "docs/questions/multilabel": (
        "stratify several columns multilabel",
        "train_test_split stratify multiple columns",
        "iterative stratification multilabel",
    ),
    "docs/questions/auc_interval": (
        "confidence interval auc cross-validation",
        "roc auc 95% confidence interval python",
    ),
    "docs/questions/how_many_repetitions": (
        "how many repetitions cross-validation",
        "how many repeats of k-fold cross-validation",
        "cross-validation score changes with random_state",
    ),
    "docs/questions/fair_split": (
        "train test split fair adversarial validation",
        "is my test set representative",
        "train and test set different distribution",
    ),
    "docs/questions/time_and_space": (
        "time series spatial cross-validation",
        "spatial cross-validation python",
        "time series cross-validation with gap",
        "blocked cross-validation",
    ),
    "docs/questions/leakage": (
        "leakage duplicates patients identifiers",
        "data leakage detection python",
        "same patient in training and test set",
        "duplicate rows in train and test set",
    ),
    "docs/questions/critical_difference": (
        "critical difference diagram",
        "Friedman Nemenyi test classifiers",
    ),
    "docs/questions/two_models": (
        "compare two models one data set many",
        "is one model significantly better than another",
        "Wilcoxon signed rank test two classifiers many data sets",
    ),
    "docs/questions/keel_dob_scv": (
        "keel dob-scv python",
        "distribution optimally balanced stratified cross-validation",
    ),
    "docs/guides/watch_for_drift": (
        "data drift detection new data",
        "covariate shift between two csv files",
    ),
    "docs/guides/reproduce_a_paper": ("reproduce the tables of a paper",),
    "docs/guides/other_tools": ("scikit-learn skore AutoGluon mlxtend",),
    "docs/guides/own_data": ("own data set in the studies",),
    "docs/guides/when_something_fails": ("a job failed log",),
    "docs/cluster": ("run on a slurm cluster", "snakemake kubernetes s3 bucket"),
    "docs/scale": ("hundred thousand data sets",),
}
TITLE = 3  # a word in a title counts as much as three in the first paragraph
STOP = frozenset(
    re.findall(r"\w+", "a an and are as at by do does for from how in is it my of on or than that the to what which with")
)


def words(text):
    """Words of a text, in lower case, names of code cut at capitals and digits, without the plural s."""
    cut = re.sub(r"([a-z])([A-Z])", r"\1 \2", text).replace("KFold", "K fold")
    return [re.sub(r"(?<=\w\w\w)s$", "", word) for word in re.findall(r"[a-z0-9]+", cut.lower()) if word not in STOP]


def beginning(text):
    """Title and first paragraph of a page, without marks."""
    title, _, rest = text.partition("\n")
    paragraph = next((part for part in rest.split("\n\n") if part.strip() and not part.lstrip().startswith(("!", "```"))), "")
    return title, re.sub(r"\]\([^)]*\)", "", paragraph)


@pytest.fixture(scope="module")
def pages(request):
    """Counted words of every page of README and docs, by its path."""
    root = request.config.rootpath
    files = [root / "README.md", *(root / "docs").glob("*.md"), *(root / "docs" / "guides").glob("*.md")]
    files += (root / "docs" / "questions").glob("*.md")
    found = {}
    for file in files:
        title, paragraph = beginning(file.read_text(encoding="utf-8"))
        counts = Counter(dict.fromkeys(words(paragraph), 1))
        found[file.relative_to(root).with_suffix("").as_posix()] = counts + Counter(dict.fromkeys(words(title), TITLE))
    return found


def ranked(pages, query):
    """Pages by how well they fit a query: rare words count more, long beginnings count less."""
    present = Counter(word for page in pages.values() for word in page)
    weight = {word: math.log(1 + len(pages) / present[word]) for word in words(query) if present[word]}
    scores = {
        name: sum(weight[word] * page[word] for word in weight) / (10 + sum(page.values())) ** 0.5 for name, page in pages.items()
    }
    return sorted(scores, key=lambda name: -scores[name])


@pytest.mark.parametrize(("page", "query"), [(page, query) for page, queries in ASKED.items() for query in queries])
def test_the_page_that_answers_is_found_first(pages, page, query):
    found = ranked(pages, query)
    assert found[0] == page, f"{query!r} finds {found[:3]}; its words are missing from title and first paragraph of {page}"


def test_every_question_page_has_words_that_lead_to_it(pages):
    assert {name for name in pages if name.startswith("docs/questions/")} <= set(ASKED)
