"""A report to paste into an issue: how things stand, without a secret and without a word that
anybody typed.

What is in it is chosen, not filtered: names of checks, numbers, versions, lines of logs that never
hold what was said. Paths still tell about people, so directories are given by role.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping

from hmd import __version__
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.kernel.redact import redact
from hmd.setup import copies, logs
from hmd.setup.doctor import Check

HOOK_LINES = 20
DAEMON_LINES = 40
# Checks whose words quote a rule or a setting: only how they stand is told.
QUOTING = ("memories", "config", "learning", "wsl")


class Places:
    """Directories by role, the longest first."""

    def __init__(self, home: Home, cwd: str, env: Mapping[str, str]) -> None:
        named = [
            (home.path, "<home of hmd>"),
            (env.get("CLAUDE_CONFIG_DIR", ""), "<claude>"),
            (sys.prefix, "<python>"),
            (sys.base_prefix, "<python>"),
            (cwd, "<here>"),
            (env.get("HOME", ""), "~"),
        ]
        named += [(os.path.realpath(path), role) for path, role in named if path]
        self._named = sorted(
            {one for one in named if len(one[0]) > 1}, key=lambda one: -len(one[0])
        )
        self._user = env.get("USER", "") or env.get("LOGNAME", "")

    def hide(self, text: str) -> str:
        for path, role in self._named:
            text = text.replace(path, role)
        text = redact(text)
        return text.replace(f"/{self._user}/", "/<user>/") if self._user else text


def report(home: Home, cwd: str, env: Mapping[str, str], checks: list[Check]) -> str:
    """The report as Markdown."""
    places = Places(home, cwd, env)
    parts = [
        f"hmd {__version__} ({copies.package_build().name})",
        f"Python {platform.python_version()} ({platform.python_implementation()}),"
        f" {platform.system()} {platform.release()} {platform.machine()}",
        "",
        "### Checks",
        "",
        *[_check(one, places) for one in checks],
    ]
    for title, path, count in (
        ("Hook calls", home.hook_log, HOOK_LINES),
        ("Daemon", home.daemon_log, DAEMON_LINES),
    ):
        parts += ["", f"### {title}", "", "```", *_lines(path, count, places), "```"]
    return "\n".join(parts) + "\n"


def _check(one: Check, places: Places) -> str:
    told = "" if one.name in QUOTING else ": " + places.hide(one.what)
    return f"- {one.state} {one.name}{told}"


def _lines(path: str, count: int, places: Places) -> list[str]:
    try:
        found = logs.last_lines(path, count)
    except HmdError:
        found = []
    return [places.hide(_server_hidden(line)) for line in found] or ["(nothing)"]


def _server_hidden(line: str) -> str:
    """A line without the name of an MCP server: its user chose it."""
    words = line.split(" ")
    return " ".join("tool=mcp" if word.startswith("tool=mcp") else word for word in words)
