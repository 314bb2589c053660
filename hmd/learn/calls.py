"""Tool calls of a session with their outcome, folded out of ledger records.

A failure is one whoever tells of it: several hosts' failures fire no event of their own and are
seen only in the batch that the call belonged to.
"""

from typing import Any, Literal

from msgspec import Struct, field, structs

from hmd.kernel import event as ev
from hmd.learn.failures import is_answer, signature

Record = dict[str, Any]
State = Literal["open", "held", "ok", "failed", "interrupted"]

# Tools that only look; a turn of nothing else teaches nothing.
LOOKING = frozenset(["read", "grep", "glob", "ls", "task", "agent", "todowrite", "websearch"])


class Call(Struct, kw_only=True):
    """One call. `seq` is the number of the record that began it, `done` of the one that ended it
    (0: none). `keyed` are [literal key, names] of its parts as the ledger holds them."""

    seq: int = 0
    done: int = 0
    use: str = ""
    tool: str = ""
    dialect: str = ""
    input: str = ""
    agent: str = ""
    root: str = ""
    at: int = 0
    keyed: list[tuple[str, list[str]]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    state: State = "open"
    error: str = ""
    failure: str = ""
    signature: str = ""
    answer: bool = False

    @property
    def failed(self) -> bool:
        """It failed, and not merely by answering no."""
        return self.state == "failed" and not self.answer

    @property
    def keys(self) -> list[str]:
        return [key for key, _names in self.keyed]

    @property
    def looks(self) -> bool:
        return self.tool in LOOKING


class CallFold:
    """Folds records, in the ledger's order, into calls. `limit` is how many calls are kept in mind
    for their outcome."""

    def __init__(self, limit: int = 512) -> None:
        self.calls: list[Call] = []
        self._by_use: dict[str, Call] = {}
        self._limit = limit

    def feed(self, seq: int, record: Record) -> list[Call]:
        """Takes one record in; returns the calls that it began or ended."""
        kind = record.get("k")
        if kind == ev.PRE_TOOL:
            return [self._begin(seq, record)]
        if kind in (ev.POST_TOOL, ev.TOOL_FAILURE):
            return [self._end(seq, record, kind == ev.TOOL_FAILURE)]
        if kind == ev.TOOL_BATCH:
            return self._batch(seq, record)
        return []

    def detach(self) -> None:
        """Goes on with copies of the calls that have no outcome yet; the copies have no `seq`."""
        for place, call in enumerate(self.calls):
            if call.state in ("open", "held"):
                copy = structs.replace(call, seq=0)
                self.calls[place] = copy
                if call.use:
                    self._by_use[call.use] = copy

    def _begin(self, seq: int, record: Record) -> Call:
        call = Call(
            seq=seq,
            use=text_of(record, "use"),
            tool=text_of(record, "tool"),
            dialect=text_of(record, "dialect"),
            input=text_of(record, "input"),
            agent=text_of(record, "a"),
            root=text_of(record, "w"),
            at=number_of(record, "t"),
            keyed=_keyed(record.get("keyed")),
            tokens=_texts(record.get("tokens")),
            paths=_texts(record.get("paths")),
        )
        decided = record.get("out")
        if isinstance(decided, list) and decided and decided[0]:
            call.state = "held"
        self.calls.append(call)
        if call.use:
            self._by_use[call.use] = call
        while len(self._by_use) > self._limit:
            del self._by_use[next(iter(self._by_use))]
        return call

    def _end(self, seq: int, record: Record, failed: bool) -> Call:
        call = self._by_use.get(text_of(record, "use"))
        if call is None:
            call = self._begin(seq, {**record, "out": None})
            if call.tool in ev.PATH_TOOLS and call.input and not call.paths:
                call.paths = [_relative(call.input, call.root)]
        call.done = seq
        if record.get("interrupted"):
            call.state = "interrupted"
        elif failed:
            _fail(call, text_of(record, "error"), text_of(record, "class"))
        else:
            call.state = "ok"
        return call

    def _batch(self, seq: int, record: Record) -> list[Call]:
        entries = record.get("calls")
        ended = []
        for entry in entries if isinstance(entries, list) else []:
            if not isinstance(entry, dict) or not entry.get("failed"):
                continue
            call = self._by_use.get(text_of(entry, "use"))
            if call is None:
                call = self._begin(seq, {**record, **entry})
            if call.state == "open":
                call.done = seq
                _fail(call, text_of(entry, "error"), text_of(entry, "class"))
                ended.append(call)
        return ended


def _fail(call: Call, error: str, failure: str) -> None:
    if failure == "interrupt":
        call.state = "interrupted"
        return
    call.state = "failed"
    call.error = error
    call.failure = failure or "other"
    call.signature = signature(error)
    programs = [names[0] for _key, names in call.keyed if names]
    call.answer = is_answer(programs, call.failure, error)


def text_of(record: Record, name: str) -> str:
    value = record.get(name)
    return value if isinstance(value, str) else ""


def number_of(record: Record, name: str) -> int:
    value = record.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _keyed(value: object) -> list[tuple[str, list[str]]]:
    out: list[tuple[str, list[str]]] = []
    for part in value if isinstance(value, list) else []:
        if isinstance(part, list) and len(part) == 2 and isinstance(part[0], str):
            out.append((part[0], _texts(part[1])))
    return out


def _relative(path: str, root: str) -> str:
    base = root.rstrip("/") + "/"
    return path[len(base) :] if root and path.startswith(base) else path
