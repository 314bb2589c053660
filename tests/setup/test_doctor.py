"""Guards that doctor finds each fault, says what to do, and mends what it can."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow, Signature
from hmd.core.memory_calls import MemoryList
from hmd.core.status import LearningStatus, Status, StoreStatus
from hmd.kernel.address import Home
from hmd.setup import copies, install, service
from hmd.setup.claude_code import EVENTS, registrations
from hmd.setup.doctor import Check, Patient, _sides, examine, repair, unreachable
from tests.setup.conftest import User

STATUS = Status(pid=7, build="0.0.1-test", enabled=True, snapshot="fresh")


class Daemon:
    """Answers as a daemon would; what it was asked is kept."""

    def __init__(self) -> None:
        self.state = "ready"
        self.status = STATUS
        self.rows: list[MemoryRow] = []
        self.asked: list[str] = []

    def call(self, method: str, parameters: Any, answer: type[Any]) -> Any:
        self.asked.append(method)
        if method == "status":
            return self.status
        if method == "memory.list":
            return MemoryList(rows=self.rows, total=len(self.rows))
        return answer()


@pytest.fixture
def patient(user: User, monkeypatch: pytest.MonkeyPatch) -> Patient:
    """A healthy installation; the copy step is stood in for (test_copies.py)."""
    build = copies.Build("0.0.1-test", {})
    monkeypatch.setattr(copies, "package_build", lambda: build)
    monkeypatch.setattr(install.install, "__defaults__", (user.place,))
    user.install()
    Path(user.home.daemon_command).write_text("x")
    Path(user.home.logs).mkdir()
    Path(user.home.hook_log).write_text("2026-01-01T00:00:00.000Z stop dur=1.0ms by=hmd ok\n")
    program = user.root / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    user.env["HMD_CLAUDE_BIN"] = str(program)
    os.chmod(user.home.path, 0o700)
    daemon = Daemon()
    return Patient(user.home.path, str(user.repo), user.env, daemon.call, lambda: daemon.state)


def daemon_of(patient: Patient) -> Daemon:
    found = getattr(patient.call, "__self__", None)
    assert isinstance(found, Daemon)
    return found


def bad(patient: Patient) -> list[Check]:
    """What is not well, apart from an interpreter under one version (this machine's own)."""
    found = [one for one in examine(patient) if one.state != "OK"]
    return [one for one in found if one.name != "interpreter" or one.state == "FAIL"]


def names(patient: Patient) -> list[tuple[str, str]]:
    return [(one.state, one.name) for one in bad(patient)]


def test_a_healthy_installation_has_no_complaint(patient: Patient) -> None:
    """Guards against false alarms."""
    assert bad(patient) == []


def test_nothing_installed(user: User) -> None:
    """Guards the first run on a machine: it says install, and does not fall over."""
    daemon = Daemon()
    patient = Patient(user.home.path, str(user.repo), user.env, daemon.call, lambda: "absent")
    found = {one.name: one for one in examine(patient)}
    assert found["receipt"].state == "FAIL" and "hmctl install" in found["receipt"].do


def test_every_complaint_says_what_to_do(patient: Patient, user: User) -> None:
    """Guards the promise of doctor, over many faults at once."""
    user.settings.write_text('{"disableAllHooks": true}')
    Path(user.home.app_current).write_text("old")
    Path(user.home.disabled).write_text("")
    Path(user.home.config).write_text("before_tool = 1\n")
    Path(user.home.hook_log).write_text("2026-01-01T00:00:00.000Z stop dur=1ms by=stub bad_stdin\n")
    daemon_of(patient).status = Status(
        snapshot="stale", enabled=True, store=StoreStatus(state="newer", problems=["p"])
    )
    found = bad(patient)
    assert {one.name for one in found} == {
        "hooks (user)", "copy", "switch", "config", "snapshot", "database", "calls",
    }  # fmt: skip
    assert [one for one in found if not one.do] == []


@pytest.mark.parametrize("lost", ["Stop", "all"])
def test_missing_hooks_are_found_and_put_back(patient: Patient, user: User, lost: str) -> None:
    """Guards settings that somebody edited: found by event, mended without doubling the rest."""
    value = json.loads(user.settings.read_text())
    if lost == "all":
        value = {}
    else:
        del value["hooks"]["Stop"]
    user.settings.write_text(json.dumps(value))
    found = bad(patient)
    assert [(one.state, one.name) for one in found] == [("FAIL", "hooks (user)")]
    assert ("no hooks" in found[0].what) if lost == "all" else ("Stop" in found[0].what)
    said = repair(patient, found, lambda: False)
    assert said == [f"registered {len(EVENTS)} hooks in {user.settings}"]
    assert len(registrations(user.settings.read_text())) == len(EVENTS)
    assert bad(patient) == []
    assert user.enabled == [str(user.repo)]  # by the first install; a repair enables nothing


def test_a_broken_copy_is_found_and_made_whole(
    patient: Patient, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards what `--fix` says: what was done, and not what was well before."""
    build = copies.Build("0.0.1-test", {"client/hook.py": b"pass\n"})
    monkeypatch.setattr(copies, "package_build", lambda: build)
    file = Path(user.home.app, build.name, "client", "hook.py")

    def place(home: Home, interpreter: str) -> copies.Build:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"pass\n")
        return user.place(home, interpreter)

    monkeypatch.setattr(install.install, "__defaults__", (place,))
    found = bad(patient)
    assert ("FAIL", "copy") in [(one.state, one.name) for one in found]
    said = repair(patient, found, lambda: False)
    assert said == ["hooks run from a whole copy of 0.0.1-test again"]
    assert bad(patient) == []


def test_an_interpreter_that_is_gone_is_found_and_replaced(patient: Patient, user: User) -> None:
    """Guards the removal of a Python version."""
    text = user.settings.read_text()
    real = registrations(text)[0].interpreter
    user.settings.write_text(text.replace(real, "/gone/python3"))
    found = bad(patient)
    assert [one.what for one in found] == ["/gone/python3 is gone: no hook runs"]
    repair(patient, found, lambda: False)
    assert {one.interpreter for one in registrations(user.settings.read_text())} == {real}


def test_an_open_home_is_closed(patient: Patient, user: User) -> None:
    """Guards privacy."""
    os.chmod(user.home.path, 0o755)
    found = bad(patient)
    assert ("FAIL", "home") in [(one.state, one.name) for one in found]
    repair(patient, found, lambda: False)
    assert os.stat(user.home.path).st_mode & 0o777 == 0o700
    assert bad(patient) == []


def test_a_stale_snapshot_is_rebuilt(patient: Patient) -> None:
    """Guards that --fix asks the daemon for it, once."""
    daemon = daemon_of(patient)
    daemon.status = Status(enabled=True, snapshot="stale")
    assert repair(patient, bad(patient), lambda: False) == ["rebuilt the snapshots"]
    assert daemon.asked.count("snapshot.rebuild") == 1


def test_a_daemon_that_answers_nothing_is_ended(patient: Patient) -> None:
    """Guards a hanging daemon: named, and ended by --fix."""
    daemon = daemon_of(patient)
    daemon.state = "unreachable"
    found = bad(patient)
    assert [(one.state, one.name) for one in found] == [("FAIL", "daemon")]
    ended = []

    def end() -> bool:
        ended.append(True)
        return True

    assert repair(patient, found, end) == ["ended a daemon that did not answer"]
    assert ended == [True]


def test_a_daemon_that_refuses_is_a_finding(patient: Patient) -> None:
    """Guards that an error of a call becomes a line, not the end of doctor."""

    def refuse(method: str, parameters: Any, answer: type[Any]) -> Any:
        raise HmdError("busy", "no daemon answers")

    found = examine(Patient(patient.home, patient.cwd, patient.env, refuse, lambda: "absent"))
    assert [one.what for one in found if one.name == "daemon"] == ["no daemon answers"]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        (MemoryRow(triggers=["before_tool"]), ""),
        (MemoryRow(triggers=[]), "no trigger"),
        (MemoryRow(type="decision", triggers=["before_tool"]), "needs a signature"),
        (MemoryRow(type="decision", triggers=["before_model"]), ""),
        (MemoryRow(triggers=["before_tool"], sig=Signature(pattern="(")), "be read"),
        (
            MemoryRow(triggers=["before_tool"], tools=["edit"], sig=Signature(kind="substring")),
            "its tools are edit",
        ),
    ],
)
def test_memories_that_can_never_act_are_named(row: MemoryRow, word: str) -> None:
    """Guards people who believe that a rule protects them."""
    why = unreachable(row)
    assert (word in why) if word else why == ""


def test_unreachable_memories_are_findings(patient: Patient) -> None:
    """Guards the way from a row to a line with its identifier."""
    daemon_of(patient).rows = [MemoryRow(id="0123456789", triggers=[])]
    found = bad(patient)
    assert [one.what for one in found] == ["01234567 can never act: it has no trigger"]


@pytest.mark.parametrize(
    ("learning", "state", "words", "do"),
    [
        (LearningStatus(), "OK", "extraction is off", ""),
        (LearningStatus(enabled=True, queued=2), "OK", "2 episodes wait", ""),
        (
            LearningStatus(
                enabled=True, queued=3, waiting="not logged in", probe_message="please log in",
                probe_hint="run claude and /login",
            ),
            "WARN", "3 episodes wait: not logged in (please log in)", "run claude and /login",
        ),
        (LearningStatus(enabled=True, dead=4), "WARN", "4 episodes", "hmctl queue list"),
    ],
)  # fmt: skip
def test_what_waits_to_be_learned_is_told(
    patient: Patient, learning: LearningStatus, state: str, words: str, do: str
) -> None:
    """Guards the queue: how much waits, why, what the provider itself said, and what helps."""
    daemon_of(patient).status = msgspec.structs.replace(STATUS, learning=learning)
    found = [one for one in examine(patient) if one.name == "learning"]
    assert any(one.state == state and words in one.what and do in one.do for one in found), found


@pytest.mark.parametrize(
    ("cwd", "release", "warned"),
    [
        ("/mnt/c/work", "5.15.90.1-microsoft-standard-WSL2", True),
        ("/home/u/work", "5.15.90.1-microsoft-standard-WSL2", False),
        ("/mnt/c/work", "6.1.0-generic", False),
    ],
)
def test_a_checkout_on_the_other_side_of_wsl_is_told(cwd: str, release: str, warned: bool) -> None:
    """Guards hooks and home that can never meet; a plain Linux with a /mnt is none."""
    assert bool(list(_sides(cwd, release))) == warned


def test_a_daemon_of_another_build_and_a_home_on_the_network_are_told(patient: Patient) -> None:
    """Guards an upgrade that did not go through, and locks that are a server's."""
    store = StoreStatus(state="ready", journal_mode="delete")
    daemon_of(patient).status = msgspec.structs.replace(STATUS, build="0.0.0-old", store=store)
    found = {one.name: one for one in bad(patient)}
    assert "still is 0.0.0-old" in found["daemon"].what
    assert "network file system" in found["database"].what


@pytest.mark.parametrize(
    ("report", "state"),
    [
        (None, ""),
        (service.Report("systemd", "hmd"), ""),
        (service.Report("systemd", "hmd", "installed"), "OK"),
        (service.Report("systemd", "hmd", "broken", problems=["hmd.socket is failed"]), "FAIL"),
    ],
)
def test_a_service_that_does_not_serve_is_told(
    patient: Patient, report: service.Report | None, state: str
) -> None:
    """Guards a home that stubs only connect to."""
    asked = msgspec.structs.replace(patient, service=lambda: report)
    assert [one.state for one in examine(asked) if one.name == "service"] == [state] * bool(state)
