# Every target sets up what it needs in .venv; set-up is skipped while the lock files are unchanged.
.DEFAULT_GOAL := help
.PHONY: help demo setup rocm test check format bench soak lock clean

# Python's caches are written whatever the caller says: each run starts a thousand processes.
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
CODE := engine operators evaluators tests scripts
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' Makefile

demo: .venv/.core  ## set up, and run the quickstart campaign (no GPU and no API key needed)
	$(BIN)/kernel-scientist run configs/quickstart.yaml

setup: .venv/.dev  ## set up .venv with all that development needs

rocm:  ## bring ROCm's compiler for MI300 into .rocm (no root, no GPU needed)
	scripts/rocm_toolchain.sh

test: .venv/.dev  ## run every test, except the soak
	-@scripts/rocm_toolchain.sh  # without it the gfx942 tests fail in CI, and say why elsewhere
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

check: .venv/.dev  ## ruff, mypy --strict and the import layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers 2 $(CODE)
	$(BIN)/lint-imports --no-cache

format: .venv/.dev  ## format the code, and mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.dev  ## measure the engine's own overheads
	$(BIN)/python -m scripts.bench_engine

soak: .venv/.dev  ## run the long tests only: kills, restarts, leaks
	$(BIN)/python -m pytest -m soak

lock: .venv/.dev  ## write the lock files anew from pyproject.toml
	$(COMPILE) pyproject.toml -o requirements.lock
	$(COMPILE) -c requirements.lock --extra dev --extra cuda --extra tune pyproject.toml -o requirements-dev.lock
	sed -n 's/^zig = \["\(.*\)"\]$$/\1/p' pyproject.toml | $(COMPILE) - -o requirements-zig.lock

clean:  ## remove .venv, caches and build products
	rm -rf .venv .rocm* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist *.egg-info
	find engine operators evaluators scripts tests -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.core: requirements.lock requirements-zig.lock pyproject.toml scripts/setup_venv.sh
	scripts/setup_venv.sh core

.venv/.dev: requirements-dev.lock requirements-zig.lock pyproject.toml scripts/setup_venv.sh
	scripts/setup_venv.sh dev
