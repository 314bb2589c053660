"""The index against BM25 worked out word by word, and against what must not change its answers."""

import math
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.recall import lexical
from hmd.recall.lexical import B, Index, search
from hmd.recall.postings import K1
from hmd.recall.tokenize import tokens

WORDS = ["alpha", "beta", "gamma", "delta", "query", "vitest", "배포", "데이터"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)


def plain(texts: dict[str, str], question: str) -> dict[str, float]:
    """Every text's score by the formula."""
    counted = {name: Counter(tokens(text)) for name, text in texts.items()}
    average = sum(sum(one.values()) for one in counted.values()) / len(texts)
    out = {}
    for name, counts in counted.items():
        norm = K1 * (1 - B + B * sum(counts.values()) / average)
        score = 0.0
        for word in set(tokens(question, asked=True)):
            df = sum(word in one for one in counted.values())
            idf = math.log(1 + (len(texts) - df + 0.5) / (df + 0.5))
            score += idf * counts[word] * (K1 + 1) / (counts[word] + norm) if counts[word] else 0
        if score:
            out[name] = score
    return out


@settings(derandomize=True, max_examples=150)
@given(st.lists(TEXTS, min_size=1, max_size=30), TEXTS)
def test_scores_are_bm25(listed: list[str], question: str) -> None:
    texts = {f"{number:03}": text for number, text in enumerate(listed)}
    index = Index()
    for name, text in texts.items():
        index.add(name, text)
    hits = search([index], question, k=100)
    expected = plain(texts, question)
    assert {hit.id for hit in hits} == set(expected)
    for hit in hits:  # impacts may be of an average length that was 5 % another
        assert math.isclose(hit.score, expected[hit.id], rel_tol=0.05)


@settings(derandomize=True, max_examples=150)
@given(st.lists(st.tuples(st.integers(0, 9), st.none() | TEXTS), max_size=40), TEXTS)
def test_adding_and_removing_equals_building(steps: list[tuple[int, str | None]], q: str) -> None:
    """An index that lived through changes answers like one built from what is left."""
    grown, left = Index(), dict[str, str]()
    for number, text in steps:
        name = str(number)
        if text is None:
            assert grown.remove(name) == (left.pop(name, None) is not None)
        else:
            grown.add(name, text)
            left[name] = text
    built = Index()
    for name, text in left.items():
        built.add(name, text)
    list(grown.settle())
    list(built.settle())
    assert len(grown) == len(built) == len(left)
    mine = {hit.id: (hit.score, set(hit.words)) for hit in search([grown], q, 100)}
    other = {hit.id: (hit.score, set(hit.words)) for hit in search([built], q, 100)}
    assert mine.keys() == other.keys()
    for name, (score, words) in mine.items():
        assert words == other[name][1]
        assert math.isclose(score, other[name][0], rel_tol=0.06)


@settings(derandomize=True, max_examples=60)
@given(st.lists(TEXTS, min_size=20, max_size=60), TEXTS, st.integers(1, 8))
def test_stopping_early_keeps_the_best(listed: list[str], question: str, k: int) -> None:
    """The first k are the first k of all, whatever was not read."""
    index = Index()
    for number, text in enumerate(listed):
        index.add(f"{number:03}", text)
    few, every = search([index], question, k), search([index], question, 1000)
    assert [hit.id for hit in few] == [hit.id for hit in every[:k]]


def test_common_words_do_not_make_a_query_long() -> None:
    """Beyond the postings that are read, commoner words still add to the candidates' scores."""
    before = lexical.MOST_READ
    try:
        lexical.MOST_READ = 50
        index = Index()
        for number in range(1000):
            index.add(f"{number:04}", f"common thing number{number % 97}")
        index.add("rare", "common rare thing")
        hits = search([index], "common rare thing", 3)
        assert hits[0].id == "rare" and set(hits[0].words) == {"common", "rare", "thing"}
        assert len(search([index], "common", 5)) == 5
        index.remove(search([index], "common", 1)[0].id)
        assert len(search([index], "common", 5)) == 5
    finally:
        lexical.MOST_READ = before


def test_two_indices_are_one_collection() -> None:
    """A word's weight comes from both, so their scores can be compared."""
    one, two, both = Index(), Index(), Index()
    for number, text in enumerate(["red door", "red house", "red roof", "blue door"]):
        (one if number % 2 else two).add(str(number), text)
        both.add(str(number), text)
    apart = [hit.id for hit in search([one, two], "blue door", 4)]
    assert apart == [hit.id for hit in search([both], "blue door", 4)]


def test_containing() -> None:
    index = Index()
    index.add("a", "Deploy with kubectl")
    index.add("b", "스테이징에 배포")
    assert index.containing("KUBE") == ["a"]
    assert index.containing("테이징") == ["b"]
    index.remove("a")
    assert index.containing("kube") == []
