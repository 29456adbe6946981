# Lockstep. `make` sets everything up and runs it; `make help` lists the rest. Settings:
#   CUDA=12          CuPy for a CUDA 12 driver (default: 13; without a GPU it does not matter)
#   PYTHON=3.12      which Python (default: the first of python3.12, python3.11, python3 that is 3.11 or 3.12)
#   UV=              set it empty to do without uv
SHELL   := bash
CUDA    ?= 13
PYTHON  ?=
UV      ?= $(shell command -v uv)
LOCK    := $(if $(filter 12,$(CUDA)),requirements-cuda12.lock,requirements.lock)
EXTRAS  := --extra compendium --extra lab --extra cluster --extra peers --extra site --extra dev
VENV    := .venv
RUN     := $(VENV)/bin/python
# A tool that is asked to skip bytecode compiles every import again in each of the workflow's processes.
unexport PYTHONDONTWRITEBYTECODE
# uv would otherwise fetch a Python of its own, or work on an environment that happens to be activated.
export UV_PYTHON_DOWNLOADS := never
unexport VIRTUAL_ENV PYTHONHOME

.PHONY: all setup test check types notebooks publish rules readme site crate wheelhouse lab lock clean help
.DEFAULT_GOAL := all

all: setup  ## set up, run what is out of date, build the report
	@$(RUN) -m lockstep.workflow unlock
	@$(RUN) -m snakemake --cores 1

test: setup  ## set up, run the tests and compare the notebooks with their stored outputs
	@$(RUN) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --nbval --nbval-current-env tests notebooks

check: setup  ## lint and the tests of what has changed since main (SINCE=BRANCH), in about a minute
	@$(RUN) -m lockstep.workflow check --since "$(or $(SINCE),main)"

notebooks: setup  ## run the notebooks with their own defaults and store what they print
	@$(RUN) -m lockstep.workflow refresh

publish: setup  ## copy the report and this machine's recording to where git tracks them, renew README's tables
	@$(RUN) -m lockstep.workflow publish

rules: setup  ## fit the rules that `auto` follows to the published recordings (data/rules.json)
	@$(RUN) -m lockstep.workflow rules

readme: setup  ## renew the tables of README.md alone (after a change of the ledger or the registry)
	@$(RUN) -m lockstep.workflow readme

types: setup  ## hold the public functions' types and a user's program against pyright (needs npx)
	@npx --yes pyright@1.1.414

site: setup  ## build the documentation site, docs/_build/html (needs the extra `site`)
	@$(RUN) docs/build.py

crate: setup  ## pack what the workflow made as an RO-Crate, results/lockstep.crate.zip
	@$(RUN) -m lockstep.workflow crate results/lockstep.crate.zip

lab: setup  ## open the notebooks in JupyterLab, explore.ipynb in front
	@LOCKSTEP_DRAWN="$(CURDIR)/results/explored" JUPYTER_CONFIG_PATH="$(CURDIR)/config/jupyter" \
	  $(RUN) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) \
	  notebooks/explore.ipynb

wheelhouse: setup  ## collect what a GPU machine without network lacks: make wheelhouse PYTHON=3.12
	@$(RUN) -m lockstep.workflow wheelhouse --lock requirements.lock --python "$(or $(PYTHON:python%=%),3.12)"

lock:  ## resolve pyproject.toml again and write the hashed locks (needs uv)
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && touch "$$scratch/README.md" \
	&& sed '/^managed = false/d' pyproject.toml > "$$scratch/pyproject.toml" \
	&& export="uv export --project $$scratch --frozen --quiet --no-emit-project --no-header" \
	&& uv lock --project "$$scratch" \
	&& $$export --extra cuda13 $(EXTRAS) -o requirements.lock \
	&& $$export --extra cuda12 $(EXTRAS) -o requirements-cuda12.lock \
	&& $$export --only-group compiler -o requirements-compiler.lock

clean:  ## remove what the rules made (results/ stays: it holds measurements)
	@rm -rf figures/*/ paper/generated .snakemake && echo "removed figures, paper/generated and .snakemake; results/ and .venv stay"

help:  ## this list
	@grep -hE '^[a-z]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*  ## (.*)/  make \1\t\2/' | expand -t 20
	@sed -n 's/^#   \([A-Z]*=.*\)/  \1/p' $(firstword $(MAKEFILE_LIST))

# The environment counts as made when it holds the stamp of this lock; a changed lock or another CUDA makes it again.
STAMP := $(VENV)/.made-from-$(LOCK)
setup: $(STAMP)
$(STAMP): $(LOCK) requirements-compiler.lock pyproject.toml
	@bash setup.sh "$(VENV)" "$(LOCK)" "$(PYTHON)" "$(UV)" && touch $@
