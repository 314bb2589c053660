"""Which words are found in a text, so that stored texts and questions meet."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.recall import tokenize
from hmd.recall.tokenize import tokens


def meets(question: str, text: str) -> bool:
    return bool(set(tokens(question, asked=True)) & set(tokens(text)))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("username", "call getUserName first"),
        ("user name", "call getUserName first"),
        ("getUserName", "the function get_user_name"),
        ("user_name", "userName is a column"),
        ("http server", "HTTPServer listens"),
        ("precommit", "run pre-commit"),
        ("pre-commit", "the commit hook"),
        ("utils", "look at src/utils/date.ts"),
        ("deploying", "deploys are on Friday"),
        ("cafe", "the café around the corner"),
        ("café", "the café around the corner"),
        ("ＡＰＩ", "the API"),
        ("커피", "커피를 마신다"),
        ("커피가", "커피를 마신다"),
        ("배포할 때", "배포는 금요일"),
        ("브랜치", "main 브랜치에서만"),
        ("スキーマ", "データベーススキーマを変更"),
        ("数据库", "修改数据库之前"),
        ("ฐานข้อมูล", "สำรองฐานข้อมูลก่อน"),
    ],
)
def test_meet(question: str, text: str) -> None:
    assert meets(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is the way of it", "what it is"),
        ("나이", "나는 회의에 간다"),
        ("회의", "의회는 열리지 않았다"),
        ("server", "service"),
    ],
)
def test_do_not_meet(question: str, text: str) -> None:
    """Words that say nothing, and other words that share a syllable."""
    assert not meets(question, text)


def test_a_question_has_no_single_characters_of_a_longer_run() -> None:
    """They are in nearly every text: they would cost most of the time and decide nothing."""
    assert tokens("배포", asked=True) == ["배포"]
    assert set(tokens("배포")) == {"배", "포", "배포"}
    assert tokens("물", asked=True) == ["물"]


def test_blobs_are_no_words() -> None:
    assert tokens("x" * 5000) == []


@settings(derandomize=True, max_examples=200)
@given(st.text())
def test_any_text_is_read(text: str) -> None:
    """Nothing raises, and what a question asks for is found in the same text."""
    assert set(tokens(text, asked=True)) <= set(tokens(text))


def test_a_word_met_before_gives_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of words that were taken apart belongs to nobody who was given it."""
    monkeypatch.setattr(tokenize, "_MOST_KNOWN", 20)
    text = "Deploying getUserName, (deploying) to real-time hosts; the end."
    first = tokens(text)
    tokens(text).append("more")
    assert tokens(text) == first
    assert tokens("deploying") == tokens("(deploying)") == ["deploy"]
    tokens(" ".join("abcdefghijklmnopqrstuvwxyz"))  # more different words than are kept
    assert tokens(text) == first
