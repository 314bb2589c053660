"""Erasing for good, with a marker planted through every entrance of a running daemon: nothing of it
is anywhere under the home afterwards, nor comes back from anybody's memory."""

import contextlib
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hmd.kernel.address import session_key
from tests.app.school import command, fact, said
from tests.live.instance import PATIENCE_S, Instance, wait_until_gone
from tests.live.test_extraction import Host

pytestmark = pytest.mark.live

# Where each marker is planted. All but the last come from session s1.
ENTRANCES = "prompt cmd error answer correction works typo learned".split()
TYPED = "fact detail revised rule ruledetail edited program subject predicate tag".split()


def mark(where: str) -> str:
    return f"zz-{where}-zz"


@pytest.fixture
def host(instance: Instance) -> Host:
    return Host(instance)


def plant(host: Host) -> tuple[str, str]:
    """A session that teaches, facts and a rule by hand, and a session that is told of them; returns
    the ids of a revised fact and of the rule."""
    rule = fact(
        trigger_signature=command("npm test"), evidence_refs=["e1"],
        summary=f"use pnpm as {mark('learned')} says",
    )  # fmt: skip
    host.cli.plan(answer=said(rule)["answer"])
    host.fire("SessionStart", source="startup")
    host.fire("UserPromptSubmit", prompt=f"run the tests of {mark('prompt')} please")
    host.bash(f"npm test --{mark('cmd')}", f"Exit code 1\nMissing script {mark('error')}")
    host.fire("Stop", last_assistant_message=f"It fails: {mark('answer')}.")
    host.fire("UserPromptSubmit", prompt=f"don't use npm, use pnpm because {mark('correction')}")
    host.bash(f"pnpm test --{mark('works')}")
    host.fire("Stop", last_assistant_message="They pass.")
    typo = 'error: unknown command "aply" for "kubectl"'
    host.bash(f"kubectl aply -f {mark('typo')}.yaml", typo)
    host.bash(f"kubectl apply -f {mark('typo')}.yaml")
    host.fire("Stop", last_assistant_message="ok.")
    host.instance.call("extract", {"now": True})
    old = call(
        host, "fact.remember", subject=mark("subject"), fact=f"the {mark('fact')} lives here",
        details=f"and {mark('detail')}\nover two lines", tags=[mark("tag")],
        predicate=mark("predicate"),
    )["fact"]["id"]  # fmt: skip
    new = call(host, "fact.revise", id=old, fact=f"the {mark('revised')} moved")["fact"]["id"]
    call(host, "fact.mark", id=new, pinned=True)
    rule_id = call(
        host, "memory.add", summary=f"never {mark('rule')} at all", details=mark("ruledetail"),
        signature=f"bash:command:cmd:{mark('program')} run", level="deny", active=True,
    )["memory"]["id"]  # fmt: skip
    call(host, "memory.edit", id=rule_id, summary=f"never ever {mark('edited')} again")
    call(host, "db.backup")
    host.fire("SessionStart", source="resume")
    host.fire("UserPromptSubmit", prompt=f"what of {mark('fact')} and {mark('revised')}?")
    assert host.bash(f"{mark('program')} run")["hookSpecificOutput"]["permissionDecision"] == "deny"
    return new, rule_id


def call(host: Host, method: str, **body: Any) -> Any:
    return host.instance.call(method, body, cwd=str(host.project))


def found(host: Host) -> dict[str, set[str]]:
    """marker → files that hold it (sqlite's free pages and write-ahead log among them)."""
    out: dict[str, set[str]] = {}
    home = Path(host.instance.home.path)
    for path in sorted(home.rglob("*")):
        if path.is_file() and home / "app" not in path.parents:
            for hit in re.findall(rb"(?i)zz-(\w+)-zz", path.read_bytes()):
                out.setdefault(hit.decode().lower(), set()).add(str(path.relative_to(home)))
    return out


def use_on(host: Host) -> None:
    """What writes down whatever somebody still holds: more of the session, learning, the end."""
    host.fire("UserPromptSubmit", prompt="go on")
    host.bash("ls")
    host.fire("Stop", last_assistant_message="done")
    host.fire("SessionEnd", reason="other")
    host.cli.plan(answer={"facts": []})
    host.instance.call("extract", {"now": True})
    host.instance.call("db.backup", {})
    host.instance.ask("stop")
    (process,) = host.instance.processes
    process.wait(PATIENCE_S)


def test_a_text_that_is_erased_is_nowhere(host: Host) -> None:
    """Guards every entrance: prompts, commands, output, corrections, fixes, learned and typed
    rules, facts with all of their fields; in any case; and what daemon and worker hold."""
    plant(host)
    planted = found(host)
    assert set(planted) == {*ENTRANCES, *TYPED}
    for where in (*ENTRANCES, *TYPED):
        call(host, "fact.forget", text=mark(where).upper(), hard=True)
        assert where not in found(host)
    assert found(host) == {}
    use_on(host)
    assert found(host) == {}


@pytest.mark.parametrize("name", ["s1", session_key("claude-code", "s1")])
def test_a_session_that_is_erased_is_nowhere(host: Host, name: str) -> None:
    """Guards the session under both of its names: what was said in it, made from it and learned
    from it goes; what a person typed elsewhere stays."""
    plant(host)
    done = call(host, "fact.forget", session=name, hard=True)
    assert len(done["memories"]) == 1
    gone = set(ENTRANCES)
    assert gone.isdisjoint(found(host))
    rows = call(host, "memory.list")["rows"]
    assert [row["summary"] for row in rows] == [f"never ever {mark('edited')} again"]
    use_on(host)
    assert gone.isdisjoint(found(host))


def test_a_fact_and_a_rule_that_are_erased_are_nowhere(host: Host) -> None:
    """Guards erasing by id: all versions and what sessions were told of them; not what a person or
    a program said in words of their own."""
    new, rule = plant(host)
    call(host, "fact.forget", id=new, hard=True)
    call(host, "fact.forget", id=rule, hard=True)
    home = Path(host.instance.home.path)
    for when in ("at once", "later"):
        if when == "later":
            use_on(host)
        left = found(host)
        for where in ("detail", "rule", "ruledetail", "edited", "tag", "predicate"):
            assert where not in left, left[where]
        files = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
        for told in (f"{mark('fact')} lives here", f"{mark('revised')} moved"):
            assert [data for data in files if told.encode() in data] == []
    with closing(sqlite3.connect(host.instance.home.database)) as database:
        rows = database.execute("SELECT subject || fact || details FROM fact").fetchall()
    assert rows == [("",), ("",)]


def asked_of(host: Host) -> str:
    """The prompt that the model's child has read, "" as long as it has not noted one whole."""
    with contextlib.suppress(ValueError):
        return str(host.cli.seen.get("prompt", ""))
    return ""


@pytest.mark.parametrize("way", [{"session": "s1"}, {"text": mark("correction")}])
def test_an_answer_that_was_on_its_way_brings_nothing_back(host: Host, way: dict[str, str]) -> None:
    """Guards an extraction that was asked before the erasing and would be answered after it: the
    model's child is ended, and nothing of its episode is learned, kept or told."""
    host.cli.plan(does="hangs over an episode")
    host.fire("SessionStart", source="startup")
    host.fire("UserPromptSubmit", prompt="run the tests")
    host.bash("npm test", "Exit code 1\nnpm ERR! Missing script")
    host.fire("Stop", last_assistant_message="It fails.")
    host.fire("UserPromptSubmit", prompt=f"don't use npm, use pnpm because {mark('correction')}")
    host.bash("pnpm test")
    host.fire("Stop", last_assistant_message="They pass.")
    host.fire("SessionEnd", reason="other")
    end = time.monotonic() + PATIENCE_S
    while mark("correction") not in asked_of(host):
        assert time.monotonic() < end
        time.sleep(0.01)
    asked = host.cli.seen["pid"]
    call(host, "fact.forget", **way, hard=True)
    assert wait_until_gone(asked, PATIENCE_S)
    assert "correction" not in found(host)
    host.cli.plan(answer={"facts": []})
    host.instance.call("extract", {"now": True})
    assert "correction" not in found(host)
    assert call(host, "memory.list")["rows"] == []
