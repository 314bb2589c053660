"""Rules for decision tests: records as a snapshot holds them, and a source that is a list."""

from typing import Any

from hmd.hosts import claude_code
from hmd.kernel import event as ev
from hmd.kernel.buckets import buckets_of
from hmd.kernel.decide import decide
from hmd.kernel.ledger import add_verdict, record
from hmd.kernel.rules import Rules
from hmd.kernel.shell.match import parse_signature, to_plain
from hmd.kernel.turn import Turn, fold
from hmd.kernel.verdict import Verdict

Record = dict[str, Any]
ROOT = "/home/dev/app"


def signature(spec: str) -> Record:
    text, prefix = spec.lstrip("!"), ""
    if text.startswith("mcp:"):
        text, prefix = text[4:], "mcp:"
    tool, target, kind, pattern = text.split(":", 3)
    tool = prefix + tool
    plain = to_plain(parse_signature(pattern)) if kind == "cmd" else None
    return {"tool": tool, "target": target, "kind": kind, "pattern": pattern,
            "negate": spec.startswith("!"), "plain": plain}  # fmt: skip


def rule(number: int, spec: str = "", **more: Any) -> Record:
    """A human pitfall at advise unless said otherwise."""
    base: Record = {
        "id": f"{number:032x}", "version": f"{number:032x}", "type": "pitfall",
        "summary": f"summary {number}", "details": "", "scope": "**", "triggers": ["before_tool"],
        "tools": None, "sig": signature(spec) if spec else None, "level": "advise",
        "authority": "human", "evidence": "user_said", "label": "human", "score": 0.5,
        "expires": None, "baseline": False, "policy": None, "loaded": "", "aliases": [],
        "updated": 0,
    }  # fmt: skip
    return {**base, **more}


class Listed:
    """A rule source over a list, filed in buckets as a snapshot files them."""

    generation = 1

    def __init__(self, records: list[Record], settings: Record | None = None) -> None:
        self.records = records
        self.settings = settings or {}

    def records_for(self, buckets: list[str]) -> list[Record]:
        wanted = set(buckets)
        return [one for one in self.records if wanted & set(buckets_of(one))]

    def all_records(self) -> list[Record]:
        return self.records


class Session:
    """A host session over the pure function: each event is decided, recorded and folded."""

    def __init__(self, *records: Record, settings: Record | None = None, can_hold: bool = True):
        self.rules = Rules([(Listed(list(records), settings), ROOT)])
        self.turn = Turn()
        self.at = 1_000_000
        self.uses = 0
        self.can_hold = can_hold
        self.mode = "default"
        self.env: dict[str, str] = {}

    def send(self, name: str, delivery: str = "", **fields: Any) -> Verdict:
        from hmd.kernel.answer import describe
        from hmd.kernel.project import Location, Project

        self.at += 10
        payload = {"session_id": "s", "cwd": ROOT, "hook_event_name": name,
                   "permission_mode": self.mode, **fields}  # fmt: skip
        header = {"delivery": delivery or f"d{self.at}", **self.env}
        event = claude_code.event(payload, header, self.at)
        assert event is not None
        event.body = str(sorted(fields.items()))
        verdict = decide(self.rules, self.turn, event, ROOT, "/home/dev", self.can_hold)
        if not verdict.repeat:
            project = Project("p", Location(ROOT, ROOT + "/.git", git=True), enabled=True)
            fold(self.turn, describe(event, verdict, self.turn, project, "/home/dev"))
        return verdict

    def prompt(self, text: str = "go on") -> Verdict:
        self.at += 5000
        return self.send("UserPromptSubmit", prompt=text)

    def call(self, command: str, **more: Any) -> Verdict:
        """One Bash call in a wave of its own."""
        return self.tool("Bash", {"command": command}, **more)

    def tool(self, name: str, given: Record, *, batch: bool = True, **more: Any) -> Verdict:
        self.uses += 1
        use = str(more.pop("use", f"u{self.uses}"))
        verdict = self.send("PreToolUse", tool_name=name, tool_input=given, tool_use_id=use, **more)
        if batch:
            self.end_wave(use)
        return verdict

    def end_wave(self, use: str) -> None:
        call = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": use, "tool_response": "x"}
        self.send("PostToolBatch", tool_calls=[call])

    def finish(self, command: str, *, failed: bool = False) -> None:
        """The end of the latest call."""
        common: Record = {"tool_name": "Bash", "tool_input": {"command": command},
                          "tool_use_id": f"u{self.uses}"}  # fmt: skip
        if failed:
            self.send("PostToolUseFailure", error="Exit code 1\nboom", **common)
        else:
            self.send("PostToolUse", tool_response={"stdout": "ok", "stderr": ""}, **common)


__all__ = ["ROOT", "Listed", "Session", "add_verdict", "ev", "record", "rule", "signature"]
