"""The journal: what was acknowledged is read back, what was not is not, damage has a name."""

import errno
import os
from pathlib import Path

import pytest

from hmd.core.changes import Entry
from hmd.core.errors import HmdError
from hmd.store.journal import Damage, Journal
from tests.store.helpers import add


def opened(directory: Path, rotate_bytes: int = 1 << 20) -> Journal:
    journal = Journal(directory, rotate_bytes)
    journal.open()
    return journal


def written(directory: Path, count: int, rotate_bytes: int = 1 << 20) -> list[Entry]:
    journal = opened(directory, rotate_bytes)
    entries = [
        Entry(seq=journal.last_seq + 1 + number, change=add(number)) for number in range(count)
    ]
    for entry in entries:
        journal.append(entry)
    journal.close()
    return entries


def test_lines_come_back_in_order_across_files(tmp_path: Path) -> None:
    """Guards rotation and reopening: nothing lost, nothing twice, any starting point."""
    entries = written(tmp_path, 10, rotate_bytes=2000) + written(tmp_path, 5, rotate_bytes=2000)
    assert len(opened(tmp_path).files()) > 3
    assert [each.seq for each in entries] == list(range(1, 16))
    for after in range(16):
        assert list(opened(tmp_path).entries(after)) == entries[after:]
    assert opened(tmp_path).last_seq == 15


def test_files_and_directory_are_private(tmp_path: Path) -> None:
    """Guards the user's words against other users of the machine."""
    written(tmp_path / "journal", 1)
    assert (tmp_path / "journal").stat().st_mode & 0o077 == 0
    assert opened(tmp_path / "journal").files()[0].stat().st_mode & 0o077 == 0


def test_unfinished_last_line_is_ignored_and_cut(tmp_path: Path) -> None:
    """Guards kill -9 in the middle of a line, at every byte of it."""
    entries = written(tmp_path, 3)
    path = opened(tmp_path).files()[0]
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, len(whole) - 1) + 1
    for end in range(start, len(whole), 37):
        path.write_bytes(whole[:end])
        assert list(Journal(tmp_path).entries(0)) == entries[:2]
        journal = opened(tmp_path)
        assert journal.last_seq == 2
        journal.append(entries[2])
        journal.close()
        assert path.read_bytes() == whole


def test_damaged_line_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    """Guards that damage in the middle is neither silent nor the end of what follows."""
    entries = written(tmp_path, 3)
    path = opened(tmp_path).files()[0]
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1][:50] + b"\x00\xff" + lines[1][52:]
    path.write_bytes(b"\n".join(lines))
    first, damage, last = Journal(tmp_path).entries(0)
    assert (first, last) == (entries[0], entries[2])
    assert isinstance(damage, Damage)
    assert damage.where == f"{path}:2"
    assert not damage.newer


def test_change_of_a_later_version_is_told_from_damage(tmp_path: Path) -> None:
    """Guards a downgrade: an unknown change is not "damaged" and must not be skipped over."""
    written(tmp_path, 1)
    path = opened(tmp_path).files()[0]
    with path.open("ab") as file:
        file.write(b'{"seq":2,"change":{"kind":"paint","actor":"terminal","at":1}}\n')
    _, damage = Journal(tmp_path).entries(0)
    assert isinstance(damage, Damage)
    assert damage.newer
    assert opened(tmp_path).last_seq == 2


@pytest.mark.parametrize("failing", ["write", "fsync", "short"])
def test_full_disk_leaves_no_part_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """Guards ENOSPC at each point: a clear error, the file as before, the next append works."""
    entries = written(tmp_path, 2)
    journal = opened(tmp_path)
    path = journal.files()[0]
    before = path.read_bytes()
    full = OSError(errno.ENOSPC, "No space left on device")
    plain_write = os.write

    def write(descriptor: int, data: bytes) -> int:
        if failing == "short" and len(data) > 10:
            return plain_write(descriptor, data[:10])
        raise full

    def fsync(descriptor: int) -> None:
        monkeypatch.undo()
        raise full

    if failing == "fsync":
        monkeypatch.setattr(os, "fsync", fsync)
    else:
        if failing == "short":
            calls = iter([True, False])
            monkeypatch.setattr(
                os, "write", lambda fd, data: write(fd, data) if next(calls) else write(fd, b"")
            )
        else:
            monkeypatch.setattr(os, "write", write)
    with pytest.raises(HmdError, match="disk is full") as caught:
        journal.append(Entry(seq=3, change=add(3)))
    monkeypatch.undo()
    assert caught.value.code == "busy"
    assert path.read_bytes() == before
    assert journal.last_seq == 2
    journal.append(Entry(seq=3, change=add(3)))
    assert [each.seq for each in Journal(tmp_path).entries(0) if isinstance(each, Entry)] == [
        1,
        2,
        3,
    ]
    assert list(Journal(tmp_path).entries(0))[:2] == entries


def test_undo_takes_back_the_last_line(tmp_path: Path) -> None:
    """Guards a transaction that could not be committed after its line was written."""
    entries = written(tmp_path, 1)
    journal = opened(tmp_path)
    journal.append(Entry(seq=2, change=add(2)))
    journal.undo()
    assert (list(Journal(tmp_path).entries(0)), journal.last_seq) == (entries, 1)
    journal.undo()  # nothing left to take back
    assert list(Journal(tmp_path).entries(0)) == entries


def test_line_that_could_not_be_cut_is_cut_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards that a line nobody was told of is not made certain by one written after it."""
    entries = written(tmp_path, 1)
    journal = opened(tmp_path)

    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    lost = Entry(seq=2, change=add(2))
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fails)
        patched.setattr(os, "ftruncate", fails)
        for _ in range(2):
            with pytest.raises(HmdError, match="Input/output") as caught:
                journal.append(lost)
            assert caught.value.code == "damaged"
    assert list(Journal(tmp_path).entries(0)) == [*entries, lost]
    kept = Entry(seq=2, change=add(3))
    journal.append(kept)
    assert list(Journal(tmp_path).entries(0)) == [*entries, kept]


def test_empty_and_foreign_files(tmp_path: Path) -> None:
    """Guards a directory that does not exist yet and files that are not ours."""
    assert list(Journal(tmp_path / "none").entries(0)) == []
    (tmp_path / "notes.jsonl").write_text("{}\n")
    (tmp_path / "000000000007.jsonl").write_text("")
    journal = opened(tmp_path)
    assert journal.last_seq == 0
    journal.append(Entry(seq=7, change=add(1)))
    assert [path.name for path in journal.files()] == ["000000000007.jsonl"]
