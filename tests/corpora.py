"""Finds the recorded corpora that live beside the project, or skips the test that wants them."""

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(os.environ.get("HMD_CORPORA", Path(__file__).parents[2] / "shared" / "data"))


def corpus(name: str) -> Path:
    """The path of corpus file `name`; skips the calling test where it is absent."""
    path = ROOT / name
    if not path.exists():
        pytest.skip(f"no corpus at {path} (set HMD_CORPORA)")
    return path


def rows(name: str) -> Iterator[dict[str, Any]]:
    """The JSON lines of a gzipped corpus."""
    with gzip.open(corpus(name), "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
