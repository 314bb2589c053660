"""One record per line: what happened in a host session, redacted before it is cut.

Daemon and stub append to the same file. A record is one append of at most 32 KB, begun and ended
by a newline, so that a torn write damages only itself. Times are ms since the epoch.
"""

from hmd.kernel import event as ev
from hmd.kernel import jsontext, system
from hmd.kernel.redact import clip, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.verdict import Verdict

VERSION = 1
RECORD_LIMIT = 32_768

# Characters kept of each text.
PROMPT_KEPT = 4000
INPUT_KEPT = 500
OUTPUT_HEAD, OUTPUT_TAIL = 2000, 1000
ERROR_KEPT = 1500
ASSISTANT_KEPT = 2000

Record = dict[str, object]


def record(event: ev.Event, project: str, root: str) -> Record:
    """The keys that every record has (docs/internals.md, "Ledger")."""
    out: Record = {
        "v": VERSION,
        "t": event.at,
        "d": event.delivery,
        "e": event.event_id,
        "k": event.kind,
        "p": project,
        "w": root,
    }
    if event.agent:
        out["a"] = event.agent
    if event.detail:
        out["detail"] = redact(event.detail[:200])
    return out


def add_call(out: Record, call: ev.Call) -> None:
    """What was called, without its result."""
    out["tool"] = call.tool
    out["use"] = call.use_id
    if call.host_tool != call.tool:
        out["host_tool"] = call.host_tool
    if call.dialect:
        out["dialect"] = call.dialect
    out["input"] = clip(call.target, INPUT_KEPT)


def add_result(out: Record, call: ev.Call) -> None:
    """What a finished call printed or failed with."""
    if call.output:
        out["output"] = clip(call.output, OUTPUT_HEAD, OUTPUT_TAIL)
    if call.failed:
        out["error"] = clip(call.error, ERROR_KEPT)
        out["class"] = failure_class(call)
        if call.exit_code is not None:
            out["exit"] = call.exit_code
    if call.interrupted:
        out["interrupted"] = True


def add_verdict(out: Record, verdict: "Verdict") -> None:
    """What was answered, and what later decisions must know of it."""
    if any(verdict.plain()):
        out["out"] = verdict.plain()
        out["delivery"] = verdict.delivery
    if verdict.fired:
        out["fired"] = [[one.id, one.level, one.how, one.key] for one in verdict.fired]
    if verdict.automatic:
        out["auto"] = True  # counts against the session's budget of automatic holds
    if verdict.opaque:
        out["opaque"] = True


def failure_class(call: ev.Call) -> str:
    """exit_N, enoent, eacces, timeout, interrupt or other (the seed's classes)."""
    if call.interrupted:
        return "interrupt"
    lower = call.error[:4000].lower()
    if "timed out" in lower or "timeout" in lower[:200] or call.exit_code in (124, 143):
        return "timeout"
    if "enoent" in lower or "no such file" in lower or "does not exist" in lower:
        return "enoent"
    if "command not found" in lower or call.exit_code == 127:
        return "enoent"
    if "eacces" in lower or "permission denied" in lower or call.exit_code == 126:
        return "eacces"
    return "other" if call.exit_code is None else f"exit_{call.exit_code}"


def encode(out: Record) -> bytes:
    """The bytes of one append. ASCII JSON: lone surrogates survive, no locale matters.

    A record over the limit loses its longest texts, never its keys.
    """
    data = jsontext.dumps(out).encode("ascii")
    kept = out
    while len(data) + 2 > RECORD_LIMIT:
        texts = {name: len(value) for name, value in kept.items() if isinstance(value, str)}
        longest = max(texts, key=lambda name: texts[name], default="")
        if not longest or texts[longest] < 64:
            kept = {name: out[name] for name in ("v", "t", "d", "e", "k", "p") if name in out}
            data = jsontext.dumps(kept).encode("ascii")
            break
        kept = dict(kept)
        kept[longest] = str(kept[longest])[: texts[longest] // 2]
        data = jsontext.dumps(kept).encode("ascii")
    return b"\n" + data + b"\n"


def append(path: str, data: bytes) -> bool:
    """One append to the session's file; False where it could not be written whole."""
    try:
        descriptor = system.open(
            path, system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC, 0o600
        )
    except FileNotFoundError:
        try:
            system.make_directories(path.rpartition("/")[0])
            descriptor = system.open(
                path, system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC, 0o600
            )
        except OSError:
            return False
    except OSError:
        return False
    try:
        return system.write(descriptor, data) == len(data)
    except OSError:
        return False
    finally:
        system.close(descriptor)


def records(data: bytes) -> "tuple[list[Record], int]":
    """The records in `data` and the bytes they take; an unterminated tail is left for later."""
    end = data.rfind(b"\n") + 1
    out: list[Record] = []
    for line in data[:end].split(b"\n"):
        if not line:
            continue
        try:
            found = jsontext.loads(line.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            continue  # a torn write, closed off by the newline that the next record began with
        if isinstance(found, dict):
            out.append(found)
    return out, end
