"""Facts in time by use case: what is checked, warned of, compared with the code and kept beside."""

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hmd.app import anchors, backup, facts, forget, rules_at, staleness, tidy
from hmd.app.context import App, Caller
from hmd.core.changes import CreateProject, ForgetProject
from hmd.core.errors import HmdError
from hmd.core.fact_checks import StaleQuery, Verdict
from hmd.core.fact_queries import FactQuery, FactRef, FactSpan, FactTidy, NearQuery, RulesAt
from hmd.core.facts import FactDraft, FactMark, FactRevision
from hmd.core.forgetting import ForgetQuery, RestoreQuery
from hmd.core.times import format_time
from tests.app.conftest import Place

PERSON = Caller(actor="terminal")


@pytest.fixture
async def app(place: Place) -> AsyncIterator[App]:
    async with place.opened() as opened:
        yield opened


async def remember(app: App, fact: str, caller: Caller = PERSON, **fields: Any) -> str:
    draft = FactDraft(subject=fields.pop("subject", "user"), fact=fact, **fields)
    done = await facts.remember(app, caller, draft)
    assert done.fact is not None
    return done.fact.id


async def said(app: App, **fields: Any) -> list[str]:
    found = await facts.recall(app, PERSON, FactQuery(limit=1000, **fields))
    return [row.fact for row in found.rows]


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"fact": "x" * 8001}, "fact"),
        ({"subject": "s" * 501}, "subject"),
        ({"predicate": "p" * 501}, "predicate"),
        ({"details": "d" * 40_001}, "details"),
        ({"tags": ["t"] * 33}, "tags"),
        ({"commit": "main"}, "commit"),
        ({"valid_from": "2026-03-02", "valid_to": "2026-03-01"}, "valid_to"),
    ],
)
async def test_what_cannot_be_stored_is_refused_with_its_field(
    app: App, fields: dict[str, Any], where: str
) -> None:
    """Guards limits, and that a refusal names the field and stores nothing."""
    with pytest.raises(HmdError) as caught:
        await remember(app, **{"fact": "f", **fields})
    assert (caught.value.code, caught.value.where) == ("usage", where)
    assert (await facts.stats(app, PERSON, None)).total == 0


async def test_secrets_are_redacted_before_anything_is_written(app: App, place: Place) -> None:
    """Guards facts as the rest of the store: a token never reaches the journal."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    await remember(app, f"the token is {token}", details=f"again {token}", source_ref=token)
    files = [path for path in Path(place.home.path).rglob("*") if path.is_file()]
    assert [path for path in files if token.encode() in path.read_bytes()] == []


async def test_the_two_axes_are_asked_apart(app: App, place: Place) -> None:
    """Guards `valid_at` and `known_at`: what was true, and what was known of it."""
    place.clock.wall = 1_772_323_200_000  # 2026-03-01
    old = await remember(app, "works at A", valid_from="2026-01-01")
    place.clock.wall = 1_773_187_200_000  # 2026-03-11
    await facts.revise(
        app, PERSON, FactRevision(id=old, fact="works at B", valid_from="2026-02-01")
    )
    assert await said(app, valid_at="2026-02-15") == ["works at B"]
    assert await said(app, valid_at="2026-02-15", known_at="2026-03-05") == ["works at A"]
    assert await said(app, valid_at="2026-01-15") == ["works at A"]
    assert await said(app, as_of="2026-02-15") == []
    diff = await facts.diff(app, PERSON, FactSpan(since="2026-03-10", until="2026-03-12"))
    assert [(pair.old.fact, pair.new.fact) for pair in diff.revised] == [
        ("works at A", "works at B")
    ]
    assert (await facts.diff(app, PERSON, FactSpan(since="2026-03-12"))).revised == []


async def test_a_stated_end_holds_until_it_is_revised(app: App, place: Place) -> None:
    """Guards `valid_to` as it was stated beside the end that a revision brings."""
    place.clock.wall = 1_772_323_200_000
    old = await remember(app, "on leave", valid_to="2026-04-01")
    assert await said(app) == ["on leave"]
    assert await said(app, valid_at="2026-04-01") == []
    await facts.revise(app, PERSON, FactRevision(id=old, fact="back at work"))
    told = await facts.why(app, PERSON, FactRef(id=old))
    assert told.fact.until == told.fact.closed_at


async def test_marks_are_beside_the_fact_and_change_nothing_of_the_past(app: App) -> None:
    """Guards pins, tags, links with backlinks, importance, archive and sensitive."""
    other = await remember(app, "the staging box is blue")
    fact = await remember(app, "the build box is grey", tags=["infra"], links=[other[:8]])
    now = format_time(app.now())
    mark = FactMark(
        id=fact, pinned=True, importance=9, add_tags=["box", "infra"], remove_tags=["none"]
    )
    done = await facts.mark(app, PERSON, mark)
    assert done.fact is not None
    assert (done.fact.tags, done.fact.importance) == (["box", "infra"], 9)
    assert await said(app, pinned=True) == await said(app, tag="box") == ["the build box is grey"]
    told = await facts.why(app, PERSON, FactRef(id=other))
    assert [row.id for row in told.backlinks] == [fact]
    await facts.mark(app, PERSON, FactMark(id=fact, archived=True, remove_links=[other]))
    assert await said(app) == ["the staging box is blue"]
    assert len(await said(app, archived=True)) == len(await said(app, as_of=now)) == 2
    await facts.mark(app, PERSON, FactMark(id=other, sensitive=True))
    assert await said(app) == []
    assert await said(app, sensitive=True) == ["the staging box is blue"]
    kinds = [each.kind for each in (await facts.why(app, PERSON, FactRef(id=fact))).changes]
    assert kinds == ["remember_fact", "mark_fact", "mark_fact"]


async def test_facts_of_a_project_are_given_there_and_user_wide_ones_everywhere(
    app: App, place: Place
) -> None:
    """Guards scope, and that a forgotten project's facts are on no surface."""
    project = "ab" * 16
    await app.make(
        CreateProject(actor="terminal", at=app.now(), project=project, name="a", location="/a")
    )
    here = Caller(actor="terminal", project=project, enabled=True)
    await remember(app, "everywhere")
    draft = FactDraft(subject="user", fact="here", user_wide=False)
    app_facts = await facts.remember(app, here, draft)
    assert app_facts.fact is not None and app_facts.fact.project == project
    elsewhere = Caller(actor="terminal", project="cd" * 16)
    found = await facts.recall(app, elsewhere, FactQuery())
    assert [row.fact for row in found.rows] == ["everywhere"]
    assert (await facts.recall(app, here, FactQuery())).total == 2
    await app.make(ForgetProject(actor="terminal", at=app.now(), project=project))
    stats = await facts.stats(app, PERSON, None)
    assert (stats.current, await said(app)) == (1, ["everywhere"])


# -- similar ----------------------------------------------------------------------------------


async def test_a_similar_fact_is_named_when_it_is_remembered(app: App) -> None:
    """Guards the warning, that it counts only current beliefs of the subject, and itself never."""
    first = await remember(app, "도쿄에서 커피를 마신다")
    done = await facts.remember(app, PERSON, FactDraft(subject="user", fact="도쿄에서 커피 마신다"))
    assert [one.id for one in done.similar] == [first]
    assert first[:8] in done.notes[0]
    other = await facts.remember(app, PERSON, FactDraft(subject="x", fact="도쿄에서 커피 마신다"))
    assert (other.similar, other.notes) == ([], [])
    query = NearQuery(subject="user", text="커피", min_similarity=0.1, limit=1)
    assert len((await facts.near(app, PERSON, query)).rows) == 1


# -- the code ---------------------------------------------------------------------------------


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-C", str(root), *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(root: Path, name: str, text: str) -> str:
    (root / name).write_text(text)
    git(root, "add", name)
    git(root, "commit", "-q", "-m", name)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    return root


async def test_facts_are_held_against_the_repository(app: App, repository: Path) -> None:
    """Guards N12: by content where it is known, else by history, each as it is now."""
    first = commit(repository, "a.py", "one\n")
    here = Caller(actor="terminal", root=str(repository), cwd=str(repository))
    by_content = await remember(app, "a.py says one", here, path="a.py")
    by_commit = await remember(app, "seen at first", here, commit=first, path="b.py")
    named = await remember(app, "from a source", here, source_ref=f"repo@{first}:a.py")
    unknown = await remember(app, "of another repository", here, commit="0" * 40)
    away = await remember(app, "leads out", here, path="../x.py")
    found = await staleness.check(app, here, StaleQuery())
    assert (found.checked, found.current, found.unresolved) == (5, 3, 2)
    commit(repository, "a.py", "two\n")
    found = await staleness.check(app, here, StaleQuery())
    assert {each.fact: each.freshness for each in found.changed} == {
        by_content: "stale", named: "stale",
    }  # fmt: skip
    for identifier, freshness in (
        (by_content, "stale"), (by_commit, "current"), (unknown, "unresolved"),
        (away, "unresolved"),
    ):  # fmt: skip
        told = await facts.why(app, PERSON, FactRef(id=identifier))
        assert told.fact.freshness == freshness, told.fact.fact
    (repository / "a.py").write_text("one\n")
    assert (await staleness.check(app, here, StaleQuery())).stale == 0  # it is as it was
    assert (await staleness.check(app, here, StaleQuery())).changed == []
    with pytest.raises(HmdError, match="no git repository"):
        await staleness.check(app, here, StaleQuery(path=str(repository.parent)))


async def test_a_check_of_many_facts_ends_and_looks_at_each_once(
    app: App, repository: Path
) -> None:
    """Guards the fault of a peer that read the same first 200 for ever."""
    head = commit(repository, "a.py", "one\n")
    here = Caller(actor="terminal", root=str(repository))
    for number in range(2 * staleness.PAGE + 1):
        await remember(app, f"fact {number}", here, commit=head)
    found = await staleness.check(app, here, StaleQuery())
    assert found.checked == found.current == 2 * staleness.PAGE + 1


async def test_the_blob_is_gits_own(repository: Path) -> None:
    """Guards the name of a file's content against git."""
    for text in ("", "one\n", "탭\x00\n"):
        path = repository / "f"
        path.write_text(text, encoding="utf-8")
        assert anchors.blob_of(path) == git(repository, "hash-object", "f")
    assert anchors.blob_of(repository / "absent") == ""


async def test_the_gardener_names_what_people_would_tidy(app: App) -> None:
    """Guards split subjects, long code maps and stale facts; a clean store has none."""
    await remember(app, "short", subject="build box")
    assert await tidy.tidy(app, PERSON, None) == FactTidy()
    await remember(app, "short", subject="Build-Box")
    files = "the parser is in src/a/parse.py, its tables in src/a/tables.py, tests in tests/a.py"
    code_map = await remember(app, files + ", and so on" * 12)
    stale = await remember(app, "old", path="gone.py")
    verdict = Verdict(fact=stale, freshness="stale")
    await staleness.record(app, PERSON, "0" * 40, [verdict])
    found = await tidy.tidy(app, PERSON, None)
    assert found.fragmented == [["Build-Box", "build box"]]
    assert [row.id for row in found.long] == [code_map]
    assert [row.id for row in found.stale] == [stale]


# -- rules, and the database ------------------------------------------------------------------


async def test_rules_of_an_instant_are_those_that_were_in_force(app: App) -> None:
    """Guards N11: a rule that was added later, edited or rejected counts as it was then."""
    from hmd.app import memories
    from hmd.core.memory_calls import MemoryDraft, MemoryEdit, MemoryRef

    before = format_time(app.now())
    draft = MemoryDraft(summary="no npm", signature="bash:command:cmd:npm", active=True)
    added = await memories.add(app, PERSON, MemoryDraft(**{**fields_of(draft), "user_wide": True}))
    assert added.memory is not None
    first = format_time(app.now())
    await memories.edit(app, PERSON, MemoryEdit(id=added.memory.id, summary="no npm at all"))
    second = format_time(app.now())
    await memories.reject(app, PERSON, MemoryRef(id=added.memory.id))
    after = format_time(app.now())

    async def then(at: str) -> list[object]:
        found = await rules_at.rules_at(app, PERSON, RulesAt(at=at))
        return [record["summary"] for record in found.records]

    assert [await then(at) for at in (before, first, second, after)] == [
        [], ["no npm"], ["no npm at all"], [],
    ]  # fmt: skip


def fields_of(draft: Any) -> dict[str, Any]:
    return {name: getattr(draft, name) for name in draft.__struct_fields__}


async def test_check_beside_a_daemon_finds_all_sound(app: App) -> None:
    """Guards `db check` and `db backup` on an open store."""
    await remember(app, "a")
    made = await backup.backup(app, PERSON, None)
    found = await backup.check(app, PERSON, None)
    assert (found.problems, found.facts) == ([], 1)
    assert Path(made.path).name in found.backups


async def test_the_difference_until_then_counts_what_was_forgotten_then(
    app: App, place: Place
) -> None:
    """Guards spans that end while a fact is forgotten that was brought back later: the answer is
    the one that was given at their end."""

    async def difference(until: int | None) -> tuple[list[str], list[str]]:
        text = None if until is None else format_time(until)
        found = await facts.diff(app, PERSON, FactSpan(since=format_time(start), until=text))
        return [row.fact for row in found.learned], [row.fact for row in found.retracted]

    start = app.now()
    identifier = await remember(app, "stays")
    other = await remember(app, "goes away for a while")
    before = app.now()
    await forget.forget(app, PERSON, ForgetQuery(id=other))
    then = app.now()
    told = await difference(then)
    assert told == (["stays"], ["goes away for a while"])
    await forget.restore(app, PERSON, RestoreQuery(id=other))
    assert await difference(then) == told
    assert await difference(before) == (["stays", "goes away for a while"], [])
    assert await difference(None) == (["stays", "goes away for a while"], [])
    back = app.now()
    await forget.forget(app, PERSON, ForgetQuery(id=other))
    await forget.forget(app, PERSON, ForgetQuery(id=identifier))
    assert await difference(then) == told
    assert await difference(back) == (["stays", "goes away for a while"], [])
    assert (await difference(None))[1] == ["goes away for a while", "stays"]


@pytest.mark.parametrize("name", ["#99", "#0", "#9223372036854775807", "#" + "9" * 5000, "abcd"])
async def test_a_fact_that_is_not_there_is_named(app: App, name: str) -> None:
    """Guards numbers that no database holds, and those that no interpreter reads."""
    await remember(app, "something")
    with pytest.raises(HmdError, match="no fact") as caught:
        await facts.why(app, PERSON, FactRef(id=name))
    assert caught.value.code == "not_found"


async def test_a_span_that_ends_before_it_begins_is_refused(app: App) -> None:
    """Guards against "nothing changed" as the answer to a mistake."""
    with pytest.raises(HmdError, match="ends before it begins"):
        await facts.diff(app, PERSON, FactSpan(since="2026-01-02", until="2026-01-01"))
