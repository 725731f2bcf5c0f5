"""foldshift: what the way of cutting data into folds does to results.

Arrays in, arrays out. The packages below hold the science, the Snakemake workflow beside them moves the files:

- `foldshift.datasets`: read, fetch and prepare data sets
- `foldshift.partition`: partitioners and their scikit-learn splitters
- `foldshift.shift`: measures of data-set shift
- `foldshift.learners`: estimators that no well-kept library has
- `foldshift.evaluation`: folds and a learner in, predictions and scores out
- `foldshift.inference`: tests and convergence
- `foldshift.reporting`: tables and figures
- `foldshift.advice`: one page for one data set, `foldshift.advise`
- `foldshift.studies`: one folder per study, and the words they are written in

Each is there after ``import foldshift`` and is loaded when it is first used.
"""

import lazy_loader

__version__ = "0.2.0"

# Named here, and not read from the stub beside this file: parsing it would take longer than all the rest (a test compares them).
PACKAGES = ("advice", "datasets", "evaluation", "inference", "learners", "partition", "reporting", "shift", "studies")
_found, __dir__, __all__ = lazy_loader.attach(__name__, submodules=PACKAGES, submod_attrs={"advice": ["advise"]})


def __getattr__(name: str) -> object:
    """A package, or a name that is exported; of another package's name the message says where it is."""
    if name in __all__ or name.startswith("_"):
        return _found(name)
    places = (package for package in PACKAGES if name in getattr(_found(package), "__all__", ()))
    place = next(places, None)
    raise AttributeError(f"foldshift has no {name!r}" + (f"; it is foldshift.{place}.{name}" if place else ""), name=name)
