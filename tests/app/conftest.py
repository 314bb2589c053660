"""A temporary home with two repositories, and the parts that use cases are given."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hmd.app.context import App, Caller, caller_at
from hmd.app.snapshots import Snapshots
from hmd.core.clock import FakeClock
from hmd.core.config import Config
from hmd.kernel.address import Home
from hmd.kernel.snapshot import Snapshot, open_snapshot
from hmd.store.store import Store

KERNEL = "kernel"


class Place:
    """A home under `base` and what tests do with it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = Home(str(base / "home"), machine="test")
        self.clock = FakeClock()

    @asynccontextmanager
    async def opened(self, config: Config | None = None) -> AsyncIterator[App]:
        async with Store.open(self.home, self.clock, KERNEL) as store:
            used = config or Config()
            yield App(store, Snapshots(store, used), used)

    def repository(self, name: str) -> str:
        path = self.base / name
        (path / ".git").mkdir(parents=True, exist_ok=True)
        return str(path)

    def caller(self, cwd: str, actor: Any = "terminal") -> Caller:
        return caller_at(self.home, cwd, actor)

    def snapshot(self, name: str) -> Snapshot | None:
        return open_snapshot(self.home.snapshot(name), KERNEL)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)
