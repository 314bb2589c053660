"""Directories, lock and record."""

import os
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.daemon.lifecycle import (
    Lock,
    OwnerRecord,
    Ownership,
    ensure_private,
    prepare,
    read_owner,
)
from hmd.daemon.process import start_time
from hmd.kernel.address import Home


def test_directories_are_made_private_whatever_the_umask(tmp_path: Path) -> None:
    """Guards creation: private from the first moment, parents that were missing too."""
    before = os.umask(0)
    try:
        ensure_private(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o750, 0o701, 0o777])
def test_a_loose_directory_is_refused_not_changed(tmp_path: Path, mode: int) -> None:
    """Guards against repairing silently what somebody may have looked into already."""
    path = tmp_path / "home"
    path.mkdir()
    path.chmod(mode)
    with pytest.raises(HmdError) as caught:
        ensure_private(str(path))
    assert caught.value.code == "refused" and "chmod 700" in caught.value.do
    assert path.stat().st_mode & 0o777 == mode


def test_what_is_no_directory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("")
    with pytest.raises(HmdError):
        ensure_private(str(tmp_path / "home"))


def test_a_long_home_has_its_socket_in_a_private_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards short socket paths: they lie where every user may write, so a link is refused."""
    short = tmp_path / "short"
    monkeypatch.setattr(Home, "short_run", property(lambda self: str(short)))
    home = Home(str(tmp_path / ("long" * 30)))
    prepare(home)
    assert os.path.dirname(home.socket) == str(short)
    assert short.stat().st_mode & 0o777 == 0o700
    short.rename(tmp_path / "elsewhere")
    short.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HmdError, match="symbolic link"):
        prepare(home)


def test_the_lock_is_one_holders(tmp_path: Path) -> None:
    """Guards ownership: a second holder waits for nothing, and a release lets it in."""
    first, second = Lock(str(tmp_path / "lock")), Lock(str(tmp_path / "lock"))
    assert first.take() and first.held()
    assert not second.take() and not second.held()
    first.release()
    assert second.take()
    second.release()


def test_a_lock_file_that_was_removed_guards_nothing(tmp_path: Path) -> None:
    """Guards against two owners of one home: who locked a file that is gone is told so."""
    path = tmp_path / "lock"
    first, second = Lock(str(path)), Lock(str(path))
    assert first.take()
    path.unlink()
    assert not first.held()
    assert second.take() and not first.held()
    first.release()
    second.release()


def test_the_record_is_removed_by_its_writer_only(home: Home) -> None:
    """Guards the successor's record against the predecessor's last act."""
    prepare(home)
    lock = Lock(home.lock)
    assert lock.take()
    mine = Ownership(home, lock, OwnerRecord.of_this_process(home, "1.0-abc", "systemd"))
    mine.announce()
    found = read_owner(home)
    assert found is not None
    assert (found.pid, found.build, found.manager) == (os.getpid(), "1.0-abc", "systemd")
    assert found.start == start_time(os.getpid()) != ""
    other = Ownership(home, Lock(home.lock), OwnerRecord(1, "boot", "", 0, "", ""))
    other.announce()
    mine.release()
    assert read_owner(home) is not None
    other.release()
    assert read_owner(home) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pid": "x", "start": ""}', '{"pid": 1}'])
def test_a_damaged_record_is_no_record(home: Home, content: str) -> None:
    """Guards candidates: they must not end a process because of half a file."""
    prepare(home)
    Path(home.daemon).write_text(content)
    assert read_owner(home) is None


def test_a_process_that_is_not_there_has_no_start_time() -> None:
    """Guards "is it the owner": the dead and the never-born have none."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert start_time(child) == ""  # a zombie
    os.waitpid(child, 0)
    assert start_time(child) == ""
