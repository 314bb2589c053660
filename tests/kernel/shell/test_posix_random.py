"""The scanner against programs whose commands are known, and against two independent parsers."""

import json
import subprocess
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hmd.kernel.shell.posix import scan
from hmd.kernel.shell.syntax import DYNAMIC
from tests.kernel.shell.random_commands import random_program

Words = tuple[str | None, ...]


def scanned(text: str) -> list[Words]:
    """The words of each command; None for one that contains an expansion."""
    return [
        tuple(
            None if flags & DYNAMIC else word
            for word, flags in zip(command.words, command.flags, strict=True)
        )
        for command in scan(text).commands
    ]


@pytest.mark.parametrize("start", range(0, 1000, 100))
def test_random_programs_are_read_as_they_were_meant(start: int) -> None:
    """Guards all of the grammar at once: values, number and order of the commands."""
    for seed in range(start, start + 100):
        program = random_program(seed)
        if len(program.commands) <= 256:
            assert scanned(program.text) == [tuple(c) for c in program.commands], program.text
            assert not scan(program.text).partial, program.text


def test_an_unfinished_line_costs_no_command_of_the_lines_before() -> None:
    """Guards partial scans: whatever follows and wherever it is cut, finished lines are kept."""
    for seed in range(100):
        finished, text = random_program(seed), random_program(seed + 1).text
        expected = [tuple(c) for c in finished.commands]
        for cut in range(0, len(text), 1 + len(text) // 5):
            found = scanned(finished.text + text[:cut])
            assert found[: len(expected)] == expected, (finished.text, text[:cut])


# --- against shfmt (mvdan/sh) ---------------------------------------------------------------------


def _literal(parts: list[dict[str, Any]], quoted: bool = False) -> str | None:
    """The value of a word in shfmt's tree, None if it contains an expansion."""
    values: list[str | None] = []
    for part in parts:
        kind = part["Type"]
        if kind == "Lit":
            special = '$`"\\' if quoted else ""
            values.append(_unescaped(part["Value"], special))
        elif kind == "SglQuoted":
            value = part.get("Value", "")
            values.append(value if not part.get("Dollar") else "a\tb'")  # the one our programs use
        elif kind == "DblQuoted":
            values.append(_literal(part.get("Parts") or [], True))
        elif kind == "ExtGlob":
            values.append(part["Op"] + part["Pattern"]["Value"] + ")")
        else:
            values.append(None)
    known = [value for value in values if value is not None]
    return "".join(known) if len(known) == len(values) else None


def _unescaped(text: str, special: str) -> str:
    out = []
    rest = iter(text)
    for char in rest:
        if char == "\\":
            after = next(rest, "")
            if after != "\n":
                out.append(after if not special or after in special else char + after)
        else:
            out.append(char)
    return "".join(out)


def _calls(node: Any) -> list[Words]:
    found: list[Words] = []
    if isinstance(node, list):
        for child in node:
            found += _calls(child)
    elif isinstance(node, dict):
        for child in node.values():
            found += _calls(child)
        if node.get("Type") == "CallExpr" and node.get("Args"):
            found.append(tuple(_literal(word.get("Parts") or []) for word in node["Args"]))
    return found


@pytest.fixture(scope="module")
def programs() -> list[str]:
    return [random_program(seed).text for seed in range(5000, 5150)]


def test_shfmt_sees_the_same_commands(programs: list[str]) -> None:
    """Guards against a fault that generator and scanner share. Every word that contains an
    expansion counts as equal to every other; the rest of each command is compared exactly."""
    shfmt = Path(sysconfig.get_path("scripts"), "shfmt")
    if not shfmt.exists():
        pytest.skip("shfmt-py is not installed")
    read = 0
    # One process for ten: each program ends its last line, so they can follow one another.
    for start in range(0, len(programs), 10):
        some = programs[start : start + 10]
        command = [str(shfmt), "--to-json", "-ln", "bash"]
        text = "".join(some).encode()
        result = subprocess.run(command, input=text, capture_output=True, timeout=60)
        if result.returncode:  # it loses the body of a here-document before some `case` commands
            continue
        read += 1
        theirs = Counter(_calls(json.loads(result.stdout)))
        assert Counter(call for one in some for call in scanned(one)) == theirs
    assert read >= len(programs) / 10 * 0.8


def test_tree_sitter_sees_the_same_programs(programs: list[str]) -> None:
    """Guards the same with a third reader. It has known faults of its own (it gives up on some
    here-documents), so only programs that it reads without error count, and most must be read."""
    tree_sitter = pytest.importorskip("tree_sitter")
    bash = pytest.importorskip("tree_sitter_bash")
    parser = tree_sitter.Parser(tree_sitter.Language(bash.language()))
    readable = equal = 0
    for text in programs:
        root = parser.parse(text.encode()).root_node
        if root.has_error:
            continue
        readable += 1
        theirs: Counter[str] = Counter()
        stack = [root]
        while stack:
            node = stack.pop()
            stack += node.children
            if node.type == "command_name":
                theirs[node.text.decode()] += 1
        equal += theirs == Counter(command.words[0] for command in scan(text).commands)
    assert readable >= len(programs) * 0.8
    assert equal >= readable * 0.97, (equal, readable)
