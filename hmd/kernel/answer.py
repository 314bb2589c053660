"""The whole path of a hook call: payload → event → verdict → one ledger line → the host's bytes.

Daemon and stub run this very function. What differs is `Sources`: the daemon keeps snapshots and
turns in memory, the stub reads files.
"""

from _sha1 import sha1

from hmd.kernel import event as ev
from hmd.kernel import jsontext, ledger, system, texts
from hmd.kernel.address import Home, session_key
from hmd.kernel.decide import decide
from hmd.kernel.project import Project
from hmd.kernel.redact import clip, redact
from hmd.kernel.rules import Rules
from hmd.kernel.subject import subject_of
from hmd.kernel.turn import Turn
from hmd.kernel.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Adapter(Protocol):
        """A host adapter (hmd/hosts/): payload → event, verdict → what the host understands."""

        def event(
            self, payload: dict[str, object], header: dict[str, str], at: int
        ) -> ev.Event | None: ...
        def answer(self, verdict: Verdict, happened: ev.Event) -> dict[str, object] | None: ...

    class Sources(Protocol):
        """Where the path reads from and writes to."""

        home: Home

        def project(self, cwd: str, never: tuple[str, ...]) -> Project | None:
            """The project of a directory; one that is enabled has an id where it could get one."""

        def rules(self, project: Project) -> Rules: ...

        def turn(self, key: str) -> Turn:
            """The session's state, everything in its ledger folded in."""

        def recall(self, project: Project, turn: Turn, event: ev.Event) -> None:
            """Puts what else is to be said into the event: its `hot`, `recalled` and `past`."""

        def append(self, key: str, record: ledger.Record, data: bytes) -> bool:
            """Appends `data`, the encoded `record`, unless another process wrote the event's line
            since its turn was read; False where it could not be written whole."""


PATHS_KEPT = 12
RECALLING = frozenset([ev.SESSION_START, ev.PROMPT, ev.POST_TOOL, ev.TOOL_FAILURE])


class Outcome:
    """An answer with what the hook log says of it. `out` is what the hook prints; `status` is ok,
    bad_stdin, disabled, snapshot_missing or skipped:REASON (docs/internals.md); `unwritten`: the
    event could not be appended to the ledger."""

    __slots__ = ("event", "generation", "key", "out", "status", "unwritten", "verdict")

    def __init__(self, status: str, out: bytes = b"") -> None:
        self.status = status
        self.out = out
        self.event: ev.Event | None = None
        self.verdict: Verdict | None = None
        self.generation = 0
        self.key = ""
        self.unwritten = False


def answer(
    sources: "Sources",
    header: "dict[str, str]",
    body: bytes,
    payload: object,
    hosts: "Mapping[str, Adapter]",
) -> Outcome:
    """Answers one hook call.

    `header` is the frame's; `body` the host's bytes and `payload` what they decode to
    (hmd/kernel/payload.py), None where they do not; `hosts` the adapters by name
    (hmd/hosts/table.py).
    """
    if not isinstance(payload, dict):
        return Outcome("bad_stdin")
    if system.exists(sources.home.disabled):
        return Outcome("disabled")
    host = hosts.get(header.get("host", ""))
    if host is None:
        return Outcome("skipped:host")
    event = host.event(payload, header, _time(header))
    if event is None:
        return Outcome("skipped:event")
    event.body = sha1(body).hexdigest()[:16]
    return _serve(sources, header, event, host)


def reading(
    sources: "Sources",
    header: "dict[str, str]",
    body: bytes,
    payload: object,
    hosts: "Mapping[str, Adapter]",
) -> "tuple[Project, ev.Event] | None":
    """What `answer` is going to decide, for whoever has to get ready for it; None for nothing."""
    host = hosts.get(header.get("host", ""))
    if not isinstance(payload, dict) or host is None or system.exists(sources.home.disabled):
        return None
    event = host.event(payload, header, _time(header))
    if event is None:
        return None
    event.body = sha1(body).hexdigest()[:16]
    place = event.cwd or header.get("env.CLAUDE_PROJECT_DIR", "") or header.get("cwd", "")
    never = (header.get("env.HOME", ""), header.get("env.TMPDIR", ""))
    project = sources.project(place, never)
    return (project, event) if project is not None and project.enabled else None


def _serve(
    sources: "Sources", header: "dict[str, str]", event: ev.Event, host: "Adapter"
) -> Outcome:
    user_home = header.get("env.HOME", "")
    place = event.cwd or header.get("env.CLAUDE_PROJECT_DIR", "") or header.get("cwd", "")
    event.cwd = place
    project = sources.project(place, (user_home, header.get("env.TMPDIR", "")))
    if project is None or not project.enabled:
        return Outcome("skipped:project")
    key = session_key(event.host, event.session)
    rules = sources.rules(project)
    turn = sources.turn(key)
    if event.kind in RECALLING:
        sources.recall(project, turn, event)
    verdict = decide(rules, turn, event, project.root, user_home)
    if event.kind == ev.SESSION_START and event.detail != "compact" and not verdict.repeat:
        from hmd.kernel import notice  # late: once a session

        verdict.notice = "\n".join(notice.lines(sources.home, project.id, event.at))
    if event.kind in (ev.SESSION_START, ev.PROMPT) and not verdict.repeat:
        lost = [texts.UNREADABLE.format(path=path) for path in rules.unreadable()]
        verdict.notice = "\n".join([line for line in (verdict.notice, *lost) if line])
    unwritten = False
    if not verdict.repeat:
        record = describe(event, verdict, turn, project, user_home)
        if not sources.append(key, record, ledger.encode(record)):
            unwritten = True
            # Without a line a hold could never be lifted: one-time holds become advice.
            verdict = decide(rules, turn, event, project.root, user_home, can_hold=False)
        elif turn.reported_elsewhere(event.event_id, event.at, event.delivery):
            verdict = decide(rules, turn, event, project.root, user_home)  # a repeat by now
    outcome = Outcome("ok" if rules.sources else "snapshot_missing")
    outcome.event, outcome.verdict, outcome.key = event, verdict, key
    outcome.unwritten = unwritten
    outcome.generation = max(rules.generations(), default=0)
    printed = host.answer(verdict, event)
    if printed is not None:
        outcome.out = jsontext.dumps(printed).encode("ascii")
    return outcome


def describe(
    event: ev.Event, verdict: Verdict, turn: Turn, project: Project, user_home: str
) -> ledger.Record:
    """The ledger record of an event and of what was answered."""
    record = ledger.record(event, project.id, project.root)
    if event.call is not None:
        ledger.add_call(record, event.call)
    if event.kind == ev.PRE_TOOL and event.call is not None:
        subject = subject_of(event, project.root, user_home)
        record["keyed"] = subject.keyed
        record["tokens"] = subject.tokens
        paths = redact("\n".join(subject.paths[:PATHS_KEPT]))
        kept = paths.split("\n") if paths else []
        record["paths"] = kept
        if event.call.tool in ev.PATH_TOOLS and kept:
            record["path"] = kept[0]
    elif event.kind in (ev.POST_TOOL, ev.TOOL_FAILURE) and event.call is not None:
        ledger.add_result(record, event.call)
    elif event.kind == ev.PROMPT:
        record["text"] = clip(event.prompt, ledger.PROMPT_KEPT)
        if event.background:
            record["background"] = True
        else:
            from hmd.kernel import guard  # late: only prompts correct anything

            record["guards"] = guard.correction(str(record["text"]), turn)
    elif event.kind == ev.TOOL_BATCH:
        record["calls"] = [_batch_entry(call) for call in event.calls[:64]]
    if event.text:
        record["text"] = clip(event.text, ledger.ASSISTANT_KEPT)
    ledger.add_verdict(record, verdict)
    return record


def _batch_entry(call: ev.Call) -> ledger.Record:
    """A call of a batch: enough to see a failure that fired no event of its own."""
    entry: ledger.Record = {"use": call.use_id, "tool": call.tool, "failed": call.failed}
    if call.failed:
        entry["input"] = clip(call.target, ledger.INPUT_KEPT)
        entry["error"] = clip(call.error, 400)
        entry["class"] = ledger.failure_class(call)
    return entry


def _time(header: "dict[str, str]") -> int:
    digits = header.get("at", "")
    return int(digits) if digits.isdigit() and len(digits) < 16 else 0
