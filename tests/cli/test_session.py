"""Guards who is taken for an agent, and how things are printed for people."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hmd.cli import show
from hmd.cli.session import Session


@pytest.mark.parametrize(
    ("env", "actor"),
    [
        ({}, "terminal"),
        ({"CLAUDECODE": "1"}, "agent_cli"),
        ({"AI_AGENT": "other"}, "agent_cli"),
        ({"CODEX_SANDBOX": "seatbelt"}, "agent_cli"),
        ({"GEMINI_CLI": "1"}, "agent_cli"),
        ({"OPENCODE": "1"}, "agent_cli"),
        ({"CLAUDECODE": "0", "AI_AGENT": ""}, "terminal"),
        ({"CODEX_HOME": "/h/.codex", "CLAUDE_CONFIG_DIR": "/c"}, "terminal"),
    ],
)
def test_an_agent_is_told_from_a_person(env: dict[str, str], actor: str) -> None:
    """Guards N29: what an agent sets counts, what a person configures does not."""
    assert Session("/h", env, "/").actor == actor


def test_nothing_printed_can_move_the_cursor() -> None:
    """Guards terminals against text that a model or a page brought in."""
    assert show.clean("a\x1b[2Jb\u202ec") == "a\\u{1b}[2Jb\\u{202e}c"
    assert show.line("two\n lines\t한국어 🛑") == "two lines 한국어 🛑"


@pytest.mark.parametrize(
    ("ms", "words"),
    [(0, "0 s"), (61_000, "1 min 1 s"), (3_600_000, "1 h"), (90_061_000, "1 d 1 h")],
)
def test_spans_are_said_in_two_units(ms: int, words: str) -> None:
    """Guards the wording of uptimes."""
    assert show.duration(ms) == words


def test_a_table_aligns_all_but_the_last_column() -> None:
    """Guards lists that are read by eye."""
    assert show.table([["a", "bb", "c"], ["aaa", "b", "cc"]]) == "a    bb  c\naaa  b   cc"


def test_help_needs_nothing_heavy() -> None:
    """Guards the start of every command: no loop, no database, no rich text, no wire."""
    program = (
        "import sys, hmd.cli.main\n"
        "heavy = {'trio', 'aiosqlite', 'rich', 'hmd.link', 'asyncio', 'hmd.kernel.decide'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert said.stdout.decode().strip() == "[]"
