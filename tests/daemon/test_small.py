"""Options, readiness, builds, environment, settings: the small parts around the process."""

import os
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.daemon.build import order, supersedes
from hmd.daemon.options import parse
from hmd.daemon.ready import FAILED, READY, Readiness, understand
from hmd.daemon.settings import LiveConfig
from hmd.daemon.start import allowed_environment, command, start_and_wait


def test_the_home_is_named_or_found_and_always_absolute() -> None:
    """Guards the one home of a user: an option wins over the variable, which wins over the
    platform's place."""
    assert parse(["--home", "/a/../b"], {"HMD_HOME": "/c"}).home == "/b"
    assert parse([], {"HMD_HOME": "/c", "HOME": "/h"}).home == "/c"
    assert parse([], {"HOME": "/h", "XDG_DATA_HOME": "/x"}).home.endswith("/hmd")
    with pytest.raises(HmdError):
        parse([], {})


def test_passed_sockets_are_taken_only_when_they_are_ours() -> None:
    """Guards sd_listen_fds(3): LISTEN_PID of a parent must not make us adopt descriptor 3."""
    environ = {"HOME": "/h", "LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())}
    taken = parse([], environ)
    assert (taken.listen_fd, taken.manager) == (3, "systemd")
    inherited = parse([], {**environ, "LISTEN_PID": "1"})
    assert (inherited.listen_fd, inherited.manager) == (-1, "")


def read_back(speak: object) -> bytes:
    reading, writing = os.pipe()
    ready = Readiness(writing)
    assert ready.awaited and callable(speak)
    speak(ready)
    ready.ready()  # it has spoken: this is not heard
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()


def test_readiness_is_said_once_and_understood() -> None:
    """Guards the pipe: success, a refusal with its fix, and a death without a word."""
    assert understand(read_back(lambda ready: ready.ready())) is None
    refusal = HmdError("refused", "who may enter", "/home/é", "run: chmod")
    told = understand(read_back(lambda ready: ready.failed(refusal)))
    assert told is not None and str(told) == str(refusal) and told.code == "refused"
    for words in (b"", READY[:3], FAILED + b"{", FAILED + b"{}"):
        dead = understand(words)
        assert dead is not None and dead.code == "internal"
    Readiness(-1).ready()


@pytest.mark.parametrize(
    ("theirs", "ours", "installed", "leaves"),
    [
        ("0.2.0-aaa", "0.1.0-bbb", "", True),
        ("0.10.0", "0.9.0-bbb", "", True),
        ("0.1.0-aaa", "0.2.0-bbb", "0.1.0-aaa", False),
        ("0.1.0-aaa", "0.1.0-aaa", "0.1.0-aaa", False),
        ("0.1.0-aaa", "0.1.0-bbb", "0.1.0-bbb", False),
        ("0.1.0-aaa", "0.1.0-bbb", "0.1.0-aaa", True),
        ("0.1.0", "0.1.0-bbb", "0.1.0", False),
        ("", "0.1.0-bbb", "", False),
        ("nonsense", "0.1.0-bbb", "nonsense", False),
    ],
)
def test_who_supersedes_whom(theirs: str, ours: str, installed: str, leaves: bool) -> None:
    """Guards hand-over: a higher version, or the installed one of equal versions; never both
    ways, so that two builds cannot chase each other out."""
    assert supersedes(theirs, ours, installed) is leaves
    if leaves:
        assert not supersedes(ours, theirs, installed)


def test_versions_are_numbers() -> None:
    assert order("1.10.2-abc") == (1, 10, 2) and order("1.2rc1-x") == (1,) and order("") == ()


def test_secrets_do_not_reach_the_daemon() -> None:
    """Guards the allow-list: names and prefixes, nothing that merely looks alike."""
    environ = {"HOME": "/h", "LC_ALL": "C", "HMD_X": "1", "PATH": "/bin", "XDG_DATA_HOME": "/x"}
    others = {"ANTHROPIC_API_KEY": "k", "HOMEBREW": "1", "PYTHONPATH": "/evil", "LD_PRELOAD": "x"}
    assert allowed_environment({**environ, **others}) == environ


def test_the_command_is_isolated() -> None:
    """Guards starts from anywhere: no current directory, no PYTHON* variable decides what runs."""
    argv = command("/h o m e")
    assert os.path.isabs(argv[0]) and "-I" in argv and argv[-2:] == ["--home", "/h o m e"]


def test_a_daemon_that_cannot_start_says_so() -> None:
    """Guards hmctl against waiting for what has died: the pipe ends, and that is an answer."""
    with pytest.raises(HmdError) as caught:
        start_and_wait(["/bin/false"], {})
    assert caught.value.code == "internal"
    with pytest.raises(HmdError):
        start_and_wait(["/nonexistent/python"], {})


def test_a_daemon_that_hangs_is_not_waited_for_long() -> None:
    """Guards the wait: it ends, as `busy`."""
    shell = ["/bin/sh", "-c", "exec sleep 2", "--"]
    with pytest.raises(HmdError) as caught:
        start_and_wait(shell, os.environ, timeout=0.05)
    assert caught.value.code == "busy"


def test_settings_are_read_again_when_the_file_is_another(tmp_path: Path) -> None:
    """Guards hand edits: a new file counts, a bad one falls back and is named, none is fine."""
    path = tmp_path / "config.toml"
    live = LiveConfig(str(path))
    assert not live.refresh() and not live.problems
    path.write_text("[daemon]\nidle_exit_minutes = 7\n")
    assert live.refresh() and live.current.user.daemon.idle_exit_minutes == 7
    assert not live.refresh()
    path.write_text("[daemon]\nidle_exit_minutes = -1\n")
    assert live.refresh() and live.current.user.daemon.idle_exit_minutes == 0
    assert [problem.where for problem in live.problems] == ["daemon.idle_exit_minutes"]
    path.unlink()
    assert live.refresh() and not live.problems
