"""Guards which commands PowerShell text runs: what is a command, what is only a value."""

import time

import pytest

from hmd.kernel.shell.powershell import MAX_COMMANDS, scan
from hmd.kernel.shell.syntax import DYNAMIC, FUNCTION, GLOB, QUOTED, SUBST, TOP, Command
from tests.corpora import rows
from tests.kernel.shell.mutants import mutants


def commands(text: str) -> list[list[str]]:
    found = scan(text)
    assert not found.partial, text
    return [command.words for command in found.commands]


def only(text: str) -> Command:
    (command,) = scan(text).commands
    return command


NPM = ["npm", "test"]

RUNS = [
    ("npm test", [NPM]),
    ("npm test; git status", [NPM, ["git", "status"]]),
    ("npm test\r\ngit status\r\n", [NPM, ["git", "status"]]),
    ("npm ci && npm test || echo no", [["npm", "ci"], NPM, ["echo", "no"]]),
    ("npm test &", [NPM]),
    ("npm `\n  test", [NPM]),
    ("npm `\r\n  test", [NPM]),
    ("npm test # then deploy; npm publish", [NPM]),
    ("npm <# not #> test", [NPM]),
    ("npm a#b", [["npm", "a#b"]]),
    ("& npm.cmd test", [["npm.cmd", "test"]]),
    ("& 'C:\\Program Files\\x.exe' test", [["C:\\Program Files\\x.exe", "test"]]),
    (". .\\env.ps1 -Quiet", [[".\\env.ps1", "-Quiet"]]),
    (".\\build.ps1", [[".\\build.ps1"]]),
    ("./build.ps1 -Fast", [["./build.ps1", "-Fast"]]),
    ("$r = npm test", [NPM]),
    ("$r, $s = npm test", [NPM]),
    ("[string]$r = npm test", [NPM]),
    ("$h.Key = npm test", [NPM]),
    ("$h['k'] += npm test", [NPM]),
    ("$r = if ($a) { npm test } else { npm ci }", [NPM, ["npm", "ci"]]),
    ("$r = $s = npm test", [NPM]),
    ("$null = npm test", [NPM]),
    ("(npm test).Length", [NPM]),
    ("@(npm test).Count", [NPM]),
    ("$(npm test)", [NPM]),
    ("[xml](npm test)", [NPM]),
    ("!(npm test)", [NPM]),
    ("-not (npm test)", [NPM]),
    ("'x' | npm test", [NPM]),
    ("@{ a = npm test; 'b' = (npm ci) }", [NPM, ["npm", "ci"]]),
    ("if ($?) { npm test }", [NPM]),
    ("IF (Test-Path x) { npm test } ElseIf ($y) { a } Else { b }", None),
    ("foreach ($d in Get-ChildItem) { npm test }", [["Get-ChildItem"], NPM]),
    ("for ($i = 0; $i -lt 3; $i++) { npm test }", [NPM]),
    ("while ($true) { npm test; break }", [NPM]),
    ("do { npm test } until ($?)", [NPM]),
    (":outer foreach ($x in 1..3) { npm test; continue outer }", [NPM]),
    ("switch ($x) { 'a' { npm test } { $_ -gt 1 } { npm ci } default { } }", [NPM, ["npm", "ci"]]),
    ("switch -Regex -File log.txt { '^a' { npm test } }", [NPM]),
    ("try { npm test } catch [A], [B] { npm ci } finally { x }", [NPM, ["npm", "ci"], ["x"]]),
    ("trap { npm test }", [NPM]),
    ("return npm test", [NPM]),
    ("exit 1", []),
    ("throw 'npm test'", []),
    ("begin { npm ci } process { npm test }", [["npm", "ci"], NPM]),
    ("process list", [["process", "list"]]),
    ("using namespace System.IO\nnpm test", [NPM]),
    ("param([Parameter(Mandatory = $true)][string]$A = 'npm ci',\n  [int]$B)\nnpm test", [NPM]),
    ("if ($a -and\n    $b) { npm test }", [NPM]),
    ("$x = $a +\n  $b\nnpm test", [NPM]),
    ("$i++\nnpm test", [NPM]),
    ("Get-Item a\n  | npm test", [["Get-Item", "a"], NPM]),
    ("Get-Item a |\n\n npm test", [["Get-Item", "a"], NPM]),
    ("7z x a.zip", [["7z", "x", "a.zip"]]),
    ("2 + 3; 0x1F; 10mb; 1..9; .5", []),
    ("1.2.3.ps1 x", [["1.2.3.ps1", "x"]]),
    ("'npm test'; \"npm test\"; $x; $x.Run('npm test'); [A]::B('npm test')", []),
    ("$x = 'npm test'", []),
    ("$x = @'\nnpm test\n'@", []),
    ("# npm test", []),
    ("<#\nnpm test\n#>", []),
    ("echo 'npm test'", [["echo", "npm test"]]),
    ("@'\nnpm test\n'@ | Set-Content x.md", [["Set-Content", "x.md"]]),
    ("$a.B((npm test), 'x')", [NPM]),
    ("[Obsolete('npm test')] $x = npm test", [NPM]),
    ("class A : B { [int]$n = 1; [void] Go([int]$n) { npm test } }", [NPM]),
    ("enum Color { Red; Green = 3 }", []),
    ("& { npm test } 1 2", [NPM]),
    ("", []),
    ("\n\n;;\n", []),
]


@pytest.mark.parametrize(("text", "expected"), RUNS)
def test_commands_that_run(text: str, expected: list[list[str]] | None) -> None:
    if expected is None:
        assert NPM in commands(text)
    else:
        assert commands(text) == expected


WORDS = [
    ("x 'it''s'", "it's", QUOTED),
    ('x "say ""hi"""', 'say "hi"', QUOTED),
    ("x `$a", "$a", QUOTED),
    ('x "a`tb`n"', "a\tb\n", QUOTED),
    ('x "`u{1F600}"', "\U0001f600", QUOTED),
    ("x a' b'c", "a bc", QUOTED),
    ('x --name="a b"', "--name=a b", QUOTED),
    ("x $HOME", "$HOME", DYNAMIC),
    ("x $env:TEMP\\a.txt", "$env:TEMP\\a.txt", DYNAMIC),
    ("x ${a b}", "${a b}", DYNAMIC),
    ('x "a $b c"', "a $b c", DYNAMIC | QUOTED),
    ("x $true", "$true", 0),
    ("x -Force:$false", "-Force:$false", 0),
    ("x $(y)", "$(…)", DYNAMIC),
    ("x (y).Name", "(…).Name", DYNAMIC),
    ("x @(1, 2)", "@(…)", DYNAMIC),
    ("x @{a = 1}", "@{…}", DYNAMIC),
    ("x @splat", "@splat", DYNAMIC),
    ("x $a.Trim('/')", "$a.Trim(…)", DYNAMIC),
    ("x a,b , c", "a,b,c", 0),
    ("x *.ts", "*.ts", GLOB),
    ("x 'a*'", "a*", QUOTED),
    ("x { y }", "{…}", DYNAMIC),
    ("x @'\nit's \"$x\"\n'@", 'it\'s "$x"', QUOTED),
    ('x @"\na "b" $c\n"@', 'a "b" $c', QUOTED | DYNAMIC),
    ("x \u2013Force", "-Force", 0),
    ("x \u201ca b\u201d", "a b", QUOTED),
    ("x \u2018a b\u2019", "a b", QUOTED),
]


@pytest.mark.parametrize(("text", "word", "flags"), WORDS)
def test_words(text: str, word: str, flags: int) -> None:
    command = next(c for c in scan(text).commands if c.words[0] == "x")
    assert (command.words[1], command.flags[1]) == (word, flags)
    assert len(command.words) == 2


def test_nested_commands_come_in_evaluation_order() -> None:
    """Guards that values come before their command, script blocks after it."""
    text = 'Write-Host "a $(npm ci)" | ForEach-Object { npm test } | Out-Null'
    found = scan(text).commands
    assert [c.words[0] for c in found] == ["npm", "Write-Host", "ForEach-Object", "npm", "Out-Null"]
    assert [c.ctx for c in found] == [SUBST, TOP, TOP, TOP, TOP]
    assert found[1].pipe == found[2].pipe == found[4].pipe
    assert len({found[0].pipe, found[1].pipe, found[3].pipe}) == 3


def test_functions_and_stored_blocks_are_definitions() -> None:
    found = scan("function Go($a) { npm test }; $b = { npm ci }; Go").commands
    assert [(c.words[-1], c.ctx) for c in found] == [
        ("test", FUNCTION),
        ("ci", FUNCTION),
        ("Go", TOP),
    ]


def test_only_jobs_and_remote_sessions_keep_their_directory() -> None:
    """Guards the directory in force: `cd` inside an ordinary block outlives it."""
    assert [c.shells for c in scan("1..3 | % { cd a }; npm test").commands][-2:] == [(), ()]
    job = scan("Start-Job { cd a; Start-Job { cd b } }; npm test").commands
    assert [c.shells for c in job] == [(), (1,), (1,), (1, 2), ()]
    assert scan("1 | % -Parallel { cd a }").commands[1].shells == (1,)


def test_environment_is_that_of_later_commands() -> None:
    found = scan("npm ci; $env:CI = '1'; ${env:LANG}=\"C\"\nnpm test").commands
    assert [c.assigns for c in found] == [[], [("CI", "1"), ("LANG", "C")]]
    assert only("$env:A = (Get-Date)").words == ["Get-Date"]


def test_redirections() -> None:
    command = only("npm test > out.txt 2>> 'a b.log' *>&1 3>$null")
    assert command.words == NPM
    assert [(r.op, r.target) for r in command.redirs] == [
        (">", "out.txt"),
        (">>", "a b.log"),
        (">&", "1"),
        (">", "$null"),
    ]
    assert only("echo a2>b").words == ["echo", "a2"]


def test_stop_parsing_takes_the_line_as_it_is() -> None:
    found = scan('docker run --% -v "C:\\a b":/x ; %HOME% | cat\nnpm test').commands
    assert found[0].words == ["docker", "run", "-v", "C:\\a b:/x", ";", "%HOME%"]
    assert found[0].flags[-1] == DYNAMIC
    assert [c.words[0] for c in found[1:]] == ["cat", "npm"]


@pytest.mark.parametrize(
    "text",
    [
        "npm test; echo 'a",
        'npm test; echo "a',
        "npm test; x (",
        "npm test; if ($a) {",
        "npm test )",
        "npm test }",
        "npm test >",
        "npm test; @'\nabc",
        "npm test <# abc",
        "npm test; x @{ a = 1",
    ],
)
def test_unfinished_text_is_partial_and_keeps_what_was_found(text: str) -> None:
    found = scan(text)
    assert found.partial
    assert NPM in [c.words for c in found.commands]


def test_limits() -> None:
    assert len(scan("a;" * (MAX_COMMANDS + 9)).commands) == MAX_COMMANDS
    assert scan("a;" * (MAX_COMMANDS + 9)).partial
    assert not scan("a;" * MAX_COMMANDS).partial
    assert scan("a " * 40000).partial
    assert scan("a; b", limit=2).partial
    data = "@'\n" + "x" * 200_000 + "\n'@ | npm test"
    assert [c.words for c in scan(data).commands] == [NPM]
    assert not scan(data).partial


ALPHABET = [*"$(){}[]@'\"`|&;,<>#=\n .:-+*?!%", "$(", "@{", "@(", "@'\n", "\n'@", '@"\n', "--%"]
ALPHABET += ["if (", "switch (x) {", "function ", "class A {", "<#", "#>", "\u201c", "\u2019", "é"]
SEEDS = [text for text, _ in RUNS] + [text for text, _, _ in WORDS]


def check(text: str) -> None:
    found = scan(text)
    for command in found.commands:
        assert command.words
        assert len(command.words) == len(command.flags)
        assert command.ctx in (TOP, SUBST, FUNCTION)


def test_damaged_text_is_read_without_failing() -> None:
    """Guards the hook path: nothing raises, whatever the text."""
    for text in mutants(SEEDS, ALPHABET, 2000, seed=1):
        check(text)


@pytest.mark.long
def test_much_damaged_text_is_read_without_failing() -> None:
    for text in mutants(SEEDS, ALPHABET, 60_000, seed=2):
        check(text)


PIECES = ["$(", "(", "{", "[", "@(", "@{", "@{a=", '"$(', "if (", "x (", "$x=", "return ", "a.b("]
PIECES += ["${", "@'", "@'\n", '@"\n', "`", "'", '"', "<#", "#", "a,", "|", "&", "\n", "x;", "a\n"]
PIECES += [
    "$a.b(1)",
    "switch (x) {",
    "class A {",
    ")",
    "}",
    "]",
    "1.",
    "-",
    "> ",
    "--% ",
    "$",
    "$(",
]


@pytest.mark.parametrize("piece", PIECES)
def test_repetition_is_cheap(piece: str) -> None:
    """Guards linear time: 64 KiB of the same piece, within a bound far from a quadratic's cost."""
    start = time.process_time()
    check(piece * (65536 // len(piece)))
    assert time.process_time() - start < 2.0


@pytest.mark.corpus
def test_recorded_commands_are_read_in_full() -> None:
    """Guards against texts that real users run and that we would only read in part."""
    texts = [r["cmd"] for r in rows("commands/powershell_cmd.jsonl.gz")]
    dialects = [r["dialect"] for r in rows("commands/powershell_cmd.jsonl.gz")]
    scans = [scan(t) for t, d in zip(texts, dialects, strict=True) if d == "powershell"]
    assert len(scans) > 600
    assert sum(s.partial for s in scans) / len(scans) < 0.02


@pytest.mark.corpus
def test_labelled_commands() -> None:
    """Guards the labels: the program that really runs is among the commands, and only then."""
    for row in rows("commands/labels.jsonl.gz"):
        if row["dialect"] != "powershell" or not row["program"]:
            continue
        found = [c.words for c in scan(row["command"]).commands]
        programs = {words[0].lower().replace("\\", "/").split("/")[-1] for words in found}
        wrapped = programs & {"cmd", "powershell.exe"}
        assert wrapped or row["program"] in {p.removesuffix(".cmd") for p in programs}, row
