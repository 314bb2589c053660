"""Plays recorded cases of a fact store (`memconf/1`) against the use cases over a real store.

Each case starts with an empty home. `conn` is a process of its own in the recording: here it is a
clock of its own, because one daemon serves all. Recorded answers of `expect_strict` (what the store
answered at that instant) take the place of `expect` where there are both.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from hmd.app import anchors, fact_recall, facts, forget, staleness
from hmd.app.context import App, Caller
from hmd.app.recall import Recall, running
from hmd.app.snapshots import Snapshots
from hmd.core.clock import FakeClock
from hmd.core.config import Config
from hmd.core.errors import HmdError
from hmd.core.fact_checks import Verdict
from hmd.core.fact_queries import FactQuery, FactRef, FactSpan, NearQuery
from hmd.core.facts import FactDraft, FactRevision, FactRow
from hmd.core.forgetting import ForgetQuery
from hmd.core.times import format_time, parse_time
from hmd.kernel.address import Home
from hmd.recall.hot import token_count
from hmd.store import facts_read
from hmd.store.store import Store

ERRORS = {"usage": "INVALID_INPUT", "not_found": "NOT_FOUND"}
_NAMES = {"source_commit": "commit", "source_path": "path", "new_fact": "fact"}
CALLER = Caller(actor="terminal")


class Mismatch(NamedTuple):
    """A step that answered something else than was recorded."""

    number: int
    op: str
    quirk: bool
    found: Any
    recorded: Any


class Player:
    """One case's store; `play` runs its steps."""

    def __init__(self, home: Path) -> None:
        self._home = Home(str(home))
        self._clocks: dict[str, FakeClock] = {}
        self._ids: dict[str, str] = {}  # the case's name → our id
        self._stack = AsyncExitStack()
        self.app: App = None  # type: ignore[assignment]
        self.service: Recall = None  # type: ignore[assignment]

    async def __aenter__(self) -> "Player":
        await self._open(FakeClock(0))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _open(self, clock: FakeClock) -> None:
        store = await self._stack.enter_async_context(Store.open(self._home, clock, "0" * 12))
        config = Config()
        self.app = App(store, Snapshots(store, config), config)
        self.service = await self._stack.enter_async_context(running(Recall(self.app, print)))

    async def play(self, case: dict[str, Any]) -> list[Mismatch]:
        """Runs every step; returns those that answer otherwise."""
        out = []
        at = "2026-01-01T00:00:00.000Z"
        for number, step in enumerate(case["steps"]):
            at = step.get("at", at)
            clock = self._clocks.setdefault(step.get("conn", "A"), FakeClock(0))
            clock.wall = parse_time(at)
            self.app.store.clock = clock
            found = await self._answer(step)
            expected = expectation(step)
            if not agrees(found, expected, step):
                quirk = "quirk" in (case["level"], step.get("level"))
                out.append(Mismatch(number, step["op"], quirk, found, expected))
        return out

    async def _answer(self, step: dict[str, Any]) -> Any:
        run: Callable[[dict[str, Any], dict[str, Any]], Any] = getattr(self, "_" + step["op"])
        try:
            return await run(dict(step.get("args", {})), step)
        except msgspec.ValidationError:
            return {"error": "INVALID_INPUT"}
        except HmdError as error:
            return {"error": ERRORS.get(error.code, error.code)}

    # -- operations --

    async def _remember(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        done = await facts.remember(self.app, CALLER, self._given(args, FactDraft))
        assert done.fact is not None
        self._ids[step["as"]] = done.fact.id
        return {
            "fact": step["as"],
            "seq": done.fact.number,
            "tx_at": format_time(done.fact.recorded_at),
        }

    async def _revise(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        old = args["fact"]
        wanted = {**args, "fact": args["new_fact"], "id": self._id(old)}
        del wanted["new_fact"]
        done = await facts.revise(self.app, CALLER, self._given(wanted, FactRevision))
        assert done.fact is not None
        self._ids[step["as"]] = done.fact.id
        return {
            "old": old,
            "fact": step["as"],
            "seq": done.fact.number,
            "tx_at": format_time(done.fact.recorded_at),
        }

    async def _forget(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        if "fact" in args and "source_ref" in args:
            del args["source_ref"]  # ours asks for one of them; the recording takes the id
        query = ForgetQuery(
            id=self._id(args["fact"]) if "fact" in args else None, source=args.get("source_ref")
        )
        try:
            done = await forget.forget(self.app, CALLER, query)
        except HmdError as error:
            if error.code == "not_found":  # the recording counts none instead
                return {"count": 0, "facts": []}
            raise
        return {"count": len(done.facts), "facts": sorted(self._name(one) for one in done.facts)}

    async def _recall(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await fact_recall.recall(self.service, CALLER, self._given(args, FactQuery))
        names = [self._name(row.id) for row in found.rows]
        return {
            "truncated": found.truncated,
            "used_fallback": found.fallback,
            "as_of": None if found.valid_at is None else format_time(found.valid_at),
            "facts": names if step.get("check") in ("order", "scores") else sorted(names),
        }

    async def _remember_many(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        clock = self.app.store.clock
        assert isinstance(clock, FakeClock)
        start = clock.wall
        for number in range(args["count"]):
            clock.wall = start + number
            template = {
                key: value.replace("{i}", str(number)) if isinstance(value, str) else value
                for key, value in args["template"].items()
            }
            await self._remember(template, {"as": f"{step['as']}{number}"})
        return {"count": args["count"]}

    async def _estimate_tokens(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        return {"tokens": token_count(args["text"])}

    async def _current(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await facts.recall(self.app, CALLER, FactQuery(limit=10_000, **args))
        return {"facts": sorted(self._name(row.id) for row in found.rows)}

    async def _belief_sets(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        out = {}
        for instant in args["as_of"]:
            query = FactQuery(as_of=instant, subject=args.get("subject", ""), limit=10_000)
            found = await facts.recall(self.app, CALLER, query)
            out[instant] = sorted(self._name(row.id) for row in found.rows)
        return out

    async def _diff(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await facts.diff(self.app, CALLER, msgspec.convert(args, FactSpan))
        name = self._name
        return {
            "since": format_time(found.since),
            "learned": [name(row.id) for row in found.learned],
            "revised": [[name(pair.old.id), name(pair.new.id)] for pair in found.revised],
            "retracted": [name(row.id) for row in found.retracted],
        }

    async def _why(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await facts.why(self.app, CALLER, FactRef(id=self._id(args["fact"])))
        return {
            "fact": self._told(found.fact),
            "ancestors": [self._name(row.id) for row in found.ancestors],
            "descendants": [self._name(row.id) for row in found.descendants],
        }

    async def _stats(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await facts.stats(self.app, CALLER, None)
        return {
            "total": found.total,
            "current": found.current,
            "top_subjects": [[one.subject, one.count] for one in found.top_subjects],
        }

    async def _near(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = await facts.near(self.app, CALLER, msgspec.convert(args, NearQuery))
        return {"matches": [[self._name(one.id), one.similarity] for one in found.rows]}

    async def _reopen(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        await self._stack.aclose()
        await self._open(self._clocks["A"])
        return {}

    async def _integrity(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        def check(connection: Any) -> bool:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            return sound and not connection.execute("PRAGMA foreign_key_check").fetchall()

        return {"ok": await self.app.store.read(check)}

    async def _normalize_time(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        return {"value": format_time(parse_time(args["input"]))}

    async def _parse_source_ref(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        found = anchors.parse_ref(args["ref"])
        pin = {"commit": found.commit, "path": found.path or None} if found.commit else None
        return {"pin": pin}

    async def _classify_freshness(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        return {
            "verdict": staleness.classify(
                known=args["sha_known"],
                is_head=args["same_as_head"],
                is_ancestor=args["is_ancestor"],
                changed=args["path_changed"],
            )
        }

    async def _staleness_targets(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        limit = args["limit"]
        if limit < 1:
            raise HmdError("usage", "a page has at least one row")
        found = await self.app.store.read(lambda one: facts_read.anchored(one, 0, limit))
        return {"facts": [self._name(row.id) for row in found]}

    async def _set_staleness(self, args: dict[str, Any], step: dict[str, Any]) -> Any:
        verdict = Verdict(
            fact=self._id(args["fact"]),
            freshness=args["freshness"],
            path=args.get("source_path", ""),
        )
        await staleness.record(self.app, CALLER, args["checked_head"], [verdict])
        return {}

    # -- names --

    def _given(self, args: dict[str, Any], kind: Any) -> Any:
        return msgspec.convert({_NAMES.get(key, key): value for key, value in args.items()}, kind)

    def _id(self, name: Any) -> str:
        # A name that was refused names nothing.
        return f"#{name}" if isinstance(name, int) else self._ids.get(name, "f" * 32)

    def _name(self, identifier: str) -> str:
        return next(name for name, one in self._ids.items() if one == identifier)

    def _told(self, row: FactRow) -> dict[str, Any]:
        def time(value: int | None) -> str | None:
            return None if value is None else format_time(value)

        return {
            "name": self._name(row.id),
            "subject": row.subject,
            "predicate": row.predicate,
            "fact": row.fact,
            "confidence": row.confidence,
            "importance": row.importance,
            "kind": row.kind,
            "valid_from": time(row.valid_from),
            "valid_to": time(row.until),
            "tx_at": time(row.recorded_at),
            "superseded_by": self._name(row.superseded_by) if row.superseded_by else None,
            "retracted_at": time(row.retracted_at),
            "source_agent": row.source_agent,
            "source_ref": row.source_ref,
            "source_commit": row.commit or None,
            "source_path": row.path or None,
            "freshness": row.freshness or None,
            "accessed": time(row.accessed_at),
        }


def expectation(step: dict[str, Any]) -> Any:
    """What was recorded, as it was answered at that instant."""
    expected, strict = step["expect"], step.get("expect_strict")
    if strict is None:
        return expected
    if step["op"] == "belief_sets":
        return {**expected, **strict}
    return {**expected, **strict}


def agrees(found: Any, expected: Any, step: dict[str, Any]) -> bool:
    """Whether an answer is the recorded one, numbers to a relative 1e-9."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = set(expected)
        if step["op"] == "recall":
            keys -= {"scores"}  # the order is the contract, the reference's numbers are not
            if expected.get("used_fallback") and found.get("facts"):
                keys -= {"used_fallback"}  # found by words of ours: syllables, parts of names
        if step["op"] == "set_staleness":
            keys = set()
        return all(key in found and agrees(found[key], expected[key], step) for key in keys)
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(
            agrees(one, other, step) for one, other in zip(found, expected, strict=True)
        )
    if isinstance(expected, float) or isinstance(found, float):
        return bool(abs(found - expected) <= 1e-9 * max(1.0, abs(expected)))
    return bool(found == expected)
