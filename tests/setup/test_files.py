"""Guards how files of others are written: through links, in one step, or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hmd.setup.files import make_directories, read_text, refusal, remove_empty, write_through


def test_bytes_that_are_no_utf8_pass_through(tmp_path: Path) -> None:
    """Guards files in another encoding."""
    path = tmp_path / "a"
    path.write_bytes(b"\xff\r\n\xe9")
    text = read_text(str(path))
    assert text is not None
    write_through(str(path), text)
    assert path.read_bytes() == b"\xff\r\n\xe9"


def test_a_link_to_nothing_gets_its_target(tmp_path: Path) -> None:
    """Guards dotfiles whose target is not there yet."""
    (tmp_path / "link").symlink_to(tmp_path / "target")
    assert read_text(str(tmp_path / "link")) is None
    write_through(str(tmp_path / "link"), "x")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "x"


def test_names_of_one_file_stay_one_file(tmp_path: Path) -> None:
    """Guards dotfiles that are kept by hard links."""
    (tmp_path / "dotfile").write_text("old and long")
    os.link(tmp_path / "dotfile", tmp_path / "settings")
    write_through(str(tmp_path / "settings"), "new")
    assert (tmp_path / "dotfile").read_text() == "new"
    assert (tmp_path / "dotfile").samefile(tmp_path / "settings")


def test_the_owner_stays_the_owner(tmp_path: Path) -> None:
    """Guards an install by root for somebody else."""
    if os.getuid():
        pytest.skip("only root can give files away")
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 12345, 12345)
    write_through(str(path), "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12345)


def test_a_failed_write_leaves_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against half-written settings, and against temporary files left behind."""
    path = tmp_path / "a"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_through(str(path), "new")
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a"]


def test_what_nix_manages_is_refused(tmp_path: Path) -> None:
    """Guards settings that resolve into a store that must not be written."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "settings.json").write_text("{}")
    (tmp_path / "settings.json").symlink_to(store / "settings.json")
    found = refusal(str(tmp_path / "settings.json"), nix_store=str(store) + "/")
    assert found is not None and found.reason == "is managed by Nix"
    assert found.path == str(store / "settings.json")
    assert refusal(str(tmp_path / "settings.json")) is None


@pytest.mark.parametrize("mode", [0o444, 0o400, 0o000])
def test_read_only_files_are_refused_for_root_too(tmp_path: Path, mode: int) -> None:
    """Guards the owner's wish: root could write the file, and still must not."""
    path = tmp_path / "a"
    path.write_text("")
    path.chmod(mode)
    assert refusal(str(path)) is not None


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    """Guards odd targets."""
    assert refusal(str(tmp_path)) is not None


def test_only_empty_directories_of_ours_go(tmp_path: Path) -> None:
    """Guards directories that somebody filled since."""
    made = make_directories(str(tmp_path / "a" / "b" / "c"))
    assert made == [str(tmp_path / name) for name in ("a", "a/b", "a/b/c")]
    (tmp_path / "a" / "mine").write_text("")
    assert remove_empty(made) == [str(tmp_path / "a/b/c"), str(tmp_path / "a/b")]
