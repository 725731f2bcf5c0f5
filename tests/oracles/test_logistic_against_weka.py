"""Where KEEL's logistic model stops: KEEL took Weka's optimiser, so that Weka's ``Logistic`` on the same outputs is the oracle.

Needs Java with its compiler (a JDK) and weka.jar: name it in the environment variable WEKA_JAR, or install python-weka-wrapper3,
which carries it.
"""

import subprocess

import numpy as np
import pytest
from test_ripper_against_weka import weka_jar

from foldshift.learners.kernels._logistic import logistic_one_step

pytestmark = pytest.mark.oracle

# Spread of the outputs about -1 and 1: parted cleanly and hardly at all, overlapping, far apart.
SPREADS = {"support vectors alone": 1e-3, "parted": 0.02, "few overlap": 0.3, "many overlap": 1.5}
N_CASES = 60

DRIVER = """
import java.io.*;
import java.util.*;
import weka.classifiers.functions.Logistic;
import weka.core.*;

public class Driver {
  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new FileReader(arguments[0]));
    String line;
    while ((line = in.readLine()) != null) {
      ArrayList<Attribute> columns = new ArrayList<Attribute>();
      columns.add(new Attribute("output"));
      columns.add(new Attribute("class", Arrays.asList("low", "high")));
      Instances data = new Instances("outputs", columns, 100);
      data.setClassIndex(1);
      for (String cell : line.trim().split(" ")) {
        String[] parts = cell.split(":");
        data.add(new DenseInstance(1.0, new double[] {Double.parseDouble(parts[0]), Double.parseDouble(parts[1])}));
      }
      Logistic model = new Logistic();
      model.buildClassifier(data);
      double[][] found = model.coefficients();
      System.out.println("model " + found[0][0] + " " + found[1][0]);
    }
  }
}
"""


def cases(spread, seed):
    """Outputs of a machine and which samples are of the higher class, of 8 to 300 samples and any balance."""
    rng = np.random.default_rng(seed)
    while True:
        high = rng.random(int(rng.integers(8, 300))) < rng.uniform(0.08, 0.92)
        if 2 <= high.sum() <= len(high) - 2:
            yield np.where(high, 1.0, -1.0) + spread * rng.standard_normal(len(high)), high


@pytest.mark.parametrize("name", SPREADS)
def test_thresholds_are_those_of_wekas_logistic_model(name, tmp_path):
    jar = weka_jar()
    some = [case for case, _ in zip(cases(SPREADS[name], list(SPREADS).index(name)), range(N_CASES))]
    lines = [" ".join(f"{output!r}:{int(label)}" for output, label in zip(o.tolist(), high.tolist())) for o, high in some]
    (tmp_path / "outputs").write_text("\n".join(lines) + "\n")
    (tmp_path / "Driver.java").write_text(DRIVER)
    subprocess.run(["javac", "-cp", jar, "Driver.java"], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        ["java", "-cp", f"{jar}:{tmp_path}", "Driver", "outputs"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    theirs = np.array([list(map(float, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("model ")])
    assert theirs.shape == (N_CASES, 2)
    ours = np.array([logistic_one_step(output, high, np.ones(len(high))) for output, high in some])
    assert (np.sign(ours[:, 1]) == -np.sign(theirs[:, 1])).all()  # theirs is the model of the lower class
    apart = np.abs(-ours[:, 0] / ours[:, 1] + theirs[:, 0] / theirs[:, 1])
    # A path of steps may part at a rounding, where it goes on at all; one in sixty may.
    assert (apart > 1e-8).sum() <= 1, np.sort(apart)[-3:]
