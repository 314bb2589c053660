"""Erasing whole sessions: ledgers are blanked in place, everything made from them is deleted."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from hmd.core import machine
from hmd.kernel.address import Home
from hmd.store.mask import BLOCK, Pace

_TIME = re.compile(rb'"t": ?(\d{10,16})\b')


def times_of(home: Home, keys: Iterable[str]) -> set[int]:
    """When the sessions' calls were recorded (ms): what else is told only by that. Before
    `blank_ledgers`."""
    found: set[int] = set()
    pace = Pace()
    for path in _ledgers(home, keys):
        with open(path, "rb") as file:
            for line in file:
                at = _TIME.search(line)
                if at is not None:
                    found.add(int(at[1]))
                pace.step()
    return found


def runs_of(connection: sqlite3.Connection, keys: Iterable[str]) -> list[str]:
    """Runs of a model over the sessions; the files of its answers begin with their ids."""
    marks = sorted(keys)
    wanted = f"session IN ({', '.join('?' * len(marks))})"
    rows = connection.execute(
        f"SELECT id FROM run WHERE episode IN (SELECT id FROM episode WHERE {wanted}) "
        f"UNION SELECT run FROM episode WHERE run <> '' AND {wanted}",
        (*marks, *marks),
    )
    return [run for (run,) in rows]


def scrub(home: Home, keys: list[str], runs: list[str]) -> list[str]:
    """Blanks the ledgers of sessions and deletes their turns, past calls and raw answers; returns
    the paths. `keys` as in `hmd.kernel.address.session_key`."""
    changed = [path for path in _ledgers(home, keys) if _blank(path)]
    for path in _made_from(home, keys, runs):
        with contextlib.suppress(OSError):
            path.unlink()
            changed.append(path)
    return [str(path) for path in changed]


def _ledgers(home: Home, keys: Iterable[str]) -> list[Path]:
    """Of every machine that shares the home."""
    root = Path(home.path, "ledger")
    return [path for key in keys for path in sorted(root.glob(f"*/{key}.jsonl")) if path.is_file()]


def _made_from(home: Home, keys: list[str], runs: list[str]) -> Iterator[Path]:
    root = Path(home.path)
    for key in keys:
        yield from sorted(root.glob(f"turn/*/{key}.json"))
        yield from sorted(root.glob(f"past/*/{key}.jsonl"))
    for run in runs:
        yield from sorted(root.glob(f"raw/{run}*"))


def _blank(path: Path) -> bool:
    """Overwrites every whole line by blanks; whether there was anything to overwrite. What is
    appended meanwhile stays. Done in part it is done by doing it again."""
    pace = Pace()
    changed = False
    with open(path, "rb+", buffering=0) as file:
        end = _end_of_lines(file.fileno())
        for begin in range(0, end, BLOCK):
            file.seek(begin)
            data = file.read(min(BLOCK, end - begin))
            blanks = b"\n".join(b" " * len(line) for line in data.split(b"\n"))
            if blanks != data:
                machine.write_at(file.fileno(), blanks, begin)
                changed = True
            pace.step()
        os.fsync(file.fileno())
    return changed


def _end_of_lines(descriptor: int) -> int:
    """Where the last whole line ends; a record being written stays whole."""
    end = os.fstat(descriptor).st_size
    while end > 0:
        start = max(0, end - BLOCK)
        at = machine.read_at(descriptor, end - start, start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0
