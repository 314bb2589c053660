"""The state of a host session as decisions need it: a pure fold over its ledger.

A checkpoint holds the state with the offset it reaches to, so no decision reads a whole session.
Everything here is bounded: a session may last for months.
"""

from hmd.kernel import event as ev
from hmd.kernel import jsontext, ledger, system

FORMAT = 1
SEEN_KEPT = 256
ANSWERS_KEPT = 24
CALLS_KEPT = 48
GUARDS_KEPT = 32
GIVEN_KEPT = 512
# Two reports without a tool-use id are one event when they are this close (ms).
SAME_EVENT_WINDOW = 2000
# A wave of identical calls ends by itself after this time where no PostToolBatch comes (ms).
WAVE = 1500
# Bytes beyond the checkpoint at which a reader writes a new one.
CHECKPOINT_EVERY = 65_536

# A past call, as the correction guard and the learning side look at it.
Past = dict[str, object]


class Turn:
    """The folded state. Only `fold` changes it.

    `number`    prompts of the user so far.
    `seen`      event id → [time, delivery id, answer or None] of the latest events.
    `holds`     "agent memory key" → [time of the hold, wave closed?] of this turn.
    `held_calls` how many calls automatic rules and guards have held in this session.
    `given`     memory id → True for texts the model has and still sees.
    `overrides` memory id → how often a hold was overridden in this session.
    `calls`     the latest calls, oldest first.
    `guards`    corrections that bind in this session.
    `batches`   the host shows where a wave ends.
    """

    __slots__ = (
        "batches",
        "calls",
        "given",
        "guards",
        "held_calls",
        "holds",
        "last_path",
        "number",
        "offset",
        "opaque_said",
        "overrides",
        "prompt_at",
        "saved",
        "seen",
    )

    def __init__(self) -> None:
        self.offset = 0
        self.saved = 0
        self.number = 0
        self.prompt_at = 0
        self.seen: dict[str, list[object]] = {}
        self.holds: dict[str, list[int]] = {}
        self.held_calls = 0
        self.given: dict[str, bool] = {}
        self.overrides: dict[str, int] = {}
        self.calls: list[Past] = []
        self.guards: list[dict[str, object]] = []
        self.batches = False
        self.last_path = ""
        self.opaque_said = False

    def first_report(self, event_id: str, at: int) -> "list[object] | None":
        """[time, delivery id, answer] of the first report of this event, if there was one."""
        first = self.seen.get(event_id)
        if first is None:
            return None
        if "#" in event_id and abs(at - int(str(first[0]))) > SAME_EVENT_WINDOW:
            return None
        return first

    def reported_elsewhere(self, event_id: str, at: int, delivery: str) -> bool:
        """Whether another delivery reported this event first."""
        first = self.first_report(event_id, at)
        return first is not None and first[1] != delivery

    def has_line(self, record: "dict[str, object]") -> bool:
        """Whether the event of a ledger record has a line already."""
        return self.first_report(str(record["e"]), int(str(record["t"]))) is not None

    def wave_open(self, hold: "list[int]", at: int) -> bool:
        """Whether a hold's wave of identical calls still runs at time `at`."""
        if hold[1]:
            return False
        # In either direction: a clock that was set back must not hold a wave open for a day.
        return self.batches or abs(at - hold[0]) < WAVE


def hold_key(agent: str, memory_id: str, key: str) -> str:
    return agent + "\x1e" + memory_id + "\x1e" + key


def fold(turn: Turn, record: ledger.Record) -> None:
    """Takes one record in. Records of unknown kinds and damaged fields change nothing."""
    kind, event_id, at = record.get("k"), record.get("e"), record.get("t")
    if not isinstance(event_id, str) or not isinstance(at, int) or not isinstance(kind, str):
        return
    if turn.first_report(event_id, at) is not None:
        return
    _remember(turn, event_id, at, record)
    step = _STEPS.get(kind)
    if step is not None:
        step(turn, record, at)
    _take_fired(turn, record, at)


def _remember(turn: Turn, event_id: str, at: int, record: ledger.Record) -> None:
    turn.seen.pop(event_id, None)
    turn.seen[event_id] = [at, record.get("d", ""), record.get("out")]
    while len(turn.seen) > SEEN_KEPT:
        del turn.seen[next(iter(turn.seen))]
    if record.get("out") is not None:
        answered = [entry for entry in turn.seen.values() if entry[2] is not None]
        for entry in answered[:-ANSWERS_KEPT]:
            entry[2] = ["", "", "", ""]


def _take_fired(turn: Turn, record: ledger.Record, at: int) -> None:
    fired = record.get("fired")
    agent = str(record.get("a", ""))
    held = False
    for entry in fired if isinstance(fired, list) else []:
        if not isinstance(entry, list) or len(entry) < 4:
            continue
        memory_id, _level, how, key = (str(part) for part in entry[:4])
        if how == "advised":
            turn.given.pop(memory_id, None)
            turn.given[memory_id] = True
        elif how == "held":
            place = hold_key(agent, memory_id, key)
            held = held or place not in turn.holds  # a repeat in the same wave is one attempt
            turn.holds.setdefault(place, [at, 0])
        elif how == "passed":
            turn.overrides[memory_id] = turn.overrides.get(memory_id, 0) + 1
            hold = turn.holds.get(hold_key(agent, memory_id, key))
            if hold is not None:
                hold[1] = 2
    if held and record.get("auto"):
        turn.held_calls += 1
    while len(turn.given) > GIVEN_KEPT:
        del turn.given[next(iter(turn.given))]


def _session_start(turn: Turn, record: ledger.Record, at: int) -> None:
    if record.get("detail") in ("compact", "clear"):
        turn.given.clear()


def _prompt(turn: Turn, record: ledger.Record, at: int) -> None:
    if record.get("background"):
        return
    turn.number += 1
    turn.prompt_at = at
    turn.holds.clear()
    guards = record.get("guards")
    for guard in guards if isinstance(guards, list) else []:
        if isinstance(guard, dict) and isinstance(guard.get("id"), str):
            turn.guards = [known for known in turn.guards if known["id"] != guard["id"]]
            turn.guards.append({**guard, "turn": turn.number})
            turn.overrides.pop(guard["id"], None)
    del turn.guards[:-GUARDS_KEPT]


def _pre_tool(turn: Turn, record: ledger.Record, at: int) -> None:
    if record.get("opaque"):
        turn.opaque_said = True
    turn.calls.append(
        {
            "use": record.get("use", ""),
            "tool": record.get("tool", ""),
            "input": record.get("input", ""),
            "keyed": record.get("keyed", []),
            "tokens": record.get("tokens", []),
            "paths": record.get("paths", []),
            "agent": record.get("a", ""),
            "turn": turn.number,
            "t": at,
            "state": "held" if _decision(record) else "open",
        }
    )
    del turn.calls[:-CALLS_KEPT]
    path = record.get("path")
    if isinstance(path, str) and path:
        turn.last_path = path


def _finished(turn: Turn, record: ledger.Record, at: int) -> None:
    past = _call_of(turn, record.get("use"))
    if past is None:
        return
    if record.get("k") == ev.TOOL_FAILURE:
        past["state"] = "failed"
    else:
        past["state"] = "ok"
        _settle_guards(turn, past)


def _batch(turn: Turn, record: ledger.Record, at: int) -> None:
    turn.batches = True
    mine = str(record.get("a", "")) + "\x1e"
    for key, hold in turn.holds.items():
        if key.startswith(mine):
            hold[1] = hold[1] or 1
    calls = record.get("calls")
    for call in calls if isinstance(calls, list) else []:
        past = _call_of(turn, call.get("use")) if isinstance(call, dict) else None
        if past is not None and past["state"] == "open" and call.get("failed"):
            past["state"] = "failed"


def _call_of(turn: Turn, use_id: object) -> "Past | None":
    for past in reversed(turn.calls):
        if use_id and past["use"] == use_id:
            return past
    return None


def _settle_guards(turn: Turn, past: Past) -> None:
    """The first call after a correction that worked and is a variant of the corrected one: it
    shares its resolution token, or begins with a program that the user asked for."""
    keyed = past["keyed"] if isinstance(past["keyed"], list) else []
    for guard in turn.guards:
        if guard.get("worked") or guard.get("tool") != past["tool"]:
            continue
        if any(part[0] == guard["key"] for part in keyed):
            continue
        mine, theirs, asked = guard.get("tokens"), past["tokens"], guard.get("asked")
        if not (isinstance(mine, list) and isinstance(theirs, list) and isinstance(asked, list)):
            continue
        wanted = any(part[1] and part[1][0] in asked for part in keyed)
        if wanted or any(token in mine for token in theirs):
            guard["worked"] = past["input"]


def _compact(turn: Turn, record: ledger.Record, at: int) -> None:
    turn.given.clear()


def _decision(record: ledger.Record) -> str:
    out = record.get("out")
    return str(out[0]) if isinstance(out, list) and out else ""


_STEPS = {
    ev.SESSION_START: _session_start,
    ev.PROMPT: _prompt,
    ev.PRE_TOOL: _pre_tool,
    ev.POST_TOOL: _finished,
    ev.TOOL_FAILURE: _finished,
    ev.TOOL_BATCH: _batch,
    ev.PRE_COMPACT: _compact,
}

_PLAIN = tuple(name for name in Turn.__slots__ if name not in ("saved",))


def dump(turn: Turn) -> bytes:
    """The checkpoint of a state."""
    state: dict[str, object] = {name: getattr(turn, name) for name in _PLAIN}
    return jsontext.dumps({"format": FORMAT, **state}).encode("ascii")


def load(data: bytes) -> Turn:
    """The state of a checkpoint; an empty one (fold from the start) where it cannot be used."""
    turn = Turn()
    try:
        state = jsontext.loads(data.decode("ascii"))
        if not isinstance(state, dict) or state.get("format") != FORMAT:
            return turn
        values = {name: state[name] for name in _PLAIN}
    except (ValueError, KeyError, RecursionError):
        return turn
    for name, value in values.items():
        if type(value) is not type(getattr(turn, name)):
            return Turn()
    for name, value in values.items():
        setattr(turn, name, value)
    turn.saved = turn.offset
    return turn


def catch_up(turn: Turn, path: str) -> bool:
    """Folds what the ledger holds beyond the state; False where the file cannot be read.

    A file shorter than the offset is another file: the state begins anew.
    """
    try:
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        size = system.fstat(descriptor).st_size
        if size < turn.offset:
            turn.__init__()  # type: ignore[misc]
        while turn.offset < size:
            if not take(turn, system.pread(descriptor, 1 << 20, turn.offset)):
                break
    except OSError:
        return False
    finally:
        system.close(descriptor)
    return True


def take(turn: Turn, data: bytes) -> int:
    """Folds the records in `data`, which begins at the state's offset; returns their bytes."""
    found, used = ledger.records(data)
    for one in found:
        fold(turn, one)
    turn.offset += used
    return used


def write_checkpoint(turn: Turn, path: str) -> bool:
    """Replaces the checkpoint at `path`; a failure only costs a later reader time."""
    temporary = f"{path}.{system.getpid()}"
    try:
        system.make_directories(path.rpartition("/")[0])
        descriptor = system.open(
            temporary, system.O_WRONLY | system.O_CREAT | system.O_TRUNC, 0o600
        )
        with open(descriptor, "wb") as file:
            file.write(dump(turn))
        system.replace(temporary, path)
    except OSError:
        return False
    turn.saved = turn.offset
    return True
