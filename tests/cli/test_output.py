"""Where answers go: terminals, pipes that nobody reads, full disks, closed streams."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from hmd.cli import show

HOSTILE = (
    "red \x1b[31m title \x1b]0;x\x07 c1 \x9b2J rtl \u202e isolate \u2066 nul \0 back\rover "
    "family 👩\u200d👧"
)


def hmctl(command: str, tmp_path: Path) -> "subprocess.CompletedProcess[str]":
    """`hmctl` in a shell command; what it is asked fills a pipe."""
    command = command.replace("hmctl", f"{sys.executable} -m hmd.cli.main")
    return subprocess.run(
        ["bash", "-c", "set -o pipefail; " + command],
        capture_output=True, text=True, timeout=60, check=False, cwd=Path(__file__).parents[2],
        env={**os.environ, "HMD_HOME": str(tmp_path), "HOME": str(tmp_path)},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("hmctl --version | true", 0, ""),
        ("hmctl --version > /dev/full", 75, "the answer cannot be written: No space left"),
        ("hmctl --help | true", 0, ""),
        ("hmctl --version >&-", 0, ""),
        ("hmctl --version <&- >&- 2>&-", 0, ""),
        # It starts a daemon, which must not outlive the test.
        ("hmctl fact why zz 2>&-; c=$?; hmctl daemon stop > /dev/null 2>&1; exit $c", 2, ""),
    ],
)
def test_output_that_nobody_takes(tmp_path: Path, command: str, code: int, says: str) -> None:
    """Guards scripts: no traceback, the code that tells what happened, nothing twice at exit."""
    done = hmctl(command, tmp_path)
    assert done.returncode == code, done
    assert says in done.stderr and done.stderr.count("\n") == bool(says)


def test_json_moves_no_cursor_and_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """Guards terminals against what a remembered text holds, and readers against another text."""
    show.json_answer({HOSTILE: [HOSTILE, "é 물 🛑\n"]})
    printed = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in printed)
    assert json.loads(printed) == {HOSTILE: [HOSTILE, "é 물 🛑\n"]}
    assert "é 물 🛑" in printed


def test_what_is_printed_as_it_is_is_still_fit_for_a_terminal() -> None:
    """Guards `export sql` and `hot`: exact in a file, harmless on a screen."""
    said = {}
    for where in ("terminal", "pipe"):
        reading, writing = pty.openpty() if where == "terminal" else os.pipe()
        script = f"from hmd.cli import show; show.write({HOSTILE!r})"
        subprocess.run([sys.executable, "-X", "utf8", "-c", script], stdout=writing, check=True)
        os.close(writing)
        said[where] = os.read(reading, 65536)
        os.close(reading)
    assert said["pipe"].decode() == HOSTILE
    assert all(char.isprintable() for char in said["terminal"].decode())


@pytest.mark.parametrize(
    ("ms", "text"),
    [(-62135596800000, "0001-01-01 00:00:00"), (253402300799999, "9999-12-31 23:59:59")],
)
def test_instants_at_the_edge_keep_their_form(ms: int, text: str) -> None:
    """Guards columns and sorting by text."""
    assert show.moment(ms) == text
