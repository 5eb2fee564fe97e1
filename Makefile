# Each target sets up .venv first if it is not there. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup test lint types docs-generated docs bench ci clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 18

setup: $(READY) ## make .venv with kafkapy, editable, and the tools for development

$(READY): pyproject.toml hatch_build.py $(wildcard kafkapy/kernel/*.pyx kafkapy/kernel/parts/*.pxi)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -e '.[dev]'
	@touch $@

test: $(READY) ## run the tests
	$(BIN)/python -m pytest -q -n auto

lint: $(READY) ## ruff, and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(READY) ## mypy --strict
	$(BIN)/mypy

docs-generated: $(READY) ## write the man pages, completions and the reference anew
	$(BIN)/python man/generate.py
	$(BIN)/python completions/generate.py
	$(BIN)/python docs/generate.py

docs: $(READY) ## make the site of docs/ in site/, and check its links
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

bench: $(READY) ## measure speed and memory
	$(BIN)/python benchmarks/bench.py --markdown docs/benchmarks.md

ci: ## everything, as CI runs it
	.ci/run

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-ci .ci-* build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	rm -f kafkapy/kernel/*.so kafkapy/kernel/*.c
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
