"""Changes and comparisons that the tests of the store share."""

import sqlite3
from pathlib import Path
from typing import Any

from hmd.core import changes as ch
from hmd.core import ids
from hmd.core.clock import FakeClock
from hmd.core.memory import Content, Evidence
from hmd.kernel.address import Home
from hmd.store.store import Store


def add(number: int = 0, *, project: str | None = None, **content: Any) -> ch.AddMemory:
    fields = {"summary": f"memory {number} — 메모", "triggers": ["before_tool"]} | content
    return ch.AddMemory(
        actor="terminal",
        at=1000 + number,
        memory=ids.new_id(),
        version=ids.new_id(),
        content=Content(**fields),
        project=project,
        evidence=[Evidence(id=ids.new_id(), excerpt="why")],
    )


def create_project(name: str) -> ch.CreateProject:
    project = ids.new_id()
    return ch.CreateProject(
        actor="terminal", at=1, project=project, name=name, location=f"/repos/{name}", enabled=True
    )


def status(memory: str, status: str, *, at: int = 5000, actor: str = "terminal") -> ch.SetStatus:
    return ch.SetStatus(
        actor=actor,  # type: ignore[arg-type]
        at=at,
        memory=memory,
        version=ids.new_id(),
        status=status,  # type: ignore[arg-type]
    )


def dump(home: Home) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in a fixed order."""
    connection = sqlite3.connect(f"{Path(home.database).as_uri()}?mode=ro", uri=True)
    try:
        tables = [
            row[0]
            for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in tables
        }
    finally:
        connection.close()


def remove_database(home: Home) -> None:
    for path in Path(home.database).parent.iterdir():
        path.unlink()


def opened(home: Home, clock: FakeClock | None = None) -> Any:
    return Store.open(home, clock or FakeClock(), "kernel")
