"""Plays scripted sessions through the kernel's own hook path and returns the ledger it writes."""

import json
from typing import Any

from hmd.hosts.table import HOSTS
from hmd.kernel import event as ev
from hmd.kernel import ledger
from hmd.kernel.address import Home, session_key
from hmd.kernel.answer import answer
from hmd.kernel.project import Location, Project
from hmd.kernel.rules import Rules
from hmd.kernel.turn import Turn, fold

ROOT = "/srv/app"
PROJECT = "p" * 32
Record = dict[str, Any]


class Memory:
    """`Sources` of the hook path that live in memory."""

    def __init__(self) -> None:
        self.home = Home("/nonexistent/hmd", "0" * 12)
        self.turns: dict[str, Turn] = {}
        self.records: dict[str, list[Record]] = {}

    def project(self, cwd: str, never: tuple[str, ...]) -> Project:
        return Project(PROJECT, Location(ROOT, ROOT, git=True), enabled=True)

    def rules(self, project: Project) -> Rules:
        return Rules([])

    def turn(self, key: str) -> Turn:
        return self.turns.setdefault(key, Turn())

    def recall(self, project: Project, turn: Turn, event: ev.Event) -> None:
        """Nothing is searched: these plays are about rules."""

    def append(self, key: str, record: ledger.Record, data: bytes) -> bool:
        fold(self.turn(key), record)
        self.records.setdefault(key, []).append(json.loads(data))
        return True


class Session:
    """One host session. Each method is one event; `at` moves on by a second per event."""

    def __init__(self, name: str = "s1", at: int = 1_700_000_000_000, step: int = 1000) -> None:
        self.name, self.at, self.step = name, at, step
        self.memory = Memory()
        self.uses = 0

    @property
    def records(self) -> list[Record]:
        return self.memory.records.get(session_key("claude-code", self.name), [])

    @property
    def turn(self) -> Turn:
        return self.memory.turn(session_key("claude-code", self.name))

    def event(self, name: str, **fields: Any) -> bytes:
        self.at += self.step
        payload = {"hook_event_name": name, "session_id": self.name, "cwd": ROOT, **fields}
        body = json.dumps(payload).encode()
        header = {"host": "claude-code", "at": str(self.at), "delivery": f"d{self.at}"}
        return answer(self.memory, header, body, payload, HOSTS).out

    def start(self) -> None:
        self.event("SessionStart", source="startup")

    def say(self, text: str) -> None:
        self.event("UserPromptSubmit", prompt=text)

    def stop(self, text: str = "Done.") -> None:
        self.event("Stop", last_assistant_message=text)

    def end(self) -> None:
        self.event("SessionEnd", reason="exit")

    def call(self, tool: str, fields: Record, error: str = "", agent: str = "", **more: Any) -> str:
        self.uses += 1
        use = f"{self.name}-{self.uses}"
        base: Record = {"tool_name": tool, "tool_input": fields, "tool_use_id": use}
        if agent:
            base["agent_id"] = agent
        if tool not in ("Read", "Grep", "Glob"):
            self.event("PreToolUse", **base)
        if error:
            self.event("PostToolUseFailure", error=error, **base)
        else:
            self.event("PostToolUse", tool_response={"stdout": more.get("out", "ok")}, **base)
        return use

    def bash(self, command: str, error: str = "", out: str = "ok", agent: str = "") -> str:
        return self.call("Bash", {"command": command}, error, agent, out=out)

    def edit(self, path: str) -> str:
        return self.call("Edit", {"file_path": f"{ROOT}/{path}", "old_string": "a"})

    def read(self, path: str) -> str:
        return self.call("Read", {"file_path": f"{ROOT}/{path}"})
