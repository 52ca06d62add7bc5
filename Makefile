# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
DATA   ?= ../shared/data

# What `make eval-…` asks: a model as `proctor run --model` takes it, and how often.
CHECKPOINT  ?= reference
NUM_SAMPLES ?= 1
EVALUATE     = $(BIN)/proctor run --model '$(CHECKPOINT)' --n-samples $(NUM_SAMPLES) \
               $(if $(wildcard $(DATA)),--data $(DATA))

.PHONY: demo test test-all lint format clean eval-humaneval eval-mbpp eval-bigcodebench eval-all results-history

$(BIN)/proctor: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $(BIN)/proctor

$(VENV)/.dev: pyproject.toml constraints.txt $(BIN)/proctor
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $(VENV)/.dev

demo: $(BIN)/proctor
	@echo '--- the suite basics, answered by its reference solutions: all must pass'
	$(BIN)/proctor run basics --model reference --out runs/demo-reference --fresh
	@echo '--- the same, answered by near misses and lazy solutions: none may pass'
	$(BIN)/proctor run basics --model wrong --out runs/demo-wrong --fresh
	@echo '--- ten answers as models write them, good and bad'
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

eval-humaneval: $(BIN)/proctor
	$(EVALUATE) humaneval

eval-mbpp: $(BIN)/proctor
	$(EVALUATE) mbpp

eval-bigcodebench: $(BIN)/proctor
	$(EVALUATE) bigcodebench-hard

eval-all: $(BIN)/proctor
	$(EVALUATE) standard

results-history: $(BIN)/proctor
	$(BIN)/proctor history --chart

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
