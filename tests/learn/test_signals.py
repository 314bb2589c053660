"""Guards which sentences raise a flag: a false correction costs a call of the model."""

import pytest

from hmd.learn.signals import has_correction, has_decision, has_remember, requests


@pytest.mark.parametrize(
    "text",
    [
        "don't use npm here, use pnpm",
        "No, the other file.",
        "that's not what I asked for",
        "Use tabs instead.",
        "revert that",
        "You forgot the index.",
        "아니, 그 파일 말이야",
        "npm 말고 pnpm으로",
        "main에 푸시하지 마",
        "틀렸어. 다시 해 봐.",
        "UTC 대신 서울 시간으로",
    ],
)
def test_corrections(text: str) -> None:
    assert has_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "don't forget to run the tests",
        "I don't know why it is slow",
        "Never mind.",
        "don't worry about the warning",
        "What is wrong here?",
        "Should I use pnpm instead?",
        "Add a test for the header.",
        "```\ndon't\n```",
        "> don't do that\nwhat does this mean",
        "테스트 돌리는 거 잊지 마",
        "경고는 걱정하지 마",
        "왜 대신 이걸 썼어?",
        "니가 만든 파일 좀 보여 줘",
        "",
    ],
)
def test_no_corrections(text: str) -> None:
    assert not has_correction(text)


@pytest.mark.parametrize(
    "text",
    [
        "Remember this: we deploy from the release branch.",
        "please remember that the id is a string",
        "From now on, run the linter before committing.",
        "Ok, keep in mind the API is frozen.",
        "기억해: 배포는 금요일에 안 해",
        "앞으로는 pnpm만 써",
    ],
)
def test_requests_to_remember(text: str) -> None:
    assert requests(text)
    assert has_remember(text)


@pytest.mark.parametrize(
    "text",
    [
        "I don't remember whether it was npm",
        "Do you remember the port?",
        "Remember when we changed it? Look there.",
        "remember to push when you are done",
        "I remember it being faster.",
        "그때 기억이 안 나",
        "앞으로 어떻게 배포되는지 설명해 줄래?",
        "from now on",
    ],
)
def test_no_requests(text: str) -> None:
    assert not requests(text)


def test_always_counts_only_where_it_opens_a_sentence_or_stands_beside_a_cue() -> None:
    assert has_remember("Always run the formatter.")
    assert has_remember("항상 테스트부터 돌려")
    assert not has_remember("This is always slow on my machine.")
    assert not has_remember("항상 이렇게 느려?")
    assert not requests("Always run the formatter.")


def test_decisions() -> None:
    assert has_decision("Done. We decided to keep SQLite.")
    assert has_decision("세션은 쿠키로 전환했습니다.")
    assert not has_decision("Shall we switch to SQLite?")
    assert not has_decision("All tests pass.")
