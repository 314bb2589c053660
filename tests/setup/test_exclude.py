"""Guards the line in `.git/info/exclude`: added once, taken out exactly."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.project import Location, locate
from hmd.setup.exclude import add, added, removed, withdraw

LINE = "/.claude/settings.local.json"
TEXTS = st.lists(st.sampled_from(["", "*.log", "# a", LINE + "x"])).map("\n".join)


@settings(derandomize=True, max_examples=80)
@given(TEXTS, st.sampled_from(["", "\n", "\r\n"]))
def test_adding_then_removing_gives_the_same_bytes(text: str, end: str) -> None:
    """Guards every foreign byte, with and without a last line end."""
    assert removed(added(text + end, LINE), LINE) == text + end


def test_lines_added_below_ours_stay() -> None:
    """Guards what a person wrote after the install."""
    assert removed(added("a\n", LINE) + "b\n", LINE) == "a\nb\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    return tmp_path / "app"


def location(path: Path) -> Location:
    found = locate(str(path))
    assert found is not None
    return found


def test_a_missing_file_is_made_and_goes_again(repo: Path) -> None:
    """Guards repositories without `info/exclude`."""
    done = add(location(repo), str(repo / ".claude" / "settings.local.json"))
    file = repo / ".git" / "info" / "exclude"
    assert file.read_text() == LINE + "\n" and done.made_file
    assert withdraw(done.file, done.line, done.made_file)
    assert not file.exists()
    assert not withdraw(done.file, done.line, done.made_file)


def test_a_line_that_is_there_is_not_ours(repo: Path) -> None:
    """Guards a person's own line: not doubled, and so not taken out later."""
    (repo / ".git" / "info").mkdir()
    (repo / ".git" / "info" / "exclude").write_text(LINE + "\n")
    done = add(location(repo), str(repo / ".claude" / "settings.local.json"))
    assert (done.line, done.problem) == ("", "")


def test_a_submodule_has_its_own_file(repo: Path) -> None:
    """Guards submodules: their git directory lies in the superproject's `modules`."""
    modules = repo / ".git" / "modules" / "lib"
    modules.mkdir(parents=True)
    (repo / "lib").mkdir()
    (repo / "lib" / ".git").write_text("gitdir: ../.git/modules/lib\n")
    done = add(location(repo / "lib"), str(repo / "lib" / ".claude" / "settings.local.json"))
    assert done.file == str(modules / "info" / "exclude")


def test_it_says_so_when_it_cannot(repo: Path) -> None:
    """Guards a read-only file: nothing changes, and the line to add is named."""
    (repo / ".git" / "info").mkdir()
    file = repo / ".git" / "info" / "exclude"
    file.write_text("a\n")
    file.chmod(0o444)
    done = add(location(repo), str(repo / ".claude" / "settings.local.json"))
    assert LINE in done.problem and file.read_text() == "a\n"
