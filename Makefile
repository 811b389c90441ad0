# Everything runs in a virtual environment that these commands make themselves.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-slow study study-quick docs lint format bench bench-tables bench-jobs bench-decisions bench-recipes bench-report bench-counts bench-accuracy bench-draws bench-prediction bench-scale clean

help: ## what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev,demo]"
	@touch $@

demo: $(VENV)/.installed ## everything on a real survey, in the folder mvrbm-demo
	$(BIN)/mvrbm demo -o mvrbm-demo

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	@touch $@

docs: $(VENV)/.docs ## the guide, as a site in the folder site: open site/index.html
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env docs site

test: $(VENV)/.installed ## the tests, in under ten minutes
	$(BIN)/python -m pytest -m "not slow"

test-slow: $(VENV)/.installed ## the tests that take longer
	$(BIN)/python -m pytest -m slow

study: $(VENV)/.installed ## the paper's case study, into the folder study (long; stopped, it goes on where it was)
	$(BIN)/mvrbm study

study-quick: $(VENV)/.installed ## a small version of it, into study-quick
	$(BIN)/mvrbm study --quick -o study-quick

lint: $(VENV)/.installed ## style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed ## put the format right
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed ## speed and memory, each beside the matrix products alone
	$(BIN)/python -m benchmarks.speed

bench-tables: $(VENV)/.installed ## reading a million rows from tables of each library
	$(BIN)/python -m benchmarks.tables

bench-jobs: $(VENV)/.installed ## vectors and completion, by row
	$(BIN)/python -m benchmarks.jobs

bench-decisions: $(VENV)/.installed ## the measurements behind the engine's decisions
	$(BIN)/python -m benchmarks.decisions

bench-recipes: $(VENV)/.installed ## the baseline, the paper's recipe and the default on a made survey of six types
	$(BIN)/python -m benchmarks.recipes

bench-report: $(VENV)/.installed ## the map of people and the report, on 38,263 people
	$(BIN)/python -m benchmarks.report

bench-counts: $(VENV)/.installed ## counts taken as counts, as numbers and as levels of a scale
	$(BIN)/python -m benchmarks.counts

bench-accuracy: $(VENV)/.installed ## hidden answers found by us and by others, on the surveys in MVRBM_SURVEYS
	$(BIN)/python -m benchmarks.accuracy
	$(BIN)/python -m benchmarks.accuracy --ablation

bench-draws: $(VENV)/.installed ## whether completed draws are honest
	$(BIN)/python -m benchmarks.draws

bench-prediction: $(VENV)/.installed ## one question from all others, by us and by others
	$(BIN)/python -m benchmarks.prediction

bench-scale: $(VENV)/.installed ## files larger than memory, rounds on a Dask cluster
	$(BIN)/python -m benchmarks.scale

clean: ## remove what the commands made
	rm -rf $(VENV) mvrbm-demo site dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
