"""Write config/README.md from the schemas: every key with type, default and description."""

import sys
from pathlib import Path

import yaml

from foldshift.engine.config.schema import compose_schema
from foldshift.engine.study.find import find_studies, main_study

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Configuration

Made from `workflow/schemas` and from every study's `study.yaml` by `docs/write_config_readme.py`; a test fails when they differ.

`config.yaml` is the default: embedded data, minutes (`scale: laptop`). `paper.yaml` is the papers' scale (`scale: paper`). The
settings of a study at every scale stand in its folder, `src/foldshift/studies/<id>/study.yaml`. A configuration of your own
stands over the defaults: it says what differs and nothing else. The least of all, for a file `mine.csv` beside it:

```yaml
# my.yaml
extra_datasets:
  mine: { task: regression, target: price, sources: "file:mine.csv" }
```

    snakemake STUDY_ID --cores 2 --configfile my.yaml --config datasets=mine

One with settings of a study:

```yaml
# my.yaml: one study, with the settings of the laptop but for two
studies:
  STUDY_ID: { datasets: [mine, diabetes], n_seeds: 100 }
extra_datasets:
  mine: { task: regression, target: price, sources: "file:data/mine.csv" }
```

Any key can be set on the command line, after the targets:

    snakemake STUDY_ID --cores 2 --configfile config/paper.yaml --config mirror=FOLDER n_seeds=20 datasets=abalone,yacht

A list of the command line goes to the studies that it fits. A value that fits none of those that are to be made is refused, and
a line tells which of them keeps a list of its own, and why.

A mistake is found before anything is planned, and the message names the key, the value received and what is allowed; of a file
that is no YAML, or says a key twice, it names the file and the line.

"""
TAIL = """
## Your own data

By configuration alone:

```yaml
extra_datasets:
  mine: { task: regression, target: price, sources: "file:data/mine.csv" }
```

or by one line in `datasets.tsv`. Then name it: `--config datasets=mine,yacht`. Rows with missing values are dropped and
counted; text columns become nominal inputs. Of a file of your own the target must exist by that name; its encoding, separator
and decimal comma are found; row numbers, dates and columns with a label of its own for nearly every row are left out of the
inputs. `NULL`, `N/A` and `#N/A` are missing values, among numbers `none`, `-`, `--` and `.` as well. What was assumed is said
when the file is fetched, and stands in Table 1.

A source is `scheme:address?option=value&option=value`, without blanks (write a blank as `%20`); several, separated by
blanks, are tried in order:

| scheme | what it looks up |
| --- | --- |
| `file:PATH` | a local file: CSV, TSV, blank-separated, ARFF, KEEL `.dat`, Excel, Parquet; or packed: zip, gz, bz2, xz |
| `mirror:PATH` | a file below the folder or URL `mirror` of the configuration |
| `keel:regression/NAME`, `keel:classification/NAME` | a zip of the KEEL repository |
| `uci:ID/SLUG?member=FILE` | a zip of the UCI repository |
| `openml:ID` | a data set of OpenML, through openml-python |
| `sklearn:LOADER` | a data set that comes with scikit-learn |
| `generated:NAME` | a data set that a rule determines |
| `url:https://...` | any file or zip by address |

| option | meaning |
| --- | --- |
| `format` | `keel`, `csv`, `tsv`, `space`, `arff`, `excel`, `parquet`; by default from the file's ending |
| `sep`, `decimal`, `header=yes` or `no`, `skip=N` | how text tables are written |
| `member` | file inside a zip, by its name; several, separated by commas, are joined |
| `target` | column name, or position from 1, or from the end (-1) |
| `drop` | columns to leave out, by name or position |
| `map=column:text=number,...` | recode labels |
| `round=column:digits` | round a column |
| `groups=column` | which rows belong together, no input; CB-TSCV, CB-SCV and CB-CV keep each group in one fold |
| `keep` | columns of your own file that are inputs although they look like none; dates become days since 1970 |
| `ranges=declared` | scale inputs by the ranges that a KEEL file declares, not by those of its rows without missing values |
| `missing` | further signs of a missing value (besides blank, `?`, `NA`, `nan`, `<null>`) |
| `nominal` | columns whose numbers are labels |

## Your own learner

One entry in `learners.yaml`: a name, the import path of any scikit-learn estimator, its parameters.

```yaml
Ridge:
  import: sklearn.linear_model.Ridge
  params: { alpha: 0.1 }
  tasks: [regression]
```

Keys: `import`, `params`, `tasks`; `nominal: codes`, `one_hot` or `native` (how it sees nominal inputs; native: it takes
`categorical_features`); `title`.
The import path is the only place, with `own_partitioners`, where configuration names code: use files you trust.
Snakemake itself also runs Python in a configuration file that says `__use_yte__: true`.

## Your own partitioner

```yaml
own_partitioners:
  Halves: { import: my_cuts.halves }
```

A function `halves(X, y, n_folds, rngs)` that returns the fold of every sample, an array of shape (len(rngs), len(y)). Put
`my_cuts.py` in the folder you run in. Its name must be one that no partitioner of foldshift's has. What it raises is told in a
line, with the place in the file.
"""


def describe(schema, root, prefix=""):
    """Rows of the table of one level of a schema."""
    rows = []
    for key, part in schema.get("properties", {}).items():
        target = root["$defs"][part["$ref"].rsplit("/", 1)[1]] if "$ref" in part else part
        kind = " or ".join(map(str, target["enum"])) if "enum" in target else target.get("type", "")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        limits = [f"at least {target['minimum']:,}"] if "minimum" in target else []
        limits += [f"at most {target['maximum']:,}"] if "maximum" in target else []
        default = f"`{part['default']}`" if "default" in part and part["default"] not in ({}, None) else ""
        text = " ".join(part.get("description", target.get("description", "")).split())
        rows.append(f"| `{prefix}{key}` | {', '.join([kind, *limits])} | {default} | {text} |")
        rows += describe(target, root, f"{prefix}{key}.")
    return rows


def table(schema):
    """Markdown table of all keys of a schema."""
    return "\n".join(["| key | type | default | meaning |", "| --- | --- | --- | --- |", *describe(schema, schema)])


def readme():
    """Text of config/README.md."""
    config, catalogue = (
        yaml.safe_load((ROOT / f"workflow/schemas/{name}.schema.yaml").read_text(encoding="utf-8"))
        for name in ("config", "catalogue")
    )
    config = compose_schema(config, find_studies())
    columns = f"\n## The catalogue, `datasets.tsv`\n\nOne line for each data set, separated by tabs.\n\n{table(catalogue)}\n"
    head = HEAD.replace("STUDY_ID", main_study("regression").id)
    return f"{head}## Keys\n\n{table(config)}\n{columns}{TAIL}"


if __name__ == "__main__":
    (ROOT / "config/README.md").write_text(readme(), encoding="utf-8")
    sys.stdout.write("wrote config/README.md\n")
