"""What can be proved of Windows without one: everything of ours starts, serves and ends there.

`pretend.py` hides what is POSIX's, `api.py` stands for the calls of the system. None of it proves
that the real system does what its documentation says.
"""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.instance import ROOT, short_directory
from tests.windows import api

PRELUDE = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
    "from tests.windows.pretend import pretend; pretend()\n"
)
_IMPORT_ALL = """
import importlib, pkgutil
import client, hmd
for package in (hmd, client):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except BaseException as error:
            print(module.name, repr(error))
"""
_CALL = """
import json
from hmd import link
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
home, method, body, cwd, start = json.loads(sys.argv[1])
try:
    answer = link.call(Home(home), method, body, dict, cwd=cwd, start_daemon=start)
except HmdError as error:
    answer = {"error": error.code, "what": str(error)}
print(json.dumps(answer))
"""
_HOOK = "from client.hook_windows import main; main(sys.argv[1], sys.argv[2], sys.argv[3])"


class Machine:
    """A home on a machine that takes itself for Windows."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = str(directory / "home")
        self.app = str(directory / "app")
        os.makedirs(self.app + "/.git")
        os.mkdir(directory / "pipes")
        self.environ = {
            "USERPROFILE": str(directory),
            "HOME": str(directory),
            "SYSTEMROOT": str(directory),
            "PATH": os.environ["PATH"],
            "HMD_PIPES": str(directory / "pipes"),
        }

    def run(self, script: str, *arguments: str, given: bytes = b"", cwd: str = "/") -> bytes:
        done = subprocess.run(
            [sys.executable, "-X", "utf8", "-c", PRELUDE + script, *arguments],
            input=given, env=self.environ, cwd=cwd, capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        return done.stdout

    def call(self, method: str, body: Any = None, *, start: bool = False) -> Any:
        asked = json.dumps([self.home, method, body or {}, self.app, start])
        return json.loads(self.run(_CALL, asked))

    def do(self, method: str, body: Any = None) -> Any:
        answer = self.call(method, body)
        assert "error" not in answer, (answer, self.log())
        return answer

    def bash(self, command: str) -> str:
        """What the hook says about a command, "" where it lets it pass."""
        payload = {
            "session_id": "s1",
            "cwd": self.app,
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        }
        said = self.run(_HOOK, self.home, "PreToolUse", "b1", given=json.dumps(payload).encode())
        return said.decode()

    def owner(self) -> dict[str, Any]:
        for path in Path(self.home, "run").glob("*/daemon.json"):
            found: dict[str, Any] = json.loads(path.read_text())
            return found
        return {}

    def log(self) -> str:
        path = Path(self.home, "log", "daemon.log")
        return path.read_text() if path.exists() else ""

    def close(self) -> None:
        pid = self.owner().get("pid")
        if pid:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def machine() -> Iterator[Machine]:
    with short_directory() as directory:
        made = Machine(directory)
        try:
            yield made
        finally:
            made.close()


def posix_only() -> set[str]:
    """Modules that say of themselves that they are not for Windows."""
    found = set()
    for folder in ("hmd", "client"):
        for path in (ROOT / folder).rglob("*.py"):
            if 'assert sys.platform != "win32"' in path.read_text(encoding="utf-8"):
                found.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return found


def test_every_other_module_can_be_imported() -> None:
    """Guards against `import fcntl` and its like at the top of anything that Windows loads."""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", PRELUDE + _IMPORT_ALL],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    failed = {line.partition(" ")[0]: line for line in done.stdout.splitlines()}
    assert failed.keys() == posix_only(), failed


def signatures(path: Path) -> dict[str, list[str]]:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return {
        node.name: [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_what_stands_for_windows_has_its_shape() -> None:
    """Guards the stand-in: a call that the real one does not offer must not pass here."""
    real, fake = signatures(ROOT / "hmd/kernel/windows.py"), signatures(Path(api.__file__))
    # Left as they are: what only another of them calls, and what needs the standard library only.
    offered = {name for name in real if not name.startswith("_")} - {
        "sid_of_process",
        "start_detached",
    }
    assert offered == set(api.WINDOWS)
    assert {name: real[name] for name in offered} == {name: fake[name] for name in offered}


@pytest.mark.live
def test_a_daemon_starts_serves_hooks_and_leaves(machine: Machine) -> None:
    """Guards the whole way: start from a client, a pipe, a rule that holds, files, the end."""
    assert machine.call("ping")["error"] == "busy"
    first = machine.call("ping", start=True)
    assert machine.owner()["pid"] == first["pid"]
    assert machine.call("status")["store"]["state"] == "ready", machine.log()
    machine.do("project.enable", {"path": machine.app})
    draft = {"summary": "none", "signature": "bash:command:cmd:npm test", "level": "deny"}
    machine.do("memory.add", {**draft, "active": True})
    assert '"deny"' in machine.bash("npm test") and not machine.bash("ls")
    machine.do("fact.remember", {"subject": "build box", "fact": "it runs Debian 12"})
    assert machine.call("status")["decisions"]["deny"] == 1, machine.log()
    assert machine.call("stop") == {"pid": first["pid"]}
    wait_for(lambda: not os.path.exists(f"/proc/{first['pid']}"))
    assert not machine.owner() and os.listdir(machine.directory / "pipes") == []
    assert "fails" not in machine.log() and "Error" not in machine.log()


@pytest.mark.live
def test_a_hook_alone_decides_and_starts_the_daemon(machine: Machine) -> None:
    """Guards the hour after a crash: the rule holds, and the hook brings the daemon back."""
    pid = machine.call("ping", start=True)["pid"]
    machine.do("project.enable", {"path": machine.app})
    draft = {"summary": "none", "signature": "bash:command:cmd:npm test", "level": "deny"}
    machine.do("memory.add", {**draft, "active": True})
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"))
    words = [sys.executable, "-I", "-X", "utf8", "-m", "hmd.daemon.main", "--home", machine.home]
    Path(machine.home, "app").mkdir(exist_ok=True)
    Path(machine.home, "app", "daemon").write_text("\n".join(words) + "\n")
    assert '"deny"' in machine.bash("npm test")
    wait_for(lambda: machine.owner().get("pid") not in (None, pid))
    wait_for(lambda: "error" not in machine.call("ping"))
    assert machine.call("ping")["pid"] == machine.owner()["pid"]
    assert '"deny"' in machine.bash("npm test") and not machine.bash("ls")


_HMCTL = "from hmd.cli.main import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.live
def test_hmctl_from_install_to_uninstall(machine: Machine) -> None:
    """Guards what a person types there: hooks in their own form are registered, a marked call is
    stopped with the daemon and without, and an uninstall leaves the settings as they were."""
    machine.environ.pop("HOME", None)
    machine.environ["LOCALAPPDATA"] = str(machine.directory / "local")
    settings = machine.directory / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}\n')

    def hmctl(*words: str) -> str:
        return machine.run(_HMCTL, *words, cwd=machine.app).decode()

    said = hmctl("install")
    assert "a hook answered" in said and "registered" in said
    assert "client.hook_windows" in settings.read_text()
    said = hmctl("doctor", "--canary")
    assert "FAIL" not in said and "OK    socket" not in said, said
    assert said.count("stopped the marked call") == 2
    assert str(machine.directory / "local" / "hmd") in said
    hmctl("uninstall", "--purge")
    assert settings.read_text() == '{"model": "x"}\n'
    assert os.listdir(machine.directory / "pipes") == []
    assert not (machine.directory / "local").exists()


def wait_for(what: Any) -> None:
    end = time.monotonic() + 20
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


_PATHS = """
import json
from hmd.core import machine
from hmd.kernel import system
from hmd.kernel.address import Home, pipe_name
from hmd.kernel.project import locate
print(json.dumps([
    system.real("C:\\\\Users\\\\me\\\\..\\\\me\\\\app"),
    system.real("c:/Users/me/app/"),
    system.join("C:/app", "D:/repo/.git"),
    system.join("C:/app", "\\\\\\\\server\\\\share"),
    system.join("C:/app", ".git"),
    locate("C:\\\\no\\\\such\\\\app").root,
    pipe_name("C:\\\\Users\\\\me/hmd") == pipe_name("c:/users/me\\\\hmd"),
    machine.usual_names({"USERPROFILE": "C:\\\\Users\\\\me", "TEMP": "C:\\\\T"})["HOME"],
    machine.usual_names({"HOME": "/h", "TEMP": "C:\\\\T"})["HOME"],
    Home("C:/h").socket_directory,
]))
"""


def test_paths_of_drives(machine: Machine) -> None:
    """Guards places: however a path is written, hook, hmctl and daemon mean one project, one home
    and one pipe."""
    assert json.loads(machine.run(_PATHS)) == [
        "C:/Users/me/app",
        "c:/Users/me/app",
        "D:/repo/.git",
        "\\\\server\\share",
        "C:/app/.git",
        "C:/no/such/app",
        True,
        "C:\\Users\\me",
        "/h",
        "",
    ]
