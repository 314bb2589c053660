"""What a refusal tells to do works, in one step, from where the reader stands (O-05)."""

import re

import pytest

from tests.live.host import Answer, Session, Town

pytestmark = pytest.mark.live

NPM_TEST = "bash:command:cmd:npm test"
COMMAND = re.compile(r"hmctl(?: [a-z0-9_-]+)+")


def told(answer: Answer) -> list[str]:
    """The commands of ours that a text tells to run."""
    notice = answer.out.decode()
    return [found.group() for found in COMMAND.finditer(answer.reason or notice)]


def no_dead_ends(session: Session, answer: Answer) -> None:
    """No assignment before a command (a hook does not see it), nothing that we hold ourselves."""
    assert not re.search(r"\b[A-Z][A-Z_]+=\S", answer.out.decode())
    for command in told(answer):
        assert not session.pre(command).held, command


def test_a_soft_refusal_lets_the_retry_pass(town: Town) -> None:
    """Guards the first half of O-05: the text says to make the same call again; it passes."""
    session = town.place("soft", (NPM_TEST, "soft_deny"))
    session.prompt("test it")
    call = session.call(command="npm test")
    first = session.send("PreToolUse", **call)
    assert first.decision == "deny" and "same call again" in first.reason
    no_dead_ends(session, first)
    session.batch()
    assert session.pre("npm test").out == b""
    session.batch()
    assert session.pre("npm test").out == b""
    session.prompt("and once more")
    assert session.pre("npm test").decision == "deny"


def test_a_hard_refusal_names_who_lifts_it_and_how(town: Town) -> None:
    """Guards the second half: the command in the text works for the person at a terminal, and only
    proposes where the agent runs it; a retry is not offered and does not pass."""
    session = town.place("hard", (NPM_TEST, "deny"))
    answer = session.pre("npm test")
    assert answer.decision == "deny" and "again" not in answer.reason
    assert "user" in answer.reason
    (command,) = told(answer)
    no_dead_ends(session, answer)
    session.batch()
    assert session.pre("npm test").decision == "deny"
    words = command.split()[1:]
    town.host.hmctl(*words, cwd=session.project, CLAUDECODE="1")
    assert session.pre("npm test").decision == "deny"
    town.host.hmctl(*words, cwd=session.project)
    after = session.pre("npm test")
    assert after.decision == "" and after.context


def test_the_text_is_right_where_two_rules_meet(town: Town) -> None:
    """A neighbour: one call, a rule that passes at the retry and one that never does. The text of
    the call that is refused never promises the retry, and lifting works rule by rule."""
    session = town.place("both", (NPM_TEST, "soft_deny"), (NPM_TEST, "deny"))
    answer = session.pre("npm test")
    assert answer.decision == "deny" and "again" not in answer.reason
    (command,) = told(answer)
    town.host.hmctl(*command.split()[1:], cwd=session.project)
    session.batch()
    second = session.pre("npm test")
    assert second.decision == "deny" and "same call again" in second.reason
    session.batch()
    assert session.pre("npm test").decision == ""


def test_a_user_wide_rule_is_lifted_from_anywhere(town: Town) -> None:
    """A neighbour: the printed command does not depend on where the person stands."""
    session = town.place("wide")
    town.host.rule(session.project, "bash:command:cmd:telnet", "deny", "never", "--user-wide")
    answer = session.pre("telnet host 25")
    (command,) = told(answer)
    town.host.hmctl(*command.split()[1:], cwd=town.host.directory)
    assert session.pre("telnet host 25").decision == ""


def test_a_question_that_nobody_can_answer_is_a_hold(town: Town) -> None:
    """A neighbour: `ask` where nobody is there would be a denial for ever; the text promises the
    retry and keeps the promise."""
    session = town.place("asked", (NPM_TEST, "confirm"))
    assert session.pre("npm test").decision == "ask"
    session.mode = "bypassPermissions"
    first = session.pre("npm test")
    assert first.decision == "deny" and "same call again" in first.reason
    session.batch()
    assert session.pre("npm test").out == b""
    unattended = Session(town.host, session.project, "u", CLAUDE_CODE_ENTRYPOINT="sdk-cli")
    assert unattended.pre("npm test").decision == "deny"
    unattended.batch()
    assert unattended.pre("npm test").decision == ""


def test_a_hidden_program_can_be_written_out(town: Town) -> None:
    """A neighbour: the text of a hidden command says to write the program out; doing so decides
    by what it really is."""
    session = town.place("hidden", ("bash:command:cmd:git push", "deny"))
    answer = session.pre("$TOOL push origin")
    assert answer.decision == "deny" and "write it out" in answer.reason
    assert session.pre("docker push origin").out == b""


def test_the_correction_guard_lets_the_retry_pass(town: Town) -> None:
    """A neighbour: what was learned from the user's words a moment ago has the same way out."""
    session = town.place("guarded")
    session.prompt("test it")
    session.failed("npm test")
    session.prompt("don't use npm here, use pnpm")
    session.ran("pnpm test")
    session.prompt("go on")
    first = session.pre("npm test")
    assert first.decision == "deny" and "same call again" in first.reason
    no_dead_ends(session, first)
    session.batch()
    assert session.pre("npm test").decision == ""


def test_our_own_question_is_no_dead_end(town: Town) -> None:
    """A neighbour: the built-in question before a change to our files names no rule to lift."""
    session = town.place("own")
    answer = session.pre(f"rm {town.host.home.path}/config.toml")
    assert answer.decision == "ask"
    assert told(answer) == [] and "built-in" not in "".join(told(answer))
