"""Statements that say nearly the same: every script, and a sieve that hides none."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.similar import Sieve, similarity, sketch, words


@pytest.mark.parametrize(
    ("one", "other", "at_least"),
    [
        ("도쿄에서 커피를 마신다", "도쿄에서는 커피를 마신다", 0.6),
        ("コーヒーを飲む", "コーヒーを毎朝飲む", 0.5),
        ("我每天早上喝咖啡", "我每天喝咖啡", 0.5),
        ("деплой идёт через Fly", "деплой всегда идёт через Fly", 0.7),
        ("The CAFÉ opens at nine", "the cafe opens at nine", 1.0),
        ("النشر عبر الخادم الجديد", "النشر عبر الخادم", 0.7),
        ("การติดตั้งผ่านเซิร์ฟเวอร์", "การติดตั้งผ่านเซิร์ฟเวอร์ใหม่", 0.7),
    ],
)
def test_near_duplicates_in_every_script(one: str, other: str, at_least: float) -> None:
    """Guards N14 for warnings: particles, missing blanks and accents hide no duplicate."""
    assert similarity(words(one), words(other)) >= at_least
    assert similarity(words(one), words("something else altogether")) == 0


@given(
    st.lists(
        st.sampled_from("deploy deploys the of box café 도쿄에서 x1 build".split()), max_size=9
    ),
    st.lists(st.sampled_from("Deploy deploys the of BOX cafe 도쿄 x1 rebuild".split()), max_size=9),
    st.sampled_from([0.1, 0.5, 0.75, 1.0]),
)
@settings(derandomize=True, max_examples=200)
def test_the_sieve_lets_through_all_that_counts(
    one: list[str], other: list[str], least: float
) -> None:
    """Guards the quick test before the comparison: it never hides a duplicate."""
    first, second = " ".join(one), " ".join(other)
    if similarity(words(first), words(second)) >= least:
        assert Sieve(first, least).may(sketch(second))


@given(st.text(max_size=300), st.text(max_size=300))
@settings(derandomize=True, max_examples=200)
def test_no_text_is_hidden_by_the_sieve(one: str, other: str) -> None:
    """Guards the same for words by the hundred, which share their bits."""
    text = f"{one} {other}"
    share = similarity(words(one), words(text))
    assert Sieve(one, share).may(sketch(text))
    assert Sieve(text, share).may(sketch(one))


def test_a_sieve_leaves_little() -> None:
    """Guards that it sieves: of statements of other words, hardly any is read; of a row whose
    words were never told, all."""
    mine = Sieve("the build box runs debian eleven today", 0.5)
    others = [f"alpha{n} beta{n} gamma{n} delta{n} epsilon{n} zeta{n}" for n in range(1000)]
    assert sum(mine.may(sketch(text)) for text in others) < 50
    assert mine.may(-1)
    assert -(2**63) <= sketch(" ".join(f"word{n}" for n in range(1000))) < 2**63
