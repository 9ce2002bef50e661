# Everything a new machine needs besides Python 3.11+ and make is installed by these targets into .venv.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

# Byte code is kept whatever the shell says: without it each process compiles the tests anew, ten seconds of each worker.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install browser demo docs quick core test test-costly test-all mutants wheel chaos bench lint clean

help:
	@echo "make browser   Chromium by the system's package manager, for the tests of pages, which are skipped without one"
	@echo "make demo      set up, then fine-tune a tiny encoder on the synthetic suite and print its score"
	@echo "make quick ROOM=metrics  linter and quick tests of one folder below blurb/ (half a minute)"
	@echo "make core      the core alone: a copy without blurb/extensions installs, passes its tests and does its job"
	@echo "make test      set up, then linters, type checks and the tests of parts (ten minutes on two cores)"
	@echo "make test-costly  the tests that start processes or train, which CI runs after these (half an hour)"
	@echo "make test-all  everything, with the slow tests that CI runs every night"
	@echo "make mutants   thirty faults made by hand, each of which a test must notice (three minutes)"
	@echo "make wheel     build the wheel and try README and the guides with it, in a fresh environment and an empty folder"
	@echo "make chaos     kill commands hundreds of times, fill disks, damage files (docs/reliability.md; an hour or two)"
	@echo "make docs      set up, then write the documentation as a site to build/docs"
	@echo "make bench MODEL=FOLDER DATA=FOLDER  measure what docs/performance.md says, and write it (twenty minutes)"
	@echo "make clean     remove the environment and caches"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,browser]"
	touch $@

# Those of `benchmarks/page.py: BROWSERS`.
browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome || \
		{ apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends chromium; }

# A worker a core; each loads torch, so not too many.
PARALLEL = -n auto --maxprocesses 8 --dist worksteal

demo: $(STAMP)
	$(BIN)/blurb run scratch:tiny --suite demo --output demo/runs

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What one runs between two edits: types and everything else are for `make test`.
quick: $(STAMP)
	@test -d "tests/$(or $(ROOM),-)" || { echo "ROOM= one of: $(notdir $(patsubst %/,%,$(filter-out %__/,$(wildcard tests/*/))))"; exit 2; }
	$(BIN)/ruff check --quiet $(wildcard blurb/$(ROOM)) tests/$(ROOM)
	$(BIN)/python -m pytest $(PARALLEL) -q --durations=3 -m "not slow and not costly" tests/$(ROOM)

mutants: $(STAMP)
	$(BIN)/python -m benchmarks.mutants

# The tests of the core run in a copy without the extensions, all others here: none runs twice.
test: core
	$(BIN)/python -m pytest $(PARALLEL) --durations=15 -m "extensions and not slow and not costly"

core: lint
	VENV=$(VENV) .ci/core $(PARALLEL)

test-costly: $(STAMP)
	$(BIN)/python -m pytest $(PARALLEL) --durations=15 -m "costly and not slow"

test-all: lint
	$(BIN)/python -m pytest $(PARALLEL)

wheel:
	PYTHON=$(PYTHON) .ci/wheel

# KILLS are shared out among the ways to kill; another SEED disturbs at other places.
KILLS ?= 500
SEED ?= 0
chaos: $(STAMP)
	rm -f build/chaos.jsonl; mkdir -p build
	BLURB_CHAOS=$(KILLS) BLURB_CHAOS_SEED=$(SEED) BLURB_CHAOS_REPORT=$(CURDIR)/build/chaos.jsonl \
		$(BIN)/python -m pytest -n 0 tests/faults
	cat build/chaos.jsonl

# Warnings, such as a link that leads nowhere, are errors; all of them are shown.
docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet -b html docs build/docs
	@echo "build/docs/index.html"

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[plots]"
	$(BIN)/python -m benchmarks.bench --model $(MODEL) --data $(DATA)

clean:
	rm -rf $(VENV) demo build/docs .pytest_cache .mypy_cache .ruff_cache .hypothesis
