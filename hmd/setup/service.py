"""Lets the platform's service manager run the daemon: systemd for the user, or launchd.

The manager binds the socket and starts the daemon at the first call. From then on stubs only
connect: the mark `service` in the home says so. Without a service nothing is missing, the stub's
own start stays the default.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from xml.sax.saxutils import escape

import msgspec

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.kernel.address import Home, default_home, digest
from hmd.setup.copies import daemon_command
from hmd.setup.files import make_directories, read_text, remove_empty, write_through
from hmd.setup.shipped import shipped

_SECONDS = 30
# The daemon ends with it when it wants to be started again (hmd/daemon/options.py).
AGAIN = 10
ANSWER_S = 15.0  # for a daemon that the manager has yet to start

Run = Callable[[Sequence[str]], "tuple[int, str]"]


class Report(msgspec.Struct):
    """What `hmctl service` answers. `state` is installed, absent or broken."""

    manager: str
    unit: str
    state: str = "absent"
    files: list[str] = []
    done: list[str] = []
    problems: list[str] = []


class Manager(Protocol):
    """A service manager as far as one job of ours goes. Methods raise HmdError."""

    name: str

    def unit(self, home: Home) -> str:
        """What the job is called; another home is another job."""
        ...

    def files(self, home: Home) -> dict[str, str]:
        """Path → content of what has to be written."""
        ...

    def available(self) -> str:
        """ "" when the manager answers, else what is wrong."""
        ...

    def load(self, home: Home) -> None: ...

    def unload(self, home: Home) -> None: ...

    def problem(self, home: Home) -> str:
        """ "" when the manager listens for us, else what is wrong."""
        ...


def run(command: Sequence[str]) -> tuple[int, str]:
    """(exit code, what was said) of a manager's own program."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, str(error)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    return done.returncode, " ".join(said.split())


def fill(text: str, values: Mapping[str, str]) -> str:
    """A unit file out of one that is shipped: `@NAME@` stands for a value."""
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _is_default(home: Home, env: Mapping[str, str]) -> bool:
    plain = {name: value for name, value in env.items() if name != "HMD_HOME"}
    return home.path == default_home(plain)


class Systemd:
    """The user's instance of systemd: a socket unit and the service behind it."""

    name = "systemd"

    def __init__(self, env: Mapping[str, str], do: Run = run) -> None:
        self._env = env
        self._do = do
        base = env.get("XDG_CONFIG_HOME", "")
        base = base if base.startswith("/") else env.get("HOME", "") + "/.config"
        self._directory = base + "/systemd/user"

    def unit(self, home: Home) -> str:
        return "hmd" if _is_default(home, self._env) else "hmd-" + digest(home.path, 8)

    def files(self, home: Home) -> dict[str, str]:
        unit = self.unit(home)
        words = [*daemon_command(home), "--manager", self.name]
        values = {
            "HOME": _specifiers(home.path),
            "SOCKET": _specifiers(home.socket),
            "UNIT": unit,
            "COMMAND": " ".join(_word(word) for word in words),
            "AGAIN": str(AGAIN),
        }
        return {
            f"{self._directory}/{unit}.{kind}": fill(
                (shipped("systemd") / f"hmd.{kind}").read_text(encoding="utf-8"), values
            )
            for kind in ("socket", "service")
        }

    def available(self) -> str:
        code, said = self._systemctl("show-environment")
        return said or "systemctl failed" if code else ""

    def load(self, home: Home) -> None:
        self._must("daemon-reload")
        self._must("enable", "--now", self.unit(home) + ".socket")

    def unload(self, home: Home) -> None:
        unit = self.unit(home)
        self._systemctl("disable", "--now", unit + ".socket")
        self._systemctl("stop", unit + ".service")
        for path in self.files(home):
            _remove(path)
        remove_empty([f"{self._directory}/sockets.target.wants"])  # systemctl made it
        self._systemctl("daemon-reload")

    def problem(self, home: Home) -> str:
        code, said = self._systemctl("is-active", self.unit(home) + ".socket")
        return f"{self.unit(home)}.socket is {said or 'not active'}" if code else ""

    def _must(self, *words: str) -> None:
        code, said = self._systemctl(*words)
        if code:
            raise HmdError("refused", f"systemctl {words[0]} failed: {said}")

    def _systemctl(self, *words: str) -> tuple[int, str]:
        return self._do(["systemctl", "--user", *words])


class Launchd:
    """launchd's agents of one user (macOS)."""

    name = "launchd"

    def __init__(self, env: Mapping[str, str], do: Run = run) -> None:
        self._env = env
        self._do = do
        self._directory = env.get("HOME", "") + "/Library/LaunchAgents"

    def unit(self, home: Home) -> str:
        name = "io.github.hmd"
        return name if _is_default(home, self._env) else f"{name}.{digest(home.path, 8)}"

    def files(self, home: Home) -> dict[str, str]:
        words = [*daemon_command(home), "--manager", self.name]
        values = {
            "UNIT": escape(self.unit(home)),
            "SOCKET": escape(home.socket),
            "ARGUMENTS": "\n".join(f"\t\t<string>{escape(word)}</string>" for word in words),
        }
        text = (shipped("launchd") / "hmd.plist").read_text(encoding="utf-8")
        return {f"{self._directory}/{self.unit(home)}.plist": fill(text, values)}

    def available(self) -> str:
        code, said = self._do(["launchctl", "print", self._domain()])
        return said or "launchctl failed" if code else ""

    def load(self, home: Home) -> None:
        (path,) = self.files(home)
        code, said = self._do(["launchctl", "bootstrap", self._domain(), path])
        if code:
            raise HmdError("refused", f"launchctl bootstrap failed: {said}", path)

    def unload(self, home: Home) -> None:
        self._do(["launchctl", "bootout", f"{self._domain()}/{self.unit(home)}"])
        for path in self.files(home):
            _remove(path)

    def problem(self, home: Home) -> str:
        code, _ = self._do(["launchctl", "print", f"{self._domain()}/{self.unit(home)}"])
        return f"{self.unit(home)} is not loaded" if code else ""

    def _domain(self) -> str:
        return f"gui/{machine.own_user()}"


def manager_for(env: Mapping[str, str], platform: str = sys.platform) -> Manager:
    """The manager of this platform. Raises HmdError where hmd knows none."""
    if platform == "darwin":
        return Launchd(env)
    if platform == "linux":
        return Systemd(env)
    raise HmdError(
        "refused",
        "hmd knows no service manager on this platform",
        do="nothing is needed: hooks start the daemon by themselves",
    )


def install(
    home: Home, manager: Manager, stop: Callable[[], bool], answers: Callable[[], bool]
) -> Report:
    """Hands the daemon to the manager. Raises HmdError; then everything is as it was.

    `stop` ends a daemon that runs on its own, `answers` asks the socket (and so has the manager
    start one).
    """
    trouble = manager.available()
    if trouble:
        raise HmdError(
            "refused",
            f"{manager.name} cannot be used here: {trouble}",
            do="nothing is needed: hooks start the daemon by themselves",
        )
    report = Report(manager.name, manager.unit(home))
    files = manager.files(home)
    made: list[str] = []
    try:
        for path, text in files.items():
            made += make_directories(os.path.dirname(path), mode=0o755)
            write_through(path, text)
        report.files = sorted(files)
        # The mark first: between the two daemons no stub may start a third.
        make_directories(home.path)
        write_through(home.service, "\n".join([f"{manager.name} {report.unit}", *made, ""]))
        if stop():
            report.done.append("ended the daemon that hooks had started")
        manager.load(home)
        if not answers():
            raise HmdError("refused", f"{manager.name} starts no daemon that answers")
    except (HmdError, OSError) as error:
        manager.unload(home)
        _remove(home.service)
        remove_empty(made)
        if isinstance(error, HmdError):
            raise
        raise HmdError("refused", str(error.strerror), str(error.filename)) from error
    report.state = "installed"
    report.done.append(f"{manager.name} runs the daemon now, as {report.unit}")
    return report


def uninstall(home: Home, manager: Manager) -> Report:
    """Takes the daemon back; hooks start it again from now on. Never raises."""
    report = Report(manager.name, manager.unit(home))
    files = [path for path in manager.files(home) if os.path.exists(path)]
    marked = os.path.exists(home.service)
    if files or marked:
        made = (_read(home.service) or "").splitlines()[1:]
        manager.unload(home)
        _remove(home.service)
        remove_empty(made)
        report.done = ["removed " + path for path in [*files, *([home.service] if marked else [])]]
    return report


def withdraw(home: Home, env: Mapping[str, str]) -> list[str]:
    """For an uninstall of everything: takes a service away where there is one; what was done."""
    try:
        return uninstall(home, manager_for(env)).done
    except HmdError:
        return []  # this platform has none


def status(home: Home, manager: Manager) -> Report:
    """How the service stands; reads only."""
    report = Report(manager.name, manager.unit(home))
    wanted = manager.files(home)
    report.files = sorted(path for path in wanted if os.path.exists(path))
    marked = os.path.exists(home.service)
    if not report.files and not marked:
        return report
    report.state = "installed"
    if not marked:
        report.problems.append("the home is not marked, so hooks start daemons as well")
    for path, text in wanted.items():
        if _read(path) != text:
            report.problems.append(f"{path} is missing or of another installation")
    trouble = manager.problem(home)
    if trouble:
        report.problems.append(trouble)
    if report.problems:
        report.state = "broken"
    return report


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")  # systemd.unit(5), "Specifiers"


def _word(text: str) -> str:
    """One word of `ExecStart` (systemd.service(5), "Command lines")."""
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("%", "%%"), ("$", "$$")):
        text = text.replace(plain, written)
    return f'"{text}"'


def _read(path: str) -> str | None:
    try:
        return read_text(path)
    except OSError:
        return None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
