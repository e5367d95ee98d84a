# Two commands for everyone: `make demo` and `make test`. Both set the environment up first.
PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Snakemake, Matplotlib and Jupyter keep things in HOME; where nothing can be written there, they get another.
ifneq ($(shell test -w "$$HOME" && echo yes),yes)
export HOME := $(CURDIR)/.snakemake/home
$(shell mkdir -p "$(CURDIR)/.snakemake/home")
endif

.PHONY: help setup demo publish browser slurm test test-faults test-slurm bench scaling fidelity tools validator lock clean

help:
	@echo "make setup   the environment, from the hashed lock, into .venv"
	@echo "make demo    every figure at scale quick, and the path of the report"
	@echo "make publish   docs/ from the results of scale paper (SCALE=quick for another), as far as they are there"
	@echo "make test    format, lint, unit, contract and workflow tests"
	@echo "make test-faults   kills, full disks and other environments, on all five papers; long"
	@echo "make test-slurm   all papers through a Slurm of one node (PAPERS=fedsplit for one); long"
	@echo "make tools   what \`fedrepro crate\` needs besides"
	@echo "make bench   speed ratios, measured in one run, into the report"
	@echo "make scaling   time and memory against clients, samples and dimension, into the report"

setup: $(BIN)/.ready

# uv comes from the same lock, hash-checked by pip, and then installs the rest much faster than pip would.
$(BIN)/.ready: envs/requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("fedrepro needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; name another with make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	@awk '/^[^ ]/ {keep = /^uv==/} keep' envs/requirements.lock > .venv/uv.lock
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r .venv/uv.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip sync --quiet --compile-bytecode --require-hashes envs/requirements.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: setup
	snakemake --cores $(CORES) --logger fedrepro --config scale=quick
	@echo "The report: $(CURDIR)/results/quick/report/index.html"

# What scale paper left behind, paper by paper as far as it is there, into docs/ and the README's summary.
SCALE ?= paper
publish: setup
	fedrepro --scale $(SCALE) publish

# The report is opened in Chromium; where apt can bring it, it does, otherwise that test says it was skipped.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
	  || echo "Chromium could not be installed: the report will not be opened in a browser"

# Slurm from Debian's packages, and its executor in an environment of its own; where they cannot be had, what needs them
# says that it was skipped.
slurm: setup
	@command -v sbatch >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge; } >/dev/null 2>&1 \
	  || echo "Slurm could not be installed: nothing will be run through it"
	@$(MAKE) --no-print-directory .venv-slurm/.ready || echo "envs/slurm.lock could not be installed: nothing will be run through Slurm"

.venv-slurm/.ready: envs/requirements.lock envs/slurm.lock
	uv venv --quiet --clear --python $(BIN)/python .venv-slurm
	VIRTUAL_ENV=.venv-slurm uv pip sync --quiet --compile-bytecode --require-hashes envs/requirements.lock envs/slurm.lock
	VIRTUAL_ENV=.venv-slurm uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

test: setup tools browser
	ruff format --check .
	ruff check .
	snakefmt --check Snakefile workflow
	lint-imports --no-cache
	snakemake --lint
	python -m pytest -n 2 --dist worksteal

# What survives a kill, a full disk or another environment, on all five papers; writes the table in tests/README.md.
test-faults: setup
	python -m pytest tests/faults tests/workflow/test_reruns.py -m "not slurm" --faults-table new

# Through a Slurm of one node, compared with a local run; PAPERS=fedsplit for one paper.
test-slurm: slurm
	PAPERS=$(PAPERS) python -m pytest tests/faults/test_slurm.py -m slurm -rs

bench: setup
	python benchmarks

scaling: setup
	python benchmarks/scaling.py

# Renews the table of config/README.md from the papers' YAML.
fidelity: setup
	fedrepro fidelity

# What `fedrepro crate` needs; it replaces no package of the lock.
tools: $(BIN)/.tools

$(BIN)/.tools: envs/tools.lock $(BIN)/.ready
	VIRTUAL_ENV=.venv $(BIN)/uv pip install --quiet --require-hashes -r envs/tools.lock
	@touch $@

# A program that validates crates, apart because it wants other versions than the lock has; its test is skipped without it.
validator: setup
	$(BIN)/uv venv --quiet --allow-existing .venv/validator
	VIRTUAL_ENV=.venv/validator $(BIN)/uv pip install --quiet roc-validator==0.13.0

# Renews the locks; the hashes bind every file, and no index address enters them.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --all-extras pyproject.toml -o envs/requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --constraint envs/requirements.lock --group slurm -o envs/slurm.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --no-annotate --group pyproject.toml:tools --constraints envs/requirements.lock -o envs/tools.lock

clean:
	rm -rf .venv .venv-slurm .snakemake .pytest_cache .ruff_cache .hypothesis
