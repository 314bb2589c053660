"""One repository is one project, wherever in it one stands; nothing else ever is one."""

import os
import subprocess
from pathlib import Path

import pytest

from hmd.kernel.address import Home
from hmd.kernel.project import adopt, known_id, locate, resolve


def git(where: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    allow = ["-c", "protocol.file.allow=always"]
    subprocess.run(
        ["git", *identity, *allow, *words], cwd=where, check=True, capture_output=True, env=env
    )


@pytest.fixture
def app(tmp_path: Path) -> Path:
    path = tmp_path / "app"
    path.mkdir()
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def common(path: Path, *never: str) -> str:
    location = locate(str(path), never)
    assert location is not None
    return location.common


def test_worktrees_and_subdirectories_are_the_repository(app: Path) -> None:
    (app / "pkg/a").mkdir(parents=True)
    git(app, "worktree", "add", "-q", "../app-fix")
    expected = str((app / ".git").resolve())
    assert common(app) == common(app / "pkg/a") == common(app.parent / "app-fix") == expected
    location = locate(str(app.parent / "app-fix"))
    assert location is not None and location.root == str(app.parent / "app-fix")


def test_a_link_to_the_repository_is_the_repository(app: Path) -> None:
    link = app.parent / "link"
    link.symlink_to(app)
    assert common(link) == common(app)


def test_a_submodule_is_its_own_project_and_a_path_of_its_parent(app: Path) -> None:
    library = app.parent / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "first")
    git(app, "submodule", "add", "-q", str(library), "vendor/library")
    location = locate(str(app / "vendor/library"))
    assert location is not None and location.parent is not None
    assert location.common == str(app / ".git/modules/vendor/library")
    assert location.parent.common == common(app)


def test_a_bare_repository_with_a_worktree_is_one_project(app: Path) -> None:
    bare = app.parent / "bare.git"
    git(app.parent, "clone", "-q", "--bare", str(app), str(bare))
    git(bare, "worktree", "add", "-q", "../of-bare")
    assert common(bare) == common(app.parent / "of-bare") == str(bare)


def test_a_directory_outside_a_repository_is_itself(tmp_path: Path) -> None:
    assert common(tmp_path) == str(tmp_path)


@pytest.mark.parametrize("place", ["/", "/tmp"])
def test_root_and_temp_are_no_project(place: str) -> None:
    assert locate(place) is None


def test_the_users_home_is_no_project_even_as_a_repository(app: Path) -> None:
    assert locate(str(app), (str(app),)) is None
    (app / "notes").mkdir()
    assert common(app / "notes", str(app)) == str(app / "notes")


def test_a_relative_or_empty_directory_is_no_project() -> None:
    assert locate("") is None
    assert locate("app") is None


def test_a_removed_worktree_still_has_a_location(app: Path) -> None:
    gone = app / "gone/deep"
    assert common(gone) == common(app)


def test_the_first_to_record_an_id_wins(app: Path, tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    location = locate(str(app))
    assert location is not None
    first = adopt(home, location)
    assert len(first) == 32
    assert adopt(home, location) == first == known_id(home, location.common)


def test_a_subdirectory_of_a_plain_project_belongs_to_it(tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    plain = tmp_path / "plain"
    (plain / "deep/er").mkdir(parents=True)
    location = locate(str(plain))
    assert location is not None
    recorded = adopt(home, location)
    found = resolve(home, str(plain / "deep/er"))
    assert found is not None
    assert (found.id, found.root) == (recorded, str(plain))


def test_a_project_is_silent_until_it_is_enabled(app: Path, tmp_path: Path) -> None:
    home = Home(str(tmp_path / "home"))
    found = resolve(home, str(app))
    assert found is not None and not found.enabled
    os.makedirs(home.projects)
    Path(home.everywhere).touch()
    found = resolve(home, str(app))
    assert found is not None and found.enabled


@pytest.mark.parametrize("content", ["", "gitdir: /no/where", "gitdir:", "\x00\xff", "x" * 9000])
def test_a_damaged_pointer_file_never_raises(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content, encoding="utf-8", errors="surrogateescape")
    assert locate(str(tmp_path)) is not None
