"""How long the installed hook takes, as the host sees it: whole processes, from start to end.

Beside each series the bare interpreter is measured in the same run, since a number alone says more
about the machine than about us. Nothing of the user's is touched unless they ask for it (`local`):
otherwise everything happens in a home that is thrown away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from hmd import link
from hmd.core.errors import HmdError
from hmd.core.memory_calls import MemoryDraft
from hmd.kernel.address import Home
from hmd.setup import canary, install
from hmd.setup.receipt import Receipt
from hmd.setup.stop import stop_daemon

MEMORIES, LARGE = 300, 3_000
# Commands of a working day; none of them is matched by the memories below.
COMMANDS = (
    "git status", "git diff --stat HEAD~1", "ls -la src", "pytest -q tests/unit -k parser",
    "cd web && pnpm build && echo done", "grep -rn 'TODO' --include='*.py' src | head -20",
    "docker compose -f dev.yml ps", "sed -n 1,40p README.md", "make lint 2>&1 | tail -5",
    'python - <<"EOF"\nprint(1)\nEOF',
)  # fmt: skip


class Series(msgspec.Struct, frozen=True):
    """Durations in ms of one kind of process. `hold` counts calls that were stopped."""

    name: str
    runs: int
    p50: float
    p95: float
    p99: float
    held: int = 0


def series(name: str, taken: list[float], held: int = 0) -> Series:
    ordered = sorted(taken)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 2)

    return Series(name, len(ordered), at(0.50), at(0.95), at(0.99), held)


def measure_local(home: Home, known: Receipt, cwd: str, runs: int) -> list[Series]:
    """This installation as it is, in the caller's project. Raises HmdError."""
    words = next(
        (words for entry in known.registered if (words := canary.host_words(entry, home))), []
    )
    if not words:
        raise HmdError("not_found", "no hook is registered", do="run hmctl install")
    return list(_measure(words, cwd, os.environ, runs, "hook"))


def measure_fresh(runs: int, memories: int, tell: Callable[[str], object]) -> list[Series]:
    """An installation of its own with so many memories: with the daemon, and without it."""
    with _installation(tell) as (home, words, cwd, env):
        _fill(home, cwd, env, memories, tell)
        found = list(_measure(words, cwd, env, runs, "hook, daemon up"))
        Path(home.service).touch()  # hooks start no other while we measure without
        stop_daemon(home, env)
        found += list(_measure(words, cwd, env, runs, "hook, daemon down"))[:1]
    return found


@contextlib.contextmanager
def _installation(
    tell: Callable[[str], object],
) -> Iterator[tuple[Home, list[str], str, dict[str, str]]]:
    """A home with hooks and one enabled project; the words of the hook's entry."""
    root = tempfile.mkdtemp(prefix="hmd-eval-")
    home, cwd = Home(root + "/home"), root + "/app"
    env = {
        "HOME": root,
        "CLAUDE_CONFIG_DIR": root + "/claude",
        "PATH": os.environ.get("PATH", os.defpath),
        "HMD_CLAUDE_BIN": "/none",  # nobody is to be asked, and nothing is to cost
        "HMD_CODEX_BIN": "/none",
    }
    try:
        os.makedirs(cwd + "/.git")
        tell(f"installing into {root}")

        def enable(place: str) -> None:
            link.call(home, "project.enable", {"path": place}, dict, cwd=cwd, environ=env)

        install.install(install.Options(home.path, cwd, env, self_test=False), enable)
        from hmd.setup import receipt  # late: written a moment ago

        known = receipt.load_if_whole(home)
        yield home, canary.host_words(known.registered[0], home), cwd, env
    finally:
        Path(home.service).unlink(missing_ok=True)
        with contextlib.suppress(HmdError):
            stop_daemon(home, env)
        shutil.rmtree(root, ignore_errors=True)


def _fill(
    home: Home, cwd: str, env: Mapping[str, str], count: int, tell: Callable[[str], object]
) -> None:
    tell(f"adding {count} memories")
    programs = ("kubectl", "terraform", "helm", "aws", "gcloud", "ansible", "vault", "npm")
    for number in range(count):
        program = programs[number % len(programs)]
        draft = MemoryDraft(
            summary=f"rule {number}: {program} job{number} is done by the pipeline",
            signature=f"bash:command:cmd:{program} job{number}",
            level="deny" if number % 3 else "advise",
            active=True,
        )
        link.call(home, "memory.add", draft, dict[str, Any], cwd=cwd, environ=env)


def _measure(
    words: list[str], cwd: str, env: Mapping[str, str], runs: int, name: str
) -> Iterator[Series]:
    """The hook and the bare interpreter, turn by turn: what disturbs one disturbs the other."""
    bare = [words[0], "-I", "-S", "-c", "pass"] if len(words) > 3 else []
    ours: list[float] = []
    theirs: list[float] = []
    held = 0
    for number in range(runs + 2):  # the first two fill caches
        body = canary.payload(cwd, COMMANDS[number % len(COMMANDS)])
        took, out = _run(words, body, cwd, env)
        ours.append(took)
        held += b"permissionDecision" in out
        if bare:
            theirs.append(_run(bare, b"", cwd, env)[0])
    yield series(name, ours[2:], held)
    if bare:
        yield series("bare interpreter", theirs[2:])


def _run(words: list[str], body: bytes, cwd: str, env: Mapping[str, str]) -> tuple[float, bytes]:
    began = time.perf_counter()
    done = subprocess.run(
        words, input=body, capture_output=True, cwd=cwd, env=dict(env), timeout=30, check=False
    )
    return (time.perf_counter() - began) * 1000, done.stdout
