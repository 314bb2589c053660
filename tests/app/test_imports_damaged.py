"""Imports of what other programs, disks and people did to their files: one bad row costs that row,
the rest comes over, the report says what was left out, and a second run changes nothing."""

import os
import random
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from hmd.app import facts, imports, memories
from hmd.app.context import App, Caller
from hmd.app.front_matter import parse
from hmd.core.database import ImportQuery, ImportReport
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery
from hmd.core.memory_calls import MemoryFilter
from tests.app.conftest import Place
from tests.app.test_imports import add, harness_memory, memharness

PERSON = Caller(actor="terminal")
# What may stand in any column of a file that somebody else wrote.
ODD: list[object] = [
    None, b"\xff\xfe\x00", -1, 2**63 - 1, -(2**63), 1e308, float("inf"), "", " ", "x" * 100_000,
    "not json", "[1, {}]", '{"a": 1}', "5", "null", "[" * 5000, "\0a\x1b[31m", "👩‍👧 مرحبا \u202e",
    "2026-02-30", "9999-12-31T23:59:59.999Z", "0001-01-01", "nan", "1e400", 0, 1, 2,
    "00000000-0000-5000-8000-000000000001", "'; DROP TABLE facts; --",
]  # fmt: skip


@pytest.fixture
async def app(place: Place) -> AsyncIterator[App]:
    place.clock.wall = 1_790_000_000_000
    async with place.opened() as opened:
        yield opened


async def twice(app: App, path: Path) -> ImportReport:
    """Imports, and guards that the second time changes nothing."""
    query = ImportQuery(path=str(path), user_wide=True)
    with trio.fail_after(30):
        first = await imports.import_store(app, PERSON, query)
        known = (await app.store.status()).applied_seq
        second = await imports.import_store(app, PERSON, query)
    assert (second.added, (await app.store.status()).applied_seq) == (0, known)
    return first


def spoil(path: Path, seed: int) -> None:
    """Puts odd values into a few cells."""
    chance = random.Random(seed)
    connection = sqlite3.connect(path)
    (table,) = connection.execute(
        "SELECT name FROM sqlite_master WHERE name IN ('facts', 'memories')"
    ).fetchone()
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
    for _ in range(chance.choice([1, 2, 4, 16])):
        try:
            connection.execute(
                f"UPDATE {table} SET {chance.choice(columns)} = ? WHERE rowid = ?",
                (chance.choice(ODD), chance.choice(rows)),
            )
        except sqlite3.Error:
            continue  # a key that is taken, a rowid that is no number
    connection.commit()
    connection.close()


@pytest.mark.parametrize("sort", ["harness-memory", "memharness"])
@pytest.mark.parametrize("part", [range(12), pytest.param(range(12, 400), marks=pytest.mark.long)])
async def test_odd_values_cost_their_row(tmp_path: Path, sort: str, part: range) -> None:
    """Guards the report instead of a traceback, whatever a cell holds."""
    for seed in part:
        place = Place(tmp_path / str(seed))
        place.base.mkdir()
        place.clock.wall = 1_790_000_000_000
        path = tmp_path / f"{seed}.sqlite"
        if sort == "memharness":
            memharness(path).close()
        else:
            harness_memory(path, "superseded>", "active>0", "superseded>3", "active>")
        spoil(path, seed)
        async with place.opened() as app:
            report = await twice(app, path)
        assert report.added + len(report.skipped) <= 5


async def test_a_value_out_of_range_is_no_damaged_file(app: App, tmp_path: Path) -> None:
    """Guards files whose own rules one row breaks."""
    path = tmp_path / "m.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE facts (id, subject, fact, valid_from, tx_at, confidence REAL "
                       "CHECK (confidence <= 1))")  # fmt: skip
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("INSERT INTO facts VALUES (1, 's', 'f', '2026-01-01', '2026-01-01', 7)")
    connection.commit()
    connection.close()
    assert (await twice(app, path)).added == 1
    (row,) = (await facts.recall(app, PERSON, FactQuery())).rows
    assert row.confidence == 1.0


@pytest.mark.parametrize(
    ("links", "notes"),
    [
        ({1: 1}, 1),  # replaced by itself
        ({1: 2, 2: 3, 3: 1}, 1),  # in a ring
        ({1: 3, 2: 3}, 1),  # two that became one
        ({1: 2, 2: 99}, 0),  # by one that is not there: only an end
    ],
)
async def test_impossible_chains_end(
    app: App, tmp_path: Path, links: dict[int, int], notes: int
) -> None:
    """Guards against walking in a ring, and that all facts come over nevertheless."""
    path = tmp_path / "m.sqlite"
    connection = memharness(path)
    connection.execute("DELETE FROM facts")
    for number in (1, 2, 3):
        end = "2026-03-09" if number in links else None
        successor = links.get(number)
        add(connection, number, "s", f"f {number}", f"2026-03-0{number}", end, "2026-03-05",
            successor, None)  # fmt: skip
    connection.commit()
    connection.close()
    report = await twice(app, path)
    assert (report.added, len(report.notes)) == (3, notes)
    told = await facts.recall(app, PERSON, FactQuery(valid_at="2026-03-04", limit=10))
    assert len(told.rows) == 3


async def test_half_a_write_ahead_log_and_a_folder_of_links(app: App, tmp_path: Path) -> None:
    """Guards a store whose owner is writing it, and one that is reached through links."""
    path = tmp_path / "m.sqlite"
    owner = memharness(path)
    owner.execute("PRAGMA journal_mode = WAL")
    add(owner, 9, "s", "in the log alone", "2026-03-01", None, "2026-03-01", None, None)
    owner.commit()
    log = tmp_path / "m.sqlite-wal"
    half = tmp_path / "half.sqlite"
    half.write_bytes(path.read_bytes())
    (tmp_path / "half.sqlite-wal").write_bytes(log.read_bytes()[:40])
    assert (await twice(app, half)).added == 3
    link = tmp_path / "link.sqlite"
    link.symlink_to(path)
    report = await twice(app, link)
    owner.close()
    assert report.added == 1


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: os.mkfifo(path), "refused"),
        (lambda path: path.symlink_to(path), "not_found"),
        (lambda path: path.write_bytes(b""), "usage"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000), "damaged"),
    ],
)
async def test_what_is_no_file_is_refused_at_once(
    app: App, tmp_path: Path, make: object, code: str
) -> None:
    """Guards against waiting at a pipe for ever, and against rings of links."""
    path = tmp_path / "m.sqlite"
    make(path)  # type: ignore[operator]
    with trio.fail_after(10), pytest.raises(HmdError) as caught:
        await imports.import_store(app, PERSON, ImportQuery(path=str(path)))
    assert caught.value.code == code


async def test_odd_notes_cost_themselves(app: App, tmp_path: Path) -> None:
    """Guards encodings, rings, identifiers that are numbers or taken, and times of every sort."""
    home = tmp_path / "harnmem"
    files: dict[str, bytes] = {
        "user/a.md": b"---\nid: 20260101123456789\ntitle: first\nsupersedes: 20260101123456780\n"
        b"created: 1772359200\n---\n",
        "user/b.md": b"---\nid: 20260101123456780\ntitle: second\nsupersedes: 20260101123456789\n"
        b"created: 1772359200000\n---\n",
        "user/c.md": '\ufeff---\r\ntitle: "sm\\u00f8rrebr\\u00f8d \\ud83d\\uded1"\r\n'
        "created: someday\r\n---\r\n".encode(),
        "user/d.md": "---\ntitle: wide\n---\n".encode("utf-16"),
        "user/e.md": b"---\nid: x\ntitle: \xff\xfe\xc3\n---\n",
        "user/f.md": b"---\nid: x\ntitle: the same id\n---\n",
        "user/g.md": b"\0\1\2" * 100,
        "user/h.md": b"---\nid: 007\ntitle: 1.5\n---\n",
        "user/i.md": b"---\nid: i\ntitle: itself\nsupersedes: i\nsuperseded_by: i\n---\n",
        "user/j.md": b"---\ntitle: no end",
    }
    for name, data in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(data)
    (home / "user/loop").symlink_to(home)
    (home / "user/k.md").symlink_to(home / "nowhere")
    os.mkfifo(home / "user/l.md")
    report = await twice(app, home)
    rows = (await facts.recall(app, PERSON, FactQuery(limit=100))).rows
    said = {row.fact for row in rows}
    assert {"smørrebrød 🛑", "wide", "1.5", "itself"} <= said
    assert len(report.skipped) == 2 and any("has the same id" in one for one in report.skipped)
    assert any("time 'someday'" in one for one in report.not_understood)
    ends = [row.fact for row in rows if row.fact in ("first", "second")]
    assert len(ends) == 1  # of a ring of two one link holds


def test_quoted_words_of_front_matter() -> None:
    """Guards both sorts of escapes, numbers that are names, and lone surrogates."""
    note = parse('---\na: "\\u00e9\\n\\"x\\""\nb: "\\0 \\q"\nc: 007\nd: 12\ne: "\\ud800"\n---\n')
    assert note.fields == {"a": 'é\n"x"', "b": "\0 \\q", "c": "007", "d": 12.0, "e": "?"}


async def test_rules_that_are_too_long_or_say_nothing_are_left_out(
    app: App, tmp_path: Path
) -> None:
    """Guards against a rule that no surface could show."""
    path = tmp_path / "m.sqlite"
    harness_memory(path, "active>", "active>", "active>")
    connection = sqlite3.connect(path)
    connection.execute("UPDATE memories SET summary = ? WHERE summary = 'rule 0'", ("x" * 30_000,))
    connection.execute("UPDATE memories SET summary = '  ' WHERE summary = 'rule 1'")
    connection.commit()
    connection.close()
    report = await twice(app, path)
    assert (report.added, len(report.skipped)) == (1, 2)
    found = await memories.list_(app, PERSON, MemoryFilter(status="all", project="all"))
    assert [row.summary for row in found.rows] == ["rule 2"]
