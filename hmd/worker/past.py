"""Past calls of a project with their outcome, on which rules prove themselves (replay).

`past/<project>/<session>.jsonl` under the home, one call a line, redacted as the ledger is; written
by the worker alone. They outlive the ledgers: 180 days.
"""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from hmd.kernel.address import Home
from hmd.learn.calls import Call

KEPT_MS = 180 * 86_400_000
CALLS_READ = 5000  # of a project, the newest
_OUTCOMES = frozenset(["ok", "failed"])

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Call).decode


def folder(home: Home) -> Path:
    return Path(home.path, "past")


def write(home: Home, session: str, calls: dict[str, list[Call]], *, anew: bool) -> None:
    """Adds a session's calls by project. `anew`: the session is read from its beginning, so that
    what is there is replaced and nothing stands twice."""
    for project, found in calls.items():
        lines = [_encode(_kept(call)) + b"\n" for call in found if _says_something(call)]
        path = folder(home) / project / f"{session}.jsonl"
        if not lines and not anew:
            continue
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "wb" if anew else "ab", opener=_private) as file:
            file.write(b"".join(lines))


def read(home: Home, project: str) -> list[Call]:
    """A project's calls, oldest first; damaged lines are passed over."""
    calls: list[Call] = []
    for path in _newest_first((folder(home) / project).glob("*.jsonl")):
        with contextlib.suppress(OSError):
            for line in path.read_bytes().splitlines():
                with contextlib.suppress(msgspec.DecodeError):
                    calls.append(_decode(line))
        if len(calls) >= CALLS_READ:
            break
    calls.sort(key=lambda call: call.at)
    return calls[-CALLS_READ:]


def drop(home: Home, before: int, sessions: Iterable[str]) -> int:
    """Deletes files whose newest call is older than `before`, and those of the named sessions."""
    named = set(sessions)
    dropped = 0
    for path in folder(home).glob("*/*.jsonl"):
        with contextlib.suppress(OSError):
            if path.stem in named or path.stat().st_mtime * 1000 < before:
                path.unlink()
                dropped += 1
    return dropped


def _says_something(call: Call) -> bool:
    return call.state in _OUTCOMES and not call.looks and bool(call.input)


def _kept(call: Call) -> Call:
    return Call(
        tool=call.tool,
        dialect=call.dialect,
        input=call.input,
        root=call.root,
        at=call.at,
        keyed=call.keyed,
        paths=call.paths,
        state=call.state,
        failure=call.failure,
    )


def _newest_first(paths: Iterable[Path]) -> list[Path]:
    def time(path: Path) -> float:
        with contextlib.suppress(OSError):
            return path.stat().st_mtime
        return 0.0

    return sorted(paths, key=lambda path: (-time(path), path.name))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
