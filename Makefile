# Two commands matter: `make demo` and `make test`. Each creates what it needs, and is quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
BROWSER := $(VENV)/.browser
RAY := $(VENV)/.ray
LOCK := $(VENV)/.lock
# The folder with build_image.sh and run_action.py, which build and run the image as GitHub's runner would.
CONTAINER_TOOLS ?= $(abspath ../shared/tools/container)

export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Compiled files are kept, in machines that switch that off too: each worker and each command that a test starts would
# compile everything again.
export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test lint types ruff imports unit stress docs dist container-test agents-test ray-test browser-test screenshots fuzz bench schemas lock clean

demo: $(RUNTIME)  ## show what Evalward does: no key, no network service
	@$(BIN)/evalward demo --output evalward-out/demo

test: $(DEV)  ## everything that CI runs; what uses one processor runs two at a time
	@$(MAKE) --no-print-directory --jobs=2 lint docs
	@$(MAKE) --no-print-directory unit

lint: types ruff imports

types: $(DEV)
	$(BIN)/mypy

ruff: $(DEV)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

imports: $(DEV)
	$(BIN)/lint-imports

unit: $(DEV)
	$(BIN)/pytest -q -n auto --dist worksteal -m "not container and not agents and not browser and not ray"

docs: $(DEV)  ## build the documentation into site/; a link or anchor that leads nowhere fails
	@$(BIN)/zensical build --clean --strict >$(VENV)/docs.log 2>&1 || { cat $(VENV)/docs.log; exit 1; }
	@echo "site/index.html: the documentation"

RUNS ?= 3
PATHS ?= tests
stress: $(DEV)  ## RUNS runs of PATHS in other orders beside two busy processes; it stops at the first failure and shows it
	@sh tests/stress.sh "$(BIN)/pytest" "$(RUNS)" $(PATHS)

dist: $(RUNTIME)  ## sdist and wheel of HEAD in dist/, and the wheel tried as users install it
	@rm -rf dist
	@$(BIN)/python scripts/distribution.py build --output dist
	@$(BIN)/python scripts/distribution.py try dist/*.whl

container-test: $(DEV)  ## build the image and run it on pull request events
	CONTAINER_TOOLS="$(CONTAINER_TOOLS)" $(BIN)/pytest -q -m container -p no:randomly

agents-test: $(DEV)  ## install the real coding agents once, and drive them against a local model server
	EVALWARD_AGENT_INSTALL=1 EVALWARD_MUST_RUN=agents,npm $(BIN)/pytest -q tests/integration/agents

ray-test: $(RAY)  ## run on a Ray cluster of two nodes on this machine, one of which is lost
	EVALWARD_MUST_RUN=ray $(BIN)/pytest -q tests/ray

browser-test: $(BROWSER)  ## open the pages in Chromium, offline: what is looked at, and what assistive technology finds
	EVALWARD_MUST_RUN=browser,npm $(BIN)/pytest -q tests/browser

screenshots: $(BROWSER)  ## remake the pictures in docs/, of the example's comment and page
	PYTHONPATH=tests $(BIN)/python -m support.browser.screenshots

fuzz: $(DEV)  ## damaged files of every format, for an hour or FUZZ_SECONDS; findings are kept in tests/data/fuzz
	PYTHONPATH=tests $(BIN)/python -m support.fuzzing.running

bench: $(DEV)
	PYTHONPATH=tests $(BIN)/python -m benchmarks

schemas: $(DEV)  ## write the JSON Schemas and docs/cli-options.md again, after a record or an option has changed
	@set -e; for name in $$($(BIN)/evalward schema); do \
		$(BIN)/evalward schema $$name --output src/evalward/schemas/$$name.schema.json; \
	done
	@cp src/evalward/schemas/evalward.schema.json docs/
	@PYTHONPATH=tests $(BIN)/python -m support.cli_page

UPGRADE ?=
lock: $(LOCK)  ## write constraints.txt again after pyproject.toml has changed; UPGRADE=1 takes the newest versions
	$(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11.5 --all-extras --generate-hashes \
		--fork-strategy fewest --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade) --output-file constraints.txt

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Evalward needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# Exact versions with hashes, and nothing beyond what constraints.txt has. What builds comes first: the editable installation
# needs it, and without isolation no package that is built (there are few) gets other tools from an index.
$(RUNTIME): pyproject.toml constraints.txt scripts/locked.py | $(VENV)/bin/python
	$(call install_locked,--extras-alone --extra build)
	$(call install_locked)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEV): $(RUNTIME)
	$(call install_locked,--extra dev)
	@touch $@

$(BROWSER): $(DEV)
	$(call install_locked,--extra browser)
	@touch $@

$(RAY): $(DEV)
	$(call install_locked,--extra ray)
	@touch $@

# Without the rest: a package that the project newly asks for is not in constraints.txt yet.
$(LOCK): pyproject.toml constraints.txt scripts/locked.py | $(VENV)/bin/python
	$(call install_locked,--extras-alone --extra lock)
	@touch $@

define install_locked
	@$(BIN)/python scripts/locked.py $(1) > $(VENV)/locked.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --require-hashes --requirement $(VENV)/locked.txt
endef

clean:
	rm -rf $(VENV) evalward-out site .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
