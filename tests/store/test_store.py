"""The store: changes last, memories keep their history, and damage costs nothing acknowledged."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from hmd.core import changes as ch
from hmd.core import ids
from hmd.core.errors import HmdError
from hmd.core.memory import Signature
from hmd.core.memory_calls import MemoryFilter
from hmd.core.proposals import ProposalFilter
from hmd.kernel.address import Home
from tests.store.helpers import add, create_project, dump, opened, remove_database, status


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
