# `make` alone lists the targets. Every target that needs Python packages makes .venv by itself.
# PYTHON=python3.13 make test    takes another Python (3.11 to 3.14) when .venv does not exist yet.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
LOCAL_AIRFLOW := $(BIN)/python -m tools.local_airflow
# A short run of the demo for CI: `make demo DEMO=--short`.
DEMO ?=
# A crawl of one's own: its folder or its settings file; recrawl.toml of this folder without it.
CRAWL ?=
UNPAUSE ?=
# What of a benchmark: `make bench-fetch BENCH='speed --rounds 1'`.
BENCH ?=
TESTS ?=

# Airflow imports thousands of modules: without their compiled form each of its processes starts five times slower.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
SCRAPY := bench/out/scrapy
.PHONY: help install demo test soak check format up down cluster cluster-down docs shell bench-fetch bench-page bench-freshness bench-state

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED) ## make .venv with all that is needed; the other targets do it by themselves

demo: $(INSTALLED) ## run five daily cycles under a throw-away Airflow against a web made for it, then show what SQL says
	@$(BIN)/recrawl demo $(DEMO)

test: $(INSTALLED) ## run all tests (TESTS="tests/core -k urls" for some)
	@$(BIN)/python -m pytest -n 2 --dist loadgroup --durations 20 $(TESTS)

soak: $(INSTALLED) ## kill one long fetch 200 times at random moments (SOAK_SEED=... repeats it), and a lake's stages anywhere
	@CRASH_EXAMPLES=40 $(BIN)/python -m pytest -n 2 -q tests/store/test_lake_under_crashes.py -k nothing_is_lost
	@UPKEEP_STRIDE=1 $(BIN)/python -m pytest -n 0 -q tests/store/test_upkeep.py -k killed_anywhere
	@SOAK_KILLS=200 SOAK_SEED=$${SOAK_SEED:-$$(date +%s)} $(BIN)/python -m pytest -n 0 -q -rP tests/crawl/test_kill_and_resume.py -k random_moments

check: $(INSTALLED) ## format, lint, types, import rules, SQL style, generated docs up to date
	@failed=; for step in 'ruff format --check --quiet .' 'ruff check --quiet .' mypy 'lint-imports --no-logo' \
	    'python -m tools.sql_style' 'python -m tools.docs --check'; do \
	    echo "-- $$step"; $(BIN)/$$step || failed="$$failed [$$step]"; \
	done; test -z "$$failed" || { echo "make check: failed:$$failed" >&2; exit 1; }

format: $(INSTALLED) ## write the house format into every Python file
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

up: $(INSTALLED) ## start Airflow on this machine for a crawl (CRAWL=mycrawl; UNPAUSE=1 switches its DAG on)
	@$(LOCAL_AIRFLOW) up $(if $(UNPAUSE),--unpause) $(CRAWL)

down: $(INSTALLED) ## stop what `make up` started; lakes stay (CRAWL=mycrawl: of this crawl only)
	@$(LOCAL_AIRFLOW) down $(CRAWL)

cluster: $(INSTALLED) ## like up, with PostgreSQL, Redis and two Celery workers of Debian's packages
	@$(if $(shell id -u | grep -x 0),tools/install_stores.sh)
	@$(LOCAL_AIRFLOW) cluster $(if $(UNPAUSE),--unpause) $(CRAWL)

cluster-down: $(INSTALLED) ## stop what `make cluster` started; lakes stay
	@$(LOCAL_AIRFLOW) cluster-down $(CRAWL)

docs: $(INSTALLED) ## write the generated pages of docs/ anew
	@$(BIN)/python -m tools.docs

shell: $(INSTALLED) ## a SQL prompt over the lake
	@$(BIN)/recrawl sql

bench-fetch: $(INSTALLED) $(SCRAPY)/.installed ## measure the fetch stage beside Scrapy (BENCH='speed --rounds 1' for a part)
	@$(if $(shell id -u | grep -x 0),PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null || tools/install_debian.sh nginx-light)
	@$(BIN)/python -m bench.fetch $(BENCH)

bench-page: $(INSTALLED) ## measure reading a page, step by step, and URLs (BENCH=features compares features of SimHash)
	@$(BIN)/python -m bench.page $(BENCH)

bench-freshness: $(INSTALLED) ## measure freshness under a budget beside an oracle and peers (BENCH=mutations, BENCH=web)
	@$(BIN)/python -m bench.freshness $(BENCH)

bench-state: $(INSTALLED) ## measure cycles over 1,000,000 and 10,000,000 URLs (FULL=1: 100,000,000) beside a rewrite of everything
	@$(BIN)/python -m bench.state $(BENCH)

$(SCRAPY)/.installed: bench/fetch/scrapy.txt | $(INSTALLED)
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(SCRAPY)
	@VIRTUAL_ENV=$(SCRAPY) $(BIN)/uv pip install --quiet --compile-bytecode -r $<
	@touch $@

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' || \
	    { echo 'Recrawl needs Python 3.11 to 3.14; name one: make PYTHON=python3.13 ...' >&2; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || { $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip; } >/dev/null
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9,<1'
	@VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install --quiet --compile-bytecode -c constraints.txt -e '.[airflow,celery,dev]'
	@touch $@
