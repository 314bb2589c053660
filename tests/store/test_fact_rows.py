"""A fact's row: every field comes back from its own column."""

import sqlite3
from collections.abc import Iterator

import msgspec
import pytest

from hmd.core.facts import FactRow
from hmd.core.memory import Origin
from hmd.store import facts, migrate


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    found = sqlite3.connect(":memory:", isolation_level=None)
    migrate.migrate(found, lambda _: None)
    yield found
    found.close()


def whole() -> FactRow:
    """Another value in every field, so that no two can be taken for each other."""
    row = FactRow(tags=["t"], links=["l"], origin=Origin(), sensitive=True, pinned=True)
    fixed = {
        "confidence": 0.25, "importance": 7, "kind": "episodic", "evidence": "inferred",
        "actor": "extractor", "authority": "auto", "project": None, "superseded_by": "",
        "closed_tx": None, "freshness": "stale", "accessed_at": None,
    }  # fmt: skip
    kept = {"tags", "links", "origin", "sensitive", "pinned", "archived"}
    for place, name in enumerate(FactRow.__struct_fields__):
        if name in fixed:
            setattr(row, name, fixed[name])
        elif name not in kept:
            number = name in ("number", "closed_at", "checked_at") or "_at" in name
            number = number or name.startswith("valid_")
            setattr(row, name, place if number else f"{name} {place}")
    row.origin = Origin(project="op", worktree="ow", session="os", host="oh")
    return row


def test_every_field_comes_back(connection: sqlite3.Connection) -> None:
    row = whole()
    facts.insert(connection, 1, row)
    found = facts.by_id(connection, row.id)
    assert found is not None
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(row)


def test_flags_lists_and_what_is_beside_it_come_back_too(connection: sqlite3.Connection) -> None:
    """The fields whose two values are told apart by nothing else, one by one."""
    connection.execute("PRAGMA foreign_keys = OFF")
    for number, name in enumerate(("sensitive", "pinned", "archived"), 1):
        row = FactRow(id=f"{number}", number=number)
        setattr(row, name, True)
        facts.insert(connection, 1, row)
        found = facts.by_id(connection, row.id)
        assert found is not None and found == row and getattr(found, name) is True
    row = FactRow(id="9", number=9, superseded_by="1", closed_tx=5, project="p", tags=["a", "b"])
    facts.insert(connection, 1, row)
    connection.execute("INSERT INTO fact_access VALUES ('9', 77)")
    row.accessed_at = 77
    assert facts.by_id(connection, "9") == row
