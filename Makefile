# Two commands set everything up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LIGHT := $(VENV)/.with-report
APP := $(VENV)/.with-app
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt

.PHONY: help setup demo test lint bench mutate fuzz same price app screenshots figures pages notebooks docs release-check clean
help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(READY) ## install everything into .venv (done once; instant when repeated)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "evroute needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1). Set PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# one extra; uv is many times faster than pip, but does not read pip's configuration: pip is the fallback
$(VENV)/.with-%: pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing evroute[$*] into $(VENV), once'
	@uv=$$(command -v uv || { $(PIP) --quiet uv && echo $(BIN)/uv; }) && \
	  UV_HTTP_TIMEOUT=20 $$uv pip install --python $(BIN)/python -c constraints.txt -e '.[$*]' || \
	  { echo 'uv did not succeed; installing with pip'; $(PIP) -e '.[$*]'; }
	@touch $@

# with pip, whose configuration may name a source of its own for torch
$(READY): pyproject.toml constraints.txt | $(BIN)/python
	@echo 'installing all extras and the tools of the tests into $(VENV), once: 3.4 GB, some minutes'
	$(PIP) -e '.[dev]'
	@touch $(LIGHT) $(APP) $@

DEMO := demo
DEMO_TRIP := --trip C --soc 8 --reserve 5

demo: $(LIGHT) ## plan a climb in Denver on little charge, watch a learner in congestion; results in demo/
	@echo 'From Walnut Street at 34th Street up to East 17th Avenue at Logan Street, with 8 % of charge and 5 % to keep:'
	@$(BIN)/evroute route --network denver $(DEMO_TRIP) \
	  --map $(DEMO)/route.html --geojson $(DEMO)/route.geojson --gpx $(DEMO)/route.gpx
	@echo 'The same trip 40 times in congestion that the map does not know, in 8 simulated worlds:'
	@rm -rf $(DEMO)/run
	@$(BIN)/evroute simulate data/experiments/demo.toml --jobs 2 --out $(DEMO)/run >$(DEMO)/simulation.txt
	@$(BIN)/evroute report $(DEMO)/run --out $(DEMO)/report.html
	@echo 'Open $(DEMO)/route.html (the plan on a map) and $(DEMO)/report.html (how it learned).'

# modules are compiled once, and not in each of the hundreds of processes that tests start
test: setup ## run the tests (a few minutes on 2 cores; no internet)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 $(PYTEST_ARGS)

lint: setup ## ruff, mypy, the layers of imports, the form of docstrings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/numpydoc lint $$(find evroute -name '*.py')
	$(BIN)/mypy

bench: setup ## the benchmarks, each two ways in one run
	$(BIN)/python -m pytest studies --benchmark-enable --benchmark-only -s -p no:xdist

same: setup ## compare with an older commit: make same BASE=HEAD~1 (an hour; QUICK=1: minutes; ONLY=simulate, TABLE=same.csv)
	@$(BIN)/python studies/same $(or $(BASE),$(error name the commit to compare with: make same BASE=HEAD~1)) \
	  $(if $(QUICK),--quick) $(if $(ONLY),--only $(ONLY)) $(if $(TABLE),--table $(TABLE)) $(if $(IGNORE),--ignore $(IGNORE))

price: setup ## what ten standard changes cost, in files and lines; each in a copy, judged by its tests (CHANGES="index world")
	@$(BIN)/python studies/price $(CHANGES)

mutate: setup ## change lines of evroute/ and run the nearest tests: BASE=commit, or PACKAGES="model policy" N=150 SEED=1
	$(BIN)/python tests/mutation/mutate.py --jobs $(JOBS) $(if $(BASE),--base $(BASE)) \
	  $(if $(PACKAGES),--packages $(PACKAGES)) $(if $(N),--n $(N)) $(if $(SEED),--seed $(SEED))

TIME ?= 600

fuzz: setup ## new inputs at every run, from a seed that is printed: TIME=600 seconds, SEED=number to draw them again
	$(BIN)/python tests/fuzz --seconds $(TIME) $(if $(SEED),--seed $(SEED))

FIGURES := figure2 figure3 figure45 figure69 svgp priors
JOBS ?= 2

figures: setup ## the paper's figures and ours at full length, in runs/ (hours); JOBS=4 for more processes
	@for name in $(FIGURES); do \
	  $(BIN)/evroute simulate data/experiments/$$name.toml --jobs $(JOBS) --out runs/$$name && \
	  $(BIN)/evroute report runs/$$name || exit 1; \
	done

pages: setup ## the pages of results and the README's numbers, from their tables; RUN="savings batch" or RUN=all computes tables first
	$(BIN)/python docs/hooks/claims.py
	$(BIN)/python -m studies.pages $(if $(RUN),--run $(filter-out all,$(RUN)))
	$(BIN)/python docs/hooks/plots.py

screenshots: setup ## pictures of every page of the dashboard, in screenshots/ and docs/images/ (needs Chromium)
	$(BIN)/python tests/app/screenshots.py

notebooks: setup ## the notebooks at full length, as pages in notebooks/executed/ (some minutes)
	cd notebooks && ../$(BIN)/jupyter nbconvert --to html --execute --output-dir executed *.ipynb

ROUNDS := 40
docs: setup ## the documentation as pages that need no internet, in site/; executes the notebooks (minutes; ROUNDS= not)
	EVROUTE_DOCS_ROUNDS=$(ROUNDS) NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

app: $(APP) ## open the dashboard
	$(BIN)/evroute app

release-check: setup ## build the packages, check what a release needs and name what is missing
	@$(PIP) --quiet -e '.[release]'
	@$(BIN)/python tests/release/check.py

clean: ## remove what the targets made
	rm -rf $(VENV) demo screenshots site notebooks/executed .pytest_cache .mypy_cache .ruff_cache .benchmarks
