# `make help` lists the targets. Some take WHAT=choice; a target without its choice, or with an unknown one, names them.

PYTHON ?= python3
VENV   := .venv
BIN    := $(CURDIR)/$(VENV)/bin
CORES  ?= $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count())")
READY  := $(VENV)/ready
# Python compiles a module when it is first imported, where it may: all of them take half of the time of setting up.
LATER  := $(if $(PYTHONDONTWRITEBYTECODE),,--no-compile)
SITE_READY := $(VENV)/site-ready

# One thread per process: the jobs are the parallelism.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
export MKL_NUM_THREADS = 1

# The command that WHAT chooses of a target: the variable <target>_<choice>.
choices = $(sort $(patsubst $(1)_%,%,$(filter $(1)_%,$(.VARIABLES))))
choice = $(if $(filter $(WHAT),$(call choices,$(1))),$($(1)_$(WHAT)),$(error make $(1) WHAT=$(WHAT): expected one of $(call choices,$(1))))

# What a run that was stopped says to type.
run paper archive: export FOLDSHIFT_COMMAND = make $@ $(MAKEOVERRIDES)

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1 - /'

.PHONY: setup
setup: $(READY) ## make .venv from the lock file, nothing else

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c "import sys; v = sys.version_info; sys.exit(0 if (3, 11) <= v[:2] else 'foldshift needs Python 3.11 or later; $(PYTHON) is %d.%d. Name another one: make setup PYTHON=python3.12' % v[:2])"
	@$(PYTHON) -c "import ensurepip" || { echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) from requirements.lock (once, a minute or two) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check $(LATER) --require-hashes -r requirements.lock
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

.PHONY: run
run: $(READY) ## the main job with the default configuration: minutes, no data host needed
	@"$(BIN)/python" scripts/start_run.py --cores $(CORES) all
	@"$(BIN)/python" scripts/finish_run.py

# Two files at a time. What is slow: tests/conftest.py lists files, single tests bear the mark.
PYTEST = "$(BIN)/python" -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 30 --durations-min 5

.PHONY: test
test: $(READY) ## does it work here? units, one study from end to end, oracles that are at hand: minutes
	$(PYTEST) -m "not slow"

.PHONY: check
check: $(READY) ## the tests that `make test` leaves out: all studies, the same bytes, kills, a cluster, fuzzing: half an hour
	$(PYTEST) -m "slow and not thorough"

.PHONY: thorough
thorough: $(READY) ## the tests that `make check` leaves out: half an hour; or one longer trial: WHAT=adapters|bytes|calls|crash|fuzz|s3|slurm
	$(if $(WHAT),$(call choice,thorough),$(PYTEST) -m thorough)

# contract tests against skore, optuna and AutoGluon, each in a fresh environment, and the names in the guide on other tools: two minutes
thorough_adapters = "$(BIN)/python" tests/try_other_tools.py && "$(BIN)/python" tests/try_adapters.py
# both main studies, cut small, run in nine ways (cores, blocks, hash seeds, folders): are the bytes the same?
thorough_bytes = "$(BIN)/python" tests/check_bytes.py
# ten kills of a run with its jobs, ten of Snakemake alone, at random moments: what is computed again, and are the bytes the same?
thorough_crash = "$(BIN)/python" tests/crash_runner.py
# a million damaged data files against every parser
thorough_fuzz = "$(BIN)/python" tests/fuzz/fuzz_parsers.py --inputs 1000000 --seed 1 --keep build/fuzz
# fifty thousand calls of public functions against SciPy, scikit-learn and, where it is installed, statsmodels: some minutes
thorough_calls = "$(BIN)/python" tests/fuzz/fuzz_calls.py --calls 50000 --seed 0
# a run with its files in a bucket of a server on this machine, killed and resumed; calls are counted: ten minutes
thorough_s3 = "$(BIN)/python" -m pip install --quiet --disable-pip-version-check -e '.[cloud]' -r tests/s3_requirements.txt && \
	"$(BIN)/python" -m pytest tests/engine/test_bucket.py tests/workflow/test_s3.py && "$(BIN)/python" tests/s3_server.py
# the tests on a cluster of three nodes on this machine, and the whole default configuration there (root, Debian)
thorough_slurm = FOLDSHIFT_SLURM=1 FOLDSHIFT_SLURM_FULL=1 "$(BIN)/python" -m pytest tests/slurm

.PHONY: lint
lint: $(READY) ## ruff, mypy, snakefmt and snakemake --lint
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	"$(BIN)/snakefmt" --check Snakefile workflow
	"$(BIN)/snakemake" --lint

$(SITE_READY): docs/requirements.lock $(READY)
	@"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r docs/requirements.lock
	@touch $(SITE_READY)

.PHONY: docs
docs: $(SITE_READY) ## the site, build/site/index.html: its gallery is run, links within it are followed
	"$(BIN)/python" -m sphinx -W --keep-going -q -b html docs build/site
	"$(BIN)/python" docs/check_links.py build/site

.PHONY: package
package: $(READY) ## wheel and sdist, tried in fresh environments of the Pythons at hand
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check build
	"$(BIN)/python" tests/try_package.py

.PHONY: bench
bench: $(READY) ## speed: ratios within one run, milliseconds per fit, projected core-hours; WHAT=scale: planning; WHAT=overhead: what the workflow costs
	$(if $(WHAT),$(call choice,bench),"$(BIN)/python" benchmarks/bench.py $(if $(MIRROR),--mirror $(MIRROR)))

# time and memory of planning all studies, and one of 280 data sets
bench_scale = "$(BIN)/python" benchmarks/measure_scale.py
# what the workflow costs beside computing, on a slice of each main study, with the real data: MIRROR=folder
overhead = "$(BIN)/python" benchmarks/measure_overhead.py --mirror $(or $(MIRROR),$(error Name the folder of the real data: make bench WHAT=overhead MIRROR=folder)) --cores $(CORES)
bench_overhead = $(overhead) --study saez_2022 --datasets stock && \
	$(overhead) --study moreno_torres_2012 --settings '{"held_out": {"populations": []}}' --datasets wdbc --config n_seeds=50 n_truth=100

.PHONY: validate
validate: $(READY) ## simulations behind constants and claims, an hour or two each: WHAT=advice|bootstrap|corrected-t|coverage|cuts|differences|draws|drift|levels|printed|readings|scores|structures|tails|verdicts
	$(call choice,validate)

# is advice right? coverage, alarms, promises and faults on populations that no rule was made from; MIRROR=folder, SAMPLES=100
validate_advice = "$(BIN)/python" validation/calibrate_advice.py --out build/advice $(if $(MIRROR),--mirror $(MIRROR)) $(if $(SAMPLES),--samples $(SAMPLES))
# intervals of F1 and balanced accuracy beside the bootstrap of rows, coverage and time: minutes
validate_bootstrap = "$(BIN)/python" validation/compare_bootstrap.py
# how often tests on one data set find a difference between equally good learners: half an hour
validate_corrected-t = "$(BIN)/python" validation/simulate_corrected_t.py
# coverage of every interval on six populations, and the promise of recommend_repetitions
validate_coverage = "$(BIN)/python" validation/simulate_coverage.py
# what the checks find in tables with a known structure, and how near the honest cut comes to the score at deployment: ten minutes
validate_structures = "$(BIN)/python" validation/simulate_structures.py
# the shift that the balanced cuts leave on the papers' data sets, with groups and labels, and their speed: half an hour; MIRROR=folder
validate_cuts = "$(BIN)/python" validation/balance_of_cuts.py $(if $(MIRROR),--mirror $(MIRROR))
# the findings of foldshift_2026 in each published draw of its samples, and in all together: a minute; DRAWS="commit commit ..."
validate_draws = "$(BIN)/python" validation/compare_draws.py $(or $(DRAWS),7deca6f e211d5f 030d719 docs/results/foldshift_2026/tables/by_population.csv)
# level and power of fold_drift, DriftReport and the tests of whole tables
validate_drift = "$(BIN)/python" validation/simulate_drift.py
# real levels of the tests over data sets, n = 3 to 15, k = 2 to 6, with and without ties
validate_levels = "$(BIN)/python" validation/simulate_levels.py
# could another split or reading give printed numbers that are not met? ten minutes; MIRROR=folder, or RUN=folder of a run, for Table VII
validate_readings = "$(BIN)/python" tests/try_readings.py $(if $(MIRROR),--mirror $(MIRROR)) $(if $(RUN),--run $(RUN))
# coverage of intervals of scores and of differences on populations that they were not made from: an hour; FIRST=60 samples
validate_scores = "$(BIN)/python" validation/simulate_scores.py $(if $(FIRST),--first $(FIRST))
# intervals of a mean loss under heavy tails, and the caution: three minutes
validate_tails = "$(BIN)/python" validation/simulate_tails.py
# level and power of tests of the difference of two learners: five minutes
validate_differences = "$(BIN)/python" validation/simulate_differences.py --samples 100
# can the printed shares of two papers come from whole numbers of what they count? seconds
validate_printed = "$(BIN)/python" validation/check_printed_scores.py
# the promise of recommend_repetitions by cell, and rounded tables on which a rank test and its interval agree: five minutes
validate_verdicts = "$(BIN)/python" validation/simulate_verdicts.py

.PHONY: paper
paper: $(READY) ## the five papers in full, plan first: a night on two cores; or STUDY=saez_2022; MIRROR=folder takes the data from there
	@"$(BIN)/python" scripts/start_run.py --cores $(CORES) $(if $(STUDY),--configfile config/paper.yaml) $(if $(MIRROR),--config "mirror=$(MIRROR)") -- $(or $(STUDY),paper)

.PHONY: archive
archive: $(READY) ## one file with scores, configuration, provenance, tables and figures of the default run
	@"$(BIN)/python" scripts/start_run.py archive --cores $(CORES)

.PHONY: reproduce
reproduce: $(READY) ## tables and figures again from an archive, compared byte for byte: ARCHIVE=results/archive/foldshift.zip
	@test -n "$(ARCHIVE)" || { echo "Name the archive: make reproduce ARCHIVE=results/archive/foldshift.zip"; exit 1; }
	@"$(BIN)/python" scripts/reproduce.py "$(ARCHIVE)" --cores $(CORES) $(if $(STUDIES_FROM),--studies-from $(STUDIES_FROM))

# Targets of earlier versions that are choices now.
.DEFAULT:
	@echo "No target $@$(strip $(foreach target,thorough bench validate,$(if $(filter $@,$(call choices,$(target))),; it is now make $(target) WHAT=$@))). make help lists the targets."; exit 1
