"""A marked call through the installed hook, as the host would make it: is it really stopped?

The call would change a file of hmd's own, which a rule that comes with hmd asks about. So it needs
no rule of the user's, and nothing is stopped that anybody wanted. It goes through the entry that
stands in the settings, once answered by the daemon and once by the hook alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from uuid import uuid4

import msgspec

from hmd.kernel.address import Home
from hmd.setup import claude_code
from hmd.setup.claude_code import Registration
from hmd.setup.receipt import Receipt, Registered
from hmd.setup.self_test import judge

MARK = "hmd-canary"
EVENT = "PreToolUse"
_SECONDS = 10
# What Claude Code gives no hook, or gives it too late: nothing of ours can hold it.
UNCOVERED = (
    "sessions run with --bare, or before the folder's trust dialog was accepted",
    "what a person runs with ! at the prompt",
    "tools outside the registered matcher: reading, searching, subagents as such",
    "what a program that was let through does by itself",
    "levels below confirm: advice given before a call reaches the model after it",
)


class Finding(msgspec.Struct, frozen=True):
    """One result: `held` tells whether it is as it should be."""

    good: bool
    what: str


def run(home: Home, known: Receipt, cwd: str) -> Iterator[Finding]:
    """Every registered entry, with the daemon and without it, and a call that must pass."""
    for entry in known.registered:
        words = host_words(entry, home)
        if not words:
            yield Finding(False, f"no hook for {EVENT} in {entry.file}")
            continue
        yield _stopped(home, words, cwd, "the daemon")
        _skip(home)
        yield _stopped(home, words, cwd, "the hook alone")
        _unskip(home)
        yield _passes(words, cwd)


def host_words(entry: Registered, home: Home) -> list[str]:
    """What the host starts for the registered entry, [] where there is none."""
    try:
        with open(entry.file, "rb") as file:
            text = file.read().decode("utf-8", "surrogateescape")
        found = [
            one
            for one in claude_code.registrations(text)
            if one.home == home.path and one.event == EVENT
        ]
        return _handler_words(json.loads(text.lstrip("\ufeff")), found[0]) if found else []
    except (OSError, ValueError, KeyError, IndexError, TypeError):
        return []


def _handler_words(settings: dict[str, object], found: Registration) -> list[str]:
    hooks: dict[str, list[dict[str, list[dict[str, object]]]]] = settings["hooks"]  # type: ignore[assignment]
    group, place = found.place
    handler = hooks[found.event][group]["hooks"][place]
    command, arguments = str(handler["command"]), handler.get("args")
    if isinstance(arguments, list):
        return [command, *map(str, arguments)]
    if handler.get("shell") == "powershell":
        return ["powershell", "-NoProfile", "-Command", command]
    return ["/bin/sh", "-c", command]


def payload(cwd: str, command: str) -> bytes:
    """A call of Bash as the host announces it, in a session of its own."""
    fields = {
        "session_id": MARK,
        "transcript_path": "",
        "cwd": cwd,
        "permission_mode": "default",
        "hook_event_name": EVENT,
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": MARK},
        "tool_use_id": f"toolu_{MARK}_{uuid4().hex[:12]}",
    }
    return json.dumps(fields).encode() + b"\n"


def _stopped(home: Home, words: list[str], cwd: str, by: str) -> Finding:
    path = f"{home.path}/{MARK}"
    began = time.monotonic()
    problem, decision = _ask(words, cwd, f"touch '{path}'")
    took = (time.monotonic() - began) * 1000
    if problem:
        return Finding(False, f"{by}: {problem}")
    if decision not in ("ask", "deny"):
        return Finding(False, f"{by}: the marked call was not stopped")
    return Finding(True, f"{by} stopped the marked call ({decision}, {took:.0f} ms)")


def _passes(words: list[str], cwd: str) -> Finding:
    problem, decision = _ask(words, cwd, f"true {MARK}")
    if problem:
        return Finding(False, problem)
    if decision:
        return Finding(False, f"a harmless call was stopped as well ({decision})")
    return Finding(True, "a harmless call passed")


def _ask(words: list[str], cwd: str, command: str) -> tuple[str, str]:
    """(what went wrong, the decision)."""
    try:
        done = subprocess.run(
            words,
            input=payload(cwd, command),
            capture_output=True,
            timeout=_SECONDS,
            cwd=cwd,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_SECONDS} s", ""
    except OSError as error:
        return f'"{words[0]}" cannot be run: {error.strerror}', ""
    problem = judge(done.returncode, done.stdout, done.stderr)
    if problem or not done.stdout.strip():
        return problem, ""
    specific = json.loads(done.stdout).get("hookSpecificOutput", {})
    return "", str(specific.get("permissionDecision", ""))


def _skip(home: Home) -> None:
    """Has stubs decide alone for a moment, as after a daemon that was late."""
    try:
        with open(home.skip, "wb"):
            os.utime(home.skip)
    except OSError:
        pass


def _unskip(home: Home) -> None:
    try:
        os.unlink(home.skip)
    except OSError:
        pass
