"""Vectors and fusion: exact answers, whatever was added and removed before."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.recall import dense
from hmd.recall.dense import Vectors, pack, quantize, unpack
from hmd.recall.fuse import fuse

FLOATS = st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8)


def cosine(one: list[float], other: list[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


@settings(derandomize=True, max_examples=60)
@given(FLOATS)
def test_quantizing_keeps_the_direction(vector: list[float]) -> None:
    values, scale = quantize(vector)
    back = [one * scale for one in memoryview(values).cast("b")]
    if math.hypot(*vector) > 1e-3:
        assert cosine(vector, back) > 0.995 and math.isclose(math.hypot(*back), 1, rel_tol=0.02)


@settings(derandomize=True, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=40))
def test_search_finds_what_is_there(steps: list[tuple[int, bool]]) -> None:
    """After any additions and removals: the nearest of the texts that are left."""
    rnd = random.Random(len(steps))
    vectors, left = Vectors(), dict[str, list[float]]()
    for number, adds in steps:
        name = str(number)
        if adds:
            left[name] = [rnd.uniform(-1, 1) for _ in range(16)]
            assert vectors.add(name, *quantize(left[name]))
        else:
            assert vectors.remove(name) == (left.pop(name, None) is not None)
    question = [rnd.uniform(-1, 1) for _ in range(16)]
    found = vectors.search(question, 3)
    expected = sorted(left, key=lambda name: -cosine(question, left[name]))
    assert {name for _, name in vectors.search(question, 100)} == set(left)
    for (score, name), best in zip(found, expected, strict=False):
        assert math.isclose(score, cosine(question, left[name]), abs_tol=0.02)
        assert math.isclose(score, cosine(question, left[best]), abs_tol=0.03)


def test_two_threads_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block is gone through once, whichever thread takes it; the last one is not full."""
    pytest.importorskip("numpy")
    rnd = random.Random(3)
    vectors = Vectors()
    monkeypatch.setattr(dense, "BLOCK_BYTES", 4 * 16 * 7)
    for number in range(500):
        vectors.add(str(number), *quantize([rnd.uniform(-1, 1) for _ in range(16)]))
    questions = [[rnd.uniform(-1, 1) for _ in range(16)] for _ in range(20)]
    alone = [vectors.search(one, 500) for one in questions]
    monkeypatch.setattr(dense, "SHARED", 100)
    assert [vectors.search(one, 500) for one in questions] == alone
    assert all(len({name for _, name in found}) == 500 for found in alone)


def test_other_dimensions_are_left_out() -> None:
    vectors = Vectors()
    assert vectors.add("a", *quantize([1.0, 0.0]))
    assert not vectors.add("b", *quantize([1.0, 0.0, 0.0]))
    assert vectors.search([1.0, 0.0, 0.0], 5) == []
    assert [name for _, name in vectors.search([1.0, 0.0], 5)] == ["a"]


def test_a_vector_of_zeros_is_near_nothing() -> None:
    vectors = Vectors()
    vectors.add("zero", *quantize([0.0, 0.0]))
    assert vectors.search([1.0, 0.0], 1)[0][0] == 0
    assert vectors.search([0.0, 0.0], 1) == []


@settings(derandomize=True, max_examples=60)
@given(FLOATS)
def test_packing_is_exact(vector: list[float]) -> None:
    assert unpack(pack(vector)) == vector


def test_words_alone_keep_their_order() -> None:
    assert [name for _, name in fuse({"a": 2.0, "b": 5.0, "c": 5.0}, [])] == ["b", "c", "a"]


def test_meaning_lifts_what_words_miss() -> None:
    words = {"word": 3.0, "both": 2.9}
    near = [(0.9, "both"), (0.88, "mean"), *((0.1, f"far{n}") for n in range(20))]
    order = [name for _, name in fuse(words, near)]
    assert order[0] == "both" and order.index("mean") < order.index("far0")


def test_weak_words_are_trusted_less() -> None:
    """A question in another language than the texts shares hardly a word with them."""
    near = [(0.9, "mean"), *((0.1, f"far{n}") for n in range(20))]
    assert fuse({"word": 1.0}, near, coverage=1.0)[0][1] == "word"
    assert fuse({"word": 1.0}, near, coverage=0.05)[0][1] == "mean"
