"""Imports: counted before and after, twice in a row, and what each format's traps become."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hmd.app import facts, forget, imports, memories
from hmd.app.context import App, Caller
from hmd.app.front_matter import parse
from hmd.core.database import ImportQuery
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery, FactRef
from hmd.core.facts import FactDraft
from hmd.core.forgetting import ForgetQuery
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter
from tests.app.conftest import Place
from tests.corpora import corpus

PERSON = Caller(actor="terminal")


@pytest.fixture
async def app(place: Place) -> AsyncIterator[App]:
    place.clock.wall = 1_790_000_000_000
    async with place.opened() as opened:
        yield opened


async def rules(app: App) -> dict[str, MemoryRow]:
    found = await memories.list_(app, PERSON, MemoryFilter(status="all", project="all", limit=1000))
    return {row.summary: row for row in found.rows}


# -- harness-memory ---------------------------------------------------------------------------


@pytest.mark.corpus
@pytest.mark.parametrize("version", [9, 10, 16])
async def test_harness_memory_files_come_over_whole(app: App, version: int) -> None:
    """Guards the import of real files of every schema, and that a second run changes nothing."""
    path = corpus(f"harness-memory-db/v{version}.sqlite")
    query = ImportQuery(path=str(path), user_wide=True)
    before = path.read_bytes()
    planned = await imports.import_store(
        app, PERSON, ImportQuery(path=str(path), user_wide=True, dry_run=True)
    )
    first = await imports.import_store(app, PERSON, query)
    assert (first.kind, first.version) == ("harness-memory", str(version))
    # Eleven memories and the one policy rule that belongs to none of them.
    assert (first.counted["memories"], first.added, planned.added) == (11, 12, 12)
    assert first.not_understood == []
    known = (await app.store.status()).applied_seq
    second = await imports.import_store(app, PERSON, query)
    assert (second.added, second.known) == (0, 12)
    assert (await app.store.status()).applied_seq == known
    assert path.read_bytes() == before
    rows = await rules(app)
    assert len(rows) == 12
    statuses = sorted(row.status for row in rows.values())
    assert statuses.count("active") == 7 and statuses.count("rejected") == 2
    noise = next(row for row in rows.values() if row.note == "a template of consolidation")
    assert noise.status == "rejected"
    replaced = next(row for row in rows.values() if row.status == "superseded")
    assert replaced.note.startswith("replaced by ")
    assert any(row.id.isalnum() and len(row.id) == 32 for row in rows.values())


def harness_memory(path: Path, *rows: str) -> None:
    """A database of ours in the shape of that format, with columns it does not know."""
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA user_version = 22;"
        "CREATE TABLE memories (id TEXT, content_hash TEXT, identity_key TEXT, type TEXT, "
        "summary TEXT, details TEXT, scope_glob TEXT, lifecycle_triggers TEXT, confidence REAL, "
        "importance REAL, status TEXT, supersedes_memory_id TEXT, created_at TEXT, "
        "updated_at TEXT, activation_class TEXT, mood TEXT);"
        "CREATE TABLE riddles (a TEXT); INSERT INTO riddles VALUES ('?');"
    )
    for number, row in enumerate(rows):
        status, points_to = row.split(">")
        identifier = f"00000000-0000-5000-8000-{number:012d}"
        target = f"00000000-0000-5000-8000-{int(points_to):012d}" if points_to else None
        connection.execute(
            "INSERT INTO memories VALUES (?, '', NULL, 'workflow', ?, '', '**', '[]', 0.5, 0.5, "
            "?, ?, '2026-03-01 10:00:00', '', 'scoped', 'fine')",
            (identifier, f"rule {number}", status, target),
        )
    connection.commit()
    connection.close()


async def test_a_superseded_row_says_whether_it_was_replaced_or_merged(
    app: App, tmp_path: Path
) -> None:
    """Guards the direction trap, unknown columns and tables, and SQLite's spelling of times."""
    path = tmp_path / "m.sqlite"
    # 0 was replaced by 1, which points to it; 2 was merged into 3, to which it points itself.
    harness_memory(path, "superseded>", "active>0", "superseded>3", "active>")
    report = await imports.import_store(app, PERSON, ImportQuery(path=str(path), user_wide=True))
    rows = await rules(app)
    assert rows["rule 0"].note == "replaced by 00000000"
    assert rows["rule 2"].note == "merged into 00000000"
    assert report.not_understood == ["table riddles: 1 rows", "column memories.mood"]
    assert any("schema 22" in note for note in report.notes)
    assert rows["rule 0"].valid_from == 1_772_359_200_000


async def test_a_file_that_was_cut_short_is_refused(app: App, tmp_path: Path) -> None:
    """Guards the trap that the owner writes its file anew each time and not atomically."""
    path = tmp_path / "m.sqlite"
    harness_memory(path, *["active>"] * 40)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(HmdError) as caught:
        await imports.import_store(app, PERSON, ImportQuery(path=str(path)))
    assert caught.value.code == "damaged"


# -- memharness -------------------------------------------------------------------------------

_TABLE = (
    "CREATE TABLE facts (id INTEGER PRIMARY KEY, subject TEXT, predicate TEXT, fact TEXT, "
    "confidence REAL, importance INTEGER, kind TEXT, valid_from TEXT, valid_to TEXT, tx_at TEXT, "
    "superseded_by INTEGER, retracted_at TEXT, source_agent TEXT, source_ref TEXT, "
    "source_commit TEXT, source_path TEXT, freshness TEXT, checked_at TEXT, checked_head TEXT, "
    "last_accessed_at TEXT, embedding BLOB, embedding_dim INTEGER, embedding_model TEXT)"
)


def memharness(path: Path) -> sqlite3.Connection:
    """A database of ours in the shape of that format: a chain, a retraction, a bad time."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 5")
    connection.execute(_TABLE)
    for row in (
        (1, "user", "works at A", "2026-03-01", "2026-03-05", "2026-03-01", 2, None),
        (2, "user", "works at B", "2026-03-05", None, "2026-03-11", None, None),
        (3, "user", "dropped", "2026-03-02", None, "2026-03-02", None, "2026-03-20"),
        (4, "user", "broken", "2026-13-02", None, "2026-03-02", None, None),
    ):
        add(connection, *row)
    connection.commit()
    return connection


def add(
    connection: sqlite3.Connection, number: int, subject: str, fact: str, since: str,
    until: str | None, recorded: str, successor: int | None, retracted: str | None,
) -> None:  # fmt: skip
    def time(day: str | None) -> str | None:
        return day and f"{day}T00:00:00.000Z"

    connection.execute(
        "INSERT INTO facts VALUES (?, ?, 'p', ?, 0.9, 7, 'semantic', ?, ?, ?, ?, ?, 'cc', ' s1 ', "
        "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        (number, subject, fact, time(since), time(until), time(recorded), successor,
         time(retracted)),
    )  # fmt: skip


async def beliefs(app: App, day: str) -> list[str]:
    found = await facts.recall(app, PERSON, FactQuery(as_of=day, limit=100))
    return sorted(row.fact for row in found.rows)


async def test_memharness_facts_come_over_with_their_times(app: App, tmp_path: Path) -> None:
    """Guards chains and both axes: the past is asked about as it was believed there."""
    connection = memharness(tmp_path / "memory.db")
    query = ImportQuery(path=str(tmp_path / "memory.db"))
    report = await imports.import_store(app, PERSON, query)
    assert (report.kind, report.counted, report.added) == ("memharness", {"facts": 4}, 3)
    assert len(report.skipped) == 1 and "fact 4" in report.skipped[0]
    assert await beliefs(app, "2026-03-03") == ["dropped", "works at A"]
    assert await beliefs(app, "2026-03-07") == ["dropped", "works at A"]  # B was not known yet
    assert await beliefs(app, "2026-03-12") == ["dropped", "works at B"]
    assert await beliefs(app, "2026-03-21") == ["works at B"]
    again = await imports.import_store(app, PERSON, query)
    assert (again.added, again.known) == (0, 3)
    # It lived on over there: the next import brings the end of what came before.
    add(connection, 5, "user", "works at C", "2026-04-01", None, "2026-04-01", None, None)
    connection.execute(
        "UPDATE facts SET valid_to = '2026-04-01T00:00:00.000Z', superseded_by = 5 WHERE id = 2"
    )
    connection.commit()
    later = await imports.import_store(app, PERSON, query)
    assert (later.added, later.known) == (1, 3)
    assert await beliefs(app, "2026-04-02") == ["works at C"]
    connection.close()


async def test_what_was_forgotten_here_is_not_imported_again(app: App, tmp_path: Path) -> None:
    """Guards tombstones against an import, also where a chain loses its middle."""
    memharness(tmp_path / "memory.db").close()
    found = await facts.remember(
        app, PERSON, FactDraft(subject="user", fact="Works at B", user_wide=True)
    )
    assert found.fact is not None
    await forget.forget(app, PERSON, ForgetQuery(id=found.fact.id, hard=True))
    query = ImportQuery(path=str(tmp_path / "memory.db"))
    report = await imports.import_store(app, PERSON, query)
    assert (report.added, report.forgotten) == (2, 1)
    assert await beliefs(app, "2026-03-12") == ["dropped"]


async def test_what_came_forgotten_waits_its_thirty_days_here(
    app: App, place: Place, tmp_path: Path
) -> None:
    """Guards the trash of an import: it is emptied 30 days after it came, in parts."""
    connection = memharness(tmp_path / "memory.db")
    for number in range(10, 10 + forget.AT_ONCE):
        add(connection, number, "u", f"gone {number}", "2025-03-01", None, "2025-03-01", None,
            "2025-03-02")  # fmt: skip
    connection.commit()
    await imports.import_store(app, PERSON, ImportQuery(path=str(tmp_path / "memory.db")))
    assert (await forget.sweep(app)).facts == []
    place.clock.advance(31 * 86_400_000)
    assert len((await forget.sweep(app)).facts) == forget.AT_ONCE + 1
    assert (await facts.stats(app, PERSON, None)).erased == forget.AT_ONCE + 1


# -- HarnMem ----------------------------------------------------------------------------------

NOTE = """\
---
id: m-2
title: "Deploys go through \\"Fly\\""
type: decision
tags: [deploy, 'it''s prod', "a, b"]
entities:
  - project:acme
importance: 0.8
pinned: true
mood: cheerful
supersedes: m-1
links: [m-3, nowhere]
created: 2026-05-02T10:00:00Z
note: |
  two
  lines
: odd
---
Because Heroku went away.
"""


async def test_harnmem_records_come_over_and_what_was_odd_is_said(app: App, tmp_path: Path) -> None:
    """Guards chains, tags, links, pins, and that unknown keys and lines are named."""
    home = tmp_path / "harnmem"
    files = {
        "projects/acme/new.md": NOTE,
        "projects/acme/old.md": "---\nid: m-1\ntitle: Deploys go through Heroku\n"
        "created: 2026-05-01\nstate: superseded\n---\n",
        "user/three.md": "---\nid: m-3\nsensitive: true\ncreated: 2026-05-03\n---\n# Likes tea\n",
        "user/MEMORY.md": "# index\n",
        "trash/gone.md": "---\nid: m-4\n---\ngone\n",
        "user/empty.md": "---\nid: m-5\n---\n",
        "state/audit.jsonl": "{}\n",
    }
    for name, text in files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    query = ImportQuery(path=str(home))
    report = await imports.import_store(app, PERSON, query)
    assert (report.kind, report.counted["files"], report.added) == ("harnmem", 6, 3)
    assert len(report.skipped) == 3
    assert report.not_understood == ["key mood: 1", "key note: 1", "line ': odd': 1"]
    assert any("'nowhere'" in note for note in report.notes)
    assert any(".jsonl" in note for note in report.notes)
    (row,) = (await facts.recall(app, PERSON, FactQuery(subject="project:acme"))).rows
    assert row.fact == 'Deploys go through "Fly"'
    assert (row.importance, row.pinned, row.details) == (8, True, "Because Heroku went away.")
    assert row.tags == ["a, b", "decision", "deploy", "it's prod", "project:acme"]
    told = await facts.why(app, PERSON, FactRef(id=row.id))
    assert [each.fact for each in told.ancestors] == ["Deploys go through Heroku"]
    hidden = await facts.recall(app, PERSON, FactQuery(sensitive=True, query="tea"))
    assert [each.id for each in hidden.rows] == row.links
    again = await imports.import_store(app, PERSON, query)
    assert (again.added, again.known) == (0, 3)


@pytest.mark.parametrize(
    ("text", "fields", "strange"),
    [
        ("no front matter", {}, []),
        ("---\na: 1\n", {}, ["front matter without an end"]),
        ("---\na: 1.5\nb: yes\nc: null\nd: x # why\n---\n",
         {"a": 1.5, "b": True, "c": None, "d": "x"}, []),
        ("---\na: >\n  one\n  two\nb: '#1'\n---\n", {"a": "one two", "b": "#1"}, []),
        ("---\na:\n- x\n- \"y: z\"\nb:\n  c: d\n---\n", {"a": ["x", "y: z"]}, ["b: c: d"]),
    ],
)  # fmt: skip
def test_front_matter(text: str, fields: dict[str, object], strange: list[str]) -> None:
    """Guards the part of YAML that is read, and that the rest is named and not guessed."""
    note = parse(text)
    assert (note.fields, note.strange) == (fields, strange)
