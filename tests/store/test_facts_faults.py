"""What is lost when something breaks under facts: nothing that was acknowledged.

Processes are really killed, at the worst instant that could be found for each.
"""

import errno
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hmd.core import ids
from hmd.core.changes import RememberFact
from hmd.core.clock import FakeClock
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery
from hmd.core.facts import FactContent
from hmd.kernel.address import Home
from hmd.store import facts_read, migrate, offline, recover
from hmd.store.store import Store

NOW = 1_750_000_000_000
# Runs in a process of its own; `die` ends it as `kill -9` does.
PRELUDE = """
import os, signal, sys, trio
from hmd.app import facts, forget
from hmd.app.context import App, Caller
from hmd.app.snapshots import Snapshots
from hmd.core.clock import FakeClock
from hmd.core.config import Config
from hmd.core.facts import FactDraft
from hmd.core.forgetting import ForgetQuery
from hmd.kernel.address import Home
from hmd.store import db, migrate, recover, redo
from hmd.store.store import Store

home = Home(sys.argv[1], machine="test")

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

async def opened(work):
    async with Store.open(home, FakeClock(), "kernel") as store:
        app = App(store, Snapshots(store, Config()), Config())
        await work(app, Caller(actor="terminal"))

async def remember(app, caller, text):
    await facts.remember(app, caller, FactDraft(subject="s", fact=text))
    print(text, flush=True)
"""


def killed(home: Home, script: str) -> list[str]:
    """Runs a script that kills itself; returns the facts that it had an acknowledgement for."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + script, home.path],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.split("\n")[:-1]


def change(text: str, at: int = NOW) -> RememberFact:
    content = FactContent(subject="s", fact=text)
    return RememberFact(actor="terminal", at=at, fact=ids.new_id(), content=content)


async def nothing() -> None:
    """There are no files to make anew."""


async def known(home: Home) -> tuple[list[str], list[str]]:
    """(facts, problems) of a home that is opened anew."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        rows, _ = await store.read(
            lambda one: facts_read.believed(one, FactQuery(limit=10_000), 2 * NOW)
        )
        return sorted(row.fact for row in rows), list(store.problems)


async def test_a_kill_during_a_migration(home: Home) -> None:
    """Guards the step from a schema without facts: whole before it, whole after it."""
    path = Path(home.database)
    path.parent.mkdir(parents=True, mode=0o700)
    old = sqlite3.connect(path, isolation_level=None)
    migrate.migrate(old, lambda _: None, migrate.steps()[:1])
    old.close()
    killed(
        home,
        """
steps = list(migrate.steps())
middle = steps[1].sql.index("CREATE TABLE trash")
steps[1] = steps[1]._replace(sql=steps[1].sql[:middle] + "SELECT die();" + steps[1].sql[middle:])
migrate.steps = lambda: tuple(steps)
connect = db.connect
def with_die(*args, **options):
    connection = connect(*args, **options)
    connection.create_function("die", 0, die)
    return connection
db.connect = with_die
trio.run(opened, lambda app, caller: trio.sleep(0))
""",
    )
    broken = sqlite3.connect(path)
    assert migrate.version(broken) == 1
    broken.close()
    assert await known(home) == ([], [])
    assert len(list(Path(home.backups).glob("hmd-before-v1-*"))) == 1


async def test_a_kill_during_a_backup(home: Home) -> None:
    """Guards that half a copy never counts as one."""
    told = killed(
        home,
        """
async def work(app, caller):
    app.store._last_backup = 10**15
    for number in range(5):
        await remember(app, caller, f"fact {number}")
    recover._sync = die
    await app.store.backup()
trio.run(opened, work)
""",
    )
    assert await known(home) == (sorted(told), [])
    assert len(told) == 5
    assert all(name.startswith("hmd-") for name in os.listdir(home.backups) if name[0] != ".")


@pytest.mark.parametrize(
    "where",
    [
        "Store.scrub = die",  # the change is made, no file was touched
        "os.pwrite = die",  # files are gone through, none was overwritten
        "redo._carry_out = die",  # what is to be written into the journal is known
    ],
)
async def test_a_kill_during_a_purge(home: Home, where: str) -> None:
    """Guards both promises at once: the erased text goes, everything else stays."""
    told = killed(
        home,
        f"""
async def work(app, caller):
    for number in range(3):
        await remember(app, caller, f"fact {{number}}")
    done = await facts.remember(app, caller, FactDraft(subject="s", fact="the secret of the mill"))
    {where}
    await forget.forget(app, caller, ForgetQuery(id=done.fact.id, hard=True))
trio.run(opened, work)
""",
    )
    async with Store.open(home, FakeClock(), "kernel") as store:
        (pending,) = await store.read(
            lambda one: one.execute("SELECT id FROM erasure WHERE done_at IS NULL").fetchall()
        )
        await store.scrub(pending[0], await store.left_by(pending[0]), nothing)
    assert await known(home) == (sorted(told), [])
    text = b"the secret of the mill"
    left = [path for path in Path(home.path).rglob("*") if path.is_file()]
    assert [path for path in left if text in path.read_bytes()] == []


async def test_a_flipped_bit(home: Home) -> None:
    """Guards recovery: found at the next start, and rebuilt from copy and journal."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        for number in range(400):
            await store.apply(change(f"fact {number:04}", NOW + number))
    path = Path(home.database)
    data = bytearray(path.read_bytes())
    for offset in range(8192 * 4, len(data), 4096):
        data[offset] ^= 0x08  # the type byte of pages
    path.write_bytes(bytes(data))
    assert offline.check(home).problems != []
    facts, problems = await known(home)
    assert facts == [f"fact {number:04}" for number in range(400)]
    assert "damaged" in problems[0] and "restored from" in problems[1]


async def test_a_full_disk(home: Home) -> None:
    """Guards refusing in words, and that what was there stays and can be asked."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        await store.apply(change("kept"))
        pages = await store.read(lambda one: one.execute("PRAGMA page_count").fetchone()[0])
        await store._db.write(
            lambda one: one.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        )
        with pytest.raises(HmdError, match="the disk is full") as caught:
            await store.apply(change("x" * 1_000_000))
        assert caught.value.code == "busy"
        rows, _ = await store.read(lambda one: facts_read.believed(one, FactQuery(), NOW))
        assert [row.fact for row in rows] == ["kept"]
    assert await known(home) == (["kept"], [])


async def test_a_clock_that_goes_back_a_day(home: Home) -> None:
    """Guards the order of records: the second is after the first, whatever the wall says."""
    async with Store.open(home, FakeClock(NOW), "kernel") as store:
        first = store.clock.now_ms()
        await store.apply(change("first", first))
    async with Store.open(home, FakeClock(NOW - 86_400_000), "kernel") as store:
        at = store.clock.now_ms()
        assert at > first
        await store.apply(change("second", at))
        rows, _ = await store.read(
            lambda one: facts_read.believed(one, FactQuery(), 0, first, first)
        )
        assert [row.fact for row in rows] == ["first"]


async def test_a_database_of_a_newer_version(home: Home) -> None:
    """Guards reading on, and refusing to write with what to do."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        await store.apply(change("kept"))
    later = sqlite3.connect(home.database)
    later.execute("PRAGMA user_version = 99")
    later.close()
    async with Store.open(home, FakeClock(), "kernel") as store:
        rows, _ = await store.read(lambda one: facts_read.believed(one, FactQuery(), NOW))
        assert [row.fact for row in rows] == ["kept"]
        with pytest.raises(HmdError, match="upgrade hmd"):
            await store.apply(change("refused"))
        store.note_access([rows[0].id], NOW)
    assert "schema 99" in offline.check(home).problems[0]


async def test_putting_back_a_copy_loses_nothing(home: Home) -> None:
    """Guards `db restore` and `db rollback`: the journal is laid over the copy."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        await store.apply(change("before the copy"))
        await store.backup()
        await store.apply(change("after the copy", NOW + 1))
    said = offline.restore(home, "", NOW)
    assert any("is kept as" in line for line in said)
    assert (await known(home))[0] == ["after the copy", "before the copy"]
    report = offline.check(home)
    assert (report.problems, report.facts, report.applied_seq) == ([], 2, report.journal_seq)
    with pytest.raises(HmdError, match="no sound backup"):
        offline.rollback(home, NOW)


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "hmd.sqlite")


@pytest.mark.parametrize("step", ["copyfile", "_sync"])
async def test_a_full_disk_while_a_copy_is_put_back(
    home: Home, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Guards the database that is there: it is set aside only once the copy is whole; what failed
    is said in words, and nothing half done is left."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        await store.apply(change("before the copy"))
        await store.backup()
        await store.apply(change("after the copy", NOW + 1))
    monkeypatch.setattr(shutil if step == "copyfile" else recover, step, full)
    with pytest.raises(HmdError, match="No space left") as caught:
        offline.restore(home, "", NOW)
    assert caught.value.do == "check the disk"
    path = Path(home.database)
    assert [one.name for one in path.parent.iterdir() if "hmd.sqlite" in one.name[:11]] == [
        path.name
    ]
    path.write_bytes(b"damaged" * 1000)  # the same where the daemon does it at its start
    with pytest.raises(HmdError, match="No space left"):
        offline.bring_up(home, NOW)
    assert path.read_bytes() == b"damaged" * 1000
    monkeypatch.undo()
    facts, problems = await known(home)
    assert facts == ["after the copy", "before the copy"]
    assert "damaged" in problems[0] and "restored from hmd-" in problems[1]


async def test_only_a_copy_of_this_database_is_put_back(home: Home, tmp_path: Path) -> None:
    """Guards against taking any sound database, and against text that is none; named both times."""
    async with Store.open(home, FakeClock(), "kernel") as store:
        await store.apply(change("kept"))
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).executescript("CREATE TABLE fact (x); PRAGMA user_version = 3;")
    text = tmp_path / "notes.txt"
    text.write_text("no database at all" * 100)
    for path in (other, text):
        with pytest.raises(HmdError, match="no sound copy of this") as caught:
            offline.restore(home, str(path), NOW)
        assert caught.value.where == str(path)
    assert await known(home) == (["kept"], [])


async def test_damage_that_no_check_sees_is_mended_at_the_next_start(home: Home) -> None:
    """Guards the advice "restart hmd": where only reading finds the damage, and the daily copy has
    it as well, all is built from the journal."""
    want = [f"fact {number:04}" for number in range(40)]
    async with Store.open(home, FakeClock(), "kernel") as store:
        for number, text in enumerate(want):
            await store.apply(change(text, NOW + number))
    connection = sqlite3.connect(home.database)
    connection.execute("UPDATE fact SET fact = CAST(x'66ff66' AS TEXT) WHERE number = 7")
    connection.commit()
    assert connection.execute("PRAGMA quick_check").fetchone() == ("ok",)
    connection.close()
    async with Store.open(home, FakeClock(), "kernel") as store:
        assert store.problems == []
        await store.backup()
        with pytest.raises(HmdError, match="restart hmd") as caught:
            await store.read(lambda one: facts_read.believed(one, FactQuery(limit=100), 2 * NOW))
        assert caught.value.code == "damaged"
    assert offline.check(home).problems == [
        "reading failed before: it is restored when hmd starts next"
    ]
    facts, problems = await known(home)
    assert facts == want
    assert "set aside" in problems[0] and problems[1] == "restored from the journal"
    assert await known(home) == (want, [])


@pytest.mark.parametrize("part", [range(8), pytest.param(range(8, 200), marks=pytest.mark.long)])
async def test_bits_flipped_anywhere(tmp_path: Path, part: range) -> None:
    """Guards every page and byte but the letters of a fact themselves, which only the journal can
    tell from others: found at the start, or by reading and mended at the next start."""
    home = Home(str(tmp_path / "sound"), machine="test")
    want = [f"fact {number:04}" for number in range(60)]
    async with Store.open(home, FakeClock(), "kernel") as store:
        for number, text in enumerate(want):
            await store.apply(change(text, NOW + number))
    for seed in part:
        copy = Home(str(tmp_path / str(seed)), machine="test")
        shutil.copytree(home.path, copy.path)
        chance = random.Random(seed)
        path = Path(copy.database)
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice([1, 4, 64])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(bytes(data))
        try:
            facts, _ = await known(copy)
        except HmdError as error:
            assert error.code in ("damaged", "internal")
            facts, _ = await known(copy)
        assert len(facts) == len(want)
        assert sum(one != other for one, other in zip(facts, want, strict=True)) <= 2
