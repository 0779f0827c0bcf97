# Everything sets itself up: `make serve` and `make test` need python3 (3.11 or later), pip and git.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
export ASSAY_EVAL_DIR ?= ../shared/eval

.DEFAULT_GOAL := help
.PHONY: help serve test check bench eval lock sample docs clean

help:  ## Explain the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 16

serve: $(VENV)/.run  ## Run the whole service on this machine
	@exec $(BIN)/assay serve

test: check  ## Check format, lint and types, then run all tests
	$(BIN)/pytest -n 2 --dist worksteal

check: $(VENV)/.dev  ## Check format, lint and types only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.dev  ## Measure speed and memory; tables go to docs/reference/
	$(BIN)/python -m bench

eval: $(VENV)/.dev  ## Measure quality on the data in ASSAY_EVAL_DIR
	$(BIN)/python -m evaluation

# The locks name no index: `pip` asks whichever is configured. uv is only needed here.
COMPILE = $(VENV)/lock/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
          --no-emit-index-url --no-emit-find-links --python-version 3.11 --upgrade
lock: $(VENV)/.created  ## Resolve the dependencies anew
	@test -x $(VENV)/lock/bin/uv || { $(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/pip install -q uv; }
	$(COMPILE) pyproject.toml --group build -o requirements.lock
	$(COMPILE) pyproject.toml --all-extras --group build --group dev --group evaluation -c requirements.lock -o requirements-dev.lock
	$(COMPILE) pyproject.toml --extra postgres --group build -c requirements-dev.lock -o requirements-postgres.lock

sample: $(VENV)/.run  ## Write sample-agreement.docx, to try an assessment with
	@$(BIN)/python examples/make_sample.py

docs: $(VENV)/.dev  ## Write the reference pages that the code can tell
	$(BIN)/python docs/generate.py

clean:  ## Remove the environment; data is left alone
	rm -rf $(VENV)

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Assay needs Python 3.11 or later; set PYTHON=python3.x to name one."; exit 2; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing: install it (on Debian and Ubuntu: the package python3-venv)."; exit 2; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

PIP = $(BIN)/pip install -q --disable-pip-version-check
$(VENV)/.run: $(VENV)/.created requirements.lock pyproject.toml
	@echo "Installing Assay into $(VENV) …"
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.created requirements-dev.lock pyproject.toml
	@echo "Installing Assay and what its tests need into $(VENV) …"
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run
