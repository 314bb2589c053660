"""The cases once more through what is released: a built wheel, installed where nothing else is."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.figures import Figure
from tests.live.instance import ROOT, short_directory
from tests.live.wheels import Environment, build, copy_of_the_tree

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(1200)]

CASES = [
    "tests/live/test_cases_daemon.py",  # O-09, O-10, O-12
    "tests/live/test_extraction.py",  # O-11
    "tests/live/test_cases_text.py",  # O-17
    "tests/live/test_cases_install.py",  # O-19, O-20
]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
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


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
@pytest.mark.parametrize("version", PYTHONS)
def test_a_fresh_machine(source: Path, version: str, kind: str, figure: Figure) -> None:
    """Guards an install as pipx makes it, its dependencies from the registry: hooks are in, a rule
    holds, and an uninstall leaves the settings as they were."""
    if kind == "sdist" and version != "3.12":
        pytest.skip("one version builds from the sdist")
    python, made = interpreter(version), build(source, kind)
    with short_directory() as directory:
        venv = directory / "venv"
        subprocess.run([python, "-m", "venv", str(venv)], check=True, timeout=120)
        done = subprocess.run(
            [venv / "bin" / "pip", "install", "-q", str(made)],
            capture_output=True,
            text=True,
            timeout=600,
        )
        if done.returncode and "No matching distribution" in done.stderr:
            pytest.skip("the dependencies cannot be had here")
        assert done.returncode == 0, done.stderr
        claude, app = directory / "claude", directory / "app"
        claude.mkdir()
        (app / ".git").mkdir(parents=True)
        settings = claude / "settings.json"
        settings.write_text('{\n  "model": "x"\n}\n')
        env = {"HOME": str(directory), "CLAUDE_CONFIG_DIR": str(claude), "PATH": "/usr/bin:/bin"}

        def hmctl(*words: str) -> str:
            run = subprocess.run(
                [venv / "bin" / "hmctl", *words],
                cwd=app, env=env, capture_output=True, text=True, timeout=120,
            )  # fmt: skip
            assert run.returncode == 0, run.stdout + run.stderr
            return run.stdout

        assert hmctl("--version") == "hmctl 60.0.0\n"
        assert "a hook answered" in hmctl("install")
        assert "canary" in hmctl("doctor", "--canary")
        assert "active 0" in hmctl("status")
        hmctl("uninstall", "--purge")
        assert settings.read_text() == '{\n  "model": "x"\n}\n'
        assert not (directory / ".local").exists()
    figure(f"Python {version} from the {kind}: installed, held, gone")


def test_this_python_is_one_of_those() -> None:
    """Guards the list above against an interpreter that nobody tries."""
    assert f"{sys.version_info[0]}.{sys.version_info[1]}" in PYTHONS
