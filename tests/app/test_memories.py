"""Use cases of memories: defaults, checks, and what an agent may only propose."""

from typing import Any

import pytest

from hmd.app import memories, projects, proposals
from hmd.app.context import App, Caller
from hmd.core.answers import Outcome
from hmd.core.config import parse
from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryDraft, MemoryEdit, MemoryEnforce, MemoryFilter, MemoryRef
from hmd.core.projects import ProjectRef
from hmd.core.proposals import ProposalFilter, ProposalRef
from tests.app.conftest import Place

SIGNATURE = "bash:command:cmd:npm test"


async def enabled(place: Place, app: App, name: str = "app") -> Caller:
    path = place.repository(name)
    await projects.enable(app, place.caller(path), ProjectRef())
    return place.caller(path)


async def added(app: App, caller: Caller, **draft: Any) -> MemoryRow:
    outcome = await memories.add(app, caller, MemoryDraft(**{"summary": "use pnpm"} | draft))
    assert outcome.memory is not None
    return outcome.memory


@pytest.mark.parametrize(
    ("draft", "level", "triggers", "tools"),
    [
        (
            {"type": "policy", "policy": "hard", "signature": SIGNATURE},
            "confirm",
            ["before_model", "before_tool"],
            ["bash"],
        ),
        (
            {"type": "policy", "policy": "soft", "signature": SIGNATURE},
            "advise",
            ["before_model", "before_tool"],
            ["bash"],
        ),
        ({"type": "policy"}, "advise", ["before_model", "before_tool"], None),
        ({"type": "pitfall", "signature": SIGNATURE}, "soft_deny", ["before_tool"], ["bash"]),
        ({"type": "pitfall"}, "advise", ["before_tool"], None),
        (
            {"type": "workflow", "signature": SIGNATURE},
            "advise",
            ["before_model", "before_tool", "after_tool"],
            ["bash"],
        ),
        ({"type": "decision"}, "advise", ["session_start", "before_model"], None),
        (
            {"type": "pitfall", "signature": SIGNATURE, "level": "deny"},
            "deny",
            ["before_tool"],
            ["bash"],
        ),
        (
            {"triggers": ["after_tool", "session_start"], "tools": ["Bash", "mcp__mail__send"]},
            "advise",
            ["session_start", "after_tool"],
            ["bash", "mcp:mail/send"],
        ),
        ({"signature": "Read:path:glob:secrets/**"}, "soft_deny", ["before_model"], ["read"]),
    ],
)
async def test_defaults(
    place: Place, draft: dict[str, Any], level: str, triggers: list[str], tools: list[str] | None
) -> None:
    """Guards what type and signature choose where the person chose nothing."""
    async with place.opened() as app:
        row = await added(app, await enabled(place, app), **draft)
    assert (row.level, row.triggers, row.tools) == (level, triggers, tools)
    assert (row.status, row.authority, row.evidence) == ("candidate", "human", "user_said")


async def test_configured_level_of_hard_policies(place: Place) -> None:
    """Guards `before_tool.hard_policy`, also as a project's own."""
    path = place.repository("app")
    config, problems = parse({"project": {path: {"before_tool": {"hard_policy": "deny"}}}})
    assert problems == []
    async with place.opened(config) as app:
        caller = await enabled(place, app)
        draft = {"type": "policy", "policy": "hard", "signature": SIGNATURE}
        assert (await added(app, caller, **draft)).level == "deny"
        other = await enabled(place, app, "other")
        assert (await added(app, other, **draft)).level == "confirm"


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ({"summary": "  "}, "summary is empty"),
        ({"summary": "x" * 501}, "longer than 500"),
        ({"scope": "/etc/**"}, "not relative"),
        ({"scope": "~/x"}, "not relative"),
        ({"scope": "C:\\x"}, "not relative"),
        ({"scope": "src/../../x"}, "leaves the project"),
        ({"signature": "npm test"}, "is not a signature"),
        ({"signature": "bash:command:shell:npm test"}, "no kind of signature"),
        ({"signature": "bash:command:cmd:'npm"}, "cannot be a signature"),
        ({"signature": "edit:path:cmd:npm test"}, "is for bash"),
        ({"signature": "bash:command:substring:ab"}, "shorter than 3"),
        ({"signature": "edit:path:glob:" + "a" * 600}, "longer than 512"),
    ],
)
async def test_refusals_say_what_is_wrong(place: Place, draft: dict[str, Any], text: str) -> None:
    """Guards each check of `memory add`: exit code 2, a reason, nothing stored."""
    async with place.opened() as app:
        caller = await enabled(place, app)
        with pytest.raises(HmdError, match=text) as caught:
            await added(app, caller, **draft)
        assert caught.value.code == "usage"
        assert (await app.store.list_memories()).total == 0


async def test_signature_spec_is_read_and_written_alike(place: Place) -> None:
    """Guards the typed form: colons in patterns and tools, `!`, hosts' tool names."""
    async with place.opened() as app:
        caller = await enabled(place, app)
        for spec, stored in [
            ("!Bash:command:cmd:npm test", "!bash:command:cmd:npm test"),
            ("WebFetch:url:glob:https://x.io:8080/*", "fetch:url:glob:https://x.io:8080/*"),
            ("mcp:mail/send:input.to:substring:@all", "mcp:mail/send:input.to:substring:@all"),
            ("mcp__mail__send:input:substring:@all", "mcp:mail/send:input:substring:@all"),
        ]:
            row = await added(app, caller, signature=spec)
            assert row.sig is not None
            assert row.sig.spec == stored


async def test_words_that_need_a_look(place: Place) -> None:
    """Guards notes: what will not do what was meant is said, and risky text does not activate."""
    async with place.opened() as app:
        caller = await enabled(place, app)

        async def notes(**draft: Any) -> list[str]:
            outcome = await memories.add(app, caller, MemoryDraft(**{"summary": "s"} | draft))
            return outcome.notes

        assert "one word" in (await notes(signature="bash:command:cmd:docker"))[0]
        assert "no effect" in (await notes(type="decision", level="deny"))[0]
        outcome = await memories.add(
            app, caller, MemoryDraft(summary="ab\u200b\u202ecd hidden", active=True)
        )
        assert outcome.memory is not None
        assert outcome.memory.status == "candidate"
        assert "kept as a candidate" in outcome.notes[0]


async def test_secrets_are_masked_before_they_are_stored(place: Place) -> None:
    """Guards "redaction before anything is written" for typed text, down to the files."""
    secret = "ghp_" + "A1b2" * 9
    async with place.opened() as app:
        caller = await enabled(place, app)
        row = await added(app, caller, summary=f"use {secret}", details=f"token={secret}")
        await memories.reject(app, caller, MemoryRef(id=row.id, note=secret))
    for path in place.base.joinpath("home").rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


async def test_where_a_memory_holds(place: Place) -> None:
    """Guards O-14: a project's memory is not listed in another, a user-wide one is in both."""
    async with place.opened() as app:
        one, two = await enabled(place, app, "one"), await enabled(place, app, "two")
        nowhere = place.caller(str(place.base / "home"))
        with pytest.raises(HmdError, match="no project here"):
            await added(app, nowhere)
        local = await added(app, one)
        wide = await added(app, nowhere, user_wide=True)

        async def listed(caller: Caller) -> set[str]:
            return {row.id for row in (await memories.list_(app, caller, MemoryFilter())).rows}

        assert await listed(one) == {local.id, wide.id}
        assert await listed(two) == {wide.id}
        await memories.edit(app, one, MemoryEdit(id=local.id, user_wide=True))
        assert await listed(two) == {local.id, wide.id}
        with pytest.raises(HmdError, match="--status"):
            await memories.list_(app, one, MemoryFilter(status="alive"))


async def test_edit_changes_what_is_given(place: Place) -> None:
    """Guards edits: the rest stays, the row becomes a person's, nothing given is refused."""
    async with place.opened() as app:
        caller = await enabled(place, app)
        row = await added(app, caller, signature=SIGNATURE, details="d", aliases=["a"])
        edit = MemoryEdit(id=row.id[:8], summary=" new  text ", scope="src/", signature="")
        after = (await memories.edit(app, caller, edit)).memory
        assert after is not None
        assert (after.summary, after.scope, after.sig) == ("new text", "src/**", None)
        assert (after.details, after.aliases, after.level) == ("d", ["a"], row.level)
        assert (await memories.history(app, caller, MemoryRef(id=row.id))).versions[0] != after
        with pytest.raises(HmdError, match="nothing to change"):
            await memories.edit(app, caller, MemoryEdit(id=row.id))


async def test_life_of_a_memory(place: Place) -> None:
    """Guards the verbs in the order a person would use them."""
    async with place.opened() as app:
        caller = await enabled(place, app)
        row = await added(app, caller)
        ref = MemoryRef(id=row.id, note="because")
        seen = []
        for verb in (memories.promote, memories.demote, memories.reject, memories.restore):
            outcome: Outcome = await verb(app, caller, ref)
            assert outcome.memory is not None
            seen.append((outcome.memory.status, outcome.memory.note))
        assert seen == [
            ("active", "because"),
            ("candidate", "because"),
            ("rejected", "because"),
            ("active", "because"),
        ]
        view = await memories.show(app, caller, MemoryRef(id=row.id))
        assert view.evidence[0].ref == "terminal"


AGENT_CALLS: list[Any] = [
    lambda app, who, row: memories.add(app, who, MemoryDraft(summary="more", active=True)),
    lambda app, who, row: memories.edit(app, who, MemoryEdit(id=row.id, summary="other")),
    lambda app, who, row: memories.enforce(app, who, MemoryEnforce(id=row.id, level="deny")),
    lambda app, who, row: memories.reject(app, who, MemoryRef(id=row.id)),
    lambda app, who, row: memories.demote(app, who, MemoryRef(id=row.id)),
]


@pytest.mark.parametrize("call", AGENT_CALLS)
@pytest.mark.parametrize("actor", ["agent_cli", "mcp"])
async def test_an_agent_only_proposes(place: Place, call: Any, actor: Any) -> None:
    """Guards N29: what an agent asks for changes nothing until a person accepts it, whole."""
    async with place.opened() as app:
        person = await enabled(place, app)
        agent = place.caller(person.cwd, actor)
        row = await added(app, person, active=True)
        outcome: Outcome = await call(app, agent, row)
        assert outcome.memory is None
        assert outcome.proposal is not None
        assert outcome.proposal.project == person.project
        assert (await app.store.list_memories()).rows == [row]
        ref = ProposalRef(id=outcome.proposal.id[:8])
        for decide in (proposals.accept, proposals.reject):
            with pytest.raises(HmdError, match="an agent cannot"):
                await decide(app, agent, ref)
        accepted = await proposals.accept(app, person, ref)
        assert accepted.memory is not None
        assert accepted.memory.actor == "terminal"
        assert accepted.memory != row
        listed = await proposals.list_(app, person, ProposalFilter())
        assert listed.rows == []


async def test_rejected_proposal_changes_nothing(place: Place) -> None:
    """Guards the other answer."""
    async with place.opened() as app:
        person = await enabled(place, app)
        row = await added(app, person)
        agent = place.caller(person.cwd, "mcp")
        outcome = await memories.promote(app, agent, MemoryRef(id=row.id))
        assert outcome.proposal is not None
        await proposals.reject(app, person, ProposalRef(id=outcome.proposal.id, note="no"))
        assert (await app.store.get_memory(row.id)) == row
        with pytest.raises(HmdError, match="already rejected"):
            await proposals.accept(app, person, ProposalRef(id=outcome.proposal.id))


async def test_agents_cannot_change_projects(place: Place) -> None:
    """Guards that an agent cannot switch its own guard off."""
    async with place.opened() as app:
        person = await enabled(place, app)
        agent = place.caller(person.cwd, "agent_cli")
        for call in (projects.disable, projects.forget, projects.enable):
            with pytest.raises(HmdError, match="an agent cannot"):
                await call(app, agent, ProjectRef())
        assert (await app.store.list_projects())[0].enabled
