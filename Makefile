# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
DATA   ?= ../shared/data

.PHONY: demo test test-all lint format clean

$(BIN)/proctor: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[humaneval]'
	@touch $(BIN)/proctor

$(VENV)/.dev: pyproject.toml constraints.txt $(BIN)/proctor
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/.dev

demo: $(BIN)/proctor
	@echo '--- HumanEval with its own reference solutions'
	$(BIN)/proctor run humaneval --model reference --out runs/demo-reference --fresh
	@echo '--- ten samples of three tasks, good and bad'
	$(BIN)/proctor score examples/mixed/tasks.jsonl --completions examples/mixed/samples.jsonl --out runs/demo-mixed --fresh
	@echo '--- the report of that run, once more'
	$(BIN)/proctor report runs/demo-mixed

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/pytest -n auto -m 'not slow'

test-all: lint
	$(BIN)/pytest -n auto

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
