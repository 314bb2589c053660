"""The cases once more through what is released: a built wheel, installed where nothing else is."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.figures import Figure
from tests.live.host import Host, Session
from tests.live.instance import ROOT, short_directory
from tests.live.wheels import Environment, build, copy_of_the_tree

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(1200)]

CASES = [
    "tests/live/test_cases_daemon.py",  # O-09, O-10, O-12
    "tests/live/test_extraction.py",  # O-11
    "tests/live/test_confined.py",  # O-16: what listens, and for whom
    "tests/live/test_cases_browser.py",  # O-16: what a page gets out of the socket
    "tests/live/test_cases_text.py",  # O-17
    "tests/live/test_cases_install.py",  # O-19, O-20
    "tests/live/test_odd_homes.py",
]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
UNREACHABLE = ("No matching distribution", "No solution found", "Failed to fetch", "NameResolution")
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_of_the_tree(tmp_path_factory.mktemp("release"), "60.0.0")


def interpreter(version: str) -> str:
    """An interpreter of this version, as a user would have it; skips where there is none."""
    names = [
        f"python{version}",
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    for name in names:
        path = shutil.which(name)
        if path:
            done = subprocess.run([path, "-c", _VERSION], capture_output=True, text=True)
            if done.stdout.strip() == version:
                return path
    pytest.skip(f"no Python {version} here")


@pytest.mark.parametrize("cases", CASES)
def test_the_cases_hold_for_the_installed_wheel(source: Path, cases: str, figure: Figure) -> None:
    """Guards what only a wheel can get wrong: files left out, stubs and units found beside it."""
    wheel = build(source)
    with short_directory() as directory:
        environment = Environment(directory / "venv")
        environment.upgrade(wheel)
        shipped = environment.packages / "hmd" / "_shipped"
        shutil.copytree(ROOT / "tests", directory / "run" / "tests")
        shutil.copy(ROOT / "pyproject.toml", directory / "run")
        (directory / "run" / "client").symlink_to(shipped / "client")
        (directory / "run" / "hmd").symlink_to(environment.packages / "hmd")
        words = ["-m", "pytest", cases, "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
        done = subprocess.run(
            [environment.python, *words, "-m", "not long"],
            cwd=directory / "run",
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=1000,
        )
        where = subprocess.run(
            [environment.python, "-c", "import hmd, os; print(os.path.realpath(hmd.__file__))"],
            cwd=directory / "run", capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    assert "site-packages" in where
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    passed = re.findall(r"(\d+) passed", done.stdout) or [str(done.stdout.count("."))]
    figure(f"{cases} through the wheel: {passed[-1]} passed")


SETTINGS = """{
  "model": "x", "env": {"A": "b"},
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
}
"""


class User:
    """Somebody with a home that others have files in, and programs in a directory on the path."""

    def __init__(self, directory: Path, programs: Path) -> None:
        self.directory = directory
        self.claude, self.app = directory / "claude", directory / "app"
        self.claude.mkdir()
        (self.app / ".git").mkdir(parents=True)
        (self.claude / "settings.json").write_text(SETTINGS)
        (directory / ".local" / "share" / "other").mkdir(parents=True)
        (directory / ".local" / "share" / "other" / "file").write_text("theirs")
        self.before = self.files()
        self.env = {
            "HOME": str(directory),
            "CLAUDE_CONFIG_DIR": str(self.claude),
            "PATH": f"{programs}:/usr/bin:/bin",
        }

    def files(self) -> dict[str, bytes]:
        """Every file and directory of theirs, with its bytes."""
        return {
            str(path.relative_to(self.directory)): path.read_bytes() if path.is_file() else b""
            for folder in (self.claude, self.app, self.directory / ".local")
            for path in [folder, *folder.rglob("*")]
            if folder.exists()
        }

    def hmctl(self, *words: str) -> str:
        run = subprocess.run(
            ["hmctl", *words], executable=shutil.which("hmctl", path=self.env["PATH"]),
            cwd=self.app, env=self.env, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert run.returncode == 0, run.stdout + run.stderr
        return run.stdout

    def bash(self, command: str) -> str:
        """What the registered hook says about a command, run as the host would run it."""
        groups = json.loads((self.claude / "settings.json").read_text())["hooks"]["PreToolUse"]
        (hook,) = groups[0]["hooks"]
        payload = {
            "session_id": "s1",
            "cwd": str(self.app),
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        }
        done = subprocess.run(
            [hook["command"], *hook["args"]], input=json.dumps(payload).encode(),
            cwd=self.app, env=self.env, capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0 and not done.stderr
        return done.stdout.decode()

    def first_day(self) -> None:
        """Installed, a rule holds through the hook, gone again without a trace."""
        assert self.hmctl("--version") == "hmctl 60.0.0\n"
        assert "a hook answered" in self.hmctl("install")
        assert "the daemon stopped the marked call" in self.hmctl("doctor", "--canary")
        rule = ["--signature", "bash:command:cmd:npm test", "--enforce", "deny"]
        self.hmctl("memory", "add", "--summary", "use pnpm", *rule, "--active")
        assert '"deny"' in self.bash("npm test") and self.bash("ls") == ""
        assert "active 1" in self.hmctl("status")
        self.hmctl("uninstall", "--purge")
        assert self.files() == self.before


def made_or_skipped(*command: str | Path, env: dict[str, str] | None = None) -> None:
    """Runs a command that may need a package registry. Skips where that cannot be reached."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=600, env=env
    )
    said = done.stdout + done.stderr
    if done.returncode and any(words in said for words in UNREACHABLE):
        pytest.skip("the registry cannot be reached, or has no such package")
    assert done.returncode == 0, said


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize("version", PYTHONS)
def test_a_fresh_machine(source: Path, version: str, kind: str, figure: Figure) -> None:
    """Guards an install by pip, its dependencies from the registry, on every Python that is meant
    to do: hooks are in, a rule holds, and an uninstall leaves all that is others'."""
    if kind == "sdist" and version != "3.12":
        pytest.skip("one version builds from the sdist")
    python, made = interpreter(version), build(source, kind)
    with short_directory() as directory:
        made_or_skipped(python, "-m", "venv", directory / "venv")
        made_or_skipped(directory / "venv" / "bin" / "pip", "install", "-q", made)
        User(directory, directory / "venv" / "bin").first_day()
    figure(f"Python {version} from the {kind}: installed, held, gone")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs pipx and uv."""
    venv = tmp_path_factory.mktemp("tools") / "venv"
    made_or_skipped(sys.executable, "-m", "venv", venv)
    made_or_skipped(venv / "bin" / "pip", "install", "-q", "pipx", "uv")
    return venv / "bin"


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize("tool", ["pipx", "uv"])
def test_a_tool_of_its_own(source: Path, tools: Path, tool: str, kind: str, figure: Figure) -> None:
    """Guards the ways to install that the guide names, from either file, and out again: neither
    hmd's uninstall nor the tool's leaves anything of ours or takes anything of others'."""
    made = build(source, kind)
    with short_directory() as directory:
        env = {
            **os.environ,
            "HOME": str(directory / "tool"),
            "PIPX_HOME": str(directory / "pipx"),
            "PIPX_BIN_DIR": str(directory / "bin"),
            "PIPX_MAN_DIR": str(directory / "man"),
            "UV_TOOL_DIR": str(directory / "uv"),
            "UV_TOOL_BIN_DIR": str(directory / "bin"),
            "UV_CACHE_DIR": str(directory / "cache"),
            "UV_PYTHON_DOWNLOADS": "never",
        }
        words = [tools / "pipx"] if tool == "pipx" else [tools / "uv", "tool"]
        made_or_skipped(*words, "install", "--python", sys.executable, made, env=env)
        User(directory, directory / "bin").first_day()
        made_or_skipped(*words, "uninstall", "harness-memory-daemon", env=env)
        assert list((directory / "bin").iterdir()) == []
    figure(f"{tool} from the {kind}: installed, held, gone")


@pytest.mark.parametrize("version", PYTHONS)
def test_hooks_under_another_python(host: Host, version: str) -> None:
    """Guards a Python that was replaced where it lies: what was compiled for the one before is left
    alone, by a hook with a daemon and by one without."""
    python = interpreter(version)
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:npm test", "deny")
    session = Session(host, project)
    for served in (True, False):
        host.start() if served else host.stop()
        payload = session.payload("PreToolUse", **session.call(command="npm test"))
        words = [python, *host.entry("PreToolUse")[1:]]
        answer = host.hook("PreToolUse", payload, words=words)
        assert (answer.code, answer.decision, answer.err) == (0, "deny", b"")
    assert "by=stub ok" in host.log_lines(2)[-1]


def test_this_python_is_one_of_those() -> None:
    """Guards the list above against an interpreter that nobody tries."""
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in PYTHONS
