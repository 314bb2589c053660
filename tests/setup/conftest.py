"""A user with a home directory, a repository, and no agent installed; nothing real is touched."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hmd.kernel.address import Home
from hmd.setup import copies, install, uninstall


@dataclass
class User:
    """One person's machine under a temporary directory."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)
    enabled: list[str] = field(default_factory=list)

    @property
    def home(self) -> Home:
        return Home(str(self.root / "data" / "hmd"))

    @property
    def settings(self) -> Path:
        return self.root / ".claude" / "settings.json"

    @property
    def repo(self) -> Path:
        return self.root / "app"

    def place(self, home: Home, interpreter: str) -> copies.Build:
        """Stands for the copy step, which takes a process of its own (test_copies.py)."""
        os.makedirs(f"{home.app}/0.0.1-test", exist_ok=True)
        Path(home.app_current).write_text("0.0.1-test\n")
        return copies.Build("0.0.1-test", {})

    def install(self, cwd: Path | None = None, **asked: object) -> install.Report:
        options = install.Options(
            self.home.path,
            str(cwd or self.repo),
            self.env,
            self_test=False,
            **asked,  # type: ignore[arg-type]
        )
        return install.install(options, self.enabled.append, self.place)

    def uninstall(self, cwd: Path | None = None, purge: bool = False) -> uninstall.Report:
        options = uninstall.Options(self.home.path, str(cwd or self.repo), self.env, purge)
        return uninstall.uninstall(options, lambda: False)


def tree(root: Path) -> dict[str, str]:
    """Everything under a directory: links with their target, files with their bytes."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = "-> " + os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes().decode("utf-8", "surrogateescape")
        else:
            found[name] = "directory"
    return found


@pytest.fixture
def user(tmp_path: Path) -> User:
    one = User(tmp_path, {"HOME": str(tmp_path), "PATH": "", "HMD_CLAUDE_BIN": "/no/claude"})
    one.env["HMD_CODEX_BIN"] = "/no/codex"
    (one.repo / ".git" / "info").mkdir(parents=True)
    return one
