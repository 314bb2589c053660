"""Snapshots follow the store: base and tail equal what a plain rebuild would hold."""

from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.app import memories, projects
from hmd.app.context import App
from hmd.app.snapshots import Snapshots, label_of, record_of, trust_of
from hmd.core import changes as ch
from hmd.core import ids
from hmd.core.config import parse
from hmd.core.errors import HmdError
from hmd.core.memory import Content, MemoryRow, Signature
from hmd.core.memory_calls import MemoryDraft, MemoryFilter
from hmd.core.projects import ProjectRef
from hmd.kernel.snapshot import TAIL, TAIL_LIMIT, USER
from hmd.store import snapshot_file
from tests.app.conftest import Place
from tests.store.helpers import add, create_project, dump, remove_database


async def expected(app: App, name: str) -> list[dict[str, Any]]:
    rows = (await app.store.active_memories(None if name == USER else name))[1]
    return [record_of(row) for row in rows]


def held(place: Place, name: str) -> list[dict[str, Any]]:
    snapshot = place.snapshot(name)
    if snapshot is None:
        return []
    assert snapshot.problem == ""
    return snapshot.all_records()


def test_record_has_every_key_of_the_contract() -> None:
    """Guards docs/internals.md, "The memory": every key present, in the kernel's own form."""
    row = MemoryRow(id="a", version="v", sig=Signature(pattern="git push"), recorded_at=7)
    record = record_of(row)
    assert (
        list(record)
        == (
            "id version type summary details scope triggers tools sig level authority evidence "
            "label score expires baseline policy loaded aliases updated"
        ).split()
    )
    assert list(record["sig"]) == ["tool", "target", "kind", "pattern", "negate", "plain"]
    assert record["sig"]["plain"]["parts"][0][0] == ["git", "push"]
    assert record_of(MemoryRow(sig=Signature(kind="glob", pattern="x")))["sig"]["plain"] is None


@pytest.mark.parametrize(
    ("fields", "label", "trust"),
    [
        ({}, "human", 1.0),
        ({"unconfirmed": True}, "human, unconfirmed import", 1.0),
        ({"contested": True}, "human, contested", 1.0),
        ({"authority": "auto"}, "auto, provisional", 0.65),
        ({"authority": "auto", "validations": 1}, "auto, provisional", 0.8),
        (
            {"authority": "auto", "validations": 9, "contested": True},
            "auto, provisional, contested",
            0.95,
        ),
    ],
)
def test_label_and_trust(fields: dict[str, Any], label: str, trust: float) -> None:
    """Guards how much a row counts and how it is introduced to the model."""
    row = MemoryRow(**fields, confidence=0.5, importance=0.5)
    assert (label_of(row), trust_of(row)) == (label, trust)
    assert record_of(row)["score"] == round(0.25 * trust, 6)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            "add add add edit enforce promote demote reject restore stale move propose merge "
            "rebuild forget".split()
        ),
        st.integers(0, 30),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=25,
)


def change_of(kind: str, row: MemoryRow, at: int, where: str | None, number: int) -> ch.AnyChange:
    """A change of a memory that may or may not be possible in its state."""
    base: dict[str, Any] = {
        "actor": "terminal",
        "at": at,
        "memory": row.id,
        "version": ids.new_id(),
    }
    levels: list[Any] = ["advise", "confirm", "soft_deny", "deny"]
    match kind:
        case "edit":
            return ch.EditMemory(**base, patch=ch.Patch(summary=f"edited {at}", scope="src/**"))
        case "move":
            return ch.EditMemory(**base, patch=ch.Patch(), project=where)
        case "enforce":
            return ch.Enforce(**base, level=levels[number])
        case "promote":
            return ch.Promote(**base)
        case "demote":
            return ch.Demote(**base)
        case "restore":
            return ch.Restore(**base)
        case "reject":
            return ch.SetStatus(**base, status="rejected")
        case _:
            return ch.SetStatus(**base, status="stale")


async def perform(app: App, operation: tuple[str, int, int], at: int) -> None:
    """One random operation; what its state forbids raises HmdError and changes nothing."""
    kind, pick, number = operation
    live = await app.store.list_projects()
    where = [None, *(row.id for row in live)][number % (len(live) + 1)]
    wanted = MemoryFilter(status="all", limit=1000)
    rows = sorted((await app.store.list_memories(wanted)).rows, key=lambda row: row.id)
    person: dict[str, Any] = {"actor": "terminal", "at": at}
    if kind == "rebuild":
        await app.snapshots.rebuild(where or USER)
    elif kind == "add":
        content = Content(
            summary=f"m{at}",
            triggers=["before_tool"],
            status=["candidate", "active"][number % 2],  # type: ignore[arg-type]
            sig=Signature(pattern="git push") if pick % 2 else None,
        )
        memory = ch.AddMemory(
            **person, memory=ids.new_id(), version=ids.new_id(), content=content, project=where
        )
        await app.snapshots.commit(memory)
    elif kind == "merge" and len(live) > 1:
        moved = await app.store.memories_of(live[0].id)
        versions = {row.id: ids.new_id() for row in moved}
        merge = ch.MergeProjects(**person, source=live[0].id, into=live[1].id, versions=versions)
        await app.snapshots.commit(merge)
    elif kind == "forget" and where is not None and number == 3:
        await app.snapshots.commit(ch.ForgetProject(**person, project=where))
    elif rows:
        row = rows[pick % len(rows)]
        if kind == "propose":
            inner = change_of("promote", row, at, where, number)
            proposal = ids.new_id()
            opening = ch.OpenProposal(
                actor="mcp", at=at, proposal=proposal, proposes="promote", changes=[inner]
            )
            await app.snapshots.commit(opening)
            await app.snapshots.commit(ch.AcceptProposal(**person, proposal=proposal))
        else:
            await app.snapshots.commit(change_of(kind, row, at, where, number))


@settings(
    derandomize=True, max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(OPERATIONS)
def test_random_histories(tmp_path_factory: pytest.TempPathFactory, operations: Any) -> None:
    """Guards the two projections at once. After every change each snapshot (base and tail) holds
    exactly the active memories, also for a reader that stayed; the database built from the journal
    equals the one that grew with it; each memory has one current version and no gap before it."""
    trio.run(_random_history, Place(tmp_path_factory.mktemp("history")), operations)


async def _random_history(place: Place, operations: list[tuple[str, int, int]]) -> None:
    created = [create_project("one"), create_project("two")]
    names = [USER, *(each.project for each in created)]
    async with place.opened() as app:
        for each in created:
            await app.snapshots.commit(each)
        await app.snapshots.rebuild(USER)
        resident = [place.snapshot(name) for name in names]
        for at, operation in enumerate(operations, 10_000):
            try:
                await perform(app, operation, at)
            except HmdError as error:
                assert error.code in ("refused", "not_found", "busy")
            alive = {USER, *(row.id for row in await app.store.list_projects())}
            for name, reader in zip(names, resident, strict=True):
                wanted = await expected(app, name) if name in alive else []
                assert held(place, name) == wanted
                assert reader is not None
                reader.refresh()
                assert reader.all_records() == wanted
        assert await app.snapshots.check() == []
        live = dump(place.home)
        listed = await app.store.list_memories(MemoryFilter(status="all", limit=1000))
        for memory in [row.id for row in listed.rows]:
            versions = (await app.store.history(memory)).versions
            spans = [(each.recorded_at, each.superseded_at) for each in versions]
            assert [end for _, end in spans] == [*(start for start, _ in spans[1:]), None]
    remove_database(place.home)
    async with place.opened() as app:
        assert app.store.problems == []
        assert dump(place.home) == live
        assert await app.snapshots.check() == []


async def test_check_builds_what_is_not_true(place: Place) -> None:
    """Guards start-up: absent, damaged, behind, of another kernel, of other settings."""
    async with place.opened() as app:
        await projects.enable(app, place.caller(place.repository("app")), ProjectRef())
        caller = place.caller(place.repository("app"))
        assert await app.snapshots.check() == [USER]
        assert await app.snapshots.check() == []
        await memories.add(app, caller, MemoryDraft(summary="s", active=True))
        path = Path(place.home.snapshot(caller.project))

        path.unlink()
        assert await app.snapshots.check() == [caller.project]
        path.write_bytes(b"x" + path.read_bytes()[1:])
        assert await app.snapshots.check() == [caller.project]
        await app.store.apply(add(9, project=caller.project, status="active"))  # a crash here
        assert await app.snapshots.check() == [caller.project]
        assert len(held(place, caller.project)) == 2

        config, _ = parse({"project": {caller.root: {"before_tool": {"max_items": 1}}}})
        other = Snapshots(app.store, config)
        assert await other.check() == [caller.project]
        snapshot = place.snapshot(caller.project)
        assert snapshot is not None
        assert snapshot.settings["before_tool"]["max_items"] == 1

        snapshot_file.write_base(
            path, [], kernel_hash="older", generation=999, settings=snapshot.settings
        )
        assert await other.check() == [caller.project]
        assert len(held(place, caller.project)) == 2


async def test_long_tail_is_folded(place: Place) -> None:
    """Guards the limit of what each hook process reads over the base."""
    async with place.opened() as app:
        for number in range(40):
            await app.snapshots.commit(add(number, status="active", details="x" * 4000))
        tail = Path(place.home.snapshot(USER) + TAIL)
        assert not tail.exists() or tail.stat().st_size <= TAIL_LIMIT
        snapshot = place.snapshot(USER)
        assert snapshot is not None
        assert snapshot.header["records"] > 10
        assert held(place, USER) == await expected(app, USER)


async def test_changes_while_a_base_is_built(place: Place) -> None:
    """Guards concurrent building and changing: whatever the order, nothing is lost."""
    async with place.opened() as app:
        for number in range(50):
            await app.store.apply(add(number, status="active"))

        async def change() -> None:
            for number in range(20):
                await app.snapshots.commit(add(100 + number, status="active"))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(change)
            for _ in range(3):
                nursery.start_soon(app.snapshots.rebuild, USER)
        assert held(place, USER) == await expected(app, USER)
        assert len(held(place, USER)) == 70


async def test_disk_that_takes_no_snapshot(place: Place) -> None:
    """Guards that a change on record stands although its snapshot cannot be written, is named, and
    reaches the snapshot with the next change that can be."""
    async with place.opened() as app:
        blocked = Path(place.home.snapshots)
        blocked.write_text("a file where the directory should be")
        await app.snapshots.commit(add(1, status="active"))
        assert any("could not be written" in line for line in app.snapshots.problems)
        blocked.unlink()
        await app.snapshots.commit(add(2, status="active"))
        assert held(place, USER) == await expected(app, USER)
        assert len(held(place, USER)) == 2
