"""Guards that what hmd put before the agent never comes back as evidence."""

from typing import Any

import pytest

from hmd.kernel import texts
from hmd.learn.evidence import classify, without_ours
from hmd.learn.words import tokens

SUMMARY = "Run the test suite with pnpm because npm is not installed here"
NAMES = frozenset(["npm", "test"])


def prompt(text: str, **more: Any) -> dict[str, Any]:
    return {"k": "prompt", "text": text, **more}


@pytest.mark.parametrize(
    "text",
    [
        f"[hmd] PITFALL (auto, provisional): {SUMMARY} — use pnpm test",
        f"blocked: [hmd] POLICY (human): {SUMMARY}",
        "hmd: pitfall 1234abcd held a call once (soft_deny)",
        texts.RETRY,
        texts.LIFT.format(id="1234abcd"),
        f"- {SUMMARY}",
        f"The hook said: “{SUMMARY}”",
        "the user said in this session: “don't use npm”. What worked: pnpm test",
    ],
)
def test_our_own_text_is_recognised(text: str) -> None:
    assert without_ours(text, [SUMMARY]) in ("", "blocked:")


def test_the_rest_of_a_text_stays() -> None:
    text = f"[hmd] PITFALL (auto): {SUMMARY}\nAssertionError: 1 != 2\nno, use yarn here"
    assert without_ours(text, [SUMMARY]) == "AssertionError: 1 != 2\nno, use yarn here"
    said = "don't run npm test, it downloads the whole internet; call pnpm in the web folder"
    assert without_ours(said, [SUMMARY]) == said


def test_classes() -> None:
    failed = {"k": "tool_failure", "error": "Exit code 1\nMissing script"}
    reply = {"k": "stop", "text": "npm test does not work"}
    said = prompt("don't use npm here")
    assert classify([said, failed], NAMES) == "user_said"
    assert classify([failed, reply], NAMES) == "tool_observed"
    assert classify([reply], NAMES) == "agent_inferred"
    # The prompt corrects something, but names nothing of this fact.
    assert classify([said], frozenset(["cargo"])) == "agent_inferred"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("don't use npm here", True),
        ("No. We use pnpm, npm is gone.", True),
        ("npm 쓰지 마. pnpm 써.", True),
        ("Remember this: the suite runs with pnpm. It was npm once.", True),
        ("run npm test", False),
        ("No, the header is wrong. Then run npm test again.", False),
        ("use npm test instead of yarn", False),
        ("yarn 말고 npm test 써", False),
        ("why does npm test fail?", False),
    ],
)
def test_the_user_says_it_only_where_the_correction_is_about_it(text: str, said: bool) -> None:
    assert (classify([prompt(text)], NAMES) == "user_said") is said


def test_echoes_of_ours_prove_nothing() -> None:
    pasted = prompt(f"no, don't: [hmd] PITFALL (auto): {SUMMARY}")
    assert classify([pasted], NAMES, [SUMMARY]) == "agent_inferred"
    printed = {"k": "post_tool", "output": f"[hmd] PITFALL (auto): {SUMMARY}"}
    assert classify([printed], tokens(SUMMARY), [SUMMARY]) == "agent_inferred"
    task = prompt("don't use npm", background=True)
    assert classify([task], NAMES) == "agent_inferred"
