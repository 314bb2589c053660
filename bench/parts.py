"""Rows about parts of the work: canonical form, redaction, building a snapshot."""

import itertools
import json
import shlex
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.commands import commands
from bench.figures import Row, against, clock, interleave
from bench.memories import memories
from hmd.app.snapshots import record_of
from hmd.core.memory import MemoryRow
from hmd.kernel.redact import redact
from hmd.kernel.shell.canonical import canonical
from hmd.store import snapshot_file

SIZES = (300, 2_000, 20_000, 100_000)
SHORT = "git commit -m 'close the reader before the file' src/store/reader.py"
LOG = (
    "2026-02-11T09:14:03Z INFO  web  GET /v1/items?limit=5&page=2 200 18ms req=5f0c2a\n"
    "2026-02-11T09:14:04Z WARN  jobs retry 3 of 5 for invoice 88213 (timeout after 30s)\n"
    "    at process (/srv/app/node_modules/queue/lib/worker.js:214:17)\n"
    "PASS src/cart/total.test.ts (1.2 s)  expected 14.20 EUR, got 14.20 EUR\n"
)


def canonical_form() -> Iterator[Row]:
    """Row 9."""
    taken: list[list[int]] = [[], []]
    for command in commands()[0]:
        taken[0].append(clock(partial(canonical, command, "posix", ".", "/srv/app", "/home/dev")))
        taken[1].append(clock(partial(_split, command)))
    for share in (0.5, 0.99):
        yield against("canonical form of a command", "shlex.split", taken, share)


def _split(text: str) -> object:
    try:
        return shlex.split(text)
    except ValueError:
        return None


def redaction() -> Iterator[Row]:
    """Row 10."""
    log = (LOG * 20)[:4096]
    for what, text in (("4 KB of output", log), ("a short command", SHORT)):
        # Another text each time: short ones found clean are remembered.
        texts, others = map(str, itertools.count(100_000)), map(str, itertools.count(100_000))
        taken = interleave(
            400,
            lambda text=text, texts=texts: redact(text[:-6] + next(texts)),  # type: ignore[misc]
            lambda text=text, texts=others: json.dumps(text[:-6] + next(texts)),  # type: ignore[misc]
        )
        yield against("redaction of " + what, "json.dumps of it", taken)


def snapshot_build() -> Iterator[Row]:
    """How long the base of a snapshot takes, from rows to a file in its place."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "base")
        for number in SIZES:
            rows = memories(number, None)
            taken = interleave(
                3 if number > 10_000 else 9, partial(_build, path, rows), partial(_dump, rows)
            )
            yield against(f"snapshot build, {number:,} memories", "json.dumps of its rows", taken)


def _build(path: Path, rows: list[MemoryRow]) -> None:
    records = map(record_of, rows)
    snapshot_file.write_base(path, records, kernel_hash="", generation=1, settings={})


def _dump(rows: list[MemoryRow]) -> list[str]:
    return [json.dumps(record_of(row)) for row in rows]
