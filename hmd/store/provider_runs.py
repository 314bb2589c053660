"""Runs: what each call of a provider did and cost. Functions run inside a connection's thread."""

import sqlite3
from typing import Any

import msgspec

from hmd.core.changes import RecordRun
from hmd.core.learning import RunRow

_encode = msgspec.json.encode
_counts = msgspec.json.Decoder(dict[str, int]).decode


def record(connection: sqlite3.Connection, change: RecordRun) -> None:
    """Records a run; one that is on record already stays as it is."""
    run = change.run
    connection.execute(
        f"INSERT OR IGNORE INTO run VALUES ({', '.join('?' * 16)})",
        (
            run.id,
            run.kind,
            run.episode,
            run.project,
            run.provider,
            run.model,
            run.status,
            run.message,
            run.started,
            run.duration_ms,
            run.input_tokens,
            run.output_tokens,
            run.cached_tokens,
            run.cost_usd,
            run.exempt,
            _encode(run.counts).decode(),
        ),
    )


def runs(connection: sqlite3.Connection, since: int, limit: int = 1000) -> list[RunRow]:
    """Runs that began at `since` or later, newest first."""
    rows = connection.execute(
        "SELECT * FROM run WHERE started >= ? ORDER BY started DESC, id LIMIT ?", (since, limit)
    )
    return [_run_of(row) for row in rows]


def get_run(connection: sqlite3.Connection, run: str) -> RunRow | None:
    row = connection.execute("SELECT * FROM run WHERE id = ?", (run,)).fetchone()
    return None if row is None else _run_of(row)


def latest_run(connection: sqlite3.Connection, provider: str, kind: str = "") -> RunRow | None:
    """The newest run of a provider ("" for any), of one kind or of any."""
    row = connection.execute(
        "SELECT * FROM run WHERE (?1 = '' OR provider = ?1) AND (?2 = '' OR kind = ?2) "
        "ORDER BY started DESC, id LIMIT 1",
        (provider, kind),
    ).fetchone()
    return None if row is None else _run_of(row)


def _run_of(row: tuple[Any, ...]) -> RunRow:
    values = dict(zip(RunRow.__struct_fields__, row, strict=True))
    values["counts"] = _counts(values["counts"])
    values["exempt"] = bool(values["exempt"])
    return RunRow(**values)
