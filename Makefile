# Two commands matter: `make run` shows what Homeport would register on this machine, `make test` checks everything.
# Both do all their own set-up. `make help` lists the rest.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
CLIENTS := .real-clients
PEERS  := $(CLIENTS)/peers
RUNS   ?= 15

.PHONY: run test lint golden coverage bench clients clean help

run: $(STAMP) ## Print the registration for every client found here. Writes nothing.
	@$(BIN)/homeport install --client all
	@echo "In this checkout the command is: $(BIN)/homeport install --client all" >&2

test: lint ## Lint, types, import rules and every test.
	$(BIN)/pytest -n 2 --dist worksteal

lint: $(STAMP) ## The first three alone.
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

golden: $(STAMP) ## Render the golden files again; look at `git diff golden/` afterwards.
	$(BIN)/pytest -n 2 -q --update-golden

coverage: $(STAMP) ## Say which lines no test in this process reaches.
	$(BIN)/coverage run -m pytest -q
	$(BIN)/coverage report

bench: $(STAMP) $(PEERS)/.installed ## Measure beside other tools; figures for docs/performance.md.
	$(BIN)/python -m tests.bench --peers $(PEERS) --runs $(RUNS)

$(PEERS)/.installed:
	mkdir -p $(PEERS)
	npm install --silent --no-audit --no-fund --no-package-lock --prefix $(PEERS) add-mcp@2.4.0
	@# It asks for Python 3.12; without one the comparison goes on and says what is left out.
	@python3.12 -m venv $(PEERS)/neosian 2>/dev/null && $(PEERS)/neosian/bin/pip install --quiet neosian==1.12.2 || \
		echo "There is no python3.12 for neosian" >&2
	@touch $@

clients: ## Fetch the real clients and the protocol's own tools that tests drive.
	npm install --silent --no-audit --no-fund --no-package-lock --prefix $(CLIENTS) \
		$$(cat tests/real_clients/versions.txt tests/real_clients/protocol_tools.txt)

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || \
		{ echo "Homeport needs Python 3.11 or later, and there is no $(PYTHON) here. Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Homeport needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@# Asked of pip: where Debian lacks python3-venv, a venv without it is left behind.
	@test -x $(BIN)/pip || $(PYTHON) -m venv --clear $(VENV) || \
		{ echo "$(PYTHON) cannot make a venv; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV); the first time this takes about a minute" >&2
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

clean: ## Remove what the commands above made.
	rm -rf $(VENV) $(CLIENTS) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile
