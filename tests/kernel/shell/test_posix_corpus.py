"""The scanner against recorded commands, and the commands mvdan/sh found in them.

Normalisation, on both sides: line continuations inside the raw text of an expansion are removed;
`>(…)` is written `<(…)`, as the reference does; a word that assigns an array element (`a[1]=x`,
as an argument of `declare` and its like) loses its subscript, which the reference drops; the
operands of `let` are left out.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from hmd.kernel.shell.posix import scan
from tests.corpora import rows

pytestmark = pytest.mark.corpus

Commands = Counter[tuple[str, ...]]

_ELEMENT = re.compile(r"^([A-Za-z_]\w*)\[[^]]*(?:\[[^]]*\][^]]*)?\](?==)")
_DECLARES = {"declare", "export", "local", "readonly", "typeset"}


def normalised(words: list[str]) -> tuple[str, ...]:
    if words[:1] == ["let"]:
        return ("let",)
    words = [word.replace("\\\n", "").replace(">(…)", "<(…)") for word in words]
    if words[:1] and words[0] in _DECLARES:
        words = [_ELEMENT.sub(r"\1", word) for word in words]
    return tuple(words)


def judged(name: str) -> Iterator[tuple[str, Commands, Commands]]:
    """Each command that bash accepts and the reference read: its text, our and its commands."""
    for row in rows(name):
        if row["bash_n"] and row["ref_argv"] is not None:
            ours = Counter(normalised(command.words) for command in scan(row["cmd"]).commands)
            yield row["cmd"], ours, Counter(normalised(words) for words in row["ref_argv"])


def kind(text: str, ours: Commands, theirs: Commands) -> str:
    """Why the two differ, as far as it is known."""
    if sum(ours.values()) == 256:
        return "limit: more than 256 commands"
    if "coproc" in text:
        return "reference: loses a coprocess that has a redirection"
    if re.search(r"[@?*+!]\([^)]*(\$\(|`)", text):
        return "reference: commands inside an extended pattern"
    if "$'" in text and re.search(r"\\(c|0|x0|U0|u0)", text):
        return "reference: keeps NUL and \\\\c in $'…'"
    if "$'" in text:
        return "reference: octal above 377 in $'…'"
    if re.search(r"\{\w+\[[^]]*\]\}[<>]", text):
        return "descriptor variable with an odd subscript"
    if "declare a[ " in text:
        return "subscript with blanks after declare"
    if "extglob" in text:
        return "extended pattern as the name of a function"
    return "unknown"


def compare(name: str) -> tuple[float, Counter[str]]:
    total = 0
    kinds: Counter[str] = Counter()
    for text, ours, theirs in judged(name):
        total += 1
        if ours != theirs:
            kinds[kind(text, ours, theirs)] += 1
    print(f"{name}: {sum(kinds.values())} of {total} differ")  # noqa: T201
    for label, count in kinds.most_common():
        print(f"  {count:3} {label}")  # noqa: T201
    return 1 - sum(kinds.values()) / total, kinds


def test_real_commands_are_read_like_the_reference() -> None:
    """Guards the gate of the specification: at least 99.9 % of real commands are equal."""
    share, kinds = compare("commands/shell_commands.jsonl.gz")
    assert share >= 0.999
    assert kinds["unknown"] == 0


def test_adversarial_commands_are_read_like_the_reference() -> None:
    """Guards the gate of the specification: at least 98.5 % of parser tests are equal, and every
    difference is of a kind that was looked at."""
    share, kinds = compare("commands/parser_tests_bash.jsonl.gz")
    assert share >= 0.985
    assert kinds["unknown"] == 0, kinds


@pytest.mark.parametrize(
    "name", ["commands/shell_commands.jsonl.gz", "commands/parser_tests_bash.jsonl.gz"]
)
def test_what_bash_accepts_is_read_to_its_end(name: str) -> None:
    """Guards `partial`: it would make a harmless command look suspicious. (Rows that the reference
    rejects too are left out: most of them end inside a here-document.)"""
    known: Any = ("cmd\n" * 30, "@(${$(a))")  # more than 256 commands; unclosed inside a pattern
    for row in rows(name):
        if row["bash_n"] and row["ref_argv"] is not None:
            text = row["cmd"]
            assert not scan(text).partial or any(part in text for part in known), text


def test_what_bash_rejects_is_partial() -> None:
    """Guards the other side on real text. Left out: rows `bash -n` took for an option."""
    for row in rows("commands/shell_commands.jsonl.gz"):
        if not row["bash_n"] and not row["cmd"].startswith("--"):
            assert scan(row["cmd"]).partial, row["cmd"]
