"""Short ways to an episode, a fact about it and a reconciled state."""

from typing import Any

from hmd.core.config import Settings
from hmd.learn.calls import Call
from hmd.learn.episodes import IDLE, Episode, fold_session
from hmd.learn.reconcile import Plan, State, reconcile
from hmd.learn.schema import Answer
from hmd.learn.validate import Checked, check
from tests.learn.play import Session

MISSING = 'Exit code 1\nnpm error Missing script: "test"'
RED = "Exit code 1\nFAILED tests/a.py::test_x - assert 1 == 2"
T0 = 1_700_000_000_000


def signature(pattern: str, kind: str = "cmd", tool: str = "bash") -> dict[str, str]:
    return {"tool": tool, "target": "", "pattern_kind": kind, "pattern": pattern}


def fact(**more: Any) -> dict[str, Any]:
    """A fact as a model gives it: the pitfall of the corrected `npm test`."""
    return {
        "action": "create",
        "target": "",
        "type": "pitfall",
        "summary": "npm test fails in this project; run pnpm test",
        "details": "",
        "scope_glob": "**",
        "relevant_tools": None,
        "trigger_signature": signature("npm test"),
        "lifecycle_triggers": ["before_tool"],
        "confidence": 0.9,
        "evidence_refs": ["e1"],
        "knowledge_kind": "correction",
        "rationale": "the user said so",
        "aliases": [],
        **more,
    }


def episodes_of(session: Session) -> list[Episode]:
    records = session.records
    return fold_session("claude-code", session.name, records, session.at + IDLE)


def corrected(
    name: str = "s1", said: str = "don't use npm test here, use pnpm", at: int = T0
) -> Episode:
    """A turn in which the user corrects the failed call of the turn before, and the fix works.
    e1 the prompt, e2 and e3 the fixing call, e4 the reply."""
    session = Session(name, at)
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.stop()
    session.say(said)
    session.bash("pnpm test")
    session.stop()
    return episodes_of(session)[1]


def resolved(name: str = "s1", at: int = T0) -> Episode:
    """A turn without any word of the user's: e2, e3 the failure, e4, e5 what resolved it."""
    session = Session(name, at)
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.bash("pnpm test")
    session.stop()
    return episodes_of(session)[0]


def judge(episode: Episode, *facts: dict[str, Any], state: State | None = None) -> Checked:
    rows = state.rows.values() if state is not None else ()
    return check(Answer(facts=list(facts)), episode, rows)


def learn(
    state: State,
    episode: Episode,
    *facts: dict[str, Any],
    settings: Settings | None = None,
    past: list[Call] | None = None,
    now: int = 0,
) -> Plan:
    """Validates and reconciles; every fact must pass the validator."""
    checked = judge(episode, *facts, state=state)
    assert not checked.rejected, checked.rejected
    return reconcile(
        state, episode, checked.learned, settings or Settings(), now or episode.ended, past or ()
    )


def calls(*commands: str, at: int = T0) -> list[Call]:
    """Past calls that went well; with `!` in front, one that failed."""
    session = Session(at=at)
    session.say("go")
    for command in commands:
        session.bash(command.lstrip("!"), "Exit code 1\nerror" if command[0] == "!" else "")
    session.stop()
    return episodes_of(session)[0].calls
