"""The store: changes last, memories keep their history, and damage costs nothing acknowledged."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from hmd.core import changes as ch
from hmd.core import ids
from hmd.core.clock import FakeClock
from hmd.core.errors import HmdError
from hmd.core.memory import Signature
from hmd.core.memory_calls import MemoryFilter
from hmd.core.proposals import ProposalFilter
from hmd.kernel.address import Home
from hmd.store import migrate, recover
from hmd.store.store import BACKUP_EVERY_MS, Store
from tests.store.helpers import add, create_project, dump, remove_database, status

ROOT = Path(__file__).parents[2]


def opened(home: Home, clock: FakeClock | None = None) -> Any:
    return Store.open(home, clock or FakeClock(), "kernel")


async def test_memory_comes_back_as_it_was_added(home: Home) -> None:
    """Guards every field of a memory on its way through journal and database."""
    change = add(
        sig=Signature(tool="edit", target="path", kind="glob", pattern="src/**", negate=True),
        tools=["edit", "mcp:mail/send"],
        triggers=["session_start", "before_tool"],
        level="deny",
        aliases=["별칭", "🛑"],
        policy="hard",
        type="policy",
        expires=99,
        baseline=True,
        confidence=0.25,
        details="line\nline",
    )
    change.origin.worktree = "/w"
    async with opened(home) as store:
        applied = await store.apply(change)
        assert applied.memory is not None
        row = await store.get_memory(change.memory[:6])
        assert row == applied.memory
        for name, value in msgspec.structs.asdict(change.content).items():
            assert getattr(row, name) == value
        assert (row.id, row.version, row.origin.worktree) == (change.memory, change.version, "/w")
        view = await store.view_memory(change.memory)
        assert [each.excerpt for each in view.evidence] == ["why"]
    async with opened(home) as store:
        assert await store.get_memory(change.memory) == row


async def test_nothing_is_overwritten(home: Home) -> None:
    """Guards the history: each change a version, spans of belief without gap or overlap."""
    change = add()
    async with opened(home) as store:
        await store.apply(change)
        for at, later in enumerate(
            [
                ch.EditMemory(
                    actor="terminal",
                    at=2000,
                    memory=change.memory,
                    version=ids.new_id(),
                    patch=ch.Patch(summary="second"),
                ),
                ch.EditMemory(
                    actor="terminal",
                    at=3000,
                    memory=change.memory,
                    version=ids.new_id(),
                    patch=ch.Patch(summary="third"),
                    valid_from=2500,
                ),
                status(change.memory, "active", at=4000),
            ],
            1,
        ):
            assert (await store.apply(later)).seq == at + 1
        versions = (await store.history(change.memory[:8])).versions
    assert [each.summary for each in versions][1:] == ["second", "third", "third"]
    assert [each.change for each in versions] == [
        "add_memory",
        "edit_memory",
        "edit_memory",
        "set_status",
    ]
    assert [each.recorded_at for each in versions] == [1000, 2000, 3000, 4000]
    assert [each.superseded_at for each in versions] == [2000, 3000, 4000, None]
    # A correction replaces what was wrong from the start; a dated edit ends what was true.
    assert [(each.valid_from, each.valid_to) for each in versions] == [
        (1000, None),
        (1000, 2500),
        (2500, 4000),
        (4000, None),
    ]


async def test_levels_and_status(home: Home) -> None:
    """Guards what a person's word does: enforce and promote make the row a person's."""
    change = add(authority="auto", expires=50, evidence="tool_observed")
    made: dict[str, Any] = {"actor": "terminal", "memory": change.memory}
    async with opened(home) as store:
        await store.apply(change)
        steps: list[tuple[ch.AnyChange, dict[str, object]]] = [
            (
                ch.Enforce(**made, at=2000, version=ids.new_id(), level="soft_deny"),
                {"level": "soft_deny", "authority": "human", "expires": None},
            ),
            (ch.Promote(**made, at=2001, version=ids.new_id()), {"status": "active"}),
            (
                ch.Demote(**made, at=2002, version=ids.new_id(), note="n"),
                {"status": "candidate", "note": "n"},
            ),
            (status(change.memory, "rejected"), {"status": "rejected"}),
            (ch.Restore(**made, at=2003, version=ids.new_id()), {"status": "active"}),
        ]
        for step, expected in steps:
            row = (await store.apply(step)).memory
            assert {name: getattr(row, name) for name in expected} == expected


async def test_refusals_change_nothing(home: Home) -> None:
    """Guards the rules of state and authority, and that a refusal leaves no line behind."""
    human, auto = add(1), add(2, authority="auto", status="active")
    async with opened(home) as store:
        await store.apply(human)
        await store.apply(auto)
        before = dump(home)
        refused: list[tuple[ch.AnyChange, str]] = [
            (human, "is there already"),
            (status(human.memory, "candidate"), "already candidate"),
            (status("f" * 32, "active"), "no memory 'ffffffff'"),
            (status(human.memory, "stale", actor="extraction"), "is a person's"),
            (status(human.memory, "active", actor="agent_cli"), "only propose"),
            (add(3, project="f" * 32), "cannot be stored"),
            (
                ch.Demote(actor="terminal", at=1, memory=human.memory, version="x"),
                "already candidate",
            ),
            (ch.EnableProject(actor="terminal", at=1, project="f" * 32), "no project"),
            (ch.AcceptProposal(actor="terminal", at=1, proposal="f" * 32), "no proposal"),
            (
                ch.Batch(actor="terminal", at=1, changes=[add(4), status("f" * 32, "active")]),
                "no memory",
            ),
        ]
        for change, text in refused:
            with pytest.raises(HmdError, match=text):
                await store.apply(change)
        assert dump(home) == before
        await store.apply(status(auto.memory, "stale", actor="extraction"))
        assert (await store.status()).applied_seq == 3
    journal = Path(home.journal).glob("*.jsonl")
    assert sum(len(path.read_bytes().splitlines()) for path in journal) == 3


async def test_filters(home: Home) -> None:
    """Guards each filter of `memory list` against a plain search."""
    project, other = create_project("app"), create_project("other")
    async with opened(home) as store:
        await store.apply(project)
        await store.apply(other)
        for number, place in enumerate([None, project.project, other.project] * 4):
            await store.apply(
                add(
                    number,
                    project=place,
                    type=["policy", "decision"][number % 2],
                    status=["candidate", "active", "rejected", "stale"][number % 4],
                    authority=["human", "auto"][number % 2],
                    scope=["**", "src/**"][number // 6],
                    unconfirmed=number == 4,
                    contested=number == 8,
                    source=["manual", "import"][number // 9],
                )
            )
        everything = (await store.list_memories(MemoryFilter(status="all", limit=1000))).rows
        assert len(everything) == 12
        live = [row for row in everything if row.status != "rejected"]
        checks: list[tuple[MemoryFilter, Any]] = [
            (MemoryFilter(), lambda row: True),
            (MemoryFilter(type="policy"), lambda row: row.type == "policy"),
            (MemoryFilter(status="stale"), lambda row: row.status == "stale"),
            (MemoryFilter(authority="auto"), lambda row: row.authority == "auto"),
            (MemoryFilter(scope="src/**"), lambda row: row.scope == "src/**"),
            (MemoryFilter(source="import"), lambda row: row.source == "import"),
            (MemoryFilter(unconfirmed=True), lambda row: row.unconfirmed),
            (MemoryFilter(contested=True), lambda row: row.contested),
            (MemoryFilter(user_wide=True), lambda row: row.project is None),
            (
                MemoryFilter(project=project.project),
                lambda row: row.project in (None, project.project),
            ),
        ]
        for wanted, passes in checks:
            found = await store.list_memories(wanted)
            expected = [row for row in live if passes(row)]
            assert expected
            assert found.rows == expected
            assert found.total == len(expected)
        cut = await store.list_memories(MemoryFilter(limit=2))
        assert (cut.rows, cut.total) == (live[:2], len(live))


async def test_forgotten_project_is_on_no_surface(home: Home) -> None:
    """Guards `project forget`: its memories are neither listed nor found."""
    project = create_project("app")
    change = add(project=project.project)
    async with opened(home) as store:
        await store.apply(project)
        await store.apply(change)
        await store.apply(ch.ForgetProject(actor="terminal", at=9, project=project.project))
        assert (await store.list_memories(MemoryFilter(status="all"))).total == 0
        assert await store.list_projects() == []
        with pytest.raises(HmdError, match="no memory"):
            await store.get_memory(change.memory)


async def test_merge_moves_memories_and_locations(home: Home) -> None:
    """Guards a merge: nothing stays behind, each memory keeps its history."""
    one, two = create_project("one"), create_project("two")
    change = add(project=one.project, status="active")
    merge = ch.MergeProjects(actor="terminal", at=9, source=one.project, into=two.project)
    async with opened(home) as store:
        for each in (one, two, change):
            await store.apply(each)
        with pytest.raises(HmdError, match="changed meanwhile"):
            await store.apply(merge)
        merge.versions = {change.memory: ids.new_id()}
        applied = await store.apply(merge)
        assert set(applied.snapshots) == {one.project, two.project}
        assert (await store.get_memory(change.memory)).project == two.project
        assert len((await store.history(change.memory)).versions) == 2
        [row] = await store.list_projects()
        assert row.id == two.project
        assert sorted(row.locations) == ["/repos/one", "/repos/two"]
        assert row.memories == 1


async def test_proposals(home: Home) -> None:
    """Guards that a proposal does nothing until a person accepts it, and then all of it."""
    target = add()
    inner = ch.Enforce(actor="mcp", at=10, memory=target.memory, version=ids.new_id(), level="deny")

    def proposal(claim: str = "deny") -> ch.OpenProposal:
        return ch.OpenProposal(
            actor="mcp",
            at=10,
            proposal=ids.new_id(),
            proposes="enforce",
            target=target.memory,
            claim=claim,
            changes=[inner],
        )

    opened_, again, other = proposal(), proposal(), proposal("advise")
    async with opened(home) as store:
        await store.apply(target)
        await store.apply(opened_)
        assert (await store.apply(again)).proposal.support == 2
        await store.apply(other)
        rows = await store.list_proposals()
        assert [(row.id, row.support) for row in rows if row.id == opened_.proposal] == [
            (opened_.proposal, 2)
        ]
        assert len(rows) == 2
        assert rows[0].changes == [f"enforce {target.memory[:8]} deny"]
        assert (await store.get_memory(target.memory)).level == "advise"
        with pytest.raises(HmdError, match="only propose"):
            await store.apply(ch.AcceptProposal(actor="mcp", at=20, proposal=opened_.proposal))
        accept = ch.AcceptProposal(actor="terminal", at=20, proposal=opened_.proposal)
        row = (await store.apply(accept)).memory
        assert row is not None
        assert (row.level, row.actor, row.recorded_at) == ("deny", "terminal", 20)
        with pytest.raises(HmdError, match="already accepted"):
            await store.apply(accept)
        await store.apply(ch.RejectProposal(actor="terminal", at=21, proposal=other.proposal))
        assert await store.list_proposals() == []
        states = {row.state for row in await store.list_proposals(ProposalFilter(state="all"))}
        assert states == {"accepted", "rejected"}


async def test_eight_writers_at_once(home: Home) -> None:
    """Guards concurrent changes: each number once, none lost, journal and database agree."""
    seqs: list[int] = []

    async with opened(home) as store:

        async def writer(first: int) -> None:
            for number in range(20):
                seqs.append((await store.apply(add(first * 100 + number))).seq)

        async with trio.open_nursery() as nursery:
            for first in range(8):
                nursery.start_soon(writer, first)
        assert sorted(seqs) == list(range(1, 161))
        assert (await store.list_memories(MemoryFilter(limit=1000))).total == 160
    live = dump(home)
    remove_database(home)
    async with opened(home):
        assert dump(home) == live


async def test_change_that_cannot_be_journaled_is_not_made(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a full disk: an error, the same rows, and the next change takes the same number."""
    async with opened(home) as store:
        await store.apply(add(1))
        before = dump(home)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", _disk_full)
            with pytest.raises(HmdError, match="disk is full"):
                await store.apply(add(2))
        assert dump(home) == before
        assert (await store.apply(add(3))).seq == 2
    live = dump(home)
    remove_database(home)
    async with opened(home) as store:
        assert store.problems == []
        assert dump(home) == live


def _disk_full(descriptor: int) -> None:
    raise OSError(28, "No space left on device")


async def test_change_that_cannot_be_committed_is_taken_back(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards that an unacknowledged change does not come back from the journal."""

    def fails(connection: sqlite3.Connection) -> None:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    async with opened(home) as store:
        await store.apply(add(1))
        with monkeypatch.context() as patched:
            patched.setattr("hmd.store.db.commit", fails)
            with pytest.raises(HmdError, match="disk is full"):
                await store.apply(add(2))
    remove_database(home)
    async with opened(home) as store:
        assert (await store.list_memories()).total == 1


async def test_lines_above_the_database_are_applied_at_start(home: Home) -> None:
    """Guards a crash between journal and commit: the change is there after the next start."""
    async with opened(home) as store:
        await store.apply(add(1))
    behind = Path(home.database).read_bytes()
    change = add(2)
    async with opened(home) as store:
        await store.apply(change)
    live = dump(home)
    remove_database(home)
    Path(home.database).write_bytes(behind)
    async with opened(home) as store:
        assert dump(home) == live
        assert (await store.get_memory(change.memory)).seq == 2
        assert (await store.apply(add(3))).seq == 3


@pytest.mark.parametrize("damage", ["text", "middle", "header"])
@pytest.mark.parametrize("with_backup", [True, False])
async def test_damaged_database_is_restored(home: Home, damage: str, with_backup: bool) -> None:
    """Guards the promise: set aside, last good copy, journal; nothing acknowledged is missing."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        for number in range(60):
            await store.apply(add(number, details="x" * 2000))
        if with_backup:
            await store.backup()
        await store.apply(add(61))
        live = dump(home)
    for copy in Path(home.backups).glob("*"):
        if not with_backup:
            copy.unlink()
    path = Path(home.database)
    data = bytearray(path.read_bytes())
    if damage == "text":
        data = bytearray(b"this is no database " * 500)
    elif damage == "middle":
        data[len(data) // 2 : len(data) // 2 + 20000] = b"\xa5" * 20000
    else:
        data[0:64] = bytes(64)
    path.write_bytes(data)
    async with opened(home, clock) as store:
        assert dump(home) == live
        assert "damaged" in store.problems[0]
        expected = "restored from hmd-" if with_backup else "restored from the journal"
        assert store.problems[1].startswith(expected)
        assert (await store.apply(add(99))).seq == 62
    aside = [each.name for each in path.parent.iterdir() if ".damaged-" in each.name]
    assert aside


async def test_damaged_backup_is_passed_over(home: Home) -> None:
    """Guards against restoring from a copy that is no better."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        await store.apply(add(1))
        good = await store.backup()
        clock.advance(5000)
        bad = await store.backup()
        assert recover.backups(Path(home.backups)) == [bad, good]
        live = dump(home)
    bad.write_bytes(b"nothing" * 1000)
    Path(home.database).write_bytes(b"nothing" * 1000)
    async with opened(home, clock) as store:
        assert dump(home) == live
        assert f"backup {bad.name} is damaged, too" in store.problems
        assert f"restored from {good.name} and the journal" in store.problems


async def test_lost_journal_lines_are_named(home: Home) -> None:
    """Guards that a gap is said: what rested on a lost line cannot be, the rest is applied."""
    first, second = add(1), add(2)
    async with opened(home) as store:
        await store.apply(first)
        await store.apply(second)
        await store.apply(status(first.memory, "active"))
    [path] = Path(home.journal).glob("*.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b'{"seq":1,"chan\n' + b"".join(lines[1:]))
    remove_database(home)
    async with opened(home) as store:
        text = "\n".join(store.problems)
        assert "damaged line" in text
        assert "changes 1 to 1 are not in the journal" in text
        assert "change 3 could not be applied: no memory" in text
        assert (await store.get_memory(second.memory)).summary == second.content.summary
        assert (await store.apply(add(9))).seq == 4


async def test_database_of_a_newer_version_reads_but_does_not_write(home: Home) -> None:
    """Guards a downgrade: everything can be looked at, nothing is changed, and it says so."""
    change = add(1)
    async with opened(home) as store:
        await store.apply(change)
    connection = sqlite3.connect(home.database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = dump(home)
    async with opened(home) as store:
        assert (await store.get_memory(change.memory)).id == change.memory
        assert (await store.status()).state == "newer"
        with pytest.raises(HmdError, match="schema 99") as caught:
            await store.apply(add(2))
        assert caught.value.code == "newer"
        assert "upgrade" in caught.value.do
    assert dump(home) == before


async def test_journal_of_a_newer_version_stops_writing(home: Home) -> None:
    """Guards an unknown change: applying what follows it could be wrong, so nothing is."""
    async with opened(home) as store:
        await store.apply(add(1))
    [path] = Path(home.journal).glob("*.jsonl")
    with path.open("ab") as file:
        file.write(b'{"seq":2,"change":{"kind":"paint","actor":"terminal","at":1}}\n')
    async with opened(home) as store:
        assert (await store.list_memories()).total == 1
        with pytest.raises(HmdError) as caught:
            await store.apply(add(2))
        assert caught.value.code == "newer"


async def test_database_is_copied_before_it_is_migrated(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards an upgrade: the old database is kept as it was, and the new one has all its rows."""
    change = add(1)
    async with opened(home) as store:
        await store.apply(change)
    old = migrate.newest()
    longer = (*migrate.steps(), migrate.Step(old + 1, "CREATE TABLE later (x);"))
    monkeypatch.setattr(migrate, "steps", lambda: longer)
    async with opened(home) as store:
        assert (await store.status()).schema == old + 1
        assert (await store.get_memory(change.memory)).seq == 1
    [copy] = Path(home.backups).glob(f"{recover.BEFORE}{old}-*.sqlite")
    connection = sqlite3.connect(copy)
    assert migrate.version(connection) == old
    assert connection.execute("SELECT id FROM memory").fetchall() == [(change.memory,)]
    connection.close()


async def test_backups_daily_and_pruned(home: Home) -> None:
    """Guards that a copy is made once a day of use and that only the newest are kept."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        for day in range(10):
            change = add(day)
            change.at = clock.now_ms()
            await store.apply(change)
            again = add(100 + day)
            again.at = clock.now_ms()
            await store.apply(again)
            async with store._copying:  # it is made beside the changes
                clock.advance(BACKUP_EVERY_MS + 1000)
    found = recover.backups(Path(home.backups))
    assert len(found) == recover.KEPT_DAILY
    connection = sqlite3.connect(found[0])
    # made after the first change of the last day
    [seq] = connection.execute("SELECT value FROM meta WHERE key = 'applied_seq'").fetchone()
    assert int(seq) >= 19
    connection.close()
    assert all(path.stat().st_mode & 0o077 == 0 for path in found)


async def test_failed_backup_does_not_fail_the_change(home: Home) -> None:
    """Guards that a change which is on disk is acknowledged whatever becomes of the copy."""
    clock = FakeClock()
    async with opened(home, clock) as store:
        Path(home.backups).write_text("a file where the directory should be")
        change = add(1)
        change.at = clock.now_ms()
        assert (await store.apply(change)).seq == 1
    assert any("backup failed" in line for line in store.problems)


async def test_clock_never_goes_behind_the_store(home: Home) -> None:
    """Guards the order of changes over a restart with the clock set back."""
    clock = FakeClock(5_000_000)
    async with opened(home, clock) as store:
        change = add()
        change.at = clock.now_ms()
        await store.apply(change)
    earlier = FakeClock(1_000)
    async with opened(home, earlier):
        assert earlier.now_ms() > 5_000_000


CHILD = """
import sys, trio
from hmd.core.clock import SystemClock
from hmd.kernel.address import Home
from hmd.store.store import Store
from tests.store.helpers import add

async def main():
    async with Store.open(Home(sys.argv[1], machine="test"), SystemClock(), "kernel") as store:
        async def writer():
            while True:
                change = add(1)
                await store.apply(change)
                print(change.memory, flush=True)
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(writer)

trio.run(main)
"""


def child(home: Home, script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, home.path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_kill_9_loses_nothing_acknowledged(home: Home) -> None:
    """Guards the second promise with a real process killed in the middle of its changes, thrice:
    what it had been told is stored is there once, and the database is what the journal says."""
    acknowledged: list[str] = []
    for _ in range(3):
        process = child(home, CHILD)
        assert process.stdout is not None
        for _ in range(25):
            acknowledged.append(process.stdout.readline().strip())
        process.kill()
        acknowledged += process.stdout.read().split("\n")[:-1]
        process.wait()
        process.stdout.close()
        if process.stdin:
            process.stdin.close()
    async with opened(home) as store:
        assert store.problems == []
        found = await store.list_memories(MemoryFilter(limit=100_000))
        stored = [row.id for row in found.rows]
        assert len(set(stored)) == len(stored) == found.total
        whole = {each for each in acknowledged if ids.is_id(each)}
        assert len(whole) >= 75
        assert whole <= set(stored)
        live = dump(home)
    remove_database(home)
    async with opened(home) as store:
        assert store.problems == []
        assert dump(home) == live


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1] + "/db/hmd.sqlite", isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@pytest.mark.long
async def test_lock_held_for_three_seconds_by_another_process(home: Home) -> None:
    """Guards case O-12 as it is written: 50 changes from four tasks, none lost, none twice."""
    async with opened(home) as store:
        await store.apply(add(0))
        process = child(home, HOLDER)
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "held\n"
        seqs: list[int] = []

        async def writer(first: int) -> None:
            for number in range(first, 50, 4):
                seqs.append((await store.apply(add(number))).seq)

        async with trio.open_nursery() as nursery:
            for first in range(4):
                nursery.start_soon(writer, first)
            await trio.sleep(3)  # the case's own length, not a wait for something
            assert seqs == []
            process.stdin.write("\n")
            process.stdin.close()
        process.wait()
        process.stdout.close()
        assert sorted(seqs) == list(range(2, 52))
        assert (await store.list_memories()).total == 51


async def test_status_and_counts(home: Home) -> None:
    """Guards the numbers that `hmctl status` prints."""
    async with opened(home) as store:
        await store.apply(create_project("app"))
        await store.apply(add(1, status="active"))
        await store.apply(add(2, status="active", authority="auto"))
        await store.apply(add(3))
        await store.apply(add(4, status="stale"))
        now = store.clock.now_ms()
        for days in (1, 30):
            await store.apply(
                ch.OpenProposal(
                    actor="mcp",
                    at=now,
                    proposal=ids.new_id(),
                    proposes="add",
                    expires_at=now + days * 86_400_000,
                )
            )
        counts = json.loads(msgspec.json.encode(await store.counts()))
        assert counts == {
            "active": 2,
            "active_auto": 1,
            "candidates": 1,
            "stale": 1,
            "proposals": 2,
            "proposals_expiring": 1,
            "projects": 1,
        }
        found = await store.status()
        assert (found.state, found.applied_seq, found.journal_mode) == ("ready", 7, "wal")
