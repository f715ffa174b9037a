# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help setup demo test lint bench mutate app screenshots figures notebooks docs clean
help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP) ## prepare .venv (done once; instant when repeated)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "evroute needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1). Set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	@echo 'preparing $(VENV): some minutes the first time'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: setup ## plan a route on downtown Denver and watch three methods learn; results in demo/
	$(BIN)/evroute route --network denver --trip A --soc 80 --reserve 10 \
	  --map demo/route.html --geojson demo/route.geojson --gpx demo/route.gpx
	rm -rf demo/run
	$(BIN)/evroute simulate data/experiments/demo.toml --jobs 2 --out demo/run
	$(BIN)/evroute report demo/run
	@echo 'look at demo/route.html and at the report that is named above'

test: setup ## run the tests (a few minutes on 2 cores; no internet)
	$(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: setup ## ruff and mypy
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup ## the benchmarks, each two ways in one run
	$(BIN)/python -m pytest tests/benchmarks --benchmark-enable --benchmark-only -s -p no:xdist

mutate: setup ## change lines of evroute/ and run the nearest tests: BASE=commit, or PACKAGES="model policy" N=150 SEED=1
	$(BIN)/python tests/mutation/mutate.py --jobs $(JOBS) $(if $(BASE),--base $(BASE)) \
	  $(if $(PACKAGES),--packages $(PACKAGES)) $(if $(N),--n $(N)) $(if $(SEED),--seed $(SEED))

FIGURES := figure2 figure3 figure45 figure69 svgp priors hyperparameters
JOBS ?= 2

figures: setup ## the paper's figures and ours at full length, in runs/ (hours); JOBS=4 for more processes
	@for name in $(FIGURES); do \
	  $(BIN)/evroute simulate data/experiments/$$name.toml --jobs $(JOBS) --out runs/$$name && \
	  $(BIN)/evroute report runs/$$name || exit 1; \
	done

screenshots: setup ## pictures of every page of the dashboard, in screenshots/ (needs Chromium)
	$(BIN)/python tests/app/screenshots.py

notebooks: setup ## the notebooks at full length, as pages in notebooks/executed/ (some minutes)
	cd notebooks && ../$(BIN)/jupyter nbconvert --to html --execute --output-dir executed *.ipynb

docs: setup ## the documentation as pages that need no internet, in site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

app: setup ## open the dashboard
	$(BIN)/evroute app

clean: ## remove what the targets made
	rm -rf $(VENV) demo screenshots site notebooks/executed .pytest_cache .mypy_cache .ruff_cache .benchmarks
