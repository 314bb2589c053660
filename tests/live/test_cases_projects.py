"""Whose memory a directory has: worktrees share it and outlive each other (O-13), repositories do
not (O-14)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.live.host import Host, Session, Town
from tests.setup.conftest import tree

pytestmark = pytest.mark.live

NPM_TEST = "bash:command:cmd:npm test"
FACT = "API base is /v2"


def teach(host: Host, place: Path, *more: str) -> None:
    """A fact and a rule, by hand, from a directory."""
    host.hmctl("memory", "add", "--type", "decision", "--summary", FACT, "--active",
               "--triggers", "session_start,before_model", *more, cwd=place)  # fmt: skip
    host.rule(place, NPM_TEST, "deny", "use pnpm", *more)


def knows(host: Host, place: Path, name: str) -> bool:
    """Whether rule and fact are there, on every surface that exists; never only one of them."""
    session = Session(host, place, name)
    start = session.start()
    prompt = session.prompt("what is the API base?")
    call = session.pre("npm test")
    listed = json.loads(host.hmctl("memory", "list", "--json", cwd=place).stdout)["rows"]
    why = json.loads(host.hmctl("why", "npm test", "--json", cwd=place).stdout)
    found = {
        "session": FACT in start.context or FACT in prompt.context,
        "call": call.decision == "deny",
        "list": FACT in [row["summary"] for row in listed],
        "why": bool(why.get("decision")),
    }
    assert len(set(found.values())) == 1, found
    return found["call"]


def rows(host: Host, place: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        host.hmctl("memory", "list", "--json", cwd=place).stdout
    )["rows"]
    return found


def test_memory_of_a_worktree_outlives_it(town: Town) -> None:
    """Guards O-13: taught in a worktree that is then removed, known in the repository and in
    another worktree; nothing of ours was written there; the records say where they are from."""
    app = town.place("app").project
    fix, other = town.host.directory / "app-fix", town.host.directory / "app-other"
    for path in (fix, other):
        town.host.git("worktree", "add", "-q", str(path), "-b", path.name, cwd=app)
    before = tree(fix)
    teach(town.host, fix)
    assert Session(town.host, fix, "in-fix").pre("npm test").decision == "deny"
    assert tree(fix) == before
    town.host.git("worktree", "remove", str(fix), cwd=app)
    assert knows(town.host, app, "app-1") and knows(town.host, other, "other-1")
    assert {row["origin"]["worktree"] for row in rows(town.host, app)} == {str(fix)}


def test_a_correction_in_a_worktree_is_recorded_for_the_repository(town: Town) -> None:
    """A neighbour: what happened in the worktree is on record under the repository's id."""
    app = town.place("app2").project
    fix = town.host.directory / "app2-fix"
    town.host.git("worktree", "add", "-q", str(fix), "-b", "fix", cwd=app)
    inside, outside = Session(town.host, fix, "wt-in"), Session(town.host, app, "wt-out")
    inside.ran("make")
    outside.ran("make")
    (one,) = {line["p"] for line in town.host.ledger("wt-in")}
    assert {line["p"] for line in town.host.ledger("wt-out")} == {one}
    assert {line["w"] for line in town.host.ledger("wt-in")} == {str(fix)}


def test_a_directory_that_is_gone_still_names_its_project(town: Town) -> None:
    """A neighbour: the host reports a working directory that was removed under it."""
    app = town.place("app3").project
    teach(town.host, app)
    deep = app / "build" / "out"
    deep.mkdir(parents=True)
    session = Session(town.host, deep, "gone")
    assert session.pre("npm test").decision == "deny"
    shutil.rmtree(app / "build")
    assert session.pre("npm test").decision == "deny"


def test_moved_and_nested_worktrees_stay_of_the_repository(town: Town) -> None:
    """A neighbour: a worktree that was moved, and one that lies inside the repository."""
    app = town.place("app4").project
    teach(town.host, app)
    first, moved = town.host.directory / "app4-a", town.host.directory / "elsewhere" / "b"
    moved.parent.mkdir()
    town.host.git("worktree", "add", "-q", str(first), "-b", "a", cwd=app)
    town.host.git("worktree", "move", str(first), str(moved), cwd=app)
    nested = app / ".trees" / "c"
    town.host.git("worktree", "add", "-q", str(nested), "-b", "c", cwd=app)
    assert knows(town.host, moved, "moved") and knows(town.host, nested, "nested")


def test_a_bare_repository_and_its_worktrees_are_one(town: Town) -> None:
    """A neighbour: the layout of a bare clone with worktrees beside it."""
    source = town.place("source").project
    place = town.host.directory / "bare"
    place.mkdir()
    town.host.git("clone", "-q", "--bare", str(source), str(place / "app.git"), cwd=place)
    for name in ("one", "two"):
        town.host.git("worktree", "add", "-q", f"../{name}", "-b", name, cwd=place / "app.git")
    town.host.hmctl("project", "enable", cwd=place / "one")
    teach(town.host, place / "one")
    assert knows(town.host, place / "two", "bare-two")
    assert not knows(town.host, source, "bare-source")


def test_nothing_crosses_from_one_repository_to_another(town: Town) -> None:
    """Guards O-14: neither the session's text, the prompt, the call, the listing nor `why`."""
    a, b = town.place("a").project, town.place("b").project
    teach(town.host, a)
    assert knows(town.host, a, "a-1") and not knows(town.host, b, "b-1")


def test_neighbours_of_a_repository_know_nothing_of_it(town: Town) -> None:
    """Neighbours of O-14: a clone, a repository inside it, the same name elsewhere, a directory
    whose name begins with it."""
    c = town.place("c").project
    teach(town.host, c)
    clone = town.host.directory / "c-clone"
    town.host.git("clone", "-q", str(c), str(clone), cwd=c)
    inner = town.host.repository("c/vendor/lib")
    same = town.host.repository("other/c")
    longer = town.host.repository("cc")
    for number, place in enumerate((clone, inner, same, longer)):
        town.host.hmctl("project", "enable", cwd=place)
        assert not knows(town.host, place, f"n-{number}"), place
    assert knows(town.host, c, "c-1")


def test_user_wide_is_everywhere_and_only_that(town: Town) -> None:
    """A neighbour: what was said to be user-wide crosses, also into a repository made later."""
    d = town.place("d").project
    signature = "bash:command:cmd:telnet"
    town.host.rule(d, signature, "deny", "never telnet", "--user-wide")
    later = town.place("later")
    assert later.pre("telnet host").decision == "deny"
    assert later.pre("npm test").out == b""


def test_a_session_that_changes_directories_is_judged_where_it_stands(town: Town) -> None:
    """A neighbour: one session, calls from two repositories, one reached through a link."""
    e, f = town.place("e"), town.place("f").project
    teach(town.host, e.project)
    assert e.pre("npm test").decision == "deny"
    e.project = f
    assert e.pre("npm test").out == b""
    link = town.host.directory / "e-link"
    link.symlink_to(town.host.directory / "e")
    e.project = link
    assert e.pre("npm test").decision == "deny"


def test_a_submodule_has_its_own_and_obeys_its_parent(town: Town) -> None:
    """A neighbour: the parent's rules hold for paths of its submodule; the submodule's own do not
    hold in the parent."""
    library, parent = town.place("library").project, town.place("parent").project
    town.host.git("submodule", "add", "-q", str(library), "lib", cwd=parent)
    town.host.git("commit", "-qm", "lib", cwd=parent)
    inside = parent / "lib"
    town.host.hmctl("project", "enable", cwd=inside)
    town.host.rule(parent, "bash:command:cmd:git push", "deny", "not from the parent")
    town.host.rule(inside, "bash:command:cmd:make", "deny", "not in the library")
    assert Session(town.host, inside, "sub").pre("git push").decision == "deny"
    assert Session(town.host, inside, "sub2").pre("make").decision == "deny"
    assert Session(town.host, parent, "par").pre("make").out == b""
