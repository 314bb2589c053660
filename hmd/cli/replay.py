"""Plays recorded sessions through an installation of their own: real hook processes, the real
daemon and worker, the scripted provider; and says where an answer differs from what must hold.

A scenario is one JSON file: `about`, `settings` (as in config.toml), `memories` (drafts, with
`status` where it is not active), `answers` (hmd/providers/replay.py) and `steps`. A step is an
event of a session (`prompt`, `bash`, `edit`, `write`, `call`, `stop`, `end`, `start`), perhaps with
what must hold of its answer (`expect`, `after`), or `learn`, `consolidate`, `rows`.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hmd import link
from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.setup import copies
from hmd.setup.claude_code import Hook
from hmd.setup.surroundings import base_interpreter

SHIPPED = Path(__file__).with_name("scenarios")
PATIENCE_S = 20.0
_EVENTS = frozenset("start prompt bash edit write call stop end".split())
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")

Step = dict[str, Any]


def load(directory: Path, name: str = "") -> list[tuple[str, Step]]:
    """(name, scenario) of a directory's files in order, or of one. Raises HmdError."""
    paths = sorted(directory.glob("*.json"))
    found = []
    for path in paths:
        if name in ("", path.stem):
            try:
                found.append((path.stem, json.loads(path.read_text(encoding="utf-8"))))
            except (OSError, ValueError) as error:
                raise HmdError(
                    "damaged", f"the scenario cannot be read: {error}", str(path)
                ) from error
    if not found:
        raise HmdError("not_found", f"no scenario '{name or '*.json'}'", str(directory))
    return found


class Stage:
    """A temporary user, set up once for any number of scenarios; each gets a home of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.interpreter = base_interpreter().path
        self._model = Home(str(root / "model"))
        os.makedirs(self._model.path, mode=0o700)
        copies.refresh(self._model, self.interpreter)

    def home(self, name: str) -> Home:
        """An installed home: the copies that hooks run from are made once and linked."""
        home = Home(str(self.root / name / "hmd"))
        os.makedirs(home.path, mode=0o700)
        build = copies.current(self._model)
        os.makedirs(home.app, mode=0o700)
        os.symlink(os.path.join(self._model.app, build), os.path.join(home.app, build))
        Path(home.app_current).write_text(build, encoding="utf-8")
        return home


class Play:
    """One scenario on a stage. `restless`: the daemon is killed between any two events, and only
    every other event finds a new one; each prompt does, since nothing is searched without one."""

    def __init__(self, stage: Stage, name: str, scenario: Step, *, restless: bool) -> None:
        self.scenario = scenario
        self.restless = restless
        self.problems: list[str] = []
        self.printed: list[str] = []
        self.home = stage.home(name + ("-restless" if restless else ""))
        self._hook = Hook(stage.interpreter, self.home.path)
        self.project = Path(self.home.path).parent / "project"
        (self.project / ".git").mkdir(parents=True)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._env = {**kept, "HOME": str(self.project.parent)}
        self._events = 0
        self._uses = 0

    def run(self) -> list[str]:
        """Plays it; returns what differed, a line each."""
        self._prepare()
        try:
            for number, step in enumerate(self.scenario["steps"], 1):
                for problem in self._step(step):
                    self.problems.append(f"step {number} {_short(step)}: {problem}")
        except HmdError as error:
            self.problems.append(str(error))
        finally:
            self._end()
        return self.problems

    # -- the installation --

    def _prepare(self) -> None:
        Path(self.home.config).write_text(
            _toml({"extraction": {"provider": "replay"}, **self.scenario.get("settings", {})}),
            encoding="utf-8",
        )
        script = Path(self.home.path, "replay")
        script.mkdir(mode=0o700)
        answers = [json.dumps(one) for one in self.scenario.get("answers", [])]
        (script / "answers.jsonl").write_text("\n".join(answers), encoding="utf-8")
        self._start()
        self._call("project.enable", {"path": str(self.project)})
        for draft in self.scenario.get("memories", []):
            self._remember(dict(draft))

    def _remember(self, draft: Step) -> None:
        status = draft.pop("status", "active")
        row = self._call("memory.add", {"active": True, **draft})["memory"]
        if status == "candidate":
            self._call("memory.demote", {"id": row["id"]})
        elif status == "rejected":
            self._call("memory.reject", {"id": row["id"]})

    def _start(self) -> None:
        link.start(self.home, self._env)

    def _kill(self) -> None:
        try:
            pid = int(json.loads(Path(self.home.daemon).read_bytes())["pid"])
        except (OSError, ValueError, KeyError):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, machine.KILL)

    def _end(self) -> None:
        with contextlib.suppress(HmdError):
            self._call("stop", {}, start=False)

    def _call(self, method: str, body: Step, *, start: bool = True) -> Step:
        return link.call(
            self.home,
            method,
            body,
            dict[str, Any],
            cwd=str(self.project),
            environ=self._env,
            start_daemon=start,
        )

    # -- steps --

    def _step(self, step: Step) -> Iterator[str]:
        kinds = _EVENTS & set(step)
        if kinds:
            yield from self._event(next(iter(kinds)), step)
        elif "learn" in step:
            self._call("extract", {"now": True})
        elif "consolidate" in step:
            self._call("consolidate", {})
        elif "rows" in step:
            yield from self._rows(step["rows"], step.get("count"))
        else:
            yield "it is no step"

    def _event(self, kind: str, step: Step) -> Iterator[str]:
        session = str(step.get("session", "s1"))
        value = step[kind]
        if kind == "start":
            yield from self._held_to(step, self._fire("SessionStart", session, source="startup"))
        elif kind == "prompt":
            yield from self._held_to(step, self._fire("UserPromptSubmit", session, prompt=value))
        elif kind == "stop":
            self._fire("Stop", session, last_assistant_message=value)
        elif kind == "end":
            self._fire("SessionEnd", session, reason="other")
        else:
            yield from self._tool(kind, step, session)

    def _tool(self, kind: str, step: Step, session: str) -> Iterator[str]:
        self._uses += 1
        tool, fields = self._input(kind, step)
        base = {"tool_name": tool, "tool_input": fields, "tool_use_id": f"toolu_{self._uses}"}
        answer = self._fire("PreToolUse", session, **base)
        yield from self._held_to(step, answer)
        if decision_of(answer):
            self._fire("PostToolBatch", session, tool_calls=[{**base, "tool_response": "held"}])
        elif "fails" in step:
            after = self._fire("PostToolUseFailure", session, **base, error=step["fails"])
            yield from self._held_to({"expect": step.get("after", {})}, after)
        else:
            printed = {"stdout": step.get("prints", "ok"), "stderr": ""}
            self._fire("PostToolUse", session, **base, tool_response=printed)

    def _input(self, kind: str, step: Step) -> tuple[str, Step]:
        if kind == "bash":
            return "Bash", {"command": step["bash"]}
        if kind == "edit":
            path = str(self.project / step["edit"])
            return "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}
        if kind == "write":
            return "Write", {"file_path": str(self.project / step["write"]), "content": "x"}
        return str(step["call"]), step.get("input", {})

    def _fire(self, event: str, session: str, **fields: Any) -> Step:
        """One hook process, as the host starts it; its answer."""
        self._events += 1
        if self.restless:
            self._kill()
            if event == "UserPromptSubmit":
                self._call("memory.list", {})  # starts one, and waits for its store
            elif self._events % 2:
                self._start()
        payload = {
            "session_id": session,
            "hook_event_name": event,
            "cwd": str(self.project),
            "permission_mode": "default",
            **fields,
        }
        done = subprocess.run(
            self._hook.words(event),
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=PATIENCE_S,
            env=self._env,
            cwd=self.project,
            check=False,
        )
        text = done.stdout.decode("utf-8", "replace")
        self.printed.append(f"{event} {session}: {text or '(silence)'}")
        if done.returncode or done.stderr:
            self.problems.append(f"{event}: exit code {done.returncode}, {done.stderr[:200]!r}")
        answer: Step = json.loads(text or "{}")
        return answer

    # -- what must hold --

    def _held_to(self, step: Step, answer: Step) -> Iterator[str]:
        expected = step.get("expect", {})
        specific = answer.get("hookSpecificOutput", {})
        found = {
            "decision": decision_of(answer),
            "reason": specific.get("permissionDecisionReason", ""),
            "context": specific.get("additionalContext", ""),
            "notice": answer.get("systemMessage", ""),
        }
        if expected.get("silent") and answer:
            yield f"silence was expected, it answered {json.dumps(answer)[:200]}"
        if "decision" in expected and found["decision"] != expected["decision"]:
            yield f"expected '{expected['decision']}', got '{found['decision']}'"
        for name in ("reason", "context", "notice"):
            for text in _list(expected.get(name)):
                if text not in found[name]:
                    yield f"'{text}' is not in its {name}: '{found[name][:200]}'"
        whole = json.dumps(answer, ensure_ascii=False)
        for text in _list(expected.get("absent")):
            if text in whole:
                yield f"'{text}' must not be said"
        if "items" in expected:
            count = sum(line.startswith("[hmd]") for line in found["context"].split("\n"))
            if count != expected["items"]:
                yield f"{count} texts were given instead of {expected['items']}"

    def _rows(self, wanted: list[Step], count: int | None) -> Iterator[str]:
        rows = self._call("memory.list", {"status": "all"})["rows"]
        for one in wanted:
            if not any(_fits(row, one) for row in rows):
                there = [f"{row['summary']} ({row['status']}, {row['level']})" for row in rows]
                wish = json.dumps(one, ensure_ascii=False)
                yield f"no memory is {wish}; there are: {'; '.join(there) or 'none'}"
        if count is not None and len(rows) != count:
            yield f"{len(rows)} memories instead of {count}"


def decision_of(answer: Step) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", ""))


@contextlib.contextmanager
def stage(keep: bool = False) -> Iterator[Stage]:
    """A stage in a temporary directory, which goes away unless it is to be kept."""
    root = Path(tempfile.mkdtemp(prefix="hmd-replay-"))
    try:
        yield Stage(root)
    finally:
        if not keep:
            shutil.rmtree(root, ignore_errors=True)


def _fits(row: Step, wanted: Step) -> bool:
    for name, value in wanted.items():
        if name == "summary":
            if value not in row["summary"]:
                return False
        elif name == "sig":
            sig = row["sig"]
            if value != (sig and f"{sig['tool']}:{sig['target']}:{sig['kind']}:{sig['pattern']}"):
                return False
        elif row.get(name) != value:
            return False
    return True


def _list(value: Any) -> list[str]:
    return [] if value is None else [value] if isinstance(value, str) else list(value)


def _short(step: Step) -> str:
    return json.dumps(step, ensure_ascii=False)[:80]


def _toml(settings: Step, prefix: str = "") -> str:
    """Tables of plain values; all that a scenario's settings need."""
    lines = [
        f"{name} = {json.dumps(value)}"
        for name, value in settings.items()
        if not isinstance(value, dict)
    ]
    for name, value in settings.items():
        if isinstance(value, dict):
            place = f"{prefix}{name}"
            lines += [f"[{place}]", _toml(value, place + ".")]
    return "\n".join(lines) + "\n"
