"""Use cases of projects: what hooks read afterwards is what was decided."""

import os
import subprocess
from pathlib import Path

import pytest

from hmd.app import memories, projects
from hmd.core.errors import HmdError
from hmd.core.memory_calls import MemoryDraft
from hmd.core.projects import ProjectMerge, ProjectMove, ProjectRef
from hmd.kernel.project import resolve
from tests.app.conftest import Place


def seen(place: Place, path: str) -> tuple[str, bool]:
    """What a hook in `path` knows: project id and whether it is enabled."""
    found = resolve(place.home, path)
    assert found is not None
    return found.id, found.enabled


async def test_enable_and_disable_reach_the_hooks(place: Place) -> None:
    """Guards the way from `hmctl project enable` to the resolver that every hook runs."""
    path = place.repository("app")
    inner = Path(path) / "src"
    inner.mkdir()
    assert seen(place, path) == ("", False)
    async with place.opened() as app:
        outcome = await projects.enable(app, place.caller(str(inner)), ProjectRef())
        assert outcome.project is not None
        row = outcome.project
        assert (row.name, row.enabled, row.locations) == ("app", True, [path + "/.git"])
        assert seen(place, str(inner)) == (row.id, True)
        await projects.disable(app, place.caller("/"), ProjectRef(path=path))
        assert seen(place, path) == (row.id, False)
        await projects.enable(app, place.caller("/"), ProjectRef(id=row.id[:6]))
        assert seen(place, path) == (row.id, True)
        assert [each.id for each in (await projects.list_(app, place.caller("/"))).rows] == [row.id]
    assert place.snapshot(row.id) is not None


async def test_places_that_are_no_project(place: Place) -> None:
    """Guards the home directory and the root against becoming one big project."""
    async with place.opened() as app:
        for cwd in ("/", "/tmp"):
            with pytest.raises(HmdError, match="cannot be a project"):
                await projects.enable(app, place.caller(cwd), ProjectRef())
        with pytest.raises(HmdError, match="no project at"):
            await projects.disable(app, place.caller(place.repository("x")), ProjectRef())


async def test_move(place: Place) -> None:
    """Guards a moved repository: its memory follows, the old place is nothing any more."""
    old, new = place.repository("old"), place.repository("new")
    async with place.opened() as app:
        first = (await projects.enable(app, place.caller(old), ProjectRef())).project
        assert first is not None
        await projects.move(app, place.caller("/"), ProjectMove(id=first.id, path=new))
        assert seen(place, new) == (first.id, True)
        assert seen(place, old) == ("", False)
        other = (await projects.enable(app, place.caller(old), ProjectRef())).project
        assert other is not None
        assert other.id != first.id
        with pytest.raises(HmdError, match="another project's"):
            await projects.move(app, place.caller("/"), ProjectMove(id=first.id, path=old))
        assert seen(place, old) == (other.id, True)


async def test_merge(place: Place) -> None:
    """Guards a merge: both places are one project with both memories, on disk too."""
    one, two = place.repository("one"), place.repository("two")
    async with place.opened() as app:
        rows = []
        for path in (one, two):
            await projects.enable(app, place.caller(path), ProjectRef())
            caller = place.caller(path)
            outcome = await memories.add(
                app, caller, MemoryDraft(summary=f"of {path}", active=True)
            )
            assert outcome.memory is not None
            rows.append(outcome.memory)
        source, into = str(rows[0].project), str(rows[1].project)
        await projects.merge(app, place.caller("/"), ProjectMerge(source="one", into=into[:8]))
        assert seen(place, one) == seen(place, two) == (into, True)
        snapshot = place.snapshot(into)
        assert snapshot is not None
        assert {each["id"] for each in snapshot.all_records()} == {row.id for row in rows}
        assert place.snapshot(source) is None
        assert not os.path.exists(place.home.project(source))


async def test_forget_and_begin_again(place: Place) -> None:
    """Guards `project forget`: nothing of it decides any more, and a new start is a new project."""
    path = place.repository("app")
    async with place.opened() as app:
        first = (await projects.enable(app, place.caller(path), ProjectRef())).project
        assert first is not None
        await memories.add(app, place.caller(path), MemoryDraft(summary="s", active=True))
        await projects.forget(app, place.caller(path), ProjectRef())
        assert seen(place, path) == ("", False)
        assert place.snapshot(first.id) is None
        second = (await projects.enable(app, place.caller(path), ProjectRef())).project
        assert second is not None
        assert second.id != first.id
        assert second.memories == 0


async def test_project_that_only_hooks_have_met(place: Place) -> None:
    """Guards `--everywhere`: a memory added in a place nobody enabled finds its project."""
    path = place.repository("app")
    os.makedirs(place.home.projects)
    Path(place.home.everywhere).touch()
    async with place.opened() as app:
        outcome = await memories.add(app, place.caller(path, "agent_cli"), MemoryDraft(summary="s"))
        assert outcome.proposal is not None
        [row] = await app.store.list_projects()
        assert outcome.proposal.project == row.id
        assert seen(place, path) == (row.id, True)


async def test_files_are_written_again_at_start(place: Place) -> None:
    """Guards a crash between the store and the files that hooks read."""
    path = place.repository("app")
    async with place.opened() as app:
        await projects.enable(app, place.caller(path), ProjectRef())
    before = seen(place, path)
    for file in Path(place.home.projects).rglob("*"):
        if file.is_file():
            file.unlink()
    async with place.opened() as app:
        await projects.publish_all(app)
    assert seen(place, path) == before


async def test_clone_is_offered_its_memory_back(place: Place) -> None:
    """Guards the hints: a clone of a repository with memories is recognised by its root commit."""
    one = str(place.base / "one")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    quiet = {"check": True, "capture_output": True}
    subprocess.run([*git, "init", one], **quiet)  # type: ignore[call-overload]
    commit = [*git, "-C", one, "commit", "--allow-empty", "-m", "x"]
    subprocess.run(commit, **quiet)  # type: ignore[call-overload]
    two = str(place.base / "two")
    subprocess.run([*git, "clone", one, two], **quiet)  # type: ignore[call-overload]
    async with place.opened() as app:
        first = (await projects.enable(app, place.caller(one), ProjectRef())).project
        assert first is not None
        assert len(first.root_commit) == 40
        await memories.add(app, place.caller(one), MemoryDraft(summary="s"))
        outcome = await projects.enable(app, place.caller(two), ProjectRef())
        assert outcome.project is not None
        assert outcome.project.remote == one
        assert f"hmctl project merge {first.id[:8]}" in outcome.notes[0]
