"""What tells relevance from coincidence."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.config import BeforeModel
from hmd.recall.gate import PIECES, Question, chance, paragraphs, rate
from hmd.recall.tokenize import tokens

LEAST = BeforeModel().min_score


def relevance(words: Iterable[str], found: Iterable[str], length: int) -> float:
    return Question(words, {}).relevance(found, length)


def about(question: str, text: str) -> float:
    found = set(tokens(text))
    return relevance(dict.fromkeys(tokens(question, asked=True)), found, len(tokens(text)))


MEMORY = "run migrations with alembic upgrade head before the tests, never by hand"


def test_a_question_about_it_passes() -> None:
    assert about("how do I run the alembic migrations?", MEMORY) > LEAST


def test_common_words_alone_do_not() -> None:
    assert about("tell me the best way to get home before the day is over", MEMORY) < LEAST / 2
    assert about("what is the best way to make a list?", MEMORY) == 0


def test_all_of_a_question_of_common_words_is_not_much() -> None:
    """Every text of some length has them."""
    text = "the function returns a list of values; " * 60
    assert about("return a list of values from a function", text) < LEAST


def test_rare_words_tell_more_than_common_ones() -> None:
    assert rate("alembic") < rate("valu") and chance("alemb", 20) < chance("valu", 20)


def test_a_letter_or_a_digit_is_no_rare_word() -> None:
    assert rate("x") == rate("7") > rate("postgresq")


def test_long_texts_have_common_words_anyway() -> None:
    assert chance("list", 300) > chance("list", 10)


def test_a_word_that_many_texts_have_tells_less() -> None:
    assert chance("alemb", 20, 0.5) == 0.5 > chance("alemb", 20)


def test_a_long_question_shares_something_with_everything() -> None:
    """The same words found tell less where more was asked."""
    words = "file return type error list string function value path check test name".split()
    found = set(words[:4])
    assert relevance(words[:4], found, 200) > 1.5 * relevance(words, found, 200)


def test_a_borrowed_word_is_one_word() -> None:
    """Of four pairs of one katakana word three follow from the first."""
    word, four = ["ヨー", "ーロ", "ロッ", "ッパ"], ["印刷", "中心", "経済", "法律"]
    rest = ["歴史", "文化", "産業", "発展"]
    one = relevance([*word, *rest], set(word), 200)
    assert one < relevance([*four, *rest], set(four), 200)


def test_nothing_asked_is_about_nothing() -> None:
    assert relevance([], [], 10) == 0


@settings(derandomize=True, max_examples=60)
@given(st.text("abcd あアー漢的한글 7", max_size=60), st.integers(0, 5000), st.floats(0, 1))
def test_it_is_a_share_whatever_is_asked(question: str, length: int, share: float) -> None:
    """In [0, 1), and never less for a text that has more of the question."""
    words = list(dict.fromkeys(tokens(question, asked=True)))
    shares = dict.fromkeys(words[::2], share)
    held = Question(words, shares)
    told = [held.relevance(words[:n], length) for n in range(len(words) + 1)]
    assert told == sorted(told) and told[0] >= 0 and told[-1] < 1


CODE = "def size(self, path):\n    return os.stat(path).st_size\n\n    # bytes"


def test_pasted_code_is_not_what_is_asked() -> None:
    prompt = f"why is it slow?\n\n```python\n{CODE}\n```\n\nand on Windows?"
    assert [one.strip() for one in paragraphs(prompt)] == ["why is it slow?", "and on Windows?"]
    assert paragraphs(f"look:\n~~~\n{CODE}")[0].strip() == "look:"


def test_nothing_but_code_is_asked_as_it_is() -> None:
    prompt = f"```\n{CODE}\n```"
    assert paragraphs(prompt) == [prompt] and paragraphs("") == [""] and paragraphs("\n") == ["\n"]


def test_a_fence_in_a_line_opens_nothing() -> None:
    assert paragraphs("what does ``` mean\nin Markdown?") == ["what does ``` mean\nin Markdown?"]


def test_of_very_many_paragraphs_the_first_count() -> None:
    assert len(paragraphs("one\n\n" * 1000)) == PIECES


@settings(derandomize=True, max_examples=80)
@given(st.text("`~ a\n", max_size=40))
def test_there_is_always_something_asked(prompt: str) -> None:
    assert paragraphs(prompt)
