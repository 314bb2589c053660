"""Guards that a correction outlives its session without a model, as exactly what was corrected."""

from typing import Any

import pytest

from hmd.core.config import Settings
from hmd.learn.candidates import guards_of, keep
from hmd.learn.episodes import Episode
from hmd.learn.matching import Rule
from hmd.learn.reconcile import State
from hmd.learn.rows import DAY, Add, Attach, Row
from tests.learn.making import MISSING, T0, calls, episodes_of, fact, learn
from tests.learn.play import Session


def story(name: str = "s1", at: int = T0) -> list[Episode]:
    """Case O-08, to the end of its session."""
    session = Session(name, at)
    session.say("Run the tests.")
    session.bash("cd web && npm test", MISSING)
    session.stop()
    session.say("don't use npm here, use pnpm")
    session.bash("cd web && pnpm test")
    session.stop()
    session.end()
    return episodes_of(session)


def test_a_correction_is_kept_for_review() -> None:
    state = State()
    plan = keep(state, story(), Settings(), T0)
    (row,) = state.rows.values()
    assert [type(change) for change in plan.changes] == [Add]
    assert (row.status, row.level, row.evidence, row.source) == (
        "candidate",
        "advise",
        "user_said",
        "guard",
    )
    assert row.summary == "The user said: “don't use npm here, use pnpm”"
    assert row.details.endswith("What worked: cd web && pnpm test")
    assert row.sig is not None
    assert row.replay == ""
    rule = Rule(row.sig)
    assert rule.meets(calls("cd web && npm test")[0])
    assert not rule.meets(calls("npm test")[0])  # the directory belongs to it
    assert not rule.meets(calls("cd web && pnpm test")[0])


@pytest.mark.parametrize(
    ("tool", "fields", "said", "spec"),
    [
        (
            "Edit",
            {"file_path": "/srv/app/gen[x]/api.ts"},
            "don't edit api.ts, change its template",
            "edit:path:glob:gen[[]x]/api.ts",
        ),
        (
            "mcp__mail__send_message",
            {"to": "all@example.org", "body": "hello there"},
            "never call send_message for this",
            "mcp:mail/send_message:input:substring:",
        ),
    ],
)
def test_edits_and_mcp_calls(tool: str, fields: dict[str, Any], said: str, spec: str) -> None:
    """Case O-07: the rule matches the very call that taught it, whatever the tool."""
    session = Session()
    session.say("go")
    session.call(tool, fields)
    session.stop()
    session.say(said)
    session.stop()
    episodes = episodes_of(session)
    state = State()
    keep(state, episodes, Settings(), T0)
    (row,) = state.rows.values()
    assert row.sig is not None
    assert row.sig.spec.startswith(spec)
    assert Rule(row.sig).meets(episodes[0].calls[0])


def test_a_guard_that_was_overridden_twice_is_not_kept() -> None:
    session = Session()
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.stop()
    session.say("don't use npm here, use pnpm")
    session.stop()
    for _ in range(2):
        session.say("go on")
        session.bash("npm test", "held")
        session.event("PostToolBatch", tool_calls=[])
        session.at += 2000
        session.bash("npm test")
        session.stop()
    assert sum(len(one.overridden) for one in episodes_of(session)) == 2
    assert guards_of(episodes_of(session)) == []


def test_said_again_it_is_evidence_and_nothing_counts_twice() -> None:
    state = State()
    keep(state, story("s1"), Settings(), T0)
    assert keep(state, story("s1"), Settings(), T0).changes == []
    keep(state, story("s2", T0 + DAY), Settings(), T0 + DAY)
    (row,) = state.rows.values()
    assert (len(row.sessions), row.status) == (2, "candidate")
    row.status = "rejected"
    assert keep(state, story("s3", T0 + 2 * DAY), Settings(), T0).changes == []


def test_extraction_takes_its_place_in_either_order() -> None:
    session = Session("s1", T0)
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.stop()
    session.say("don't use npm test here, use pnpm")
    session.bash("pnpm test")
    session.stop()
    episodes = episodes_of(session)
    results = []
    for first in ("guard", "fact"):
        state = State()
        if first == "guard":
            keep(state, episodes, Settings(), T0)
        learn(state, episodes[1], fact())
        keep(state, episodes, Settings(), T0)
        (row,) = state.rows.values()
        results.append((row.summary, row.status, row.level, row.source, len(row.supports)))
    assert results[0] == results[1]
    assert results[0][1:] == ("active", "soft_deny", "extraction", 1)


def test_a_persons_rule_gets_the_evidence_only() -> None:
    mine = Row(id="h", project="p" * 32, authority="human", status="active")
    first = State()
    keep(first, story(), Settings(), T0)
    mine.sig = next(iter(first.rows.values())).sig
    state = State(rows={"h": mine})
    assert [type(one) for one in keep(state, story(), Settings(), T0).changes] == [Attach]
    assert mine.status == "active"


def test_forgotten_words_are_not_kept() -> None:
    state = State()
    keep(state, story(), Settings(), T0, forgotten=lambda text: "npm" in text)
    assert state.rows == {}
