"""C4.5 and PART against Weka 3.9: J48 and PART, on the classification data of the study and on data full of ties.

Needs a Java development kit (11 or later) and weka.jar: set WEKA_JAR to it, or install python-weka-wrapper3, which carries it.
"""

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from conftest import shared_folder
from foldshift.datasets import load_dataset
from foldshift.learners.trees.c45 import C45Classifier
from foldshift.learners.trees.part import PARTClassifier

pytestmark = pytest.mark.oracle

N_FOLDS = 5
LARGE = 3000  # samples; above, only one fold is compared
ROUNDING = 1e-9  # scores are shares of whole numbers; other leaves give scores that differ by far more

# Reads one job per line of the file named first (class name|options|training file|test file|result file).
DRIVER = """
import java.io.*;
import weka.classifiers.*;
import weka.core.*;
import weka.core.converters.ConverterUtils.DataSource;

public class Driver {
  public static void main(String[] args) throws Exception {
    BufferedReader jobs = new BufferedReader(new FileReader(args[0]));
    for (String line = jobs.readLine(); line != null; line = jobs.readLine()) {
      String[] job = line.split("\\\\|");
      Instances training = new DataSource(job[2]).getDataSet();
      Instances test = new DataSource(job[3]).getDataSet();
      training.setClassIndex(training.numAttributes() - 1);
      test.setClassIndex(test.numAttributes() - 1);
      Classifier model = AbstractClassifier.forName(job[0], Utils.splitOptions(job[1]));
      model.buildClassifier(training);
      PrintWriter out = new PrintWriter(job[4]);
      for (int i = 0; i < test.numInstances(); i++) {
        double[] scores = model.distributionForInstance(test.instance(i));
        StringBuilder row = new StringBuilder();
        for (double score : scores) row.append(score).append(' ');
        out.println(row);
      }
      out.close();
    }
  }
}
"""


def weka_jar():
    """Path of weka.jar; skips where it, or the Java development kit, is not to be found."""
    if shutil.which("javac") is None:
        pytest.skip("no Java development kit (javac) is installed")
    found = importlib.util.find_spec("weka")
    folders = found.submodule_search_locations if found else []
    jars = [Path(folder) / "lib" / "weka.jar" for folder in folders]
    jars += [Path(os.environ["WEKA_JAR"])] if os.environ.get("WEKA_JAR") else []
    jars = [jar for jar in jars if jar.is_file()]
    if not jars:
        pytest.skip("weka.jar is not here: set WEKA_JAR to it, or install python-weka-wrapper3")
    return jars[-1]


def write_arff(file, X, y, is_nominal, n_values, n_classes):
    lines = ["@relation data"]
    for f in range(X.shape[1]):
        kind = "{" + ",".join(map(str, range(n_values[f]))) + "}" if is_nominal[f] else "numeric"
        lines.append(f"@attribute x{f} {kind}")
    lines += ["@attribute y {" + ",".join(map(str, range(n_classes))) + "}", "@data"]
    for row, label in zip(X, y):
        values = [str(int(v)) if nominal else repr(float(v)) for v, nominal in zip(row, is_nominal)]
        lines.append(",".join([*values, str(label)]))
    file.write_text("\n".join(lines) + "\n")


def run_weka(jar, jobs, folder):
    """Class scores of the test rows for every job (class name, options, X, y, is_nominal, in_training)."""
    table = []
    for number, (name, options, X, y, is_nominal, in_training) in enumerate(jobs):
        n_values = [int(v) + 1 for v in X.max(axis=0)]
        files = [folder / f"{number}.{part}" for part in ("training.arff", "test.arff", "scores")]
        for file, rows in zip(files, (in_training, ~in_training)):
            write_arff(file, X[rows], y[rows], is_nominal, n_values, int(y.max()) + 1)
        table.append("|".join([name, options, *map(str, files)]))
    (folder / "jobs.txt").write_text("\n".join(table) + "\n")
    (folder / "Driver.java").write_text(DRIVER)
    command = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-cp", str(jar), str(folder / "Driver.java"), str(folder / "jobs.txt")]
    subprocess.run(command, check=True, capture_output=True)
    return [np.loadtxt(folder / f"{number}.scores", ndmin=2) for number in range(len(jobs))]


def study_parts(n_folds):
    """(name, X, y, is_nominal, in_training) for some of the folds of the 27 data sets."""
    names = sorted(file.stem for file in (shared_folder() / "data" / "keel" / "classification").glob("*.dat"))
    if not names:
        pytest.skip("the reference data are not here: set FOLDSHIFT_SHARED to their folder")
    assert len(names) == 27
    for name in names:
        data = load_dataset(name, mirror=str(shared_folder() / "data"), scaling="none")
        is_nominal = np.array([kind == "nominal" for kind in data.kinds])
        fold = deal(data.y, np.random.default_rng(0))
        for test in range(1 if len(data.y) > LARGE else n_folds):
            yield f"{name}/{test}", data.X, data.y, is_nominal, fold != test


def deal(y, rng):
    """Stratified folds: shuffle within class and deal in turn."""
    fold = np.empty(len(y), dtype=np.int64)
    rows = np.concatenate([rng.permutation(np.flatnonzero(y == k)) for k in np.unique(y)])
    fold[rows] = np.arange(len(y)) % N_FOLDS
    return fold


def tied_parts():
    """Grids, many categories, repeated columns and rows, two to five classes.

    Enough rows that no column is many-valued: there, Weka counts the categories declared and we those that occur in training.
    """
    rng = np.random.default_rng(1)
    for number in range(150):
        n, n_classes = rng.integers(60, 400), rng.integers(2, 6)
        X = np.column_stack([rng.integers(0, levels, n) for levels in rng.integers(2, 12, 5)]).astype(float)
        X = X[:, rng.integers(0, 5, 6)]
        is_nominal = rng.random(6) < rng.choice([0.0, 0.5, 1.0])
        X[:, ~is_nominal] /= 4
        X[n // 2 :] = X[rng.integers(0, n // 2, n - n // 2)]
        score = X[:, 0] + (X[:, 3] > np.median(X[:, 3])) + rng.standard_normal(n) * rng.choice([0.3, 1.0])
        y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
        in_training = deal(y, rng) != 0
        yield f"tied {number}", X, y, is_nominal, in_training


def differing(model, weka_class, options, parts, folder):
    """Names of the parts with another class for some test row, and of those with another score."""
    jar = weka_jar()
    parts = list(parts)
    results = run_weka(jar, [(weka_class, options, *part[1:]) for part in parts], folder)
    classes_differ, scores_differ = [], []
    for (name, X, y, is_nominal, in_training), theirs in zip(parts, results):
        model.set_params(categorical_features=is_nominal)
        fitted = model.fit(X[in_training], y[in_training])
        ours = fitted.predict_proba(X[~in_training])
        if (ours.argmax(axis=1) != theirs.argmax(axis=1)).any():
            classes_differ.append(name)
        if abs(ours - theirs).max() > ROUNDING:
            scores_differ.append(name)
    return classes_differ, scores_differ


J48, PART = "weka.classifiers.trees.J48", "weka.classifiers.rules.PART"
# Two folds with the default settings, one with the others.
SETTINGS = [
    (2, "", {}),
    (1, "-U -O -A", {"pruned": False, "collapse": False, "laplace": True}),
    (1, "-S -J -C 0.1 -M 5", {"subtree_raising": False, "mdl_correction": False, "confidence": 0.1, "min_samples": 5}),
    (1, "-O -C 0.4 -M 1", {"collapse": False, "confidence": 0.4, "min_samples": 1}),
]
PART_SETTINGS = [(2, "", {}), (1, "-C 0.1 -M 5", {"confidence": 0.1, "min_samples": 5})]


@pytest.mark.slow
@pytest.mark.parametrize(("n_folds", "options", "parameters"), SETTINGS, ids=["default", "unpruned", "few", "many"])
def test_c45_scores_as_j48_does_on_the_data_of_the_study(n_folds, options, parameters, tmp_path):
    assert differing(C45Classifier(**parameters), J48, options, study_parts(n_folds), tmp_path) == ([], [])


@pytest.mark.parametrize(("options", "parameters"), [s[1:] for s in SETTINGS], ids=["default", "unpruned", "few", "many"])
def test_c45_scores_as_j48_does_on_data_full_of_ties(options, parameters, tmp_path):
    assert differing(C45Classifier(**parameters), J48, options, tied_parts(), tmp_path) == ([], [])


@pytest.mark.slow
@pytest.mark.parametrize(("n_folds", "options", "parameters"), PART_SETTINGS, ids=["default", "few"])
def test_part_scores_as_wekas_part_does_on_the_data_of_the_study(n_folds, options, parameters, tmp_path):
    assert differing(PARTClassifier(**parameters), PART, options, study_parts(n_folds), tmp_path) == ([], [])


@pytest.mark.parametrize(("options", "parameters"), [s[1:] for s in PART_SETTINGS], ids=["default", "few"])
def test_part_scores_as_wekas_part_does_on_data_full_of_ties(options, parameters, tmp_path):
    assert differing(PARTClassifier(**parameters), PART, options, tied_parts(), tmp_path) == ([], [])
