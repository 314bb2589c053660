"""Two registrations of one event (the user's and the project's): one decision, one text, one
record."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.live.figures import Figure
from tests.live.host import Answer, Host, Session

pytestmark = pytest.mark.live


@pytest.fixture
def twice(host: Host) -> Session:
    project = host.repository()
    host.install(project)
    done = host.hmctl("install", "--project", "--skip-self-test", cwd=project)
    assert "registered twice" in done.stdout + done.stderr
    for level, command in (("deny", "git push"), ("soft_deny", "npm install")):
        host.rule(project, f"bash:command:cmd:{command}", level, f"a rule at {level}")
    host.rule(project, "bash:command:cmd:cargo build", "advise", "use just")
    return Session(host, project)


def entries(session: Session, event: str) -> "list[list[str]]":
    local = Path(session.project, ".claude", "settings.local.json")
    return [session.host.entry(event), session.host.entry(event, local)]


def together(session: Session, event: str, **fields: object) -> list[Answer]:
    """Both hooks of one event, at once, as the host runs them."""
    payload = session.payload(event, **fields)
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(
            lambda words: session.host.hook(event, payload, words=words), entries(session, event)
        )
        return list(answers)


@pytest.mark.parametrize("served", [True, False])
def test_two_registrations_count_once(twice: Session, served: bool, figure: Figure) -> None:
    """Guards DESIGN "Ledger": the same event in another delivery gets the same decision and reason
    and no second text, at once and one after the other; the retry still passes, counted once."""
    host = twice.host
    host.start() if served else host.stop()
    doubled = 0
    rounds = 5
    for number in range(rounds):
        for command, decision in (("git push", "deny"), ("npm install", "deny")):
            twice.prompt(f"round {number} of {command}")
            call = twice.call(command=f"{command} p{number}")
            answers = together(twice, "PreToolUse", **call)
            assert [answer.decision for answer in answers] == [decision] * 2
            assert answers[0].reason == answers[1].reason
            doubled += sum(b"systemMessage" in answer.out for answer in answers) == 2
            assert any(b"systemMessage" in answer.out for answer in answers)
    call = twice.call(command="cargo build")
    told = [answer.context for answer in together(twice, "PreToolUse", **call)]
    assert sorted(map(bool, told)) == [False, True]
    assert doubled == 0
    # The event counts once, whoever reported it first.
    lines = [line["e"] for line in host.ledger(twice.name)]
    assert len(lines) >= len(set(lines))
    held = [line for line in host.ledger(twice.name) if line.get("fired")]
    assert {line["e"] for line in held} == {
        f"pre_tool:toolu_s1_{n}" for n in range(1, 2 * rounds + 2)
    }
    extra = len(lines) - len(set(lines))
    figure(
        f"registered twice, daemon {'up' if served else 'down'}: {2 * rounds + 1} calls, no"
        f" doubled text; {extra} second reports in the ledger, each event counted once"
    )


@pytest.mark.parametrize("served", [True, False])
def test_a_retry_passes_once_for_both(twice: Session, served: bool) -> None:
    """Guards the wave: the second report of the held call is no retry, the second report of the
    retry is no second override."""
    twice.host.start() if served else twice.host.stop()
    twice.prompt("install")
    first = twice.call(command="npm install")
    assert [answer.decision for answer in together(twice, "PreToolUse", **first)] == ["deny"] * 2
    together(twice, "PostToolBatch", tool_calls=[{**first, "tool_response": "held"}])
    second = twice.call(command="npm install")
    assert [answer.decision for answer in together(twice, "PreToolUse", **second)] == [""] * 2
    passed = {
        line["e"]
        for line in twice.host.ledger(twice.name)
        if any(entry[2] == "passed" for entry in line.get("fired", []))
    }
    assert passed == {"pre_tool:" + second["tool_use_id"]}


def test_a_prompt_reported_twice_is_one_turn(twice: Session) -> None:
    """Guards events without an id of their own: two reports within a moment are one prompt."""
    from hmd.kernel.address import session_key
    from hmd.kernel.turn import Turn, catch_up

    twice.host.start()
    together(twice, "UserPromptSubmit", prompt="the same words")
    turn = Turn()
    catch_up(turn, twice.host.home.ledger(session_key("claude-code", twice.name)))
    assert turn.number == 1
