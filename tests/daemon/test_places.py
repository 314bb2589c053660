"""Remembered projects are those that the resolver would find."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.daemon.places import Places
from hmd.kernel.address import Home
from hmd.kernel.project import Project, adopt, locate, resolve

FAR = 4_000_000_000_000_000_000  # a clock to which every change is long ago


def told(project: Project | None) -> object:
    if project is None:
        return None
    place = project.location
    return (project.id, project.enabled, project.root, place.common, place.git, project.parent,
            project.parent_root)  # fmt: skip


DIRECTORIES = ["", "a", "a/b", "a/b/c", "d"]
STEPS = st.one_of(
    st.tuples(st.just("git"), st.sampled_from(DIRECTORIES)),
    st.tuples(st.just("ungit"), st.sampled_from(DIRECTORIES)),
    st.tuples(st.just("worktree"), st.sampled_from(DIRECTORIES)),
    st.tuples(st.just("adopt"), st.sampled_from(DIRECTORIES)),
    st.tuples(st.just("enable"), st.sampled_from(DIRECTORIES)),
    st.tuples(st.just("everywhere"), st.sampled_from(["on", "off"])),
    st.tuples(st.just("relink"), st.sampled_from(["a", "d"])),
)


@settings(
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(st.lists(STEPS, max_size=8))
def test_fast_and_slow_agree_after_every_change(
    tmp_path: Path, steps: list[tuple[str, str]]
) -> None:
    """Guards the first promise: what the daemon remembers is what a stub would find on disk."""
    shutil.rmtree(tmp_path / "world", ignore_errors=True)
    world = tmp_path / "world"
    tree = world / "tree"
    for name in DIRECTORIES:
        (tree / name).mkdir(parents=True, exist_ok=True)
    (world / "main" / ".git" / "worktrees" / "w").mkdir(parents=True)
    (world / "main" / ".git" / "worktrees" / "w" / "commondir").write_text("../..")
    (world / "link").symlink_to(tree / "a")
    home = Home(str(world / "home"))
    Path(home.projects).mkdir(parents=True)
    places = Places(home, lambda: FAR)
    asked = [str(tree / name) for name in DIRECTORIES] + [str(world / "link")]
    never = (str(world), "")
    for number, (what, where) in enumerate([("", ""), *steps]):
        _change(home, world, what, where)
        _let_time_pass(world, number)
        for cwd in asked:
            wanted = told(resolve(home, cwd, never))
            assert told(places.project(cwd, never)) == wanted
            assert told(places.project(cwd, never)) == wanted


def _change(home: Home, world: Path, what: str, where: str) -> None:
    directory = world / "tree" / where
    git = directory / ".git"
    if what in ("git", "ungit", "worktree"):
        if git.is_dir():
            git.rmdir()
        else:
            git.unlink(missing_ok=True)
    if what == "git":
        git.mkdir()
    elif what == "worktree":
        git.write_text(f"gitdir: {world}/main/.git/worktrees/w")
    elif what in ("adopt", "enable"):
        location = locate(str(directory))
        assert location is not None
        project = adopt(home, location)
        if what == "enable":
            Path(home.project(project)).write_text('{"enabled": true}')
    elif what == "everywhere" and where == "on":
        Path(home.everywhere).touch()
    elif what == "everywhere":
        Path(home.everywhere).unlink(missing_ok=True)
    elif what == "relink":
        (world / "link").unlink()
        (world / "link").symlink_to(world / "tree" / where)


def _let_time_pass(world: Path, number: int) -> None:
    """Moves every time that this step set, as if the steps were seconds apart."""
    for directory, _, files in os.walk(world):
        for name in [".", *files]:
            path = os.path.join(directory, name)
            stamp = os.stat(path).st_mtime_ns
            if stamp > 1_500_000_000_000_000_000:
                os.utime(path, ns=(stamp, 1_000_000_000_000_000_000 + number * 1_000_000_000))


def test_what_has_just_changed_is_not_trusted(home: Home, tmp_path: Path) -> None:
    """Guards against changes within one tick of the file system's clock."""
    directory = tmp_path / "app"
    directory.mkdir()
    newest = directory.stat().st_mtime_ns
    Path(home.projects).mkdir()
    racy = Places(home, lambda: newest + 1)
    racy.project(str(directory), ())
    assert not racy._known
    settled = Places(home, lambda: FAR)
    settled.project(str(directory), ())
    assert settled._known


@pytest.mark.parametrize("cwd", ["", "relative", "/a\0b", "/\udcff", "/" + "x" * 5000, "C:\\x"])
def test_any_text_may_be_asked_for(home: Home, cwd: str) -> None:
    """Guards hooks against directories that hosts invent."""
    assert told(Places(home).project(cwd, (cwd, ""))) == told(resolve(home, cwd, (cwd, "")))


def test_the_table_is_bounded(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards memory: directories come from clients."""
    monkeypatch.setattr("hmd.daemon.places.PLACES", 5)
    places = Places(home, lambda: FAR)
    for number in range(20):
        places.project(f"/nowhere/{number}", ())
    assert len(places._known) == 5
