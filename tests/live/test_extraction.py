"""Extraction by a program that behaves as the user's own CLI does, behind a real daemon."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.app.school import command, fact, said
from tests.live.instance import PATIENCE_S, Instance, wait_until_gone
from tests.providers.fake import FakeCli

pytestmark = pytest.mark.live

RULE = fact(trigger_signature=command("npm test"), evidence_refs=["e1"])


class Host:
    """A session of Claude Code over an installed home, with a `claude` on the recorded PATH."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        instance.install()
        self.cli = FakeCli(instance.directory / "bin", "claude")
        receipt = {"path": str(instance.directory / "bin")}
        Path(instance.home.receipt).write_text(json.dumps(receipt), encoding="utf-8")
        instance.start()
        self.project = instance.project()
        self.uses = 0

    def fire(self, event: str, **fields: Any) -> dict[str, Any]:
        payload = {
            "session_id": "s1",
            "hook_event_name": event,
            "cwd": str(self.project),
            **fields,
        }
        done = self.instance.hook(event, payload)
        assert (done.returncode, done.stderr) == (0, b"")
        answer: dict[str, Any] = json.loads(done.stdout or b"{}")
        return answer

    def bash(self, text: str, error: str = "") -> dict[str, Any]:
        self.uses += 1
        base = {
            "tool_name": "Bash",
            "tool_input": {"command": text},
            "tool_use_id": f"t{self.uses}",
        }
        answer = self.fire("PreToolUse", **base)
        if error:
            self.fire("PostToolUseFailure", **base, error=error)
        else:
            self.fire("PostToolUse", **base, tool_response={"stdout": "ok", "stderr": ""})
        return answer

    def correction(self) -> None:
        self.fire("UserPromptSubmit", prompt="run the tests")
        self.bash("npm test", "Exit code 1\nnpm ERR! Missing script")
        self.fire("Stop", last_assistant_message="It fails.")
        self.fire("UserPromptSubmit", prompt="don't use npm here, use pnpm")
        self.bash("pnpm test")
        self.fire("Stop", last_assistant_message="They pass.")
        self.fire("SessionEnd", reason="other")

    def learned(self) -> list[dict[str, Any]]:
        self.instance.call("extract", {"now": True})
        rows = self.instance.call("memory.list", {"source": "extraction"}, cwd=str(self.project))
        found: list[dict[str, Any]] = rows["rows"]
        return found

    def files(self) -> set[str]:
        root = Path(self.instance.home.path, "ledger")
        return {str(path) for path in root.rglob("*.jsonl")}


@pytest.fixture
def host(instance: Instance) -> Host:
    return Host(instance)


def test_it_never_learns_from_itself(host: Host) -> None:
    """Guards O-11: the extractor's own hooks exit at once and leave nothing; one turn causes at
    most one extraction; nothing of it lies in the user's directories; its prompt is no session."""
    host.cli.plan(answer=said(RULE)["answer"])
    host.correction()
    before = host.files()
    (row,) = host.learned()
    assert row["status"] == "active"
    assert host.files() == before
    # What the child's own hook would do, in the very environment the child was given.
    given = host.cli.seen["env"]
    done = host.instance.hook("UserPromptSubmit", {
        "session_id": "extractor", "hook_event_name": "UserPromptSubmit",
        "cwd": str(host.project), "prompt": "read this episode",
    }, **given)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert host.files() == before
    assert Path(host.cli.seen["cwd"]).is_relative_to(host.instance.home.path)
    assert "--no-session-persistence" in host.cli.seen["argv"]
    assert host.instance.call("extract", {"now": True})["runs"] == []
    episodes = host.instance.call("queue.list", {"state": "all"})["rows"]
    calls = host.instance.call("costs", {})["last_day_calls"]
    assert calls == 1 + sum(one["state"] == "done" for one in episodes)  # and the probe


def test_being_logged_out_costs_nothing_and_is_said(host: Host) -> None:
    """Guards a user who is not logged in: episodes wait, status says why and what helps, hooks and
    the correction itself work meanwhile; after the login they are served."""
    host.cli.plan(code=1, result="Not logged in · Please run /login")
    host.correction()
    assert host.learned() == []
    status = host.instance.call("status", {}, cwd=str(host.project))["learning"]
    assert (status["probe"], status["dead"]) == ("not_logged_in", 0)
    assert status["queued"] >= 1 and "claude auth login" in status["probe_hint"]
    rows = host.instance.call("queue.list", {})["rows"]
    assert {row["attempts"] for row in rows} == {0}


def test_a_child_that_hangs_ends_with_its_daemon(host: Host) -> None:
    """Guards against orphans: the extraction child goes when the daemon leaves."""
    host.cli.plan(does="ignores SIGTERM")
    host.correction()
    end = time.monotonic() + PATIENCE_S
    while not host.cli.seen and time.monotonic() < end:
        time.sleep(0.01)
    pid = host.cli.seen["pid"]
    host.instance.ask("stop")
    assert wait_until_gone(pid, PATIENCE_S)


def test_the_user_can_see_what_would_be_sent(host: Host) -> None:
    """Guards privacy: a dry run prints the very prompt and calls nobody."""
    Path(host.instance.home.config).write_text("[extraction]\nenabled = false\n")
    host.correction()
    shown = host.instance.call("extract", {"dry_run": True})["prompts"]
    assert any("don't use npm here" in prompt for prompt in shown)
    assert host.cli.seen == {}
