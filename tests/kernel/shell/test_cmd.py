"""Guards which commands a cmd line runs, and how their arguments are split."""

import time

import pytest

from hmd.kernel.shell.cmd import MAX_COMMANDS, scan
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, QUOTED, SUBST, TOP
from tests.corpora import rows
from tests.kernel.shell.mutants import mutants

NPM = ["npm", "test"]

RUNS = [
    ("npm test", [NPM]),
    ("npm test & git status", [NPM, ["git", "status"]]),
    ("npm ci&&npm test||x", [["npm", "ci"], NPM, ["x"]]),
    ("npm ci | npm test", [["npm", "ci"], NPM]),
    ("npm ci\r\nnpm test\r\n", [["npm", "ci"], NPM]),
    ("npm ^\n test", [NPM]),
    ("npm ^\r\n test", [NPM]),
    ("@echo off & @npm test", [["echo", "off"], NPM]),
    ("cd /d packages\\api && npm test", [["cd", "/d", "packages\\api"], NPM]),
    ("call npm test", [NPM]),
    ("call build.bat fast", [["build.bat", "fast"]]),
    ("call :sub a & npm test", [NPM]),
    ("start npm test", [NPM]),
    ('start "title" /d C:\\x /b /wait npm test', [NPM]),
    ('start /b "" npm test', [NPM]),
    ("start", [["start"]]),
    ("set CI=1&& npm test", [NPM]),
    ('set "A=x y" & npm test', [NPM]),
    ("set /a n=1+1 & set /p q=Name: & npm test", [NPM]),
    ("set", [["set"]]),
    ("set PATH", [["set", "PATH"]]),
    ("rem npm test & npm ci", []),
    ("npm test & rem done", [NPM]),
    ("REM", []),
    ("remove x", [["remove", "x"]]),
    (":: npm test\n:label\nnpm test", [NPM]),
    ("if exist a.txt npm test", [NPM]),
    ("if not defined CI (npm test) else (npm ci)", [NPM, ["npm", "ci"]]),
    ('if /i "%A%"=="npm" npm test', [NPM]),
    ("if %A% == 1 npm test", [NPM]),
    ("if %A%== 1 npm test", [NPM]),
    ("if %A% ==1 npm test", [NPM]),
    ("if %A% GEQ 1 npm test", [NPM]),
    ("if errorlevel 1 (npm test) else if a==b (npm ci) else x", [NPM, ["npm", "ci"], ["x"]]),
    ("for %i in (a b) do npm test", [NPM]),
    ("for /r src %i in (*.ts) do @npm test", [NPM]),
    ("for /l %i in (1,1,3) do (npm ci & npm test)", [["npm", "ci"], NPM]),
    ("for /f %i in ('npm test') do x", [NPM, ["x"]]),
    ('for /f "usebackq" %i in (`npm ci ^| npm test`) do x', [["npm", "ci"], NPM, ["x"]]),
    ("for /f %i in (npm.txt) do npm test", [NPM]),
    ("(npm ci & (npm test))", [["npm", "ci"], NPM]),
    ("(npm test) > log.txt 2>&1 & x", [NPM, ["x"]]),
    ("echo npm test", [["echo", "npm", "test"]]),
    ("echo a ^& npm test", [["echo", "a", "&", "npm", "test"]]),
    ('echo "a & npm test"', [["echo", "a & npm test"]]),
    ("echo. & echo.x & cd.. & dir/s", [["echo"], ["echo", "x"], ["cd", ".."], ["dir", "/s"]]),
    ('"C:\\Program Files\\x.exe" test', [["C:\\Program Files\\x.exe", "test"]]),
    ("npm.cmd test", [["npm.cmd", "test"]]),
    ("ech^o x", [["echo", "x"]]),
    ("x (a) b", [["x", "(a)", "b"]]),
    ("", []),
    (" & \n\n ", []),
]


@pytest.mark.parametrize(("text", "expected"), RUNS)
def test_commands_that_run(text: str, expected: list[list[str]]) -> None:
    found = scan(text)
    assert [command.words for command in found.commands] == expected
    assert not found.partial


WORDS = [
    ('x "a b"', "a b", QUOTED),
    ('x --name="a b"', "--name=a b", QUOTED),
    ('x "say \\"hi\\""', 'say "hi"', QUOTED),
    ('x "a\\\\"', "a\\", QUOTED),
    ("x a\\b", "a\\b", 0),
    ('x ""', "", QUOTED),
    ("x *.ts", "*.ts", GLOB),
    ('x "*.ts"', "*.ts", QUOTED),
    ("x %PATH%", "%PATH%", DYNAMIC),
    ("x %A:~0,3%b", "%A:~0,3%b", DYNAMIC),
    ("x !A!", "!A!", DYNAMIC),
    ("x %~dp0", "%~dp0", DYNAMIC),
    ("x --format=%h", "--format=%h", 0),
    ("x a%20b", "a%20b", 0),
    ("x 100%", "100%", 0),
    ("for %i in (a) do x %i.ts", "%i.ts", DYNAMIC),
    ("for %%i in (a) do x %%i", "%%i", DYNAMIC),
]


@pytest.mark.parametrize(("text", "word", "flags"), WORDS)
def test_words(text: str, word: str, flags: int) -> None:
    (command,) = scan(text).commands
    assert (command.words, command.flags) == (["x", word], [0, flags])


def test_own_commands_keep_a_backslash_before_a_quote() -> None:
    """Guards `cd "C:\\My Dir\\"`: only programs read `\\"` as a quote."""
    assert scan('cd "C:\\My Dir\\" && npm test').commands[0].words == ["cd", "C:\\My Dir\\"]


def test_environment_is_that_of_later_commands() -> None:
    found = scan('npm ci & set CI=1& set "A=x y" & npm test').commands
    assert [c.assigns for c in found] == [[], [("CI", "1"), ("A", "x y")]]


def test_parts_of_a_pipeline_keep_their_directory() -> None:
    """Guards the directory in force: each side of a bar is an interpreter of its own."""
    found = scan("(cd a & x) | y & z").commands
    assert [c.shells for c in found] == [(1,), (1,), (2,), ()]
    assert scan("cd a & x").commands[0].shells == ()


def test_command_of_a_loop_is_a_substitution() -> None:
    first, second = scan("for /f %i in ('npm test') do x").commands
    assert (first.ctx, first.shells) == (SUBST, (1,))
    assert (second.ctx, second.shells) == (TOP, ())


def test_redirections() -> None:
    (command,) = scan('>out.txt npm test 2>>"a b.log" 2>&1 <in.txt').commands
    assert command.words == NPM
    assert [(r.op, r.target) for r in command.redirs] == [
        (">", "out.txt"),
        (">>", "a b.log"),
        (">&", "1"),
        ("<", "in.txt"),
    ]
    assert scan("echo a2>b").commands[0].words == ["echo", "a2"]


@pytest.mark.parametrize(
    "text",
    ['npm test & echo "a', "npm test & (x", "npm test & )", "npm test >", "npm test & for x"],
)
def test_unfinished_text_is_partial_and_keeps_what_was_found(text: str) -> None:
    found = scan(text)
    assert found.partial
    assert NPM in [command.words for command in found.commands]


def test_limits() -> None:
    assert len(scan("a&" * (MAX_COMMANDS + 9)).commands) == MAX_COMMANDS
    assert scan("a&" * (MAX_COMMANDS + 9)).partial
    assert not scan("a&" * MAX_COMMANDS).partial
    assert scan("a " * 40000).partial
    assert scan("a& b", limit=2).partial


ALPHABET = [*"\"^&|()<>%!=,;@:\n /\\'`", "if ", "for ", " in (", ") do ", "else ", "set ", "2>&1"]
ALPHABET += ["rem ", "call :", "start ", "for /f %i in ('", "') do ", "^\n", "==", "é"]
SEEDS = [text for text, _ in RUNS] + [text for text, _, _ in WORDS]


def check(text: str) -> None:
    for command in scan(text).commands:
        assert command.words
        assert len(command.words) == len(command.flags)
        assert command.ctx in (TOP, SUBST)


def test_damaged_text_is_read_without_failing() -> None:
    """Guards the hook path: nothing raises, whatever the text."""
    for text in mutants(SEEDS, ALPHABET, 2000, seed=1):
        check(text)


@pytest.mark.long
def test_much_damaged_text_is_read_without_failing() -> None:
    for text in mutants(SEEDS, ALPHABET, 60_000, seed=2):
        check(text)


PIECES = ["(", ")", "()", '"', "^", "^\n", "&", "|", "<", ">", "> a", "2>", "%", "%a", "!a", "if "]
PIECES += ["if a==", "for ", "for %a in (", "for %a in (b) do ", "for /f %a in ('", "call ", ":"]
PIECES += ["start ", "set a=", "rem ", "(a)", '(a)"', "/", "\\", '\\"', "x%a", "else ", "\n", "x|"]


@pytest.mark.parametrize("piece", PIECES)
def test_repetition_is_cheap(piece: str) -> None:
    """Guards linear time: 64 KiB of the same piece, within a bound far from a quadratic's cost."""
    start = time.process_time()
    check(piece * (65536 // len(piece)))
    assert time.process_time() - start < 2.0


def test_nested_loops_over_commands_are_cheap() -> None:
    start = time.process_time()
    check("for /f %a in ('" * 2000 + "x" * 10_000 + "') do y" * 2000)
    assert time.process_time() - start < 2.0


@pytest.mark.corpus
def test_recorded_commands_are_read_in_full() -> None:
    """Guards against texts that real users run and that we would only read in part, and against
    losing the program that a plain line begins with."""
    scans = 0
    for row in rows("commands/powershell_cmd.jsonl.gz"):
        text = row["cmd"]
        if row["dialect"] != "cmd":
            continue
        scans += 1
        found = scan(text)
        assert not found.partial or text.count('"') % 2 or "<" in text, text
        if found.commands and not any(char in text for char in '&|()<>^"=%'):
            first = text.split()[0]
            assert found.commands[0].words[0] in (first, first.split("/")[0]) or first in (
                "start",
                "call",
            )
    assert scans > 900
