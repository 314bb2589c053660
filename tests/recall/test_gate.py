"""What tells relevance from coincidence."""

from hmd.recall.gate import rate, relevance, surprise
from hmd.recall.tokenize import tokens


def about(question: str, text: str) -> float:
    found = set(tokens(text))
    return relevance(dict.fromkeys(tokens(question, asked=True)), found, len(tokens(text)), {})


MEMORY = "run migrations with alembic upgrade head before the tests, never by hand"


def test_a_question_about_it_passes() -> None:
    assert about("how do I run the alembic migrations?", MEMORY) > 0.4


def test_common_words_alone_do_not() -> None:
    assert about("tell me the best way to get home before the day is over", MEMORY) < 0.25
    assert about("what is the best way to make a list?", MEMORY) == 0


def test_rare_words_tell_more_than_common_ones() -> None:
    assert rate("alembic") < rate("valu") and surprise("alemb", 20) > surprise("valu", 20)


def test_long_texts_have_common_words_anyway() -> None:
    assert surprise("list", 300) < surprise("list", 10)


def test_a_word_that_many_texts_have_tells_less() -> None:
    assert surprise("alemb", 20, 0.5) < surprise("alemb", 20)


def test_nothing_asked_is_about_nothing() -> None:
    assert relevance([], [], 10, {}) == 0
