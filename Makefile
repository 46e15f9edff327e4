# Everything a person or CI runs. `make` alone lists it.
PYTHON ?= python3
BIN := .venv/bin
# What is installed: everything, or just what one job needs (EXTRAS=report has no torch).
EXTRAS ?= test
INSTALLED := .venv/installed$(if $(filter-out test,$(EXTRAS)),-$(EXTRAS))

# Of a comparison: any names of commits. "last" is the commit that this machine measured before.
BASE ?= last
HEAD ?= HEAD
PROFILE ?= quick
BUDGET ?= 10m
BENCH_BUDGET ?= 6m
FAIL_ON ?= undecided
COMPARISON ?= out/comparison.json
RESULTS ?= .asv/results
COMPARISONS ?= .asv/comparisons
MACHINE ?=
REPOSITORY_URL ?=
REPORT_URL ?=

# Without a GPU the constant to judge is the one that the server uses there.
CPU_OVERHEAD = $(BIN)/python -c 'from decider.serve.settings import CPU_MERGE_OVERHEAD_TOKENS as n; print(n)'

# Pages link commits to their repository where its address is given.
LINKS = $(if $(REPOSITORY_URL),--repository-url '$(REPOSITORY_URL)')

.DEFAULT_GOAL := help
.PHONY: help setup bench bench-new compare self-test report comment site picture gpu-check browser test lint format clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(INSTALLED) ## make .venv and install the pinned packages

$(INSTALLED): pyproject.toml constraints.txt
	@echo "decider: making .venv and installing the pinned packages (about 1.6 GB, once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "decider: Python 3.11 or newer is needed; PYTHON=... names another one"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[$(EXTRAS)]'
	@touch $@

bench: setup ## measure the last commit, compare it with the one before; BENCH=regex for a part
	@git diff --quiet HEAD -- || echo "decider: asv measures commits; what is not committed is not measured"
	@mkdir -p out && rm -f out/grid.json out/comparison.json
	@$(BIN)/asv machine --yes >/dev/null
	@status=0; \
	DECIDER_BENCH_GRID=$(CURDIR)/out/grid.json $(BIN)/asv run --record-samples --show-stderr \
	  $(if $(BENCH),--bench '$(BENCH)') 'HEAD^!' || status=$$?; \
	if [ -f out/grid.json ]; then echo; $(BIN)/decider calibrate out/grid.json --plots out \
	  $(if $(wildcard /dev/nvidia0),,--current $$($(CPU_OVERHEAD))) \
	  || echo "decider: no constant was derived from this measurement"; fi; \
	echo; rm -f out/comparison.json.partial; \
	$(BIN)/decider compare $(BASE) HEAD --budget $(BENCH_BUDGET) --fail-on never \
	  --out out/comparison.json || echo "decider: nothing was compared; the report is of HEAD alone"; \
	$(BIN)/decider report --commit "$$(git rev-parse HEAD)" --out out/report.html \
	  $$([ -f out/grid.json ] && echo --grid out/grid.json) \
	  $$([ -f out/comparison.json ] && echo --comparison out/comparison.json) || status=$$?; \
	echo; \
	echo "results: .asv/results    measured grid: out/grid.json    comparison: out/comparison.json"; \
	echo "report:  out/report.html"; \
	exit $$status

bench-new: setup ## measure every commit since the last one measured on MACHINE, for CI
	$(BIN)/asv machine --yes $(if $(MACHINE),--machine '$(MACHINE)') >/dev/null
	$(BIN)/asv run --record-samples --show-stderr $(if $(MACHINE),--machine '$(MACHINE)') \
	  $(if $(wildcard .asv/results/$(or $(MACHINE),*)/*-*.json),NEW,'HEAD^!')

compare: setup ## a verdict on HEAD against BASE: PROFILE, BUDGET, FAIL_ON, OUT
	$(BIN)/decider compare '$(BASE)' '$(HEAD)' --profile '$(PROFILE)' --budget '$(BUDGET)' \
	  --fail-on '$(FAIL_ON)' $(if $(OUT),--out '$(OUT)')

self-test: setup ## what this machine's verdicts are worth; hours on two cores
	$(BIN)/decider compare --self-test --profile '$(PROFILE)' --budget '$(BUDGET)'

report: setup ## the page of COMPARISON, written to OUT
	$(BIN)/decider report --comparison '$(COMPARISON)' --out '$(or $(OUT),out/report.html)' \
	  $(LINKS)

comment: setup ## the comment for a pull request on COMPARISON, with a link to REPORT_URL
	$(BIN)/decider report --comparison '$(COMPARISON)' --out out/report.html \
	  --markdown '$(or $(OUT),out/comment.md)' \
	  $(if $(REPORT_URL),--report-url '$(REPORT_URL)') $(LINKS)

site: setup ## the history site of RESULTS and COMPARISONS, written to OUT
	$(BIN)/decider site --results '$(RESULTS)' \
	  $(if $(wildcard $(COMPARISONS)),--comparisons '$(COMPARISONS)') \
	  --out '$(or $(OUT),out/site)' $(LINKS)

picture: browser ## docs/report.png, from the page that make bench left
	$$(command -v chromium || command -v google-chrome) --headless --no-sandbox --hide-scrollbars \
	  --window-size=1200,1250 --screenshot=docs/report.png 'file://$(CURDIR)/out/report.html'

gpu-check: ## on a GPU machine: GPU tests, capture of the 2b grid, its forwards, a summary
	$(or $(wildcard .venv/bin/python),$(PYTHON)) -m benchmarks.gpu_check

browser: ## Chromium and its driver, for the tests of the report
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null \
	  || command -v google-chrome >/dev/null && command -v chromedriver >/dev/null \
	  || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	       && echo "decider: installing the packages chromium and chromium-driver" \
	       && apt-get update -qq && apt-get install -qqy chromium chromium-driver >/dev/null; } \
	  || echo "decider: no Chromium with a driver here; the tests that need them are skipped"

test: setup browser ## run the tests
	$(BIN)/python -m pytest

lint: setup ## check style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove what the targets made
	rm -rf .venv .asv out build *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
