"""The daemon's own log."""

import json
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.daemon.log import Log, describe, rotate


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:
        return raised


def test_a_traceback_never_quotes_what_it_choked_on() -> None:
    """Guards payloads: the exceptions of decoders and look-ups carry what they were given."""
    word = "".join(["pass", "word", "123"])
    for make in (
        lambda: json.loads('{"a": ' + word + "}"),
        lambda: dict[str, str]()[word],
        lambda: int(word),
        lambda: bytes([255]).decode() + word,
    ):
        with pytest.raises(Exception) as raised:
            make()
        text = describe(raised.value)
        assert word not in text
        assert "test_log.py" in text and type(raised.value).__name__ in text


def test_our_words_and_the_systems_are_kept() -> None:
    """Guards usefulness: what cannot quote a user is written out, also inside a group."""
    assert "No such file" in describe(caught(FileNotFoundError(2, "No such file", "/x")))
    group = caught(BaseExceptionGroup("several", [HmdError("busy", "the disk is full")]))
    assert "the disk is full" in describe(group)


def test_lines_are_whole_dated_and_private(tmp_path: Path) -> None:
    """Guards the format, and that another user cannot read it."""
    path = tmp_path / "daemon.log"
    assert Log(str(path), clock=lambda: 1_750_000_000.25).line("née 🛑 \udcff")
    line = path.read_text(encoding="utf-8")
    assert line.startswith("2025-06-15T") and ".250" in line
    assert line.endswith("née 🛑 ?\n")
    assert path.stat().st_mode & 0o777 == 0o600


def test_rotation_keeps_so_many_files(tmp_path: Path) -> None:
    """Guards the disk: three files, the newest first, nothing lost in between."""
    path = tmp_path / "log"
    for number in range(6):
        path.write_text(f"{number}" * 10)
        rotate(str(path), 10, 3)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["log.1", "log.2"]
    assert (tmp_path / "log.1").read_text() == "5" * 10
    path.write_text("short")
    rotate(str(path), 10, 3)
    assert path.read_text() == "short"


def test_repetition_is_said_once_a_minute_with_a_count(tmp_path: Path) -> None:
    """Guards the log against clients that repeat themselves."""
    now = [0.0]
    path = tmp_path / "log"
    log = Log(str(path), clock=lambda: now[0])
    for at in (0, 1, 59, 61):
        now[0] = at
        log.once_a_minute("peer", "refused")
    lines = path.read_text().splitlines()
    assert len(lines) == 2 and lines[1].endswith("refused (and 2 more since)")


def test_a_clock_that_is_set_back_silences_nothing(tmp_path: Path) -> None:
    """Guards against a day without a word: "once a minute" is about minutes in either direction."""
    now = [86_400.0]
    log = Log(str(tmp_path / "log"), clock=lambda: now[0])
    log.once_a_minute("peer", "refused")
    now[0] = 0.0
    log.once_a_minute("peer", "refused")
    assert len((tmp_path / "log").read_text().splitlines()) == 2


def test_a_log_that_cannot_be_written_is_no_ones_trouble(tmp_path: Path) -> None:
    """Guards a full disk or a lost directory: False, and what is said once is tried again."""
    log = Log(str(tmp_path / "absent" / "log"))
    assert not log.line("x")
    log.once_a_minute("about", "x")
    (tmp_path / "absent").mkdir()
    log.once_a_minute("about", "x")
    assert (tmp_path / "absent" / "log").exists()
