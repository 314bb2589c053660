"""What install finds on this machine: the interpreter for hooks, the agents, notes to take over."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hmd.setup.claude_code import version_of

# Programs that extraction can use, with the variable that names one for certain.
EXTRACTION_CLIS = {"claude": "HMD_CLAUDE_BIN", "codex": "HMD_CODEX_BIN"}
_USUAL_PLACES = ("~/.local/bin", "~/.claude/local", "/opt/homebrew/bin", "/usr/local/bin")
_NOTES = ("CLAUDE.md", "AGENTS.md", ".cursorrules")
# Directories that a version manager replaces or removes as a whole.
_VERSIONED = re.compile(
    r"/(?:Cellar|\.pyenv|\.asdf|\.nvm|mise/installs|uv/python|hostedtoolcache|nix/store)/"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """The Python that hooks run with; `warning` says why its path may not last."""

    path: str
    warning: str = ""


def base_interpreter(candidates: Sequence[str] | None = None) -> Interpreter:
    """The real binary behind this process: no virtual environment's link, no manager's shim.

    A shim (a script that finds the interpreter) would cost each hook some 50 ms. Raises
    FileNotFoundError when nothing usable is found.
    """
    if candidates is None:
        base = getattr(sys, "_base_executable", "") or ""
        candidates = [base, sys.executable, "/proc/self/exe"]
    for candidate in candidates:
        real = os.path.realpath(candidate) if candidate else ""
        if real and os.access(real, os.X_OK) and os.path.isfile(real) and not _is_script(real):
            path = _lasting(real)
            return Interpreter(path, _versioned_warning(path))
    raise FileNotFoundError("no Python binary was found behind " + repr(list(candidates)))


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def _lasting(real: str) -> str:
    """Homebrew keeps `opt/<formula>` as a link to the version in force: same file, lasting name."""
    found = re.fullmatch(r"(.*)/Cellar/([^/]+)/[^/]+/(.+)", real)
    if found:
        lasting = "{}/opt/{}/{}".format(*found.groups())
        if os.path.exists(lasting) and os.path.samefile(lasting, real):
            return lasting
    return real


def _versioned_warning(path: str) -> str:
    if not _VERSIONED.search(path):
        return ""
    return (
        f'hooks run with "{path}", which lies under one version of Python; '
        "after that version is removed or replaced, run hmctl install again"
    )


def find_program(name: str, env: Mapping[str, str]) -> str:
    """Absolute path of an agent's program, or "": our variable, PATH, then the usual places."""
    named = env.get(EXTRACTION_CLIS.get(name, ""), "")
    if named:
        return named if os.access(named, os.X_OK) else ""
    home = env.get("HOME", "")
    usual = [place.replace("~", home, 1) for place in _USUAL_PLACES]
    return shutil.which(name, path=os.pathsep.join([env.get("PATH", ""), *usual])) or ""


def has_bash(env: Mapping[str, str]) -> bool:
    """Whether the host can run the shell form (on Windows it brings Git Bash or names one)."""
    named = env.get("CLAUDE_CODE_GIT_BASH_PATH", "")
    if named:
        return os.path.isfile(named)
    return shutil.which("bash", path=env.get("PATH", "")) is not None


def program_version(path: str, env: Mapping[str, str], seconds: float = 10) -> tuple[int, ...]:
    """What `<path> --version` prints as numbers; () when it says nothing usable in time."""
    try:
        done = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            env=dict(env),
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return version_of(done.stdout.decode("utf-8", "replace")) or ()


def claude_directory(env: Mapping[str, str]) -> str:
    """Where Claude Code keeps its user settings; "" where neither variable tells."""
    named = env.get("CLAUDE_CONFIG_DIR", "")
    if named:
        return os.path.abspath(named)
    return os.path.join(env["HOME"], ".claude") if env.get("HOME") else ""


def notes(root: str, claude: str) -> list[str]:
    """Files in which rules were written down before: of the project, and the agent's own notes."""
    found = [os.path.join(root, name) for name in _NOTES]
    slug = re.sub(r"[^A-Za-z0-9]", "-", root)  # how Claude Code names it
    found.append(os.path.join(claude, "projects", slug, "memory"))
    return [path for path in found if os.path.exists(path)]
