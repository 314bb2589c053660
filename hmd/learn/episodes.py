"""Folds a session's ledger into episodes: segments of its turns, the unit of learning.

A segment begins with a prompt (or with the first event after the one before it was closed) and
ends at Stop, before a compaction, at the session's end, at the next prompt (interrupted), after an
idle hour, or when it is full. The gap between two records decides "idle", not the moment of
looking, so that folding again gives the same episodes with the same ids.
"""

from typing import Any, Literal

from msgspec import Struct, field

from hmd.kernel import event as ev
from hmd.kernel.address import digest, session_key
from hmd.learn.calls import Call, CallFold, Record, number_of, text_of
from hmd.learn.signals import has_correction, has_decision, has_remember, requests

Closed = Literal["stop", "pre_compact", "session_end", "interrupted", "idle", "full"]

IDLE = 3_600_000  # ms
SEGMENT_LIMIT = 4 * 1024 * 1024  # bytes of ledger text
CONTEXT_CALLS = 12
OPEN_FAILURES = 32
SEEN_KEPT = 8192
SAME_EVENT_WINDOW = 2000  # ms: the ledger's own window for events without an id
WEIGHT_CAP = 10
CORRECTION, REMEMBER, RESOLVED, UNRESOLVED = 2, 3, 2, 1


class Failure(Struct, kw_only=True):
    """A call of turn `turn` that failed, with the later call that resolved it. `inherited`: it
    happened in an earlier segment, so that its own line is context and cannot be cited."""

    call: Call
    turn: int = 0
    resolved_by: Call | None = None
    inherited: bool = False


class FiredMemory(Struct, kw_only=True):
    """A memory that took part. `how` is advised, asked, held, denied or passed."""

    memory: str
    level: str
    how: str
    key: str
    seq: int
    agent: str = ""


class Episode(Struct, kw_only=True):
    """One segment of one turn. Record `n` of `records` is line e<n+1>."""

    id: str
    host: str
    session: str
    key: str
    project: str = ""
    root: str = ""
    turn: int = 0
    segment: int = 1
    started: int = 0
    ended: int = 0
    closed: Closed = "stop"
    records: list[Record] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    context: list[Call] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    fired: list[FiredMemory] = field(default_factory=list)
    corrects: bool = False
    after_failure: bool = False
    remembers: bool = False
    requests: list[str] = field(default_factory=list)
    decides: bool = False

    @property
    def tools(self) -> list[str]:
        return sorted({call.tool for call in self.calls if call.tool})

    @property
    def paths(self) -> list[str]:
        """Scope references: every path that a call named, in order."""
        named = [path for call in [*self.context, *self.calls] for path in call.paths]
        return list(dict.fromkeys(named))

    @property
    def correction(self) -> bool:
        """The prompt corrects by its words, or the turn before ended on a failed call."""
        return self.corrects or self.after_failure

    @property
    def weight(self) -> int:
        total = CORRECTION * self.correction + REMEMBER * self.remembers
        for failure in self.failures:
            total += RESOLVED if failure.resolved_by is not None else UNRESOLVED
        return min(total, WEIGHT_CAP)

    @property
    def only_looks(self) -> bool:
        """Nothing was done and the user asked for nothing to be kept or done otherwise."""
        return not (self.corrects or self.remembers) and all(call.looks for call in self.calls)

    @property
    def signal(self) -> bool:
        """Whether a model should read it; else it ends as `no_signal`."""
        return not self.only_looks and (self.weight >= 1 or self.decides)

    @property
    def overridden(self) -> list[str]:
        return _unique(one.memory for one in self.fired if one.how == "passed")

    @property
    def heeded(self) -> list[str]:
        """Held, and the same call was not made again in this segment."""
        passed = {(one.agent, one.memory, one.key) for one in self.fired if one.how == "passed"}
        return _unique(
            one.memory
            for one in self.fired
            if one.how == "held" and (one.agent, one.memory, one.key) not in passed
        )

    @property
    def prompt(self) -> str:
        """What the user said at its beginning; "" for a later segment of a turn."""
        return next((text_of(one, "text") for one in self.records if _is_prompt(one)), "")

    @property
    def reply(self) -> str:
        """The assistant's last message."""
        said = [text_of(one, "text") for one in self.records if one.get("k") == ev.STOP]
        return said[-1] if said else ""

    def line(self, seq: int) -> "Record | None":
        """Record e<seq>."""
        return self.records[seq - 1] if 1 <= seq <= len(self.records) else None


def _unique(items: Any) -> list[str]:
    return list(dict.fromkeys(items))


def episode_id(host: str, session: str, turn: int, segment: int) -> str:
    return digest(f"{host}:{session}:{turn}:{segment}", 32)


class Folder:
    """Folds the records of one session. `feed` and `sweep` return the episodes that they close."""

    def __init__(self, host: str, session: str) -> None:
        self.host, self.session = host, session
        self.key = session_key(host, session)
        self._seen: dict[str, int] = {}
        self._turn = 0
        self._segment = 1
        self._calls = CallFold()
        self._context: list[Call] = []
        self._pending: list[Failure] = []
        self._ended_failed = False
        self._last = 0
        self._size = 0
        self._open: Episode | None = None
        self._listed: set[int] = set()  # the open episode's calls, by identity

    @property
    def is_open(self) -> bool:
        """Whether a segment has begun and is not closed."""
        return self._open is not None

    def feed(self, record: Record) -> list[Episode]:
        """Takes the session's next record in."""
        at, event = number_of(record, "t"), text_of(record, "e")
        if not event or self._is_repeat(event, at):
            return []
        closed = self._close_before(record, at)
        self._last = max(self._last, at)
        kind = record.get("k")
        if kind in (ev.SESSION_START, ev.SUBAGENT_STOP) and self._open is None:
            return closed
        if kind == ev.SESSION_END and self._open is None:
            return closed
        self._add(record, at)
        if kind in (ev.STOP, ev.STOP_FAILURE):
            closed += self._close("stop" if kind == ev.STOP else "interrupted")
        elif kind == ev.PRE_COMPACT:
            closed += self._close("pre_compact")
        elif kind == ev.SESSION_END:
            closed += self._close("session_end")
        elif self._size >= SEGMENT_LIMIT:
            closed += self._close("full")
        return closed

    def sweep(self, now: int) -> list[Episode]:
        """Closes what has been idle for an hour: the host died, or the user went away."""
        return self._close("idle") if now - self._last >= IDLE else []

    def _is_repeat(self, event: str, at: int) -> bool:
        first = self._seen.get(event)
        if first is not None and ("#" not in event or abs(at - first) <= SAME_EVENT_WINDOW):
            return True
        self._seen.pop(event, None)
        self._seen[event] = at
        while len(self._seen) > SEEN_KEPT:
            del self._seen[next(iter(self._seen))]
        return False

    def _close_before(self, record: Record, at: int) -> list[Episode]:
        closed = []
        if self._open is not None and at - self._last >= IDLE:
            closed = self._close("idle")
        if _is_prompt(record):
            closed += self._close("interrupted")
            self._next_turn()
        return closed

    def _next_turn(self) -> None:
        self._turn += 1
        self._segment = 1
        own = [call for call in self._calls.calls if not call.agent]
        self._context = own[-CONTEXT_CALLS:]
        self._ended_failed = bool(own) and own[-1].failed
        # What the turn before left unresolved can still be resolved; what is older cannot.
        self._pending = [failure for failure in self._pending if failure.turn == self._turn - 1]
        self._calls = CallFold()

    def _add(self, record: Record, at: int) -> None:
        if self._open is None:
            self._open = self._begin(at)
        episode = self._open
        episode.records.append(record)
        episode.ended = max(episode.ended, at)
        episode.project = episode.project or text_of(record, "p")
        episode.root = episode.root or text_of(record, "w")
        seq = len(episode.records)
        self._size += len(str(record))
        if _is_prompt(record):
            _read_prompt(episode, text_of(record, "text"), self._ended_failed)
        elif record.get("k") == ev.STOP:
            episode.decides = has_decision(text_of(record, "text"))
        self._take_fired(episode, record, seq)
        for call in self._calls.feed(seq, record):
            if id(call) not in self._listed:
                self._listed.add(id(call))
                episode.calls.append(call)
            self._settle(episode, call)

    def _begin(self, at: int) -> Episode:
        self._size = 0
        self._listed = set()
        return Episode(
            id=episode_id(self.host, self.session, self._turn, self._segment),
            host=self.host,
            session=self.session,
            key=self.key,
            turn=self._turn,
            segment=self._segment,
            started=at,
            ended=at,
            context=list(self._context),
        )

    def _take_fired(self, episode: Episode, record: Record, seq: int) -> None:
        fired = record.get("fired")
        for entry in fired if isinstance(fired, list) else []:
            if isinstance(entry, list) and len(entry) >= 4:
                memory, level, how, key = (str(part) for part in entry[:4])
                one = FiredMemory(memory=memory, level=level, how=how, key=key, seq=seq)
                one.agent = text_of(record, "a")
                episode.fired.append(one)

    def _settle(self, episode: Episode, call: Call) -> None:
        if call.failed:
            failure = Failure(call=call, turn=self._turn)
            episode.failures.append(failure)
            self._pending.append(failure)
            del self._pending[:-OPEN_FAILURES]
        elif call.state == "ok":
            for failure in self._pending:
                if failure.resolved_by is None and resolves(call, failure.call):
                    failure.resolved_by = call
                    if not any(failure is known for known in episode.failures):
                        episode.failures.append(failure)

    def _close(self, reason: Closed) -> list[Episode]:
        episode, self._open = self._open, None
        self._segment += episode is not None
        # What is closed never changes again: a later segment that resolves a failure or ends a call
        # counts it as its own.
        self._calls.detach()
        self._pending = [
            Failure(call=failure.call, turn=failure.turn, inherited=True)
            for failure in self._pending
            if failure.resolved_by is None
        ]
        if episode is None or not _has_substance(episode):
            return []
        episode.closed = reason
        return [episode]


def resolves(call: Call, failed: Call) -> bool:
    """A later success of the same tool and agent on the same path, or with the same token."""
    if call.tool != failed.tool or call.agent != failed.agent or call.at < failed.at:
        return False
    if set(call.tokens) & set(failed.tokens):
        return True
    return call.tool in ev.PATH_TOOLS and bool(set(call.paths) & set(failed.paths))


def _read_prompt(episode: Episode, text: str, after_failure: bool) -> None:
    episode.corrects = has_correction(text)
    episode.after_failure = after_failure
    episode.requests = requests(text)
    episode.remembers = has_remember(text)


def _is_prompt(record: Record) -> bool:
    return record.get("k") == ev.PROMPT and not record.get("background")


def _has_substance(episode: Episode) -> bool:
    return bool(episode.calls) or any(_is_prompt(record) for record in episode.records)


def fold_session(host: str, session: str, records: list[Record], now: int) -> list[Episode]:
    """All closed episodes of a session whose ledger holds `records`, looked at at time `now`."""
    folder = Folder(host, session)
    out: list[Episode] = []
    for record in records:
        out += folder.feed(record)
    return out + folder.sweep(now)
