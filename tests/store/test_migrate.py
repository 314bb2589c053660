"""Migrations: all together make the reference schema, and rows come through each."""

import re
import sqlite3
from importlib.resources import files
from pathlib import Path

import pytest

from hmd.store import migrate
from hmd.store.migrate import Step


def memory_database() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", isolation_level=None)


def schema(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute(
        "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
    )
    return [" ".join(re.sub(r"--[^\n]*", "", row[0]).split()) for row in rows]


def test_steps_make_the_reference_schema() -> None:
    """Guards that schema.sql, which people read, is what databases have."""
    migrated, reference = memory_database(), memory_database()
    assert migrate.migrate(migrated, lambda old: None) == migrate.newest()
    reference.executescript(files("hmd.store").joinpath("schema.sql").read_text())
    assert schema(migrated) == schema(reference)
    assert len(schema(reference)) > 8


def test_every_table_says_what_a_row_means() -> None:
    """Guards the promise that the database can be read without us."""
    text = files("hmd.store").joinpath("schema.sql").read_text()
    for table in re.findall(r"CREATE TABLE (\w+)", text):
        before = text[: text.index(f"CREATE TABLE {table}")].rstrip().splitlines()
        assert before[-1].startswith("--"), table


ROWS_AT = {
    # What a database of a version that added tables or columns may hold; every later version
    # must still hold it.
    1: """
    INSERT INTO meta VALUES ('applied_seq', '2');
    INSERT INTO change_log VALUES (1, 5, 'terminal', 'create_project', NULL, 'p', NULL);
    INSERT INTO project VALUES ('p', 'app', 1, '', '', 5, NULL, NULL, 2);
    INSERT INTO project_location VALUES ('/repos/app/.git', 'p', 5);
    INSERT INTO memory VALUES ('m', 6, 'p', '/repos/app', 's', 'claude-code');
    INSERT INTO memory_version VALUES ('v', 'm', 'p', 2, 'terminal', 'add_memory', 'pitfall',
        'text', '', '**', '["before_tool"]', NULL, NULL, 'deny', 'human', 'user_said', 0.9, 0.5,
        NULL, 'active', '', 0, '', '[]', 'manual', '', '', 0, 0, 0, NULL, 6, NULL, 6, NULL);
    INSERT INTO evidence VALUES ('e', 'm', 'v', 'manual', 'terminal', 'x', '', 0.0, 6);
    INSERT INTO proposal VALUES ('q', 'enforce', 'm', '', '', 'p', 'r', 'mcp', '[]', 1, 'open', 7,
        NULL, NULL, '', '');
    """
}


@pytest.mark.parametrize("version", sorted(ROWS_AT))
def test_rows_come_through(version: int) -> None:
    """Guards user data: rows of every earlier version survive all later steps."""
    connection = memory_database()
    for step in migrate.steps()[:version]:
        connection.executescript(step.sql)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.executescript(ROWS_AT[version])
    backups: list[int] = []
    assert migrate.migrate(connection, backups.append) == migrate.newest()
    assert backups == ([] if version == migrate.newest() else [version])
    summary = connection.execute(
        "SELECT v.summary, p.name FROM memory_version v JOIN project p ON p.id = v.project_id "
        "WHERE v.superseded_at IS NULL"
    )
    assert summary.fetchall() == [("text", "app")]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


TWO = (Step(1, "CREATE TABLE a (x);"), Step(2, "ALTER TABLE a ADD y DEFAULT 7;"))


def test_backup_comes_before_the_first_step() -> None:
    """Guards that the copy holds the old version, and that an empty database needs none."""
    connection = memory_database()
    seen: list[tuple[int, int]] = []
    note = lambda old: seen.append((old, migrate.version(connection)))  # noqa: E731
    assert migrate.migrate(connection, note, TWO[:1]) == 1
    connection.execute("INSERT INTO a VALUES (1)")
    assert migrate.migrate(connection, note, TWO) == 2
    assert seen == [(1, 1)]
    assert connection.execute("SELECT * FROM a").fetchall() == [(1, 7)]
    assert migrate.migrate(connection, note, TWO) == 2
    assert len(seen) == 1


def test_failing_step_leaves_the_version_before_it() -> None:
    """Guards that a step happens wholly or not at all."""
    connection = memory_database()
    bad = (*TWO, Step(3, "ALTER TABLE a ADD z; INSERT INTO nowhere VALUES (1);"))
    with pytest.raises(sqlite3.OperationalError):
        migrate.migrate(connection, lambda old: None, bad)
    assert migrate.version(connection) == 2
    assert not connection.in_transaction
    assert [row[1] for row in connection.execute("PRAGMA table_info(a)")] == ["x", "y"]


def test_newer_database_is_left_alone(tmp_path: Path) -> None:
    """Guards a database that a later version has written."""
    connection = memory_database()
    connection.execute("PRAGMA user_version = 99")
    assert migrate.migrate(connection, lambda old: pytest.fail("no backup is due")) == 99
    assert schema(connection) == []
