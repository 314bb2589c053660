"""Units and agents as they are written; what installing and removing them does, step by step."""

from __future__ import annotations

import configparser
import plistlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.daemon import options
from hmd.kernel.address import Home
from hmd.setup import copies, service
from hmd.setup.service import Launchd, Manager, Systemd
from tests.setup.conftest import User, tree

ODD = 'a "b" 100% $HOME \\ ü'


class Program:
    """Stands for systemctl or launchctl: remembers what it was told, fails where it is to."""

    def __init__(self, fails: str = "") -> None:
        self.fails = fails
        self.told: list[str] = []

    def __call__(self, command: Sequence[str]) -> tuple[int, str]:
        words = " ".join(command)
        self.told.append(words)
        return (1, "it said no") if self.fails and self.fails in words else (0, "")


def managers(user: User, program: Program) -> list[Manager]:
    env = {"HOME": str(user.root)}
    return [Systemd(env, program), Launchd(env, program)]


def install(home: Home, manager: Manager, *, answers: bool = True) -> service.Report:
    return service.install(home, manager, lambda: False, lambda: answers)


@pytest.mark.parametrize("which", [0, 1])
def test_installing_and_removing_leave_the_user_s_files_as_they_were(
    user: User, which: int
) -> None:
    """Guards "removed without a trace": units, mark, and the directories made for them."""
    manager = managers(user, Program())[which]
    before = tree(user.root)
    report = install(user.home, manager)
    assert report.state == "installed" and all(Path(path).is_file() for path in report.files)
    assert Path(user.home.service).read_text().startswith(f"{manager.name} {report.unit}\n")
    assert service.status(user.home, manager).state == "installed"
    done = service.uninstall(user.home, manager).done
    assert len(done) == len(report.files) + 1
    Path(user.home.path).rmdir()
    Path(user.home.path).parent.rmdir()
    assert tree(user.root) == before
    assert service.uninstall(user.home, manager).done == []


@pytest.mark.parametrize("fails", ["show-environment", "daemon-reload", "enable"])
def test_a_manager_that_refuses_leaves_hooks_starting_the_daemon(user: User, fails: str) -> None:
    """Guards the worst outcome, a home that stubs only connect to and nobody serves."""
    manager = Systemd({"HOME": str(user.root)}, Program(fails))
    before = tree(user.root)
    with pytest.raises(HmdError, match=r"cannot be used here|failed"):
        install(user.home, manager)
    assert not Path(user.home.service).exists()
    assert not list(user.root.rglob("*.service")) and not list(user.root.rglob("*.socket"))
    assert {name for name in tree(user.root) if "systemd" in name} <= set(before)


def test_a_service_that_starts_nothing_is_taken_back(user: User) -> None:
    """Guards a unit that loads and does not work: it is tried before it is believed."""
    program = Program()
    with pytest.raises(HmdError, match="no daemon that answers"):
        install(user.home, Systemd({"HOME": str(user.root)}, program), answers=False)
    assert not Path(user.home.service).exists()
    assert any("disable --now" in words for words in program.told)


def test_stubs_are_held_back_before_the_running_daemon_is_ended(user: User) -> None:
    """Guards one daemon: no hook may start another between the two."""
    marked = []

    def stop() -> bool:
        marked.append(Path(user.home.service).exists())
        return True

    manager = Systemd({"HOME": str(user.root)}, Program())
    service.install(user.home, manager, stop, lambda: True)
    assert marked == [True]


def test_status_names_what_is_broken(user: User) -> None:
    """Guards doctor and `service status`: each way in which the two sides can disagree."""
    program = Program()
    manager = Systemd({"HOME": str(user.root)}, program)
    assert service.status(user.home, manager).state == "absent"
    report = install(user.home, manager)
    program.fails = "is-active"
    assert ".socket is it said no" in " ".join(service.status(user.home, manager).problems)
    program.fails = ""
    Path(report.files[0]).write_text("[Service]\nExecStart=/gone\n")
    assert "another installation" in " ".join(service.status(user.home, manager).problems)
    Path(user.home.service).unlink()
    assert "not marked" in " ".join(service.status(user.home, manager).problems)


def test_another_home_is_another_unit(user: User) -> None:
    """Guards two homes at once: neither overwrites the other's service."""
    manager = Systemd({"HOME": str(user.root)}, Program())
    plain = Home(f"{user.root}/.local/share/hmd")
    assert manager.unit(plain) == "hmd"
    assert manager.unit(user.home) not in ("hmd", manager.unit(Home(user.home.path + "2")))


def test_the_exit_code_that_asks_for_a_new_start_is_one(user: User) -> None:
    """Guards the unit and the daemon against disagreeing about what the code means."""
    assert service.AGAIN == options.AGAIN
    files = Systemd({"HOME": "/home/u"}, Program()).files(user.home)
    (unit,) = [text for path, text in files.items() if path.endswith(".service")]
    assert f"RestartForceExitStatus={options.AGAIN}\n" in unit


def test_units_say_what_they_must() -> None:
    """Guards the socket's privacy, the handshake, and odd characters in a home's name."""
    home = Home("/home/u/" + ODD)
    texts = Systemd({"HOME": "/home/u"}, Program()).files(home)
    units = {}
    for path, text in texts.items():
        parser = configparser.RawConfigParser(strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read_string(text)
        units[path.rpartition(".")[2]] = parser
    socket, main = units["socket"]["Socket"], units["service"]["Service"]
    assert socket["ListenStream"] == home.socket.replace("%", "%%")
    assert socket["SocketMode"] == "0600"
    assert main["Type"] == "notify" and main["UMask"] == "0077"
    assert '100%% $$HOME \\\\ ü" "--manager" "systemd"' in main["ExecStart"]
    assert "@" not in "".join(line for text in texts.values() for line in text.splitlines()[1:])


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd here")
def test_systemd_accepts_the_units(user: User, tmp_path: Path) -> None:
    """Guards what only systemd itself can tell: every key known, every value understood."""
    for path, text in Systemd({"HOME": "/home/u"}, Program()).files(user.home).items():
        (tmp_path / Path(path).name).write_text(text)
    names = [str(path) for path in sorted(tmp_path.glob("hmd*"))]
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", *names],
        capture_output=True,
        text=True,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_agent_s_property_list_can_be_read_and_says_the_same() -> None:
    """Guards the plist by Python's own reader, odd characters included."""
    home = Home("/Users/u/<a> & " + ODD)
    ((path, text),) = Launchd({"HOME": "/Users/u"}, Program()).files(home).items()
    job = plistlib.loads(text.encode())
    assert path == f"/Users/u/Library/LaunchAgents/{job['Label']}.plist"
    assert job["ProgramArguments"] == [*copies.daemon_command(home), "--manager", "launchd"]
    assert job["Sockets"]["hmd"]["SockPathName"] == home.socket
    assert job["Sockets"]["hmd"]["SockPathMode"] == 0o600 and job["Umask"] == 0o077
    assert job["KeepAlive"] == {"SuccessfulExit": False} and "RunAtLoad" not in job


def test_each_platform_has_its_manager_or_says_that_none_is_needed() -> None:
    assert service.manager_for({}, "linux").name == "systemd"
    assert service.manager_for({}, "darwin").name == "launchd"
    with pytest.raises(HmdError, match="no service manager"):
        service.manager_for({}, "win32")
