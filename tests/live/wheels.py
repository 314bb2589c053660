"""Wheels of the tree, built as a release is, and environments that have one installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import trio

from tests.live.instance import ROOT

_PARTS = ("hmd", "client", "systemd", "launchd", "pyproject.toml", "README.md", "LICENSE")
_QUIET = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONDONTWRITEBYTECODE": "1"}


def copy_of_the_tree(directory: Path, version: str, extra: str = "") -> Path:
    """What a wheel is made of, as `version`; `extra` is appended to a file of the kernel."""
    source = directory / f"source-{version}"
    for name in _PARTS:
        if (ROOT / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, source / name, ignore=ignore)
        else:
            shutil.copy(ROOT / name, source / name)
    marker = source / "hmd" / "__init__.py"
    text = marker.read_text(encoding="utf-8").splitlines(keepends=True)
    text = [f'__version__ = "{version}"\n' if "__version__ =" in line else line for line in text]
    marker.write_text("".join(text), encoding="utf-8")
    with open(source / "hmd" / "kernel" / "text.py", "a", encoding="utf-8") as file:
        file.write(extra)
    return source


def build(source: Path, kind: str = "wheel") -> Path:
    """The wheel (or sdist) of a source tree. Skips where the build backend cannot be had."""
    out = source.parent / f"{kind}-{source.name}"
    if out.exists():
        return next(out.iterdir())
    command = [sys.executable, "-m", "build", f"--{kind}", "--outdir", str(out), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, env=_QUIET, timeout=300)
    if done.returncode and "No matching distribution" in done.stdout + done.stderr:
        pytest.skip("the build backend cannot be had here")
    assert done.returncode == 0, done.stdout + done.stderr
    (made,) = out.iterdir()
    return made


class Environment:
    """A virtual environment; what hmd depends on is shared with the one that runs the tests."""

    def __init__(self, directory: Path) -> None:
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(directory)], check=True, timeout=120
        )
        self.python = str(directory / "bin" / "python")
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.packages = directory / "lib" / version / "site-packages"
        # Behind the environment's own packages, so that the installed hmd is found first.
        shared = Path(trio.__file__).parents[1]
        (self.packages / "shared.pth").write_text(f"{shared}\n", encoding="utf-8")

    def pip(self, *words: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", self.python, *words]
        done = subprocess.run(command, capture_output=True, text=True, env=_QUIET, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr

    def upgrade(self, wheel: Path, *more: str) -> None:
        """`pip install --upgrade` and nothing else. pip takes the same version only if told to."""
        self.pip("install", "--no-deps", "--no-index", "--upgrade", *more, str(wheel))
