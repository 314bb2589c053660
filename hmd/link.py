"""The wire client of `hmctl`: one call, one answer, and a daemon started where there is none.

Branches on what became of the request: nobody was there (it may be sent), the owner is leaving (the
same), no whole answer came (it may be sent again only if the method is retry-safe), or an
answer. Starting a daemon is tried twice at most.
"""

import os
import time
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from hmd import __version__ as VERSION
from hmd.core import machine
from hmd.core.answers import ErrorBody
from hmd.core.errors import CODES, HmdError
from hmd.daemon.start import command, start_and_wait
from hmd.kernel import frame
from hmd.kernel.address import Home
from hmd.transport.methods import METHODS, Method

__all__ = ["call", "command", "probe", "start"]

T = TypeVar("T")

# The caller's own: these directories are no projects (hmd/kernel/project.py).
PASSED = ("HOME", "TMPDIR")

CHUNK = 65536  # more is taken from the system anew for each read, which costs as much as reading
SLACK_S = 2.0  # beyond the method's own deadline
# The first may find that another one took the home meanwhile, and went again.
MOST_STARTS = 2
BUSY_PAUSE_S = 0.1
BUSY_TRIES = 20
_PERHAPS_DONE = "look whether it was done before repeating it"

# How a daemon is found.
READY, ABSENT, UNREACHABLE = "ready", "absent", "unreachable"


class _Absent(Exception):
    """Nobody listens: the request has reached no one."""


class _Late(Exception):
    """No whole answer came in time."""


class _Broken(Exception):
    """The request went out and no whole answer came back."""


def call(
    home: Home,
    method: str,
    body: object,
    result_type: type[T],
    *,
    actor: str = "terminal",
    cwd: str = "",
    start_daemon: bool = True,
    environ: Mapping[str, str] | None = None,
) -> T:
    """The daemon's answer to `method`. `body` is a msgspec struct or plain data.

    Raises HmdError: what the daemon answered, or `busy` where none could be reached.
    """
    contract = METHODS[method]
    header = {
        "proto": str(frame.PROTOCOL),
        "build": VERSION,
        "method": method,
        "actor": actor,
        "cwd": cwd or _working_directory(),
    }
    environ = machine.usual_names(os.environ if environ is None else environ)
    for name in PASSED:
        if environ.get(name):
            header[f"env.{name}"] = environ[name]
    try:
        request = frame.request(frame.CALL, header, msgspec.json.encode(body))
    except UnicodeEncodeError as error:
        what = f"no UTF-8: {ascii(error.object)[:200]}"
        raise HmdError("usage", what, do="names and texts must be UTF-8") from None
    status, data = _deliver(home, contract, request, environ, start_daemon)
    if status == frame.ERROR:
        raise _error(data)
    try:
        return msgspec.json.decode(data, type=result_type)
    except msgspec.DecodeError as error:
        raise HmdError(
            "internal", f"the answer to '{method}' cannot be read: {error}", home.socket
        ) from error


def probe(home: Home, timeout: float = 1.0) -> str:
    """`ready` when a daemon answers, `absent` when nobody listens, else `unreachable`."""
    header = {"proto": str(frame.PROTOCOL), "build": VERSION, "method": "ping"}
    try:
        _exchange(home.socket, frame.request(frame.CALL, header, b"{}"), timeout)
    except _Absent:
        return ABSENT
    except (_Broken, _Late, HmdError):
        return UNREACHABLE
    return READY


def start(home: Home, environ: Mapping[str, str] | None = None) -> None:
    """Makes sure that the home is served, by a daemon in the background. Raises HmdError."""
    if os.path.exists(home.service):
        raise HmdError(
            "busy",
            "no daemon answers, and a service manager is to run it",
            home.service,
            "see: hmctl doctor",
        )
    start_and_wait(command(home.path), os.environ if environ is None else environ)


def _deliver(
    home: Home, contract: Method, request: bytes, environ: Mapping[str, str], may_start: bool
) -> tuple[str, bytes]:
    """(status, body) of an answer other than `leave` and `retry`."""
    timeout = contract.deadline_ms / 1000 + SLACK_S
    broken = starts = 0
    for _ in range(BUSY_TRIES):
        try:
            status, data = _exchange(home.socket, request, timeout)
        except _Absent:
            status = frame.LEAVE
        except _Late:
            raise HmdError(
                "busy",
                f"the daemon did not answer within {timeout:g} s",
                home.socket,
                "see: hmctl doctor" if contract.retry_safe else _PERHAPS_DONE,
            ) from None
        except _Broken:
            broken += 1
            if not contract.retry_safe or broken > 1:
                raise HmdError(
                    "busy",
                    f"the daemon went away before it answered '{contract.name}'",
                    home.socket,
                    "" if contract.retry_safe else _PERHAPS_DONE,
                ) from None
            status = frame.RETRY
        if status == frame.LEAVE:
            # Nobody is there, or an older daemon that is on its way out.
            if not may_start:
                raise HmdError("busy", "no daemon is running", home.socket, "hmctl daemon start")
            if starts == MOST_STARTS:
                raise HmdError(
                    "busy", "daemons of another version take this home", home.path, "hmctl install"
                )
            starts += 1
            start(home, environ)
        elif status == frame.RETRY:
            time.sleep(BUSY_PAUSE_S)
        else:
            return status, data
    raise HmdError("busy", f"the daemon had no time for '{contract.name}'", home.socket)


def _exchange(address: str, request: bytes, timeout: float) -> tuple[str, bytes]:
    end = time.monotonic() + timeout
    try:
        stream = machine.connect(address, timeout)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError) as error:
        raise _Absent from error
    except BlockingIOError:
        return frame.RETRY, b""  # its queue is full
    except PermissionError as error:
        raise _kept_away(address) from error
    with stream as sock:
        try:
            sock.sendall(request)
        except TimeoutError as error:
            raise _Late from error
        except OSError:
            pass  # it may have answered before it hung up
        data = bytearray()
        while True:
            try:
                sock.settimeout(max(0.001, end - time.monotonic()))
                piece = sock.recv(CHUNK)
            except TimeoutError as error:
                raise _Late from error
            except OSError as error:
                raise _Broken from error
            data += piece
            try:
                # Cheap while incomplete: only the first line is looked at.
                answer = frame.parse_answer(bytes(data))
            except frame.FrameError as error:
                raise HmdError("internal", f"no answer of hmd: {error}", address) from error
            if answer is not None:
                return answer
            if not piece:
                raise _Broken


def _kept_away(address: str) -> HmdError:
    """Another user's socket, or a sandbox around this process: doctor tells which."""
    return HmdError("refused", "the socket must not be used from here", address, "hmctl doctor")


def _error(data: bytes) -> HmdError:
    try:
        told = msgspec.json.decode(data, type=ErrorBody)
    except msgspec.DecodeError:
        told = ErrorBody(what="the daemon failed without saying how")
    code: Any = told.code if told.code in CODES else "internal"
    return HmdError(code, told.what, told.where, told.do)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # it was deleted under us
