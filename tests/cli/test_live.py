"""The real `hmctl`, daemon and hooks together, in a home and a repository of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hmd.setup.stop import is_owned
from tests.live.instance import Instance, short_directory
from tests.setup.conftest import tree

pytestmark = pytest.mark.live
SETTINGS = '{\n  // mine\n  "env": {"A": "1"},\n  "hooks": {"Stop": []}\n}'


class Person:
    """Somebody at a terminal: a home directory, a repository, `hmctl` and an agent's hooks."""

    def __init__(self, directory: Path) -> None:
        self.instance = Instance(directory)
        self.repo = directory / "app"
        self.settings = directory / ".claude" / "settings.json"
        self.env = {
            "HOME": str(directory),
            "HMD_HOME": self.instance.home.path,
            "PATH": os.environ["PATH"],
            "HMD_CLAUDE_BIN": "/no/claude",
            "HMD_CODEX_BIN": "/no/codex",
        }

    def git(self, *words: str) -> None:
        quiet = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]
        subprocess.run(["git", *quiet, *words], cwd=self.repo, check=True, capture_output=True)

    def hmctl(
        self, *words: str, cwd: Path | None = None, code: int = 0, **env: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "hmd.cli.main", *words],
            cwd=cwd or self.repo,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr + self.instance.log()
        return done

    def json(self, *words: str, cwd: Path | None = None) -> Any:
        return json.loads(self.hmctl(*words, "--json", cwd=cwd).stdout)

    def call(self, command: str, session: str = "s") -> Any:
        """A Bash call as the host reports it, through the entry in the settings."""
        text = self.settings.read_text().replace("  // mine\n", "")
        (group,) = json.loads(text)["hooks"]["PreToolUse"]
        (entry,) = group["hooks"]
        payload = {
            "hook_event_name": "PreToolUse",
            "session_id": session,
            "cwd": str(self.repo),
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": os.urandom(4).hex(),
        }
        done = subprocess.run(
            [entry["command"], *entry["args"]],
            input=json.dumps(payload).encode(),
            cwd=self.repo,
            env=self.env,
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert done.stderr == b""
        return json.loads(done.stdout or b"null")


@pytest.fixture
def person() -> Iterator[Person]:
    with short_directory() as directory:
        one = Person(directory)
        one.repo.mkdir()
        one.git("init", "-q")
        one.git("commit", "-q", "--allow-empty", "-m", "start")
        one.settings.parent.mkdir()
        one.settings.write_text(SETTINGS)
        try:
            yield one
        finally:
            try:
                one.hmctl("daemon", "stop")
            finally:
                one.instance.close()


def decision(answer: Any) -> str:
    found: str = answer["hookSpecificOutput"]["permissionDecision"] if answer else ""
    return found


def test_a_first_day(person: Person) -> None:
    """Guards the way from install to a held call and back to the bytes of before (O-20)."""
    before = tree(person.instance.directory)
    assert "self-test: a hook answered" in person.hmctl("install").stdout
    added = person.json(
        "memory", "add", "--summary", "use pnpm", "--active", "--enforce", "deny",
        "--signature", "bash:command:cmd:npm test",
    )  # fmt: skip
    assert added["memory"]["status"] == "active"

    answer = person.call("cd src && npm test")
    assert decision(answer) == "deny"
    why = person.json("why", "cd src && npm test")
    assert why["reason"] == answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert person.call("pnpm test") is None
    assert person.json("why", "pnpm test")["silent"][0]["kind"] == "signature_mismatch"

    said = person.hmctl("why", "cd src && npm test").stdout
    assert said.startswith("the call is stopped\n  runs: cd src\n  runs: npm test")
    assert "denied  deny" in said and "use pnpm" in said

    # What an agent asks for waits for a person.
    agent = person.hmctl("memory", "reject", added["memory"]["id"][:6], CLAUDECODE="1")
    assert agent.stdout.startswith("proposed ")
    assert decision(person.call("npm test")) == "deny"
    person.hmctl("proposal", "accept", agent.stdout.split()[1])
    assert person.call("npm test") is None

    assert "proposals 0" in person.hmctl("status").stdout
    checks = {one["name"]: one["state"] for one in person.json("doctor", "--self-test")["checks"]}
    assert "FAIL" not in checks.values() and checks["self-test"] == "OK"

    assert "OK    self-test" in person.hmctl("doctor", "--self-test").stdout
    assert "PreToolUse" in person.hmctl("status", "--full").stdout
    assert "decision=deny" in person.hmctl("logs").stdout
    assert "before_tool.max_items = 3" in person.hmctl("config", "list").stdout

    person.hmctl("install")  # an upgrade is an install again
    person.hmctl("daemon", "start")
    done = person.hmctl("uninstall", "--purge").stdout
    assert "stopped the daemon" in done and "removed 10 hooks" in done
    assert not is_owned(person.instance.home)
    assert tree(person.instance.directory) == before


def test_memory_of_a_worktree_outlives_it(person: Person) -> None:
    """Guards O-13: one memory for a repository, whichever worktree it came from."""
    person.hmctl("install")
    fix = person.instance.directory / "app-fix"
    person.git("worktree", "add", "-q", str(fix), "-b", "fix")
    before = tree(fix)
    person.hmctl("memory", "add", "--summary", "learned in the worktree", "--active", cwd=fix)
    assert tree(fix) == before
    person.git("worktree", "remove", str(fix))
    (row,) = person.json("memory", "list")["rows"]
    assert row["summary"] == "learned in the worktree"
    assert row["origin"]["worktree"] == str(fix)


@pytest.mark.long
def test_a_daemon_that_hangs_is_replaced(person: Person) -> None:
    """Guards `daemon restart` and `stop` over a stopped process: it is ended, one is left."""
    person.hmctl("daemon", "start")
    pid = person.instance.serving_pid()
    os.kill(pid, signal.SIGSTOP)
    assert "does not answer" in person.hmctl("daemon", "status", code=1).stdout
    person.hmctl("daemon", "restart")
    assert person.instance.serving_pid() not in (0, pid)
    person.hmctl("daemon", "stop")
    assert not is_owned(person.instance.home)
    assert person.hmctl("daemon", "stop").stdout == "it was not running\n"
