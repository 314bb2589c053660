"""The canary tells a hook that stops from one that does not, whatever form the entry has."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hmd.kernel.address import Home
from hmd.setup import canary
from hmd.setup.claude_code import Form, Hook, register
from hmd.setup.receipt import Receipt, Registered

ASK = {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
       "permissionDecisionReason": "x"}}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(str(tmp_path / "home"))
    Path(made.run).mkdir(parents=True)
    return made


def installed(home: Home, tmp_path: Path, script: str, form: Form = "exec") -> Receipt:
    """A settings file whose entries run a script that stands for the interpreter."""
    program = tmp_path / "python"
    begin = f"#!{sys.executable}\nimport json, os, sys\ncall = json.load(sys.stdin)\n"
    program.write_text(f"{begin}marked = 'touch' in call['tool_input']['command']\n{script}\n")
    program.chmod(0o755)
    settings = tmp_path / "settings.json"
    settings.write_text(register("", Hook(str(program), home.path, form), {}).text)
    return Receipt(registered=[Registered("claude-code", "user", str(settings))])


SAY = f"print(json.dumps({ASK!r}))"


@pytest.mark.parametrize("form", ["exec", "shell"])
def test_a_hook_that_stops_the_marked_call_only_is_well(
    home: Home, tmp_path: Path, form: Form
) -> None:
    """Guards the plain case, and that the entry is run as it stands in the settings."""
    known = installed(home, tmp_path, f"marked and {SAY}", form)
    found = list(canary.run(home, known, str(tmp_path)))
    assert [one.good for one in found] == [True, True, True]
    assert "the daemon stopped" in found[0].what and "the hook alone stopped" in found[1].what
    assert not Path(home.skip).exists()


@pytest.mark.parametrize(
    ("script", "good", "words"),
    [
        ("pass", [False, False, True], "not stopped"),
        (SAY, [True, True, False], "as well"),
        ("print('no json')", [False, False, False], "no JSON"),
        ("sys.exit(2)", [False, False, False], "exit code 2"),
    ],
)
def test_a_hook_that_does_not_is_found(
    home: Home, tmp_path: Path, script: str, good: list[bool], words: str
) -> None:
    """Guards against a canary that sings whatever happens."""
    found = list(canary.run(home, installed(home, tmp_path, script), str(tmp_path)))
    assert [one.good for one in found] == good
    assert any(words in one.what for one in found)


def test_the_second_call_goes_past_the_daemon(home: Home, tmp_path: Path) -> None:
    """Guards that the stub's own path is proved too, not the daemon's twice."""
    script = f"marked and os.path.exists({home.skip!r}) and {SAY}"
    found = list(canary.run(home, installed(home, tmp_path, script), str(tmp_path)))
    assert [one.good for one in found] == [False, True, True]


def test_an_entry_that_is_gone_is_named(home: Home, tmp_path: Path) -> None:
    known = installed(home, tmp_path, "pass")
    Path(known.registered[0].file).write_text(json.dumps({"hooks": {}}))
    (found,) = canary.run(home, known, str(tmp_path))
    assert not found.good and "no hook for PreToolUse" in found.what
