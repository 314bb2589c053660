"""A hook call inside the daemon: decode, decide, write the log line, give back what to print."""

import time
from collections.abc import Awaitable, Callable

import msgspec

from hmd.daemon.hooklog import HookLog
from hmd.daemon.log import Log
from hmd.daemon.metrics import Metrics
from hmd.daemon.resident import Resident
from hmd.hosts.table import HOSTS
from hmd.kernel import frame, hooklog, payload
from hmd.kernel.answer import Outcome, answer, reading
from hmd.kernel.event import Event
from hmd.kernel.project import Project

_decode = msgspec.json.Decoder().decode


def decode(body: bytes) -> object:
    """What hmd/kernel/payload.py makes of `body`, several times faster for most bodies.

    msgspec refuses what is no strict JSON (lone surrogates, NaN, a byte order mark); there, and
    where it stops at a limit of its own, the kernel's decoder has the word.
    """
    try:
        return _decode(body)
    except (msgspec.DecodeError, RecursionError):
        return payload.decode(body)


Preparer = Callable[[Project, Event], Awaitable[None]]
# Host events whose answers recall adds to.
PREPARED = frozenset(["UserPromptSubmit", "SessionStart"])


class Hooks:
    """Answers hook calls from what is resident."""

    def __init__(
        self,
        resident: Resident,
        metrics: Metrics,
        hooklog: HookLog,
        log: Log,
        heard: Callable[[str, str, str], None] = lambda session, kind, cwd: None,
    ) -> None:
        self._resident = resident
        self._metrics = metrics
        self._hooklog = hooklog
        self._log = log
        self._heard = heard
        # Waits for what recall needs before a prompt is decided; null until the store is open.
        self.preparer: Preparer | None = None

    async def prepare(self, header: dict[str, str], body: bytes) -> None:
        """Before a prompt or the start of a session: gives recall a bounded time to get ready."""
        if self.preparer is None or header.get("event") not in PREPARED:
            return
        try:
            found = reading(self._resident, header, body, decode(body), HOSTS)
            if found is not None:
                await self.preparer(*found)
        except Exception as error:  # recall is an addition: without it the answer still holds
            self._log.trouble("preparing recall", error)

    def decide(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        """(status, bytes to print) of one frame. On a surprise the stub is told to decide alone."""
        began = time.perf_counter_ns()
        try:
            outcome = answer(self._resident, header, body, decode(body), HOSTS)
            if outcome.event is not None:
                self._resident.settle(outcome.key, outcome.event.kind)
            status, out = frame.OK, outcome.out
            if outcome.unwritten:
                # The stub may have the room, or the descriptor, that this process lacks.
                self._log.once_a_minute("ledger", "a ledger cannot be appended to")
                status, out = frame.RETRY, b""
        except Exception as error:
            self._log.trouble("deciding a hook call", error)
            self._metrics.failed += 1
            outcome = Outcome(f"error:{type(error).__name__}")
            status, out = frame.RETRY, b""
        self._account(header, outcome, (time.perf_counter_ns() - began) // 1000)
        if outcome.event is not None:
            self._heard(outcome.key, outcome.event.kind, outcome.event.cwd)
        return status, out

    def _account(self, header: dict[str, str], outcome: Outcome, micros: int) -> None:
        decision = outcome.verdict.decision if outcome.verdict is not None else ""
        self._metrics.hook(header.get("event", ""), decision or outcome.status, micros)
        self._hooklog.add(hooklog.line(header, outcome, micros / 1e6, "hmd"))
        if self._hooklog.debug():
            self._hooklog.add(detail(header, outcome))


def detail(header: dict[str, str], outcome: Outcome) -> str:
    """One JSON line for the debug switch: who took part and why not, never a word that was said."""
    verdict = outcome.verdict
    fired = verdict.fired if verdict is not None else []
    values: dict[str, object] = {
        "at": header.get("at", ""),
        "delivery": header.get("delivery", ""),
        "build": header.get("build", ""),
        "session": outcome.key,
        "status": outcome.status,
        "bytes": len(outcome.out),
        "fired": [[one.id, one.level, one.how] for one in fired],
        "suppressed": [[one[0], one[1]] for one in (verdict.suppressed if verdict else ())],
    }
    return msgspec.json.encode(values).decode() + "\n"
