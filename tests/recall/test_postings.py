"""Postings kept in three ways (in order, as bits, by impact) through changes; what is chosen."""

import random
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.recall import lexical, postings
from hmd.recall.lexical import Index, search, weights
from hmd.recall.tokenize import tokens

WORDS = ["red", "green", "pink", "gold", "teal", "cyan", "tan", "mint"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every way of keeping postings is used with a handful of texts already."""
    with monkeypatch.context() as patch:
        patch.setattr(postings, "MARKED", 2)
        patch.setattr(postings, "CHAMPIONS", 6)
        patch.setattr(lexical, "MOST_READ", 8)
        patch.setattr(lexical, "KEPT", 8)
        yield


TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
STEPS = st.lists(st.tuples(st.integers(0, 25), st.none() | TEXT, st.booleans()), max_size=60)


@pytest.mark.usefixtures("small")
@settings(derandomize=True, max_examples=50)
@given(STEPS)
def test_bits_and_champions_follow_every_change(steps: list[tuple[int, str | None, bool]]) -> None:
    """Asked between changes or not: as if everything had been worked out only now."""
    index, left = Index(), dict[str, str]()
    for number, text, asked in steps:
        name = str(number)
        if text is None:
            index.remove(name)
            left.pop(name, None)
        else:
            index.add(name, text)
            left[name] = text
        if asked:
            list(index.settle())
            search([index], " ".join(WORDS), 3)
    for words in (WORDS[:1], WORDS[:2], WORDS[2:5], WORDS):
        found = [index.id_at(slot) for slot in index.having(words)]
        assert sorted(found) == sorted(n for n, t in left.items() if set(words) <= set(t.split()))
    for word in WORDS:
        having = [name for name, text in left.items() if word in text.split()]
        best = index.best(weights([index], [word]), 3)
        scores = index.scores_of(weights([index], [word]), having)
        assert [s for s, _ in best] == sorted(scores.values(), reverse=True)[:3]


@settings(derandomize=True, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 9)), min_size=1, max_size=12))
def test_a_text_is_scored_alike_from_its_postings_and_from_itself(
    found: list[tuple[int, int]],
) -> None:
    """A question of many words reads the texts, one of few the postings."""
    index = Index()
    for number, (word, times) in enumerate(found):
        index.add(str(number), f"word{word} " * times + "other")
    few = weights([index], ["other", *(f"word{word}" for word, _ in found)])
    few = {tokens(word)[0]: weight for word, weight in few.items()}
    many = {**few, **dict.fromkeys((f"zz{n}" for n in range(300)), 1.0)}
    names = [str(number) for number in range(len(found))]
    some, every = index.scores_of(few, names), index.scores_of(many, names)
    assert some.keys() == every.keys()
    assert all(abs(score - every[name]) < 1e-4 for name, score in some.items())
    assert [set(index.has(n, few)) for n in names] == [set(index.has(n, many)) for n in names]


def test_texts_with_both_common_words_are_found() -> None:
    """Of 4,000 texts half have one word and half another, three have both: these are the best,
    wherever among the thousands of equal ones they are."""
    index = Index()
    for number in range(4000):
        index.add(f"{number:05}", f"{'red' if number % 2 else 'green'} paint number{number}")
    for number in (300, 1999, 3500):
        index.add(f"{number:05}", f"red green paint number{number}")
    found = {hit.id for hit in search([index], "green red", 3)}
    assert found == {"00300", "01999", "03500"}


def test_nearly_all_of_the_best_are_found_among_many() -> None:
    """Common words with the frequencies that words have: nine of ten of the truly best, and no
    tenth of the score is lost."""
    chance = random.Random(5)
    vocabulary = [f"{one}{two}" for one in "bdfgklmn" for two in ("ano", "eri", "ilu", "oma")]
    shares = [1 / (rank + 3) for rank in range(len(vocabulary))]
    index = Index()
    for number in range(4000):
        words = chance.choices(vocabulary, shares, k=chance.randrange(5, 15))
        index.add(str(number), " ".join(words))
    right = total = 0
    for _ in range(20):
        asked = weights([index], tokens(" ".join(chance.choices(vocabulary, shares, k=4))))
        found = [score for score, _ in index.best(asked, 10)]
        every = index.scores_of(asked, list(index.ids()))
        best = sorted(every.values(), reverse=True)[:10]
        right += sum(score >= best[-1] - 1e-6 for score in found)
        total += len(best)
        assert sum(found) > 0.9 * sum(best)
    assert right > 0.9 * total


def test_a_long_question_reads_texts_instead_of_postings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt of hundreds of words held up the daemon's loop for 100 ms: a hundred texts were
    looked up in the postings of each of its words."""
    looked = 0

    def counted(*given: Any, **more: Any) -> int:
        nonlocal looked
        looked += 1
        return bisect_left(*given, **more)

    index = Index()
    for number in range(300):
        index.add(str(number), " ".join(f"w{(number * 7 + step) % 311}" for step in range(12)))
    list(index.settle())
    monkeypatch.setattr(postings, "bisect_left", counted)
    words = [f"w{number}" for number in range(311)]
    best = index.best(weights([index], words), 100)
    has = [index.has(name, words) for _, name in best]
    assert len(best) == 100 and all(len(found) == 12 for found in has)
    assert looked < len(words)
