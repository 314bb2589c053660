"""Where hmd was told to be silent it answers nothing, records nothing and starts nothing."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.live.host import Host, Session, drained

pytestmark = pytest.mark.live


def by_file(host: Host) -> None:
    host.hmctl("config", "off")


def by_environment(host: Host) -> None:
    host.env["HMD_DISABLE"] = "1"


def by_project(host: Host) -> None:
    host.hmctl("project", "disable", cwd=host.directory / "app")


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize("silence", [by_file, by_environment, by_project])
def test_silenced_hooks_answer_and_record_nothing(
    host: Host, silence: Callable[[Host], None], served: bool
) -> None:
    """Guards every switch, for every event, up and down; and that it can be lifted again."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    session = Session(host, project)
    assert session.pre("git push").decision == "deny"
    host.start()
    silence(host)
    if not served:
        host.stop()
    recorded = {path: path.read_bytes() for path in Path(host.home.ledgers).iterdir()}
    for event in json.loads(host.settings.read_text())["hooks"]:
        call = session.call(command="git push")
        payload = session.payload(event, prompt="don't use git push", **call)
        assert host.hook(event, payload) == (0, b"", b""), event
    assert {path: path.read_bytes() for path in Path(host.home.ledgers).iterdir()} == recorded
    body = json.dumps(session.payload("PreToolUse", x="y" * 20_000)).encode()
    answer, taken = drained(host.entry("PreToolUse"), body, host.env, project)
    assert answer == (0, b"", b"") and taken
    host.env.pop("HMD_DISABLE", None)
    host.release()
    host.hmctl("config", "on")
    host.hmctl("project", "enable", cwd=project)
    assert session.pre("git push").decision == "deny"


def test_a_project_that_nobody_enabled(host: Host) -> None:
    """Guards the default: an install in one project says nothing about another, and nothing of
    the other is kept, not even that it exists."""
    host.install(host.repository())
    other = host.repository("secret-name")
    session = Session(host, other)
    for served in (True, False):
        host.start() if served else host.stop()
        session.start()
        assert session.ran("git push").out == b""
        session.prompt("secret words")
        session.stop()
    host.release()
    host.hmctl("daemon", "stop")
    assert not os.path.exists(host.home.ledgers)
    for path in Path(host.home.path).rglob("*"):
        if path.is_file() and not path.is_relative_to(host.home.app):
            data = path.read_bytes()
            assert b"secret-name" not in data and b"secret words" not in data, path


@pytest.mark.parametrize("place", ["home", "root", "temp"])
def test_places_that_are_no_project(host: Host, place: str) -> None:
    """Guards `--everywhere`: the user's home, `/` and the temp directory never are projects."""
    host.install(host.repository(), "--everywhere")
    here = {"home": host.directory, "root": Path("/"), "temp": Path("/tmp")}[place]
    session = Session(host, here)
    assert session.pre("git push").out == b""
    host.log_lines(1)
    assert not os.path.exists(host.home.ledgers)


def test_an_empty_switch_switches_nothing(host: Host) -> None:
    """A neighbour: HMD_DISABLE=0 and an empty one leave the hooks on."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    for value in ("", "0"):
        session = Session(host, project, f"v{value}", HMD_DISABLE=value)
        assert session.pre("git push").decision == "deny"
