"""What keeps a process from the socket, and what the report of an issue tells."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hmd import link
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.setup import bug_report, reach
from hmd.setup.doctor import Check
from tests.live.instance import short_directory


@pytest.fixture
def home() -> Iterator[Home]:
    with short_directory() as directory:
        made = Home(str(directory / "home"))
        os.makedirs(made.run, 0o700)
        os.makedirs(made.logs, 0o700)
        yield made


@pytest.fixture
def sandboxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sockets as seccomp filters and seatbelt profiles refuse them."""

    def refuse(*_: object, **__: object) -> socket.socket:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "socket", refuse)


def test_nothing_in_the_way(home: Home) -> None:
    """Guards against false alarms: no daemon, or one that answers, is no obstacle."""
    assert reach.obstacle(home, {}) == ("", "")
    with socket.socket(socket.AF_UNIX) as served:
        served.bind(home.socket)
        served.listen()
        assert reach.obstacle(home, {"CODEX_SANDBOX": "seatbelt"}) == ("", "")


@pytest.mark.parametrize(
    ("env", "whose", "do"),
    [
        ({"SANDBOX_RUNTIME": "1"}, "Claude Code's sandbox", "allowUnixSockets"),
        ({"CODEX_SANDBOX": "seatbelt"}, "Codex' sandbox", "network_access"),
        ({"container": "podman"}, "a container", "share the home"),
        ({}, "a sandbox", "outside of it"),
    ],
)
def test_a_sandbox_is_named_with_the_one_thing_to_change(
    home: Home, sandboxed: None, env: dict[str, str], whose: str, do: str
) -> None:
    """Guards against "not running, restart" where a restart changes nothing."""
    what, help_ = reach.obstacle(home, env)
    assert what.startswith(whose) and home.socket in what and "not permitted" in what
    assert do in help_ and "{socket}" not in help_


def test_the_wire_client_says_refused_and_starts_nothing(home: Home, sandboxed: None) -> None:
    """Guards `hmctl` in a sandbox: one line, not a traceback, and no second daemon."""
    with pytest.raises(HmdError, match="must not be used from here"):
        link.call(home, "ping", {}, dict)
    assert link.probe(home) == link.UNREACHABLE


def test_the_report_holds_no_secret_and_no_word_of_the_user(home: Home, tmp_path: Path) -> None:
    """Guards what people paste in public: every kind of place a private word could come from."""
    user, project = str(tmp_path / "kim"), str(tmp_path / "kim" / "secret-plan")
    token = "ghp_" + "a1B2" * 9
    checks = [
        Check("home", "OK", f"{home.path} is yours alone"),
        Check("memories", "WARN", "ab12cd34 can never act: signature 'deploy to acme'"),
        Check("config", "WARN", f'project."{project}" is not a setting'),
        Check("hooks (user)", "OK", f"10 hooks in {user}/.claude/settings.json"),
        Check("database", "WARN", f"{project}/x: {token}"),
    ]
    Path(home.hook_log).write_text(
        "2026-01-01T00:00:00.000Z pre_tool tool=mcp:acme_crm/find gen=1 dur=1.2ms by=hmd ok\n"
    )
    Path(home.daemon_log).write_text(f"2026-01-01 [1] serving '{home.path}' as 0.1.0-aa\n")
    env = {"HOME": user, "USER": "kim"}
    text = bug_report.report(home, project, env, checks)
    for private in (home.path, user, project, "secret-plan", "kim", token, "acme", "deploy to"):
        assert private not in text, private
    assert "- WARN memories\n" in text and "10 hooks in ~/.claude/settings.json" in text
    assert "tool=mcp gen=1 dur=1.2ms by=hmd ok" in text and "serving '<home of hmd>'" in text
