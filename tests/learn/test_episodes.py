"""Guards the fold from ledger to episodes: what closes one, what it weighs, that its id stays."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.learn.episodes import IDLE, Episode, Folder, fold_session
from tests.learn.play import Session

MISSING = 'Exit code 1\nnpm error Missing script: "test"'


def fold(session: Session, later: int = 0) -> list[Episode]:
    return fold_session("claude-code", session.name, session.records, session.at + later)


def test_each_way_to_close() -> None:
    session = Session()
    session.say("one")
    session.bash("ls")
    session.stop()
    session.say("two")
    session.bash("ls")
    session.event("PreCompact", trigger="auto")
    session.bash("make")
    session.say("three")
    session.bash("ls")
    session.at += IDLE
    session.bash("ls")
    session.end()
    session.say("four")
    found = fold(session, IDLE)
    assert [(one.turn, one.segment, one.closed) for one in found] == [
        (1, 1, "stop"),
        (2, 1, "pre_compact"),
        (2, 2, "interrupted"),
        (3, 1, "idle"),
        (3, 2, "session_end"),
        (4, 1, "idle"),
    ]
    assert len({one.id for one in found}) == len(found)


def test_a_session_that_died_is_closed_only_after_the_idle_hour() -> None:
    session = Session()
    session.say("one")
    session.bash("make", "Exit code 2\nmake: *** Error 1")
    assert fold(session, IDLE - 1) == []
    (episode,) = fold(session, IDLE)
    assert (episode.closed, episode.weight) == ("idle", 1)


def test_weights() -> None:
    session = Session()
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.stop()
    session.say("Don't use npm here. Remember this: the project uses pnpm.")
    session.bash("pnpm test")
    session.stop()
    first, second = fold(session)
    assert first.weight == 1
    # correction 2 + remember 3 + the failure of the turn before, resolved here: 2
    assert second.weight == 7
    assert second.failures[0].inherited
    assert second.failures[0].resolved_by is second.calls[0]
    assert first.failures[0].resolved_by is None
    assert [call.input for call in second.context] == ["npm test"]


def test_a_success_of_something_else_resolves_nothing() -> None:
    session = Session()
    session.say("go")
    session.bash("npm test", MISSING)
    session.bash("ls")
    session.stop()
    assert fold(session)[0].weight == 1


def test_a_failure_that_only_the_batch_shows_counts() -> None:
    session = Session()
    session.say("go")
    call: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "make all"},
        "tool_use_id": "u1",
    }
    session.event("PreToolUse", **call)
    session.event("PostToolBatch", tool_calls=[{**call, "tool_response": "Exit code 2\nboom"}])
    session.stop()
    (episode,) = fold(session)
    assert [failure.call.failure for failure in episode.failures] == ["exit_2"]
    assert episode.weight == 1


def test_looking_around_and_an_answer_of_no_are_no_signal() -> None:
    session = Session()
    session.say("where is it?")
    session.read("src/a.py")
    session.stop("We decided on src/a.py.")
    session.say("and the config?")
    session.bash("grep -rn load_config src", "Exit code 1")
    session.stop()
    looking, searching = fold(session)
    assert not looking.signal
    assert searching.weight == 0
    assert not searching.signal


def test_an_interrupted_call_is_no_failure() -> None:
    session = Session()
    session.say("go")
    session.event(
        "PreToolUse", tool_name="Bash", tool_input={"command": "sleep 9"}, tool_use_id="u1"
    )
    session.event(
        "PostToolUseFailure",
        tool_name="Bash",
        tool_input={"command": "sleep 9"},
        tool_use_id="u1",
        error="[Request interrupted by user for tool use]",
        is_interrupt=True,
    )
    session.stop()
    assert fold(session)[0].failures == []


def test_held_and_heeded_and_overridden() -> None:
    session = Session()
    session.say("Run the tests.")
    session.bash("npm test", MISSING)
    session.stop()
    session.say("We don't use npm here, use pnpm.")
    session.stop()
    session.say("again")
    session.event(
        "PreToolUse", tool_name="Bash", tool_input={"command": "npm test"}, tool_use_id="h1"
    )
    session.bash("pnpm test")
    session.stop()
    held = fold(session)[2]
    assert held.heeded == [held.fired[0].memory]
    assert held.overridden == []
    assert held.calls[0].state == "held"


def test_what_is_closed_never_changes_and_a_later_segment_counts_the_outcome() -> None:
    session = Session()
    session.say("go")
    call = {"tool_name": "Bash", "tool_input": {"command": "make all"}, "tool_use_id": "u1"}
    session.event("PreToolUse", **call)
    session.event("PreCompact", trigger="auto")
    session.event("PostToolUseFailure", error="Exit code 2\nboom", **call)
    session.stop()
    before, after = fold(session)
    assert [one.state for one in before.calls] == ["open"]
    assert [one.state for one in after.calls] == ["failed"]
    assert (before.weight, after.weight) == (0, 1)


def test_background_prompts_begin_no_turn() -> None:
    session = Session()
    session.say("go")
    session.bash("ls")
    session.say("<task-notification>\ndone, don't repeat it</task-notification>")
    session.stop()
    (episode,) = fold(session)
    assert not episode.corrects


STEPS = st.lists(
    st.sampled_from(["say", "no", "ok", "fail", "edit", "read", "stop", "compact", "end", "wait"]),
    max_size=25,
)


def play(steps: list[str]) -> Session:
    session = Session()
    act = {
        "say": lambda: session.say("go on"),
        "no": lambda: session.say("no, don't do that"),
        "ok": lambda: session.bash("make test"),
        "fail": lambda: session.bash("make test", "Exit code 2\nerror 7"),
        "edit": lambda: session.edit("a.py"),
        "read": lambda: session.read("a.py"),
        "stop": session.stop,
        "compact": lambda: session.event("PreCompact", trigger="auto"),
        "end": session.end,
    }
    for step in steps:
        if step == "wait":
            session.at += IDLE
        else:
            act[step]()
    return session


@settings(derandomize=True, max_examples=40, deadline=None)
@given(STEPS, st.integers(0, 60))
def test_sweeping_at_any_time_and_reporting_twice_change_nothing(steps: list[str], at: int) -> None:
    """Ids and contents depend on the ledger alone, not on when or how often it was read."""
    session = play(steps)
    whole = fold(session, IDLE)
    folder = Folder("claude-code", session.name)
    parts: list[Episode] = []
    for number, record in enumerate(session.records):
        if number == at:
            parts += folder.sweep(int(record["t"]))
        parts += folder.feed(record)
        assert folder.feed({**record, "d": "again"}) == []
    parts += folder.sweep(session.at + IDLE)
    assert parts == whole
    assert len({one.id for one in whole}) == len(whole)
    assert all(0 <= one.weight <= 10 for one in whole)
