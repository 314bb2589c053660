"""Forgetting: hidden at once, 30 days to bring it back, then gone from every copy."""

import errno
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hmd.app import facts, forget, memories, proposals
from hmd.app.context import App, Caller
from hmd.core import ids
from hmd.core.changes import AddMemory, Forget, ImportFacts, RememberFact
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactQuery, FactRef
from hmd.core.facts import FactContent, FactDraft, FactRevision
from hmd.core.forgetting import ForgetQuery, Forgotten, RestoreQuery
from hmd.core.memory import Content, Origin
from hmd.core.memory_calls import MemoryDraft, MemoryEdit, MemoryFilter, MemoryRef
from hmd.core.proposals import ProposalRef
from hmd.core.times import format_time
from hmd.kernel.address import session_key
from hmd.store import offline, redo
from hmd.store.leftovers import NOTHING_LEFT
from hmd.store.store import Store
from tests.app.conftest import Place
from tests.store.helpers import dump, remove_database

PERSON = Caller(actor="terminal")
AGENT = Caller(actor="mcp")
DAY = 86_400_000
SECRET = "the guest lives behind the old mill 물레방아"


async def remember(app: App, fact: str, caller: Caller = PERSON, **fields: Any) -> str:
    draft = FactDraft(subject=fields.pop("subject", "guest"), fact=fact, **fields)
    done = await facts.remember(app, caller, draft)
    assert done.fact is not None
    return done.fact.id


async def recalled(app: App, **fields: Any) -> list[str]:
    found = await facts.recall(app, PERSON, FactQuery(limit=1000, **fields))
    return [row.fact for row in found.rows]


def copies(home: Path, *words: str) -> list[str]:
    """Files that hold one of the words, as it is or escaped in JSON."""
    forms = [word.encode() for word in words]
    forms += [json.dumps(word)[1:-1].encode() for word in words]
    return [
        str(path.relative_to(home))
        for path in sorted(home.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in forms)
    ]


@pytest.fixture
async def app(place: Place) -> AsyncIterator[App]:
    async with place.opened() as opened:
        yield opened


async def test_a_corrected_fact_replaces_and_can_be_asked_about(app: App) -> None:
    """Guards the four questions after a correction: now, then, its history, and the printed id."""
    old = await remember(app, "the build box runs Debian 11", subject="build box")
    then = app.now()
    revised = await facts.revise(
        app, PERSON, FactRevision(id=old[:8], fact="the build box runs Debian 12")
    )
    assert revised.fact is not None
    assert await recalled(app, query="build box") == ["the build box runs Debian 12"]
    assert await recalled(app, query="build box", as_of=format_time(then)) == [
        "the build box runs Debian 11"
    ]
    told = await facts.why(app, PERSON, FactRef(id=revised.fact.id))
    assert [row.id for row in told.ancestors] == [old]
    assert told.fact.actor == "terminal"
    gone = await forget.forget(app, PERSON, ForgetQuery(id=revised.fact.id[:8]))
    assert gone.facts == [revised.fact.id]
    assert await recalled(app, query="build box") == []


async def test_the_subject_can_be_corrected_within_the_chain(app: App) -> None:
    """Guards that a misfiled fact need not lose its history."""
    old = await remember(app, "prefers tabs", subject="usre")
    done = await facts.revise(
        app, PERSON, FactRevision(id=old, fact="prefers tabs", subject="user")
    )
    assert done.fact is not None and done.fact.subject == "user"
    assert await recalled(app, subject="user") == ["prefers tabs"]
    assert await recalled(app, subject="usre") == []


@pytest.mark.parametrize(
    "query",
    [
        {"source": "notes/guests.md:4"},
        {"session": "s-17"},
        {"file": "notes/guests.md"},
        {"text": "OLD MILL"},
    ],
)
async def test_every_way_of_forgetting_finds_facts_and_rules(
    app: App, query: dict[str, Any]
) -> None:
    """Guards forgetting by source, session, file and text, for both sorts of memory."""
    await remember(app, SECRET, source_ref="notes/guests.md:4", session="s-17")
    await remember(app, "another thing altogether", source_ref="notes/guests.mdx", session="s-1")
    rule = await app.make(rule_of(SECRET, "notes/guests.md:4", "s-17", "import"))
    assert rule.memory is not None
    done = await forget.forget(app, PERSON, ForgetQuery(**query))
    assert (len(done.facts), done.memories) == (1, [rule.memory.id])
    assert await recalled(app) == ["another thing altogether"]
    assert (await memories.list_(app, PERSON, MemoryFilter())).rows == []


def rule_of(summary: str, ref: str, session: str, actor: Any) -> AddMemory:
    content = Content(summary=summary, status="active", source_ref=ref, authority="auto")
    return AddMemory(
        actor=actor, at=2_000_000_000_000, memory=ids.new_id(), version=ids.new_id(),
        content=content, origin=Origin(session=session),
    )  # fmt: skip


def fact_of(text: str, actor: Any, **origin: str) -> RememberFact:
    return RememberFact(
        actor=actor, at=2_000_000_000_000, fact=ids.new_id(),
        content=FactContent(subject="x", fact=text), origin=Origin(**origin),
    )  # fmt: skip


async def test_what_was_forgotten_comes_back_by_no_automatic_path(app: App) -> None:
    """Guards tombstones: extraction in flight, import, an agent and an accepted proposal."""
    identifier = await remember(app, SECRET)
    proposed = await app.make_or_propose(AGENT, rule_of(SECRET, "", "", "mcp"), "add")
    await forget.forget(app, PERSON, ForgetQuery(id=identifier))
    await forget.forget(app, PERSON, ForgetQuery(session="s-9"))
    respelled = "  The guest lives behind the OLD mill 물레방아. "
    for change in (
        fact_of(respelled, "extraction"),
        fact_of(SECRET, "mcp"),
        fact_of("something else of that session", "extraction", session="s-9"),
        rule_of(SECRET, "", "", "extraction"),
        rule_of("a rule of that session", "s-9", "", "import"),
    ):
        with pytest.raises(HmdError, match="forgotten on purpose"):
            await app.make(change)
    assert proposed.proposal is not None
    with pytest.raises(HmdError, match="forgotten on purpose"):
        await proposals.accept(app, PERSON, ProposalRef(id=proposed.proposal.id))
    assert await recalled(app) == []


async def test_a_person_may_say_it_anew(app: App) -> None:
    """Guards that forgetting binds programs, not the person; afterwards programs may again."""
    await forget.forget(app, PERSON, ForgetQuery(id=await remember(app, SECRET)))
    await remember(app, SECRET)
    await app.make(fact_of(SECRET, "extraction"))
    assert await recalled(app) == [SECRET, SECRET]


async def test_restoring_brings_back_and_keeps_that_it_was_away(app: App, place: Place) -> None:
    """Guards restore for facts and rules, and that the past does not change by it."""
    identifier = await remember(app, SECRET)
    rule = await memories.add(
        app, PERSON, MemoryDraft(summary="run the old mill tests", active=True, user_wide=True)
    )
    assert rule.memory is not None
    await forget.forget(app, PERSON, ForgetQuery(text="old mill"))
    assert place.snapshot("user") is not None
    away = app.now()
    assert {row.kind for row in (await forget.trash(app, PERSON, None)).rows} == {"fact", "memory"}
    with pytest.raises(HmdError, match="was forgotten"):
        await memories.restore(app, PERSON, MemoryRef(id=rule.memory.id))
    await forget.restore(app, PERSON, RestoreQuery(id=identifier))
    await forget.restore(app, PERSON, RestoreQuery(id=rule.memory.id))
    assert await recalled(app) == [SECRET]
    assert await recalled(app, as_of=format_time(away)) == []
    back = await app.store.get_memory(rule.memory.id)
    assert back.status == "active"
    assert (await forget.trash(app, PERSON, None)).rows == []
    await app.make(fact_of(SECRET, "extraction"))  # no tombstone is left


async def erased(place: Place, app: App) -> tuple[str, str, Forgotten]:
    """A fact, its revision and a rule with the secret in many places, erased by text."""
    old = await remember(app, SECRET, details="and more: " + SECRET, source_ref="guests.md")
    done = await facts.revise(app, PERSON, FactRevision(id=old, fact="moved away"))
    assert done.fact is not None
    await memories.add(
        app, PERSON, MemoryDraft(summary=SECRET, details="x", active=True, user_wide=True)
    )
    await app.make_or_propose(AGENT, rule_of(SECRET, "", "", "mcp"), "add")
    await app.store.backup()
    home = Path(place.home.path)
    for name in ("ledger/test/s.jsonl", "log/hooks.log", "raw/answer.json"):
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps({"t": 1, "said": f"… {SECRET} …"}), f"plain {SECRET}", "kept"]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    gone = await forget.forget(app, PERSON, ForgetQuery(text="old mill", hard=True))
    return old, done.fact.id, gone


async def test_erasing_leaves_no_copy_anywhere(place: Place) -> None:
    """Guards DESIGN "Time": database, journal, ledger, raw answers, logs, backups, snapshots."""
    home = Path(place.home.path)
    async with place.opened() as app:
        old, new, gone = await erased(place, app)
        assert copies(home, SECRET, "behind the old mill") == []
        assert set(gone.facts) == {old, new}  # the chain restates: it goes along
        assert len(gone.memories) == 1
        assert any("backup" in path for path in gone.scrubbed)
        told = await facts.why(app, PERSON, FactRef(id=old))
        assert (told.fact.fact, told.fact.source_ref, told.fact.details) == ("", "", "")
        assert [row.id for row in told.descendants] == [new]
        assert [event.kind for event in told.changes][-1] == "erase"
        # What was believed then is still known to have been something, and named as erased.
        past = await facts.recall(app, PERSON, FactQuery(as_of=format_time(told.fact.recorded_at)))
        assert [(row.id, row.fact) for row in past.rows] == [(old, "")]
        assert past.rows[0].erased_at is not None
        assert (home / "log/hooks.log").read_text().endswith("kept\n")
    assert copies(home, SECRET, "behind the old mill") == []


async def test_lengths_and_offsets_survive_erasing(place: Place) -> None:
    """Guards concurrent appends: a file is overwritten in place by as many bytes."""
    async with place.opened() as app:
        home = Path(place.home.path)
        path = home / "ledger/test/s.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(f'{{"said": "{SECRET}"}}\nnext\n', encoding="utf-8")
        before = path.stat()
        await forget.forget(app, PERSON, ForgetQuery(id=await remember(app, SECRET), hard=True))
        after = path.stat()
        assert (before.st_size, before.st_ino) == (after.st_size, after.st_ino)
        assert path.read_bytes().endswith(b'"}\nnext\n')


async def test_a_database_built_anew_equals_the_one_that_was_erased(place: Place) -> None:
    """Guards that the emptied journal still replays, to the same rows."""
    async with place.opened() as app:
        await erased(place, app)
    grown = dump(place.home)
    remove_database(place.home)
    async with place.opened() as app:
        assert app.store.problems == []
    rebuilt = dump(place.home)
    for name in ("fact_access", "erasure"):
        grown.pop(name), rebuilt.pop(name)
    assert rebuilt == grown
    assert copies(Path(place.home.path), SECRET) == []


async def test_an_erasing_that_was_killed_is_ended_at_the_next_start(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards a kill after the change was made and before the files were gone through."""

    async def killed(*_: object) -> list[str]:
        return []

    with monkeypatch.context() as patched:
        patched.setattr(Store, "scrub", killed)
        async with place.opened() as app:
            await erased(place, app)
    home = Path(place.home.path)
    assert copies(home, SECRET) != []
    async with place.opened() as app:
        await forget.resume(app)
        assert copies(home, SECRET) == []
        assert await app.store.scrub("f" * 32, NOTHING_LEFT, nothing) == []


async def nothing() -> None:
    """There are no files to make anew."""


def test_an_interrupted_overwrite_is_ended(tmp_path: Path) -> None:
    """Guards the journal against power failing between two lines that are overwritten."""
    path = tmp_path / "1.jsonl"
    path.write_bytes(b"aaaa\nbbbb\n")
    (tmp_path / ("1.jsonl" + redo.SUFFIX)).write_text('[[0, "xxxx"], [5, "yyyy"]]')
    path.write_bytes(b"xxxx\nbbbb\n")  # the first was done
    redo.finish(tmp_path)
    assert path.read_bytes() == b"xxxx\nyyyy\n"
    (tmp_path / ("1.jsonl" + redo.SUFFIX)).write_text('[[0, "zz')  # never whole: nothing begun
    redo.finish(tmp_path)
    assert path.read_bytes() == b"xxxx\nyyyy\n"
    assert [each.name for each in tmp_path.iterdir()] == ["1.jsonl"]


async def test_the_trash_is_emptied_after_thirty_days(place: Place) -> None:
    """Guards the end of the trash: not a day early, and then for good."""
    async with place.opened() as app:
        identifier = await remember(app, SECRET)
        done = await forget.forget(app, PERSON, ForgetQuery(id=identifier))
        assert done.erase_at is not None
        place.clock.advance(29 * DAY)
        assert (await forget.sweep(app)).facts == []
        place.clock.advance(DAY + 1000)
        assert (await forget.sweep(app)).facts == [identifier]
        assert copies(Path(place.home.path), SECRET) == []
        with pytest.raises(HmdError, match="erased"):
            await forget.restore(app, PERSON, RestoreQuery(id=identifier))


async def test_agents_record_facts_but_a_persons_words_only_change_by_proposal(app: App) -> None:
    """Guards who may change what (DESIGN "Homes, projects, people")."""
    own = await remember(app, "the queue is redis", AGENT, basis="user-stated")
    told = await facts.why(app, PERSON, FactRef(id=own))
    assert (told.fact.authority, told.fact.evidence) == ("auto", "agent_inferred")
    await facts.revise(app, AGENT, FactRevision(id=own, fact="the queue is nats"))
    theirs = await remember(app, SECRET)
    asked = await facts.revise(app, AGENT, FactRevision(id=theirs, fact="moved away"))
    assert asked.fact is None and asked.proposal
    asked_too = await forget.forget(app, AGENT, ForgetQuery(id=theirs))
    assert asked_too.proposal
    assert SECRET in await recalled(app)
    await proposals.accept(app, PERSON, ProposalRef(id=asked_too.proposal))
    assert SECRET not in await recalled(app)
    with pytest.raises(HmdError, match="an agent cannot"):
        await forget.forget(app, AGENT, ForgetQuery(id=own, hard=True))


async def test_an_agent_forgets_only_facts_of_its_own(app: App) -> None:
    """Guards rules that hold it, and learning from its session, against an agent's forgetting."""
    own = await remember(app, "the queue is redis", AGENT)
    rule = await app.make(rule_of("never push", "", "", "extraction"))
    assert rule.memory is not None
    for query in (
        ForgetQuery(id=rule.memory.id),
        ForgetQuery(text="redis"),
        ForgetQuery(session="s-1"),
    ):
        assert (await forget.forget(app, AGENT, query)).proposal
    change = Forget(actor="mcp", at=app.now(), memories={rule.memory.id: ids.new_id()}, by="id")
    with pytest.raises(HmdError, match="facts of its own"):
        await app.make(change)
    with pytest.raises(HmdError, match="only propose"):
        await app.make(ImportFacts(actor="mcp", at=app.now(), rows=[]))
    assert (await app.store.get_memory(rule.memory.id)).status == "active"
    assert await recalled(app) == ["the queue is redis"]
    assert (await forget.forget(app, AGENT, ForgetQuery(id=own))).facts == [own]
    assert await recalled(app) == []


async def test_erasing_a_session_takes_its_ledger_and_summaries_along(
    app: App, place: Place
) -> None:
    """Guards what a session left besides facts: ledger, turn, and what past turns are told as."""
    await remember(app, SECRET, session="s-17")
    key = session_key("claude-code", "s-17")
    ledger, turn = Path(place.home.ledger(key)), Path(place.home.turn(key))
    for path in (ledger, turn):
        path.parent.mkdir(parents=True)
        path.write_bytes(b'\n{"said": "in other words"}\n\n{"open')
    await app.store.operate(
        lambda one: one.execute(
            "INSERT INTO episode VALUES ('e', 's-17', '', 1, 1, 1, 1, '', 1, 0, 0, 0, 'done', 0, "
            "0, 0, '', ?, ?, '')",
            ("…" + SECRET, SECRET),
        )
    )
    gone = await forget.forget(app, PERSON, ForgetQuery(session="s-17", hard=True))
    assert str(ledger) in gone.scrubbed and not turn.exists()
    assert ledger.read_bytes() == b"\n" + b" " * 26 + b'\n\n{"open'
    assert copies(Path(place.home.path), SECRET, "in other words") == []


async def test_a_proposed_edit_brings_back_nothing(app: App, place: Place) -> None:
    """Guards proposals that would give another rule the words that were forgotten, and those whose
    words were erased: they are not there to be accepted."""
    kept = await memories.add(
        app, PERSON, MemoryDraft(summary="ask first", active=True, user_wide=True)
    )
    gone = await memories.add(app, PERSON, MemoryDraft(summary=SECRET, active=True, user_wide=True))
    assert kept.memory is not None and gone.memory is not None
    edit = MemoryEdit(id=kept.memory.id, summary=SECRET.upper())
    other = MemoryEdit(id=kept.memory.id, details=f'as he said: "{SECRET}"')
    opened = [await memories.edit(app, AGENT, one) for one in (edit, other)]
    first, second = (one.proposal.id for one in opened if one.proposal is not None)
    await forget.forget(app, PERSON, ForgetQuery(id=gone.memory.id))
    with pytest.raises(HmdError, match="forgotten on purpose"):
        await proposals.accept(app, PERSON, ProposalRef(id=first))
    await forget.forget(app, PERSON, ForgetQuery(text=SECRET, hard=True))
    for one in (first, second):
        with pytest.raises(HmdError, match="expired"):
            await proposals.accept(app, PERSON, ProposalRef(id=one))
    assert (await app.store.get_memory(kept.memory.id)).details == ""
    assert copies(Path(place.home.path), SECRET, SECRET.upper()) == []
    done = await memories.edit(app, PERSON, edit)  # a person may say it anew
    assert done.memory is not None and done.memory.summary == SECRET.upper()


@pytest.mark.parametrize("way", [{"text": SECRET}, {"session": "s-17"}])
async def test_a_disk_that_fails_during_an_erasing_is_said_and_tried_again(
    app: App, place: Place, monkeypatch: pytest.MonkeyPatch, way: dict[str, Any]
) -> None:
    """Guards against a traceback, and against an erasing that stays half done: said again, or at
    the next turn of the sweep, it is ended."""
    await remember(app, SECRET, session="s-17")
    await app.store.backup()

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "journal")

    with monkeypatch.context() as patched:
        patched.setattr(redo, "overwrite", full)
        with pytest.raises(HmdError, match="not yet gone from every file: No space") as caught:
            await forget.forget(app, PERSON, ForgetQuery(**way, hard=True))
        assert caught.value.code == "busy"
        with pytest.raises(HmdError, match="cannot be cleaned"):
            await forget.resume(app)
    assert await recalled(app) == []
    assert copies(Path(place.home.path), SECRET) != []
    await forget.resume(app)
    assert copies(Path(place.home.path), SECRET) == []


async def test_an_old_copy_from_elsewhere_brings_nothing_back(place: Place, tmp_path: Path) -> None:
    """Guards `db restore` with a copy that lay outside of the home when the text was erased."""
    outside = tmp_path / "kept-elsewhere.sqlite"
    async with place.opened() as app:
        identifier = await remember(app, SECRET, details="with more " + SECRET)
        await remember(app, "stays")
        outside.write_bytes((await app.store.backup()).read_bytes())
        await forget.forget(app, PERSON, ForgetQuery(id=identifier, hard=True))
    assert copies(tmp_path, SECRET) == [outside.name]
    offline.restore(place.home, str(outside), place.clock.wall)
    async with place.opened() as app:
        await forget.resume(app)
        assert await recalled(app) == ["stays"]
        assert (await facts.why(app, PERSON, FactRef(id=identifier))).fact.erased_at is not None
        with pytest.raises(HmdError, match="forgotten on purpose"):
            await app.make(fact_of(SECRET, "extraction"))
    assert copies(tmp_path, SECRET) == [outside.name]
