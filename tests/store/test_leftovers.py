"""What a session or a text leaves in rows that are no memory of it, taken out of rows and journal
alike."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from hmd.core import ids
from hmd.core.changes import AddMemory, Batch, LearnFixes, OpenProposal, RecordRun, SetStatus
from hmd.core.clock import FakeClock
from hmd.core.learning import FixRow, RunRow
from hmd.core.memory import Content, Evidence
from hmd.kernel.address import Home
from hmd.store import known_fixes, scrub
from hmd.store.leftovers import Left
from hmd.store.mask import Words
from hmd.store.scrub import Task
from hmd.store.store import Store
from tests.store.helpers import create_project, dump, remove_database

TEXT = 'Anna "K." Kowalska'
MINE, OTHERS = "1" * 16, "2" * 16


def fix(name: str, says: str, **seen: tuple[str, int]) -> FixRow:
    return FixRow(
        id=name * 32, tool="bash", key=f"call {says}", failure="other", signature="s",
        fix=f"phone {says}", fix_key=f"phone {says}", seen=seen,
    )  # fmt: skip


async def fill(store: Store) -> str:
    """A living rule that cites the text, fixes of two sessions, a proposal and a run about it."""
    project = create_project("app")
    await store.apply(project)
    memory = ids.new_id()
    rule = AddMemory(
        actor="terminal", at=10, memory=memory, version=ids.new_id(), project=project.project,
        content=Content(summary="ask before calling"),
        evidence=[Evidence(id=ids.new_id(), excerpt=f"call {TEXT} first", ref="prompt")],
    )  # fmt: skip
    await store.apply(rule)
    await store.apply(
        SetStatus(actor="terminal", at=11, memory=memory, version=ids.new_id(), status="active",
                  note=f"as {TEXT} said")
    )  # fmt: skip
    fixes = LearnFixes(
        actor="extraction", at=12, project=project.project,
        fixes=[fix("a", TEXT, x=(OTHERS, 5)), fix("b", "bob", y=(MINE, 6), z=(OTHERS, 7)),
               fix("c", "carl", w=(MINE, 8))],
        failed={f"dial {TEXT}": 3, "dial bob": 6, "dial dora": 9},
    )  # fmt: skip
    run = RunRow(id=ids.new_id(), status="invalid_output", message=f"it named {TEXT}")
    record = RecordRun(actor="extraction", at=13, run=run)
    await store.apply(Batch(actor="extraction", at=12, changes=[fixes, record]))
    other = AddMemory(
        actor="terminal", at=14, memory=ids.new_id(), version=ids.new_id(),
        content=Content(summary=f"never call {TEXT}"),
    )  # fmt: skip
    await store.apply(
        OpenProposal(actor="mcp", at=14, proposal=ids.new_id(), proposes="add",
                     reason=f"{TEXT} wants it", changes=[other])
    )  # fmt: skip
    return project.project


async def clean(home: Home, left: Left) -> dict[str, list[tuple[Any, ...]]]:
    async with Store.open(home, FakeClock(), "kernel") as store:
        await fill(store)
        await store.backup()
        await store._db.write(lambda one: scrub.rows(one, left))
        changed = scrub.files(home, store._journal, Task("e", [], []), left)
        assert len(changed) == 2  # the copy and the journal
    return dump(home)


@pytest.mark.parametrize(
    "left",
    [
        Left(Words((), TEXT)),
        Left(Words((), TEXT.lower())),
        Left(Words(()), frozenset([MINE]), frozenset([6])),
    ],
)
async def test_a_database_built_anew_equals_the_one_that_was_cleaned(
    home: Home, left: Left
) -> None:
    """Guards that rows and journal lose the same, and the copy too."""
    cleaned = await clean(home, left)
    remove_database(home)
    async with Store.open(home, FakeClock(), "kernel") as store:
        assert store.problems == []
    assert dump(home) == cleaned
    (copy,) = Path(home.backups).glob("hmd-*.sqlite")
    connection = sqlite3.connect(copy)
    for table in ("fix", "fix_seen", "fix_failed", "evidence", "proposal", "run"):
        assert sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) == cleaned[table]
    connection.close()


async def test_a_text_goes_from_rows_whose_memory_stays(home: Home) -> None:
    """Guards evidence, notes, fixes, failures, proposals and runs that only mention it."""
    rows = await clean(home, Left(Words((), TEXT)))
    everything = repr(rows)
    assert "Anna" not in everything and "Kowalska" not in everything
    assert "ask before calling" in everything
    assert sorted(row[1][0] for row in rows["fix"]) == ["b", "c"]
    assert sorted(row[1] for row in rows["fix_failed"]) == ["dial bob", "dial dora"]
    for path in Path(home.path).rglob("*"):
        assert path.is_dir() or b"Kowalska" not in path.read_bytes(), path


async def test_a_session_takes_its_fixes_along(home: Home) -> None:
    """Guards fixes that only it has seen, and commands that failed in it; others stay."""
    left = Left(Words(()), frozenset([MINE]), frozenset([6]))
    rows = await clean(home, left)
    assert sorted(row[1][0] for row in rows["fix"]) == ["a", "b"]
    assert {row[3] for row in rows["fix_seen"]} == {OTHERS}
    assert sorted(row[1] for row in rows["fix_failed"]) == ["dial " + TEXT, "dial dora"]


async def test_what_is_offered_is_what_is_left(home: Home) -> None:
    """Guards reading fixes after a purge."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        project = await fill(store)
        await store._db.write(lambda one: scrub.rows(one, Left(Words((), TEXT))))
        found = await store.read(lambda one: known_fixes.fixes(one, project))
        assert sorted(row.fix for row in found) == ["phone bob", "phone carl"]
