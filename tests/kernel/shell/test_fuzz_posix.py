"""Broken and hostile text: no exception, no long computation, whatever the scanner is given."""

import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from types import FrameType
from typing import Any

import pytest

from hmd.kernel.shell import posix
from hmd.kernel.shell.posix import scan
from tests.corpora import rows
from tests.kernel.shell.random_commands import random_program

SHORT = int(os.environ.get("HMD_FUZZ_SHORT", "3000"))
LONG = int(os.environ.get("HMD_FUZZ_LONG", "1000000"))
PIECES = [
    *"$( ) ` ' \" ${ } $(( )) (( [[ ]] { } ( ) ; & && || | |& ;; ;& < > << <<- <<< >& <(".split(),
    *">( # \\ $' $\" $[ ] = a[ += =( @( !( * ? ~ ! if then fi for in do done while".split(),
    *"case esac function time coproc select until x=1 2> {fd}> ${x:- ${| -- 'a \"b `c $x".split(),
    *("\n", "\\\n", " ", "\t", "\r", "\0", "\ud800", "\u00a0", "<<E\n", "\nE\n"),
]


def mutant(text: str, other: str, source: random.Random) -> str:
    """`text` with a few random edits, some of them taken from `other`."""
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(text) + 1)
        end = min(len(text), at + source.randint(0, 12))
        kind = source.randrange(6)
        if kind == 0:
            text = text[:at] + text[end:]
        elif kind == 1:
            text = text[:at] + text[at:end] * source.randint(2, 6) + text[end:]
        elif kind == 2:
            start = source.randrange(len(other) + 1)
            text = text[:at] + other[start : start + 40] + text[at:]
        elif kind == 3:
            text = text[:at]
        else:
            text = text[:at] + source.choice(PIECES) + text[at:]
    return text


def seconds(text: str) -> float:
    """CPU time of one scan."""
    start = time.process_time()
    scan(text)
    return time.process_time() - start


def too_slow(text: str, most: float) -> bool:
    """Whether a scan takes longer than `most` seconds, four times in a row: the machine is shared,
    and what it does besides must not decide."""
    return all(seconds(text) > most for _ in range(4))


def fuzz(texts: list[str], seed: int, count: int, most: float) -> None:
    source = random.Random(seed)
    for _ in range(count):
        text = mutant(source.choice(texts), source.choice(texts), source)
        assert not too_slow(text, most), repr(text)


def test_mutants_of_random_programs() -> None:
    """Guards the promise that `scan` never raises and never computes for long."""
    fuzz([random_program(seed).text for seed in range(200)], 1, SHORT, 0.5)


def _corpus() -> list[str]:
    names = ("commands/shell_commands.jsonl.gz", "commands/parser_tests_bash.jsonl.gz")
    return [row["cmd"] for name in names for row in rows(name)]


@pytest.mark.corpus
def test_mutants_of_recorded_commands() -> None:
    """Guards the same, starting from what agents and parser authors really write."""
    fuzz(_corpus(), 2, SHORT, 0.5)


@pytest.mark.corpus
@pytest.mark.long
@pytest.mark.timeout(1800)
def test_a_million_mutants_of_recorded_commands() -> None:
    """Guards the same in bulk, and that none takes 50 ms of CPU."""
    texts = _corpus()
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(fuzz, texts, seed, LONG // 20, 0.05) for seed in range(100, 120)]
        for job in jobs:
            job.result()


# --- shapes that are known to hurt readers of shell -----------------------------------------------


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


SHAPES: dict[str, Callable[[int], str]] = {
    name: repeated(unit)
    for name, unit in {
        "substitutions": "$(",
        "quoted substitutions": '"$(',
        "subshells": "(",
        "arithmetic or subshells": "((",
        "arithmetic expansions": "$((",
        "quoted arithmetic": '"$((',
        "failing arithmetic": "$((a) ",
        "old arithmetic": "$[",
        "parameters": "${",
        "quoted parameters": '"${x:-',
        "pipes": "a|",
        "background": "a&",
        "groups": "{ ",
        "closers": "} ",
        "parentheses": ")",
        "one word": "a",
        "digits": "9",
        "backslashes": "\\",
        "continuations": "\\\n",
        "backquotes": "`",
        "filled backquotes": "`a=1`",
        "single quotes": "'",
        "double quotes": '"',
        "ansi quotes": "$'",
        "blanks": " ",
        "comments": "a #\n",
        "hashes": "#",
        "subscripts": "a[ ;",
        "nested subscripts": "a[",
        "descriptors": "{x[",
        "assignments": "a=1 ",
        "arrays": "a=(",
        "array elements": "x=(a b ",
        "patterns": "@(",
        "glob groups": "a *(b) ",
        "process substitutions": "<(",
        "redirections": "> a ",
        "operators": ">",
        "cases": "case x in ",
        "ifs": "if ",
        "stray words": "fi ",
        "functions": "f() ",
        "almost functions": "f   ( ",
        "function words": "function f ",
        "loops": "for x in ",
        "arithmetic loops": "for ((",
        "negations": "! ",
        "times": "time    ",
        "coprocesses": "coproc ",
        "here-documents on a line": "cat <<a; ",
        "here-documents": "cat <<a\nb\na\n",
        "unclosed here-documents": "cat <<a\n$(",
        "nul": "\0",
        "surrogates": "\ud800",
    }.items()
}
SHAPES |= {
    "conditions": lambda size: "[[ " + "( " * (size // 2),
    "regular expressions": lambda size: "[[ a =~ " + "( " * (size // 2),
    "balanced arithmetic": lambda size: (
        "((" * (size // 8) + "a" * (size // 4) + ") )" * (size // 6)
    ),
    "closed subscripts": lambda size: "a[ ;" * (size // 8) + "]" * (size // 2),
    "case clauses": lambda size: "case x in " + "a) b=1;; " * (size // 9) + "esac",
    "tab-indented delimiters": lambda size: "cat <<-a\n" + "x\ta\n" * (size // 4),
    "joined delimiters": lambda size: "cat <<a\n" + "\\\na\n" * (size // 4),
    "expansions in a body": lambda size: "cat <<a\n" + "$(b=1) " * (size // 7) + "\na\n",
    "backquotes in a body": lambda size: "cat <<a\n" + "`b=1` \\" * (size // 7) + "\na\n",
    "escapes": lambda size: "x $'" + "\\x41" * (size // 4) + "'",
    "nested backquotes": lambda size: "".join("\\" * (2**n - 1) + "`" for n in range(15))[:size],
    "groups in the background": lambda size: "{ a& " * (size // 10) + "} & " * (size // 10),
    "pipes in groups": lambda size: "a | { " * (size // 12) + "b; } | " * (size // 14),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_long_shape_is_read_quickly(name: str) -> None:
    """Guards the hook's deadline at the limit of 64 KiB."""
    assert not too_slow(SHAPES[name](65536), 0.5)


def steps(text: str) -> int:
    """Lines of the scanner that are executed for `text`: a deterministic measure of work."""
    folder = os.path.dirname(posix.__file__)
    count = 0

    def on_line(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return on_line

    def on_call(frame: FrameType, event: str, argument: Any) -> Any:
        return on_line if frame.f_code.co_filename.startswith(folder) else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        scan(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_text_is_at_most_twice_the_work(name: str) -> None:
    """Guards against quadratic behaviour, by counted steps."""
    assert steps(SHAPES[name](4000)) <= 2.3 * steps(SHAPES[name](2000)) + 200


@pytest.mark.parametrize(
    "body",
    [
        "x y\n" * 262_144,
        "${y} \\$\n" * 131_072,
        "$(y)\n" * 200_000,
        "\t\n" * 500_000,
        "EE\n" * 349_525,
    ],
    ids=["plain", "parameters", "substitutions", "tabs", "almost delimiters"],
)
@pytest.mark.parametrize("operator", ["<<", "<<-"])
def test_a_here_document_of_a_megabyte(operator: str, body: str) -> None:
    """Guards that the body of a data here-document is skipped, however long it is."""
    text = f"cat {operator}E\n{body}E\nls"
    assert not too_slow(text, 0.5)
    found = [command.words for command in scan(text).commands]
    assert ["ls"] in found or len(found) == 256


def _hostile() -> Iterator[str]:
    yield "$(" * 3000
    yield "((" * 2000
    yield "".join(f"cat <<E{n}\nx\nE{n}\n" for n in range(3000))
    yield " ".join(f"cat <<E{n};" for n in range(3000)) + "\n" + "x\nE1\n" * 3000
    yield "a\n" * 500_000
    yield "x" * 1_000_000
    for opener in (
        "'",
        '"',
        "`",
        "$(",
        "${",
        "$((",
        "$[",
        "$'",
        "(",
        "{ ",
        "[[ ",
        "((",
        "case x in",
    ):
        yield f"a; b {opener}"
        yield f"a; {opener} b \\"
    quoted = "x"
    for _ in range(12):
        quoted = "bash -c '" + quoted.replace("'", "'\\''") + "'"
        yield quoted


def test_hostile_texts() -> None:
    """Guards single texts that broke readers of shell before."""
    for text in _hostile():
        assert not too_slow(text, 0.5), text[:80]


def test_little_stack_left() -> None:
    """Guards that deep nesting under a deep caller ends in a partial scan, not in an exception."""
    depth = 0
    frame: FrameType | None = sys._getframe()
    while frame:
        depth += 1
        frame = frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 60)
    try:
        scanned = scan("a; " + '"$( ' * 39)
    finally:
        sys.setrecursionlimit(before)
    assert scanned.partial
    assert scanned.commands[0].words == ["a"]
