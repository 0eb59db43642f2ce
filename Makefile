# One door to everything. `make help` lists the targets; each sets up what it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.12 || command -v python3)
UV := .uv/bin/uv
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never

TEXT ?= Tell me about the harbor.
MODE ?= bidi
TRANSPORT ?= ws
VOICE ?= af_heart
OUT ?= reply.wav
JSON ?=
PORT ?= 8080

## make demo         set everything up and serve the talking agent with a page that plays it
.PHONY: demo
demo: .venv/local.stamp
	$(BIN)/python -m local serve --page $(if $(JSON),--json "$(JSON)")

## make say          one reply into OUT: TEXT="…" MODE=bidi|batch TRANSPORT=ws|sse VOICE= OUT=a.wav JSON=a.json
.PHONY: say
say: .venv/local.stamp
	@$(BIN)/python -m local say "$$TEXT" --mode $(MODE) --transport $(TRANSPORT) \
	  --voice $(VOICE) --out "$(OUT)" $(if $(JSON),--json "$(JSON)")
say: export TEXT := $(TEXT)

## make serve        keep container, SageMaker and Bedrock stand-ins and agent running: JSON=addresses.json
.PHONY: serve
serve: .venv/local.stamp
	$(BIN)/python -m local serve $(if $(JSON),--json "$(JSON)")

## make container    the Kokoro server alone: PORT=8080
.PHONY: container
container: .venv/local.stamp
	cd container && export KOKORO_MODEL_DIR="$$(../$(BIN)/python -m model)" && \
	  exec ../$(BIN)/python -m kokoro_server serve --host 127.0.0.1 --port $(PORT)

## make test         lint, types, unit and integration tests with real speech (≤ 15 minutes warm)
.PHONY: test
test: lint types
	$(BIN)/pytest -m "not images and not soak"

## make lint         ruff over everything
.PHONY: lint
lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

## make types        mypy --strict over the product's packages
.PHONY: types
types: .venv/dev.stamp
	$(BIN)/mypy

## make test-images  build and run both images without a Docker daemon (needs buildah, debootstrap, crun; root)
.PHONY: test-images
test-images: .venv/dev.stamp
	$(BIN)/pytest -m images tests/images

## make soak         the long acceptance runs
.PHONY: soak
soak: .venv/dev.stamp
	$(BIN)/pytest -m soak

## make format       let ruff rewrite what it can
.PHONY: format
format: .venv/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every lock is constrained by the development lock, so one environment can hold them all.
COMPILE = $(UV) pip compile -q --universal --python-version 3.12 --generate-hashes --no-header
LOCKS := requirements requirements-local container/requirements container/model/requirements \
  agent/requirements requirements-uv

## make lock         resolve every requirements*.in again (UPGRADE=--upgrade to move versions)
.PHONY: lock
lock: $(UV)
	$(COMPILE) $(UPGRADE) requirements-dev.in -o requirements-dev.txt
	for name in $(LOCKS); do $(COMPILE) -c requirements-dev.txt $$name.in -o $$name.txt || exit 1; done

## make clean        remove environments and caches of this checkout
.PHONY: clean
clean:
	rm -rf .venv .uv .env-* .mypy_cache .ruff_cache .pytest_cache .hypothesis cdk.out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

## make help         this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

.PHONY: setup-dev
setup-dev: .venv/dev.stamp

$(UV): requirements-uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' || \
	  { echo "Python 3.12 is needed; '$(PYTHON)' is not it. Name one: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	$(PYTHON) -m venv .uv
	.uv/bin/pip install -q --require-hashes -r requirements-uv.txt
	@touch $@

.venv/bin/python: | $(UV)
	$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv

.venv/local.stamp: requirements-local.txt | .venv/bin/python
	$(UV) pip install -q --python .venv --no-deps --require-hashes -r requirements-local.txt
	@touch $@

.venv/dev.stamp: requirements-dev.txt | .venv/bin/python
	$(UV) pip install -q --python .venv --no-deps --require-hashes -r requirements-dev.txt
	@touch $@ .venv/local.stamp
