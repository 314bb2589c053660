"""Exports: the same state gives the same bytes, and what comes out can be read back."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hmd.app import exports, facts, forget, memories
from hmd.app.context import App, Caller
from hmd.app.front_matter import parse
from hmd.core.database import ExportQuery
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactDraft
from hmd.core.forgetting import ForgetQuery
from hmd.core.memory_calls import MemoryDraft
from tests.app.conftest import Place

PERSON = Caller(actor="terminal")


@pytest.fixture
async def app(place: Place) -> AsyncIterator[App]:
    async with place.opened() as opened:
        for fact in ("likes tea", 'says "no" to\ttabs — 탭'):
            await facts.remember(opened, PERSON, FactDraft(subject="user", fact=fact))
        for summary in ("검증에는 Zod를 쓴다", "검증에는 zod를 쓴다!", "!!!"):
            await memories.add(
                opened,
                PERSON,
                MemoryDraft(summary=summary, details="왜: \\d", active=True, user_wide=True),
            )
        yield opened


async def test_sql_is_the_same_for_the_same_state_and_loads(app: App, tmp_path: Path) -> None:
    """Guards H34: questions change nothing in it, and any SQLite client reads it."""
    first = await exports.export(app, PERSON, ExportQuery())
    await facts.recall(app, PERSON, FactQuery())
    path = tmp_path / "out.sql"
    await exports.export(app, PERSON, ExportQuery(path=str(path)))
    assert path.read_text(encoding="utf-8") == first.text
    assert path.stat().st_mode & 0o777 == 0o600
    loaded = sqlite3.connect(":memory:")
    loaded.executescript(first.text)
    said = [row[0] for row in loaded.execute("SELECT fact FROM fact ORDER BY number")]
    assert said == ["likes tea", 'says "no" to\ttabs — 탭']
    assert not loaded.execute("PRAGMA foreign_key_check").fetchall()


async def test_markdown_has_one_file_each_and_an_index(app: App, tmp_path: Path) -> None:
    """Guards the front matter, names in every script, and that the forgotten leave the folder."""
    folder = tmp_path / "out"
    report = await exports.export(app, PERSON, ExportQuery(kind="markdown", path=str(folder)))
    assert (report.rows, len(report.files)) == (5, 6)
    fact = next(path for path in folder.glob("facts/*.md") if "tea" in path.name)
    note = parse(fact.read_text(encoding="utf-8"))
    assert (note.fields["subject"], note.body, note.strange) == ("user", "likes tea", [])
    index = (folder / exports.INDEX).read_text(encoding="utf-8")
    assert index.count("](facts/") == 2 and index.count("](rules/") == 3
    await forget.forget(app, PERSON, ForgetQuery(text="likes tea"))
    await exports.export(app, PERSON, ExportQuery(kind="markdown", path=str(folder)))
    assert not fact.exists()


async def test_skills_have_names_of_their_own(app: App, tmp_path: Path) -> None:
    """Guards three faults of a peer: empty names, equal names, lost backslashes."""
    report = await exports.export(
        app, PERSON, ExportQuery(kind="skills", path=str(tmp_path / "skills"))
    )
    names = sorted(Path(path).parent.name for path in report.files)
    assert len(names) == len(set(names)) == 3
    assert "memory" in names and any(name.startswith("검증에는-zod를") for name in names)
    assert all("왜: \\d" in Path(path).read_text(encoding="utf-8") for path in report.files)


async def test_nothing_else_is_overwritten(app: App, tmp_path: Path) -> None:
    """Guards a folder of the person's own."""
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(HmdError, match="other files"):
        await exports.export(app, PERSON, ExportQuery(kind="markdown", path=str(tmp_path)))
    with pytest.raises(HmdError, match="an agent cannot"):
        await exports.export(app, Caller(actor="mcp"), ExportQuery(path=str(tmp_path / "x.sql")))
