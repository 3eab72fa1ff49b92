# Everything a developer does, by name.  `make help` lists it.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
N ?= 2

.DEFAULT_GOAL := help

.PHONY: help
help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{ printf "  %-12s %s\n", $$1, $$2 }'

$(BIN)/pullback-ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev,bench,peers]'
	@touch $@

.PHONY: install
install: $(BIN)/pullback-ready  ## make .venv and install the package with its development tools

.PHONY: test
test: install  ## run the tests
	$(BIN)/python -m pytest -q -n $(N)

.PHONY: test-long
test-long: install  ## 15,000 random programs and every seeded fault: above an hour
	$(BIN)/python -m pytest -q tests/fuzz --long -n $(N)

.PHONY: test-native-long
test-native-long: install  ## the native target: the corpus in every layout, 20,000 random programs, 100,000 calls
	$(BIN)/python -m pytest -q tests/native --long -n $(N)

.PHONY: sanitize
sanitize: install  ## the native target with gcc's sanitizers: corpus and random programs
	$(BIN)/python -m tests.native.sanitized

.PHONY: lint
lint: install  ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

.PHONY: check
check: lint test  ## all that must hold before a commit

.PHONY: format
format: install  ## put the code into the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: golden
golden: install  ## write the generated sources in tests/golden anew
	$(BIN)/python -m pytest -q tests/golden --update-golden

.PHONY: docs
docs: install  ## write the generated tables in docs anew
	$(BIN)/python docs/generate.py

.PHONY: examples
examples: install  ## run the examples
	$(BIN)/python examples/digits.py
	$(BIN)/python examples/heat.py

.PHONY: bench
bench: install  ## run the suites beside the peers that are installed (BENCH="micro --size M" for others)
	$(BIN)/python -m pullback bench $(BENCH)

.PHONY: limits
limits: install  ## what the compiler itself costs, against its targets
	$(BIN)/python -m benchmarks

.PHONY: record
record: install  ## run all suites, keep the record, write docs/performance.md anew
	$(BIN)/python benchmarks/record.py

.PHONY: ci
ci:  ## what continuous integration runs, in a fresh virtual environment
	.ci/run

.PHONY: clean
clean:  ## remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
