"""Guards the whole way from a session's ledger to rules, in the situations that matter most."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.config import Settings
from hmd.learn.candidates import keep
from hmd.learn.episodes import IDLE, fold_session
from hmd.learn.fixes import Book, learn
from hmd.learn.matching import Rule
from hmd.learn.prompt import render
from hmd.learn.reconcile import State, reconcile
from hmd.learn.schema import Answer
from hmd.learn.validate import check
from tests.learn.making import T0, calls, episodes_of, fact, judge, signature
from tests.learn.play import Session


def test_a_call_that_worked_and_was_corrected() -> None:
    """Case O-07: the rule is active, holds, and matches the very call that taught it."""
    session = Session()
    session.say("Clean up staging.")
    session.bash("kubectl delete ns staging")
    session.stop()
    session.say("Never delete a namespace with kubectl delete, QA was using staging!")
    session.stop()
    episode = episodes_of(session)[1]
    learned = judge(
        episode,
        fact(
            summary="Deleting the staging namespace takes QA down",
            trigger_signature=signature("kubectl delete ns staging"),
        ),
    ).learned
    state = State()
    reconcile(state, episode, learned, Settings(), T0, past=episodes_of(session)[0].calls)
    (row,) = state.rows.values()
    assert (row.status, row.level, row.evidence) == ("active", "soft_deny", "user_said")
    assert row.sig is not None
    assert Rule(row.sig).meets(calls("kubectl delete ns staging")[0])


def test_secrets_of_a_tools_output_reach_neither_model_nor_memory() -> None:
    """Case O-15, for the part that learning has in it."""
    secrets = [
        "sk-ant-" + "api03-" + "Ab1Cd2Ef3G" * 9 + "AA",
        "ghp_" + "A1b2C3d4E5" * 4,
        "sbp_" + "0123456789" * 4,
    ]
    address = "postgres://svc:Hunter2Hunter2@db.example.org/app"
    session = Session()
    session.say("no, read the settings from .env instead")
    session.bash("cat .env", out="\n".join([*(f"KEY={one}" for one in secrets), address]))
    session.bash("make up", f"Exit code 2\nerror: cannot connect to {address}")
    session.stop(f"The key is {secrets[0]}.")
    (episode,) = episodes_of(session)
    learned = judge(
        episode,
        fact(
            summary="make up needs the address of the database",
            trigger_signature=signature("make up"),
            evidence_refs=["e1", "e3", "e5"],
        ),
    ).learned
    state = State()
    reconcile(state, episode, learned, Settings(), T0)
    book = Book()
    learn(book, [episode])
    kept = render(episode) + str(state) + str(book)
    for secret in [*secrets, "Hunter2Hunter2"]:
        assert secret not in kept
    assert state.rows


def test_two_thousand_calls_without_a_correction_teach_nothing() -> None:
    session = Session()
    session.start()
    for turn in range(40):
        session.say("go on with the next module")
        for number in range(50):
            if number % 5 == 0:
                session.edit(f"src/m{turn}.py")
            elif number % 5 == 1:
                session.read(f"src/m{number}.py")
            else:
                session.bash(["make build", "git status", "pytest tests"][number % 3])
        session.stop("Done.")
    session.end()
    episodes = episodes_of(session)
    assert sum(len(one.calls) for one in episodes) == 2000
    assert [one for one in episodes if one.signal] == []
    book, state = Book(), State()
    learn(book, episodes)
    keep(state, episodes, Settings(), T0)
    assert (book.fixes, state.rows) == ({}, {})


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = [
    "t",
    "d",
    "e",
    "k",
    "p",
    "w",
    "a",
    "tool",
    "use",
    "input",
    "keyed",
    "tokens",
    "paths",
    "text",
]
KEYS += ["error", "class", "calls", "fired", "out", "guards", "background", "output", "dialect"]
KINDS = ["prompt", "pre_tool", "post_tool", "tool_failure", "tool_batch", "stop", "pre_compact"]
RECORD = st.fixed_dictionaries(
    {
        "k": st.sampled_from(KINDS),
        "e": st.text(min_size=1, max_size=3),
        "t": st.integers(0, 10**13),
    },
    optional={key: VALUE for key in KEYS if key not in ("k", "e", "t")},
)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(RECORD, max_size=8), st.lists(VALUE, max_size=2))
def test_no_ledger_and_no_answer_raises(records: list[dict[str, Any]], facts: list[Any]) -> None:
    """A torn or foreign ledger, and whatever a model says about it."""
    read = json.loads(json.dumps(records))
    episodes = fold_session("claude-code", "s", read, 10**13 + IDLE)
    learn(Book(), episodes)
    state = State()
    for episode in episodes:
        assert len(render(episode, state.rows.values())) <= 24_000
        checked = check(Answer(facts=[*facts, fact()]), episode, state.rows.values())
        reconcile(state, episode, checked.learned, Settings(), T0, episode.calls)
    keep(state, episodes, Settings(), T0)
