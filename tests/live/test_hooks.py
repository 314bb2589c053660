"""Real hook processes, with and without a daemon behind them."""

import json
import os
import re
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hmd.core.errors import HmdError
from tests.live.instance import Instance, wait_for_end

pytestmark = pytest.mark.live


def pre(project: Path, command: str, use: str = "toolu_1", session: str = "s1") -> dict[str, Any]:
    return {
        "session_id": session,
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": use,
        "cwd": str(project),
        "tool_input": {"command": command},
    }


def post(project: Path, use: str, session: str) -> dict[str, Any]:
    return {
        **pre(project, "make", use, session),
        "hook_event_name": "PostToolUse",
        "tool_response": {"stdout": f"built {use}\n", "stderr": ""},
    }


@pytest.fixture
def installed(instance: Instance) -> Instance:
    instance.install()
    return instance


def lines_by(instance: Instance, by: str) -> list[str]:
    log = Path(instance.home.hook_log)
    found = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [line for line in found if f" by={by} " in line]


def decision(printed: bytes) -> str:
    if not printed:
        return ""
    return str(json.loads(printed)["hookSpecificOutput"].get("permissionDecision", ""))


def test_daemon_and_stub_give_the_same_bytes(installed: Instance) -> None:
    """Guards the first promise: the verdict never depends on the daemon."""
    process = installed.start()
    project = installed.project()
    installed.rule(project, "git push", details="Éric's rule — 🛑 ask first")
    commands = ["git push origin main", "git status", "cd x && git -C . push", "echo git push"]
    served = [
        installed.hook("PreToolUse", pre(project, command, f"a{number}"))
        for number, command in enumerate(commands)
    ]
    process.kill()
    wait_for_end(process)
    alone = [
        installed.hook("PreToolUse", pre(project, command, f"b{number}"))
        for number, command in enumerate(commands)
    ]
    assert [done.stdout for done in served] == [done.stdout for done in alone]
    assert [decision(done.stdout) for done in served] == ["deny", "", "deny", ""]
    assert "🛑" in json.dumps(json.loads(served[0].stdout), ensure_ascii=False)
    assert {done.returncode for done in served + alone} == {0}
    assert {done.stderr for done in served + alone} == {b""}
    assert len(lines_by(installed, "stub")) == len(commands)


def test_what_the_daemon_served_is_in_the_hook_log(installed: Instance) -> None:
    """Guards the log line: every field of the format, and nothing of what was said."""
    process = installed.start()
    project = installed.project()
    installed.rule(project, "git push")
    installed.hook("PreToolUse", pre(project, "git push --secret-word"))
    process.terminate()
    wait_for_end(process)
    (line,) = lines_by(installed, "hmd")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z pre_tool tool=bash gen=\d+ activated=1 "
        r"suppressed=0 decision=deny delivery=before level=deny dur=\d+\.\dms by=hmd ok",
        line,
    )
    for log in (installed.home.hook_log, installed.home.daemon_log):
        assert "secret-word" not in Path(log).read_text(encoding="utf-8")


def test_a_turn_continues_across_the_death_of_the_daemon(installed: Instance) -> None:
    """Guards sessions: an attempt that the daemon held is known to the stub, and the other way."""
    first = installed.start()
    project = installed.project()
    installed.rule(project, "npm install", "soft_deny")

    def attempt(use: str) -> str:
        return decision(installed.hook("PreToolUse", pre(project, "npm install", use)).stdout)

    prompt = {"session_id": "s1", "hook_event_name": "UserPromptSubmit", "cwd": str(project)}
    batch = {"session_id": "s1", "hook_event_name": "PostToolBatch", "cwd": str(project)}
    batch["tool_calls"] = []  # type: ignore[assignment]

    installed.hook("UserPromptSubmit", {**prompt, "prompt": "install it"})
    assert attempt("t1") == "deny"
    first.kill()
    wait_for_end(first)
    installed.hook("PostToolBatch", batch)
    assert attempt("t2") == ""  # the retry passes: the hold of t1 was read from the ledger
    installed.start()
    assert attempt("t3") == ""
    installed.hook("UserPromptSubmit", {**prompt, "prompt": "and again"})
    assert attempt("t4") == "deny"


def test_a_deny_stands_while_the_daemon_is_stopped(installed: Instance) -> None:
    """Guards case "alive but not serving": twenty calls, none waits long, the rule holds."""
    process = installed.start()
    project = installed.project()
    installed.rule(project, "git push")
    process.send_signal(signal.SIGSTOP)
    answers = [
        decision(installed.hook("PreToolUse", pre(project, "git push", f"t{number}")).stdout)
        for number in range(5)
    ]
    assert answers == ["deny"] * 5
    process.send_signal(signal.SIGCONT)
    assert installed.serving_pid() == process.pid


def test_no_event_is_lost_while_someone_holds_the_database(installed: Instance) -> None:
    """Guards case "locked store": fifty events of four sessions, each in its ledger once and in
    order, while another process holds a write lock; a change asked for meanwhile is not lost."""
    installed.start()
    project = installed.project()
    other = sqlite3.connect(installed.home.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def session(number: int) -> list[int]:
        name = f"s{number}"
        codes = []
        for use in range(13 if number < 2 else 12):
            done = installed.hook("PostToolUse", post(project, f"{name}-{use}", name))
            codes.append(done.returncode)
        return codes

    with ThreadPoolExecutor(5) as pool:
        change = pool.submit(installed.rule, project, "git push")
        codes = [code for found in pool.map(session, range(4)) for code in found]
        assert not change.done()
        other.execute("COMMIT")
        assert change.result()["status"] == "active"
    other.close()
    assert codes == [0] * 50
    seen: dict[str, list[str]] = {}
    for ledger in Path(installed.home.ledgers).iterdir():
        for line in filter(None, ledger.read_bytes().split(b"\n")):
            use = json.loads(line)["use"]
            seen.setdefault(use.split("-")[0], []).append(use)
    for number in range(4):
        wanted = [f"s{number}-{use}" for use in range(13 if number < 2 else 12)]
        assert seen[f"s{number}"] == wanted
    assert decision(installed.hook("PreToolUse", pre(project, "git push")).stdout) == "deny"


@pytest.mark.parametrize("served", [True, False])
def test_a_locale_that_is_not_utf8_changes_nothing(installed: Instance, served: bool) -> None:
    """Guards case "emoji under a non-UTF-8 locale": held, with the text intact."""
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = installed.start(environ=locale)
    project = installed.project("prójekt-🛑")
    installed.rule(project, "git push", summary="🛑 é — never push")
    if not served:
        process.kill()
        wait_for_end(process)
    done = installed.hook("PreToolUse", pre(project, "git push"), **locale)
    assert decision(done.stdout) == "deny"
    assert (
        "🛑 é — never push"
        in json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"]
    )


def test_a_project_that_is_not_enabled_is_not_recorded(installed: Instance) -> None:
    """Guards privacy: an empty answer, no ledger, and the log says why."""
    process = installed.start()
    project = installed.directory / "elsewhere"
    (project / ".git").mkdir(parents=True)
    done = installed.hook("PreToolUse", pre(project, "git push"))
    process.terminate()
    wait_for_end(process)
    assert (done.returncode, done.stdout) == (0, b"")
    assert not os.path.exists(installed.home.ledgers)
    (line,) = lines_by(installed, "hmd")
    assert line.endswith("skipped:project")


def test_disabling_and_enabling_count_at_once(installed: Instance) -> None:
    """Guards what the daemon remembers of projects: never older than the files."""
    installed.start()
    project = installed.project()
    installed.rule(project, "git push")

    def attempt(use: str) -> str:
        return decision(installed.hook("PreToolUse", pre(project, "git push", use)).stdout)

    assert attempt("t1") == "deny"
    installed.call("project.disable", {"path": str(project)})
    assert attempt("t2") == ""
    installed.call("project.enable", {"path": str(project)})
    assert attempt("t3") == "deny"
    Path(installed.home.disabled).touch()
    assert attempt("t4") == ""


def test_checkpoints_are_written_at_the_end_of_a_turn_and_on_the_way_out(
    installed: Instance,
) -> None:
    """Guards promise one at scale: no later decision reads a whole session."""
    process = installed.start()
    project = installed.project()
    installed.hook("PreToolUse", pre(project, "ls", session="one"))
    stop = {"session_id": "two", "hook_event_name": "Stop", "cwd": str(project)}
    installed.hook("Stop", stop)
    assert len(list(Path(installed.home.turns).iterdir())) == 1
    process.terminate()
    wait_for_end(process)
    offsets = {
        path.stem: json.loads(path.read_bytes())["offset"]
        for path in Path(installed.home.turns).iterdir()
    }
    sizes = {path.stem: path.stat().st_size for path in Path(installed.home.ledgers).iterdir()}
    assert offsets == sizes and len(sizes) == 2


def test_status_tells_what_the_calls_were(installed: Instance) -> None:
    """Guards metrics: a histogram per event, counts per decision, the caller's own project."""
    process = installed.start()
    project = installed.project()
    installed.rule(project, "git push")
    for number in range(3):
        installed.hook("PreToolUse", pre(project, "git push", f"t{number}"))
    found = installed.call("status", cwd=str(project))
    assert found["pid"] == process.pid
    latency = found["latency"]["PreToolUse"]
    assert latency["count"] == 3 and 0 < latency["p50"] <= latency["p95"] <= latency["p99"]
    assert found["decisions"] == {"deny": 3}
    assert found["enabled"] and found["snapshot"] == "fresh" and found["generation"] > 0
    assert found["sessions"] == 1
    assert found["store"]["state"] == "ready" and found["counts"]["active"] == 1


def test_an_agent_only_proposes(installed: Instance) -> None:
    """Guards authority: who does not say they are a person is not taken for one."""
    installed.start()
    project = installed.project()
    draft = {"summary": "no pushing", "signature": "bash:command:cmd:git push", "active": True}
    for actor in ("agent_cli", "nobody we know"):
        outcome = installed.call("memory.add", draft, cwd=str(project), actor=actor)
        assert outcome["memory"] is None and outcome["proposal"]["state"] == "open"
    with pytest.raises(HmdError, match="agent"):
        proposal = installed.call("proposal.list")["rows"][0]["id"]
        installed.call("proposal.accept", {"id": proposal}, actor="agent_cli")


def test_bad_calls_are_told_what_is_wrong(installed: Instance) -> None:
    """Guards the border of calls: the error names what cannot be read."""
    installed.start()
    with pytest.raises(HmdError, match="summary") as caught:
        installed.call("memory.add", {"summary": 7})
    assert caught.value.code == "usage"
    with pytest.raises(HmdError) as caught:
        installed.call("memory.show", {"id": "abcd1234"})
    assert caught.value.code == "not_found"
