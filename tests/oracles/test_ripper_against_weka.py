"""RIPPER against Weka's JRip: the accuracy outside training and the number of rules, over many seeds on fixed training parts.

The two draw different rows to grow on, so that only distributions can agree. Needs Java with its compiler (a JDK) and weka.jar:
name it in the environment variable WEKA_JAR, or install python-weka-wrapper3, which carries it.
"""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from foldshift.learners.rules.ripper import RIPPERClassifier

pytestmark = pytest.mark.oracle

N_SEEDS = 150
JRIP = {"grow_fraction": 2 / 3}  # its three parts, one of them to prune on

DRIVER = """
import java.io.FileReader;
import weka.classifiers.rules.JRip;
import weka.core.Instances;

public class Driver {
  public static void main(String[] arguments) throws Exception {
    for (int a = 1; a < arguments.length; a++) {
      Instances training = new Instances(new FileReader(arguments[a] + "-training.arff"));
      Instances rest = new Instances(new FileReader(arguments[a] + "-rest.arff"));
      training.setClassIndex(training.numAttributes() - 1);
      rest.setClassIndex(rest.numAttributes() - 1);
      for (int seed = 1; seed <= Integer.parseInt(arguments[0]); seed++) {
        JRip model = new JRip();
        model.setSeed(seed);
        model.buildClassifier(training);
        double right = 0;
        for (int i = 0; i < rest.numInstances(); i++) {
          if (model.classifyInstance(rest.instance(i)) == rest.instance(i).classValue()) right++;
        }
        System.out.println("fit " + right / rest.numInstances() + " " + model.getRuleset().size());
      }
    }
  }
}
"""


def weka_jar():
    """Where weka.jar is; skips where it is not."""
    if shutil.which("javac") is None:
        pytest.skip("no Java compiler (JDK) is installed")
    named = os.environ.get("WEKA_JAR")
    if named:
        return named
    package = importlib.util.find_spec("weka")
    if package is not None and package.submodule_search_locations:
        jar = Path(next(iter(package.submodule_search_locations))) / "lib" / "weka.jar"
        if jar.is_file():
            return str(jar)
    pytest.skip("no weka.jar: set WEKA_JAR or install python-weka-wrapper3")


def _bunch(load):
    bunch = load()
    return bunch.data, bunch.target, np.zeros(bunch.data.shape[1], dtype=bool)


def _nominal():
    """Nine nominal columns; the class is a disjunction with 5 % of noise."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (900, 9)).astype(float)
    y = ((X[:, 0] == 1) & (X[:, 1] == 2)) | ((X[:, 2] == 0) & (X[:, 3] == 3)) | (X[:, 4] == X[:, 5])
    return X, np.where(rng.random(900) < 0.05, ~y, y).astype(int), np.ones(9, dtype=bool)


def _mixed():
    """Two numeric and two nominal columns, four classes of different sizes, with intervals."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.random((1200, 2)).round(2), rng.integers(0, 3, (1200, 2))])
    y = np.where(np.abs(X[:, 0] - 0.5) < 0.2, 1, np.where(X[:, 1] > 0.8, 2, np.where(X[:, 2] == 1, 3, 0)))
    return X, np.where(rng.random(1200) < 0.1, rng.integers(0, 4, 1200), y), np.array([False, False, True, True])


def _noisy():
    """Overlapping classes, where RIPPER keeps few rules."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(500, 5))
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=500) > 0.6).astype(int), np.zeros(5, dtype=bool)


def _overlapping():
    """Five classes, three of them hard to tell apart: most rows of one are left when the next is learnt."""
    rng = np.random.default_rng(7)
    y = rng.permutation(np.repeat(np.arange(5), [150, 180, 210, 240, 270]))
    centres = rng.normal(size=(5, 6))
    centres[1:4] = centres[1] + rng.normal(size=(3, 6)) * 0.4
    return np.round((centres[y] + rng.normal(size=(len(y), 6))) * 6), y, np.zeros(6, dtype=bool)


CASES = {
    "iris": lambda: _bunch(load_iris),
    "wine": lambda: _bunch(load_wine),
    "breast_cancer": lambda: _bunch(load_breast_cancer),
    "nominal": _nominal,
    "mixed": _mixed,
    "noisy": _noisy,
    "overlapping": _overlapping,
    "balanced": lambda: _bunch(load_iris),
}


def training_rows(name, y):
    """Two of three rows by chance; of the balanced case, as many of every class."""
    if name != "balanced":
        return np.random.default_rng(1).random(len(y)) < 2 / 3
    order = np.random.default_rng(1).permutation(len(y))
    place = np.empty(len(y), dtype=int)
    for label in np.unique(y):
        place[order[y[order] == label]] = np.arange((y == label).sum())
    return place < 2 / 3 * np.bincount(y).min()


def write_arff(path, X, y, nominal, all_X, n_classes):
    """One data set in Weka's format; categories in the header are those of the whole data set."""
    lines = ["@relation data"]
    for f in range(X.shape[1]):
        kind = "{" + ",".join(f"{v:.0f}" for v in np.unique(all_X[:, f])) + "}" if nominal[f] else "numeric"
        lines.append(f"@attribute x{f} {kind}")
    lines += ["@attribute y {" + ",".join(f"c{c}" for c in range(n_classes)) + "}", "@data"]
    for row, label in zip(X, y):
        cells = [f"{v:.0f}" if is_nominal else repr(float(v)) for v, is_nominal in zip(row, nominal)]
        lines.append(",".join([*cells, f"c{label}"]))
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By case: (accuracy, number of rules) per seed of JRip and of ours, each of shape (N_SEEDS, 2)."""
    jar, folder = weka_jar(), tmp_path_factory.mktemp("weka")
    parts = {}
    for name, load in CASES.items():
        X, y, nominal = load()
        in_training = training_rows(name, y)
        parts[name] = X, y, nominal, in_training
        for half, rows in (("training", in_training), ("rest", ~in_training)):
            write_arff(folder / f"{name}-{half}.arff", X[rows], y[rows], nominal, X, y.max() + 1)
    (folder / "Driver.java").write_text(DRIVER)
    done = subprocess.run(
        ["java", "-cp", jar, "Driver.java", str(N_SEEDS), *CASES], cwd=folder, capture_output=True, text=True, check=True
    )
    fits = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("fit ")]
    theirs = dict(zip(CASES, np.array(fits, dtype=float).reshape(len(CASES), N_SEEDS, 2)))
    ours = {}
    for name, (X, y, nominal, in_training) in parts.items():
        ours[name] = np.empty((N_SEEDS, 2))
        for seed in range(N_SEEDS):
            model = RIPPERClassifier(**JRIP, categorical_features=nominal, random_state=seed).fit(X[in_training], y[in_training])
            ours[name][seed] = model.score(X[~in_training], y[~in_training]), len(model.rules_)
    return theirs, ours


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("measure", ["accuracy", "number of rules"])
def test_distributions_over_seeds_agree_with_jrip(results, name, measure):
    column = ["accuracy", "number of rules"].index(measure)
    theirs, ours = (part[name][:, column] for part in results)
    error = np.sqrt((theirs.var() + ours.var()) / N_SEEDS)
    assert abs(ours.mean() - theirs.mean()) <= 3 * error
    assert ks_2samp(ours, theirs).pvalue > 0.001
