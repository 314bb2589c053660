"""A process that dies between any two steps on the disk: what was acknowledged is there afterwards,
what was to be erased can be erased, and no step is the one that must not be interrupted.

Each point is tried by a real kill of a forked process that had just reached it.
"""

import os
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from hmd.app import facts, forget
from hmd.app.context import App, Caller
from hmd.app.snapshots import Snapshots
from hmd.core.clock import FakeClock
from hmd.core.config import Config
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactDraft
from hmd.core.forgetting import ForgetQuery
from hmd.kernel.address import Home
from hmd.store import db, facts_read, migrate
from hmd.store.store import Store

PERSON = Caller(actor="terminal")
SECRET = "the secret of the mill"
KEPT = ["fact 0", "fact 1", "fact 2"]
# Every seventh point in the ordinary run, each one in the long.
SPARSE = pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
Work = Callable[[App], Awaitable[None]]
# Everything by which a process changes a disk, as Python sees it.
_ON_DISK = "fsync replace rename unlink remove ftruncate pwrite write mkdir".split()


class Steps:
    """Counts steps on the disk, and kills the process at one of them."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.count = 0
        self.armed = False

    def take(self, *_: object) -> None:
        self.count += self.armed
        if self.armed and self.count == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(self, module: Any, name: str) -> None:
        real = getattr(module, name)

        def counted(*args: Any, **options: Any) -> Any:
            self.take()
            return real(*args, **options)

        setattr(module, name, counted)

    def watch_all(self) -> None:
        for name in _ON_DISK:
            self.watch(os, name)
        self.watch(db, "patiently")  # every BEGIN, COMMIT and checkpoint
        connect = db.connect

        def watched(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(self.take)  # every statement
            return connection

        db.connect = watched


def open_app(home: Home, work: Work) -> None:
    async def run() -> None:
        async with Store.open(home, FakeClock(), "kernel") as store:
            store._last_backup = 10**15  # the daily copy is another test's
            await work(App(store, Snapshots(store, Config()), Config()))

    trio.run(run)


def dies(home: Home, last: int, work: Callable[[App, Steps], Awaitable[None]]) -> bool:
    """Does `work` in a process that dies at step `last`; False where it ended before."""
    child = os.fork()
    if child == 0:
        steps = Steps(last)
        steps.watch_all()
        try:
            open_app(home, lambda app: work(app, steps))
        except BaseException:
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def known(home: Home) -> list[str]:
    """Every belief of a home that is opened anew, whatever erasing waited there being ended."""
    found: list[str] = []

    async def work(app: App) -> None:
        await forget.resume(app)
        rows, _ = await app.store.read(
            lambda one: facts_read.believed(one, FactQuery(limit=10_000), 2**60)
        )
        assert app.store.problems == []
        found.extend(row.fact for row in rows)

    open_app(home, work)
    return sorted(found)


def copies(home: Home) -> list[str]:
    files = [path for path in Path(home.path).rglob("*") if path.is_file()]
    return [path.name for path in files if SECRET.encode() in path.read_bytes()]


def home_with_a_secret(path: Path) -> Home:
    home = Home(str(path), machine="test")

    async def work(app: App) -> None:
        for text in KEPT:
            await facts.remember(app, PERSON, FactDraft(subject="s", fact=text))
        await facts.remember(app, PERSON, FactDraft(subject="s", fact=SECRET))
        await app.store.backup()
        ledger = Path(home.ledger("0" * 16))
        ledger.parent.mkdir(parents=True)
        ledger.write_text(f'\n{{"text": "so {SECRET} it is"}}\n')

    open_app(home, work)
    return home


def every_point(
    tmp_path: Path, stride: int, make: Callable[[Path], Home], work: Any,
    check: Callable[[Home], None],
) -> int:  # fmt: skip
    """Kills at the first step and every `stride` further, each in a new home; returns how many
    steps there are at least."""
    for last in range(1, 500, stride):
        home = make(tmp_path / str(last))
        if not dies(home, last, work):
            return last - 1
        check(home)
    raise AssertionError("it does not end")


@pytest.mark.parametrize("by", ["id", "text"])
@SPARSE
def test_a_purge_killed_anywhere(tmp_path: Path, by: str, stride: int) -> None:
    """Guards both promises at every step: nothing else is lost, and after the next start (and the
    purge said again, where it was never acknowledged) the text is nowhere."""

    async def purge(app: App) -> None:
        query = ForgetQuery(text=SECRET, hard=True)
        if by == "id":
            query = ForgetQuery(id="#4", hard=True)
        await forget.forget(app, PERSON, query)

    async def work(app: App, steps: Steps) -> None:
        steps.armed = True
        await purge(app)
        steps.armed = False

    def check(home: Home) -> None:
        left = known(home)
        if left != KEPT:
            assert left == sorted([*KEPT, SECRET])  # it had not begun
        if copies(home):
            open_app(home, purge)
        assert known(home) == KEPT
        assert copies(home) == []

    assert every_point(tmp_path, stride, home_with_a_secret, work, check) > 20


@SPARSE
def test_a_backup_killed_anywhere(tmp_path: Path, stride: int) -> None:
    """Guards that half a copy never counts as one and does not stand in the next one's way."""

    async def work(app: App, steps: Steps) -> None:
        steps.armed = True
        await app.store.backup()
        steps.armed = False

    def check(home: Home) -> None:
        assert known(home) == sorted([*KEPT, SECRET])
        for path in Path(home.backups).glob("hmd-*.sqlite"):
            copy = sqlite3.connect(path)
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert copy.execute("SELECT count(*) FROM fact").fetchone() == (4,)
            copy.close()

        async def again(app: App) -> None:
            path = await app.store.backup()
            assert [one.name for one in path.parent.iterdir() if one.name[0] == "."] == []

        open_app(home, again)

    assert every_point(tmp_path, stride, home_with_a_secret, work, check) >= 1


def old_home(path: Path) -> Home:
    """A home whose database is of the first schema and has a row in it."""
    home = Home(str(path), machine="test")
    database = Path(home.database)
    database.parent.mkdir(parents=True, mode=0o700)
    old = sqlite3.connect(database, isolation_level=None)
    migrate.migrate(old, lambda _: None, migrate.steps()[:1])
    old.execute("INSERT INTO project (id, name, enabled, created) VALUES ('p', 'kept', 1, 1)")
    old.close()
    return home


@SPARSE
def test_a_migration_killed_anywhere(tmp_path: Path, stride: int) -> None:
    """Guards every statement of every step: the database is at a whole version, its rows are there,
    and the next start ends what was begun."""
    for last in range(1, 500, stride):
        home = old_home(tmp_path / str(last))
        child = os.fork()
        if child == 0:
            steps = Steps(last)
            steps.watch_all()
            steps.armed = True
            try:
                open_app(home, lambda app: trio.sleep(0))
            except BaseException:
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert os.WEXITSTATUS(status) == 0
            break
        open_app(home, lambda app: trio.sleep(0))
        done = sqlite3.connect(home.database)
        assert migrate.version(done) == migrate.newest()
        assert done.execute("SELECT name FROM project").fetchall() == [("kept",)]
        assert done.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done.close()
    assert last > 20


@SPARSE
def test_a_change_killed_anywhere(tmp_path: Path, stride: int) -> None:
    """Guards acknowledgement itself: what was acknowledged is there once, and a change that was not
    is there whole or not at all."""

    async def work(app: App, steps: Steps) -> None:
        steps.armed = True
        await facts.remember(app, PERSON, FactDraft(subject="s", fact="one more"))
        steps.armed = False

    def check(home: Home) -> None:
        before = sorted([*KEPT, SECRET])
        assert known(home) in (before, sorted([*before, "one more"]))

        async def again(app: App) -> None:
            await facts.remember(app, PERSON, FactDraft(subject="s", fact="after it"))

        open_app(home, again)
        assert "after it" in known(home)

    assert every_point(tmp_path, stride, home_with_a_secret, work, check) >= 5


def test_the_steps_are_real(tmp_path: Path) -> None:
    """Guards the tests above: a process that is killed nowhere does all of its work."""
    home = home_with_a_secret(tmp_path / "home")

    async def work(app: App, steps: Steps) -> None:
        await forget.forget(app, PERSON, ForgetQuery(text=SECRET, hard=True))

    assert not dies(home, 1, work)
    assert known(home) == KEPT
    assert copies(home) == []
