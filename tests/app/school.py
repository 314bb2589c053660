"""Learning as a whole, without sockets: the kernel's hook path over real ledger files, the real
worker process, the store, and the scripted provider."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hmd.app import projects
from hmd.app.context import App, Caller
from hmd.app.learning import Learning
from hmd.core.config import Config, parse
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter
from hmd.core.projects import ProjectRef
from hmd.hosts.table import HOSTS
from hmd.kernel.address import session_key
from hmd.kernel.answer import answer
from hmd.kernel.files import FileSources
from hmd.worker.parent import WorkerProcess
from tests.app.conftest import KERNEL, Place

Record = dict[str, Any]


class School:
    """One project that learns. `log` holds what the daemon would have logged."""

    def __init__(self, place: Place, app: App, worker: WorkerProcess, log: list[str]) -> None:
        self.place = place
        self.app = app
        self.worker = worker
        self.log = log
        self.learning = Learning(app, worker, {"HOME": str(place.base)}, log.append, self._trouble)
        self.root = place.repository("app")
        self.caller = Caller()

    def _trouble(self, what: str, error: BaseException) -> None:
        raise AssertionError(f"{what}: {error!r}") from error

    def script(self, *answers: Record) -> None:
        """What the model will say, in this order of preference."""
        folder = Path(self.place.home.path, "replay")
        folder.mkdir(exist_ok=True)
        lines = [json.dumps(one) for one in answers]
        (folder / "answers.jsonl").write_text("\n".join(lines), encoding="utf-8")
        (folder / "used").unlink(missing_ok=True)

    async def learn(self, **options: Any) -> int:
        """Reads what is unread and serves the queue; returns the number of calls."""
        await self.learning.read(await self.learning.unread())
        return await self.learning.serve(**options)

    async def rows(self, **wanted: Any) -> list[MemoryRow]:
        filter_ = MemoryFilter(project=self.caller.project, **wanted)
        return (await self.app.store.list_memories(filter_)).rows

    def session(self, name: str) -> "Pupil":
        return Pupil(self, name)


class Pupil:
    """One host session of a school."""

    def __init__(self, school: School, name: str) -> None:
        self.school = school
        self.name = name
        self.uses = 0
        self.started = self.event("SessionStart", source="startup")

    @property
    def key(self) -> str:
        return session_key("claude-code", self.name)

    def event(self, name: str, **fields: Any) -> Record:
        clock = self.school.place.clock
        clock.advance(1000)
        payload = {
            "hook_event_name": name,
            "session_id": self.name,
            "cwd": self.school.root,
            **fields,
        }
        header = {"host": "claude-code", "at": str(clock.wall), "delivery": f"d{clock.wall}"}
        sources = FileSources(self.school.place.home, KERNEL)
        out = answer(sources, header, json.dumps(payload).encode(), payload, HOSTS)
        printed: Record = json.loads(out.out or b"{}")
        return printed

    def say(self, text: str) -> Record:
        return self.event("UserPromptSubmit", prompt=text)

    def stop(self, text: str = "Done.") -> None:
        self.event("Stop", last_assistant_message=text)

    def end(self) -> None:
        self.event("SessionEnd", reason="exit")

    def bash(self, command: str, error: str = "", out: str = "ok") -> Record:
        """One call; what the hook answered before it, and after it failed under "after"."""
        return self.call("Bash", {"command": command}, error, out)

    def call(self, tool: str, fields: Record, error: str = "", out: str = "ok") -> Record:
        self.uses += 1
        base: Record = {
            "tool_name": tool,
            "tool_input": fields,
            "tool_use_id": f"{self.name}-{self.uses}",
        }
        before = self.event("PreToolUse", **base)
        if decision(before):
            self.event("PostToolBatch", tool_calls=[{**base, "tool_response": "held"}])
            return before
        if error:
            before["after"] = self.event("PostToolUseFailure", error=error, **base)
        else:
            self.event("PostToolUse", tool_response={"stdout": out}, **base)
        return before


def decision(printed: Record) -> str:
    return str(printed.get("hookSpecificOutput", {}).get("permissionDecision", ""))


def context(printed: Record) -> str:
    return str(printed.get("hookSpecificOutput", {}).get("additionalContext", ""))


def fact(**fields: Any) -> Record:
    """One fact of a model's answer."""
    return {
        "action": "create",
        "target": "",
        "type": "pitfall",
        "summary": "The tests of this repository run with pnpm, npm test fails",
        "details": "Use pnpm test.",
        "scope_glob": "**",
        "relevant_tools": ["bash"],
        "trigger_signature": None,
        "lifecycle_triggers": ["before_tool"],
        "confidence": 0.9,
        "evidence_refs": ["e1"],
        "knowledge_kind": "correction",
        "rationale": "",
        "aliases": [],
        **fields,
    }


def command(pattern: str) -> Record:
    return {"tool": "bash", "target": "command", "pattern_kind": "cmd", "pattern": pattern}


def said(*facts: Record, when: str = "", summary: str = "a turn") -> Record:
    """One scripted answer."""
    answer = {"episode_summary": summary, "nothing_to_learn": not facts, "facts": list(facts)}
    return {"when": when, "answer": answer}


@asynccontextmanager
async def school(place: Place, settings: Record | None = None) -> AsyncIterator[School]:
    raw: Record = {"extraction": {"provider": "replay"}, **(settings or {})}
    config, problems = parse(raw)
    assert not problems
    async with opened(place, config) as found:
        yield found


@asynccontextmanager
async def opened(place: Place, config: Config) -> AsyncIterator[School]:
    log: list[str] = []
    worker = WorkerProcess(log.append)
    async with place.opened(config) as app:
        try:
            made = School(place, app, worker, log)
            await projects.enable(app, place.caller(made.root), ProjectRef())
            made.caller = place.caller(made.root)
            yield made
        finally:
            await worker.close()
