"""A correction binds in the session it was given in, at once and without a model (O-08)."""

import os
import signal
from collections.abc import Callable

import pytest

from tests.live.host import Answer, Town

pytestmark = pytest.mark.live


def test_a_correction_binds_at_once(town: Town) -> None:
    """Guards O-08 as it is told: fails, corrected, the other works; the fourth turn is met."""
    session = town.place("o08")
    session.prompt("run the tests")
    session.failed("npm test")
    session.prompt("don't use npm here, use pnpm")
    session.ran("pnpm test")
    session.prompt("run the tests again")
    answer = session.pre("npm test")
    assert answer.held
    assert "don't use npm here, use pnpm" in answer.reason and "pnpm test" in answer.reason
    # It is about that call: neither another script nor another program is met.
    assert session.pre("pnpm test").out == b""
    assert session.pre("npm publish").out == b""


@pytest.mark.parametrize("dead", [1, 2, 3])
def test_it_binds_though_the_daemon_dies_in_between(town: Town, dead: int) -> None:
    """A neighbour: whichever of the steps the stub recorded alone."""
    session = town.place(f"dies{dead}")
    steps: list[Callable[[], Answer]] = [
        lambda: session.failed("make deploy"),
        lambda: session.prompt("never run make deploy; use ./ship.sh"),
        lambda: session.ran("./ship.sh"),
    ]
    town.host.start()
    for number, step in enumerate(steps, 1):
        if number == dead:
            os.kill(town.host.instance.serving_pid(), signal.SIGKILL)
        step()
    session.prompt("deploy")
    assert "never run make deploy" in session.pre("make deploy").reason


def test_it_binds_in_korean(town: Town) -> None:
    """A neighbour: the words of the other language, quoted whole."""
    session = town.place("korean")
    session.prompt("빌드해 줘")
    session.failed("yarn build")
    session.prompt("yarn build 말고 pnpm build 써줘")
    session.prompt("다시")
    assert "yarn build 말고 pnpm build 써줘" in session.pre("yarn build").reason


def test_it_binds_to_files_and_tools_as_well(town: Town) -> None:
    """A neighbour: an edit and an MCP call that the user takes back by name."""
    session = town.place("files")
    session.prompt("clean up")
    path = f"{session.project}/src/generated.py"
    edit = {"file_path": path, "old_string": "a", "new_string": "b"}
    session.about_to("Edit", **edit)
    session.batch()
    session.prompt("don't edit src/generated.py, change the template instead")
    session.prompt("next")
    assert "don't edit src/generated.py" in session.about_to("Edit", **edit).reason
    other = {**edit, "file_path": f"{session.project}/src/app.py"}
    assert session.about_to("Edit", **other).out == b""

    session.about_to("mcp__mail__send_message", to="a@example.org")
    session.batch()
    session.prompt("never use send_message, save a draft")
    session.prompt("next")
    assert session.about_to("mcp__mail__send_message", to="a@example.org").held


def test_it_ends_with_its_session_and_after_two_overrides(town: Town) -> None:
    """A neighbour: another session is not bound; an agent that goes on twice has settled it."""
    session = town.place("ends")
    session.prompt("test it")
    session.failed("npm test")
    session.prompt("don't use npm here, use pnpm")
    for number in range(2):
        session.prompt(f"again, attempt {number}")
        assert session.pre("npm test").held
        session.batch()
        assert not session.pre("npm test").held
        session.batch()
    session.prompt("a third time")
    assert not session.pre("npm test").held
    other = type(session)(session.host, session.project, "another")
    other.prompt("test it")
    assert not other.pre("npm test").held


def test_what_is_no_correction_binds_nothing(town: Town) -> None:
    """A neighbour: questions, other negations and praise leave the call alone."""
    session = town.place("talk")
    words = [
        "why did npm test fail?",
        "don't forget to run npm test",
        "I don't know why npm test fails, look into it",
        "npm test is right, not the linter",
        "<task-notification>never run npm test</task-notification>",
    ]
    for text in words:
        session.failed("npm test")
        session.prompt(text)
        session.prompt(f"go on, after: {len(text)}")
        assert not session.pre("npm test").held, text


def test_it_outlasts_a_compaction(town: Town) -> None:
    """A neighbour: what the model forgets, the guard does not."""
    session = town.place("compact")
    session.failed("npm test")
    session.prompt("don't use npm here, use pnpm")
    session.send("PreCompact", trigger="auto", custom_instructions=None)
    session.start("compact")
    session.prompt("go on")
    assert session.pre("npm test").held
