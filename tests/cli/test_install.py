"""Guards what `hmctl install` prints and returns where nothing may be written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hmd.cli.main import main
from tests.setup.conftest import tree


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home directory with settings, a repository in it, and nothing installed."""
    for name, value in {
        "HOME": str(tmp_path),
        "HMD_HOME": str(tmp_path / "hmd"),
        "HMD_CLAUDE_BIN": "/no/claude",
        "HMD_CODEX_BIN": "/no/codex",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{\n  "a": 1\n}\n')
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path


def test_read_only_settings_are_answered_with_the_entries(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Guards O-19's variant at the command line: exit 1, entries on stdout, reason on stderr."""
    settings = home / ".claude" / "settings.json"
    settings.chmod(0o444)
    before = tree(home)
    assert main(["install"]) == 1
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["hooks"]) == 10
    assert printed.err == (
        "hmctl: the settings file is read-only; nothing was changed: "
        f'"{settings}"; add the entries printed above by hand\n'
    )
    assert tree(home) == before


def test_a_dry_run_prints_the_difference(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Guards --dry-run at the command line: a unified diff, and no file anywhere."""
    before = tree(home)
    assert main(["install", "--dry-run", "--hook-form", "shell"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith(f"--- {home}/.claude/settings.json\n")
    assert '\n-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in printed.out
    assert "would enable the project at " + str(home / "app") in printed.out
    assert main(["install", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["form"] == "exec"
    assert tree(home) == before


def test_settings_with_a_slip_are_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Guards the message for a broken file: what, where in it, which file."""
    (home / ".claude" / "settings.json").write_text("{'a': 1}")
    assert main(["install"]) == 1
    said = capsys.readouterr().err
    assert "line 1, column 2" in said and str(home / ".claude" / "settings.json") in said
