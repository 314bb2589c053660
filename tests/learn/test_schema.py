"""Guards how a model's answer is read: strictly, one bad fact never taking the others with it."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.learn.schema import json_schema, line_number, read_answer, read_fact


def fact(**more: Any) -> dict[str, Any]:
    return {
        "action": "create",
        "target": "",
        "type": "pitfall",
        "summary": "npm test fails here; run pnpm test",
        "details": "",
        "scope_glob": "**",
        "relevant_tools": None,
        "trigger_signature": {
            "tool": "bash",
            "target": "command",
            "pattern_kind": "cmd",
            "pattern": "npm test",
        },
        "lifecycle_triggers": ["before_tool"],
        "confidence": 0.9,
        "evidence_refs": ["e1"],
        "knowledge_kind": "correction",
        "rationale": "said so",
        "aliases": [],
        **more,
    }


def answer(*facts: Any) -> str:
    return json.dumps({"episode_summary": "x", "nothing_to_learn": False, "facts": list(facts)})


def test_a_good_answer() -> None:
    found = read_answer(answer(fact()), lines=4)
    assert found.suspect == ""
    read, problem = read_fact(found.facts[0])
    assert problem == ""
    assert read is not None
    assert read.trigger_signature is not None
    assert read.trigger_signature.pattern == "npm test"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I have learned that…", "not JSON"),
        ("[]", "no list of facts"),
        ('{"facts": 3}', "no list of facts"),
        (answer(*[fact()] * 9), "9 facts"),
        (answer(fact(evidence_refs=["e1", "e8", "e9"])), "2 of 3 citations"),
        (answer(fact(evidence_refs=["line 1"])), "1 of 1 citations"),
    ],
)
def test_suspect_answers_are_skipped_whole(text: str, why: str) -> None:
    assert why in read_answer(text, lines=4).suspect


@pytest.mark.parametrize(
    "change",
    [
        {"action": "delete"},
        {"type": "rumour"},
        {"summary": "short"},
        {"summary": "x" * 161},
        {"confidence": 2},
        {"evidence_refs": []},
        {"aliases": ["a"] * 9},
        {"level": "deny"},
    ],
)
def test_a_fact_of_the_wrong_shape_is_named(change: dict[str, Any]) -> None:
    read, problem = read_fact(fact(**change))
    assert read is None
    assert problem


def test_every_object_of_the_schema_is_closed_and_complete() -> None:
    """Both hosts' strict modes want every property required and no other allowed."""
    seen = 0
    stack: list[Any] = [json_schema()]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if one.get("type") == "object":
                seen += 1
                assert one["additionalProperties"] is False
                assert set(one["required"]) == set(one["properties"])
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    assert seen == 3
    assert set(fact()) == set(json_schema()["properties"]["facts"]["items"]["properties"])


def test_line_numbers() -> None:
    assert line_number("e12") == 12
    assert [line_number(bad) for bad in ("e", "12", "e-1", "e١", None, "e" + "9" * 30)] == [0] * 6


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.one_of(st.text(), st.binary()), st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
))  # fmt: skip
def test_nothing_that_a_model_says_raises(data: str | bytes, raw: object) -> None:
    read_answer(data, 3)
    read_answer(json.dumps({"facts": [raw]}), 3)
    read_fact(raw)
