"""Answers requests: hook calls at once, `call` methods here or by a use case.

One place turns errors into answers: a refusal becomes its words, a surprise becomes `internal`
and a traceback in the daemon's log. Nothing a client sends is written anywhere from here.
"""

import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import trio

from hmd import __version__ as VERSION
from hmd.core.answers import Pong
from hmd.core.errors import HmdError
from hmd.core.patience import PATIENCE, Patience
from hmd.daemon.build import digest, supersedes
from hmd.daemon.services import Caller, Services
from hmd.daemon.status import status
from hmd.kernel import frame
from hmd.transport.methods import METHODS, Method, Nothing, Stopping

Handler = Callable[[Services, Caller, Any], Awaitable[Any]]
Preparation = Callable[[dict[str, str], bytes], Awaitable[None]]
HookAnswer = Callable[[dict[str, str], bytes], tuple[str, bytes]]
_encode = msgspec.json.Encoder().encode


class Handlers:
    """The responder of a server (`hmd.daemon.serve.Responder`)."""

    def __init__(
        self, services: Services, hook: HookAnswer, prepare: Preparation | None = None
    ) -> None:
        self._services = services
        self._hook = hook
        self._prepare = prepare

    async def prepare(self, header: dict[str, str], body: bytes) -> None:
        if self._prepare is not None:
            await self._prepare(header, body)

    def hook(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        self._services.last_request = self._services.monotonic()
        return self._hook(header, body)

    def is_newer(self, build: str) -> bool:
        ours = self._services.record.build
        if build == ours:
            return False
        # Only for a client that names its files it is worth a look at what hooks run from.
        installed = self._services.newly_installed() if digest(build) else ""
        return supersedes(build, ours, installed)

    def dropped(self) -> None:
        self._services.metrics.dropped += 1

    async def _run(self, method: Method, caller: Caller, given: Any) -> Any:
        services, seconds = self._services, method.deadline_ms / 1000
        alone = WITHOUT_STORE.get(method.name)
        with trio.move_on_after(seconds):
            if alone is not None:
                return await alone(services, caller, given)
            use_cases = await services.store.get()
            if not method.mutates:
                return await use_cases.run(method.name, caller, given)
            # Once begun a change runs to its end: journal, database and snapshot go together. One
            # that its caller no longer waits for is not begun.
            PATIENCE.set(Patience(seconds))
            with trio.CancelScope(shield=True):
                return await use_cases.run(method.name, caller, given)
        raise _late(method)

    async def call(self, header: dict[str, str], body: bytes) -> tuple[str, bytes]:
        began = time.perf_counter_ns()
        services = self._services
        services.last_request = services.monotonic()
        name = header.get("method", "")
        try:
            method = METHODS.get(name)
            if method is None:
                raise _unknown(name)
            given = _decode(body, method.parameters)
            answer = _encode(await self._run(method, Caller(header), given))
            if len(answer) > frame.BODY_LIMIT:
                raise _too_long(method)
            return frame.OK, answer
        except HmdError as error:
            return frame.ERROR, error_body(error)
        except Exception as error:
            services.log.trouble(f"'{name}'", error)
            words = f"'{name}' failed: {type(error).__qualname__}"
            return frame.ERROR, error_body(
                HmdError("internal", words, services.home.daemon_log, "the log holds the traceback")
            )
        finally:
            services.metrics.call(name, (time.perf_counter_ns() - began) // 1000)


def _late(method: Method) -> HmdError:
    return HmdError("busy", f"'{method.name}' was not done in {method.deadline_ms} ms")


def _too_long(method: Method) -> HmdError:
    done = "" if method.retry_safe else "; it was done"
    return HmdError(
        "refused",
        f"the answer to '{method.name}' is larger than {frame.BODY_LIMIT >> 20} MB{done}",
        do="ask for less of it, or for a file (export: --output)",
    )


def error_body(error: HmdError) -> bytes:
    """The body of an `error` answer (docs/internals.md, "Frames")."""
    return _encode({"code": error.code, "what": error.what, "where": error.where, "do": error.do})


def _unknown(name: str) -> HmdError:
    return HmdError(
        "usage",
        f"unknown method '{name}'",
        do="this daemon may be older than its client: run hmctl daemon restart",
    )


def _decode(body: bytes, parameters: Any) -> Any:
    try:
        return msgspec.json.decode(body or b"{}", type=parameters)
    except msgspec.DecodeError as error:
        raise HmdError("usage", f"the parameters cannot be read: {error}") from error


async def _ping(services: Services, _: Caller, __: Nothing) -> Pong:
    return Pong(
        pid=os.getpid(),
        version=VERSION,
        build=services.record.build,
        ready=services.store.is_ready,
    )


async def _stop(services: Services, _: Caller, __: Nothing) -> Stopping:
    services.leave("asked to stop")
    return Stopping(pid=os.getpid())


WITHOUT_STORE: dict[str, Handler] = {
    "ping": _ping,
    "stop": _stop,
    "status": status,
}
