"""Guards which interpreter hooks get, and what is found of agents and notes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from hmd.setup.surroundings import (
    base_interpreter,
    claude_directory,
    find_program,
    has_bash,
    notes,
    program_version,
)


def binary(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x7fELF")
    path.chmod(0o755)
    return path


def test_this_process_has_a_real_binary() -> None:
    """Guards that no virtual environment's link is handed to hooks."""
    found = base_interpreter()
    assert os.path.realpath(found.path) == os.path.realpath(sys.executable)
    assert not os.path.islink(found.path) and not found.path.startswith(sys.prefix + os.sep)


def test_a_shim_is_passed_over(tmp_path: Path) -> None:
    """Guards against a script that looks for the interpreter on every call."""
    shim = tmp_path / "shims" / "python3"
    shim.parent.mkdir()
    shim.write_text("#!/bin/sh\nexec pyenv exec python3\n")
    shim.chmod(0o755)
    real = binary(tmp_path / "python3.12")
    assert base_interpreter([str(shim), "", str(tmp_path / "gone"), str(real)]).path == str(real)
    with pytest.raises(FileNotFoundError):
        base_interpreter([str(shim)])


@pytest.mark.parametrize(
    "place",
    [".pyenv/versions/3.12.1/bin", ".asdf/installs/python/3.12/bin", "mise/installs/python/3/bin"],
)
def test_a_place_under_one_version_is_warned_of(tmp_path: Path, place: str) -> None:
    """Guards the day on which that version is removed."""
    found = base_interpreter([str(binary(tmp_path / place / "python3"))])
    assert "run hmctl install again" in found.warning


def test_homebrew_has_a_lasting_name(tmp_path: Path) -> None:
    """Guards `brew upgrade`: the link under `opt` outlives the versions in the cellar."""
    real = binary(tmp_path / "Cellar" / "python@3.12" / "3.12.7" / "bin" / "python3.12")
    assert "Cellar" in base_interpreter([str(real)]).warning
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt" / "python@3.12").symlink_to(real.parent.parent)
    found = base_interpreter([str(real)])
    assert (found.path, found.warning) == (
        str(tmp_path / "opt" / "python@3.12" / "bin" / "python3.12"),
        "",
    )


def test_programs_are_found_in_order(tmp_path: Path) -> None:
    """Guards the order: our variable, PATH, then where installers put them."""
    usual = binary(tmp_path / ".local" / "bin" / "claude")
    env = {"HOME": str(tmp_path), "PATH": ""}
    assert find_program("claude", env) == str(usual)
    on_path = binary(tmp_path / "bin" / "claude")
    assert find_program("claude", {**env, "PATH": str(on_path.parent)}) == str(on_path)
    assert find_program("claude", {**env, "HMD_CLAUDE_BIN": "/no/claude"}) == ""


def test_a_program_that_hangs_or_fails_has_no_version(tmp_path: Path) -> None:
    """Guards install against a broken agent."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    env = {"PATH": os.environ["PATH"]}
    assert program_version(str(program), env, seconds=0.05) == ()
    assert program_version(str(tmp_path / "gone"), env) == ()


def test_bash_is_looked_for_where_the_host_does(tmp_path: Path) -> None:
    """Guards the choice between sh and PowerShell on Windows."""
    bash = binary(tmp_path / "bash")
    assert has_bash({"PATH": str(tmp_path)})
    assert has_bash({"PATH": "", "CLAUDE_CODE_GIT_BASH_PATH": str(bash)})
    assert not has_bash({"PATH": str(tmp_path), "CLAUDE_CODE_GIT_BASH_PATH": "/no/bash"})
    assert not has_bash({"PATH": str(tmp_path / "none")})


def test_the_config_directory_follows_the_variable() -> None:
    """Guards CLAUDE_CONFIG_DIR before HOME."""
    assert claude_directory({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}) == "/c"
    assert claude_directory({"HOME": "/h"}) == "/h/.claude"
    assert claude_directory({}) == ""


def test_notes_of_project_and_agent_are_found(tmp_path: Path) -> None:
    """Guards the names: files in the project, and the agent's own directory for it."""
    root = tmp_path / "my.app"
    root.mkdir()
    (root / "CLAUDE.md").write_text("")
    slug = "".join(char if char.isascii() and char.isalnum() else "-" for char in str(root))
    memory = tmp_path / "c" / "projects" / slug / "memory"
    memory.mkdir(parents=True)
    assert notes(str(root), str(tmp_path / "c")) == [str(root / "CLAUDE.md"), str(memory)]
