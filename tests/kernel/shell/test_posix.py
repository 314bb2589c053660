"""Words, quoting, expansions, here-documents and redirections, by example."""

import pytest

from hmd.kernel.shell.posix import scan
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, QUOTED, Command


def words(text: str) -> list[list[str]]:
    return [command.words for command in scan(text).commands]


def only(text: str) -> Command:
    (command,) = scan(text).commands
    return command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("npm test", ["npm", "test"]),
        ("  npm\ttest\r\n", ["npm", "test"]),
        ("npm \\\n  te\\\nst", ["npm", "test"]),
        ("npm 't'es\"t\"", ["npm", "test"]),
        ("echo '' \"\"", ["echo", "", ""]),
        (r"\npm t\ est", ["npm", "t est"]),
        (r'echo "a\"b\$c\`d\\e\f"', ["echo", 'a"b$c`d\\e\\f']),
        ('echo "a\\\nb"', ["echo", "ab"]),
        ("echo 'a\\\nb'", ["echo", "a\\\nb"]),
        ("echo 'it'\\''s'", ["echo", "it's"]),
        ("echo a#b '#c' \"#d\" \\#e # f", ["echo", "a#b", "#c", "#d", "#e"]),
        ("echo a\u00a0b", ["echo", "a\u00a0b"]),
        ("echo {a,b} {} } { !", ["echo", "{a,b}", "{}", "}", "{", "!"]),
        ("echo a=b --x=y", ["echo", "a=b", "--x=y"]),
        ("echo if then done", ["echo", "if", "then", "done"]),
        ("'if' x", ["if", "x"]),
        (r"\time x", ["time", "x"]),
        ("echo $", ["echo", "$"]),
        ('echo "$"', ["echo", "$"]),
        ("[ -f x ]", ["[", "-f", "x", "]"]),
        ("1A=2 x", ["1A=2", "x"]),
        ("declare a=(1 2) b", ["declare", "a=(…)", "b"]),
        ("ls @(a|b).py !(c)", ["ls", "@(a|b).py", "!(c)"]),
        ("echo a\\", ["echo", "a\\"]),
    ],
)
def test_a_word_is_what_the_shell_passes(text: str, expected: list[str]) -> None:
    """Guards quote removal and the limits of a word (POSIX 2.2, 2.3)."""
    assert words(text) == [expected]


@pytest.mark.parametrize(
    ("inner", "value"),
    [
        (r"a\tb\n", "a\tb\n"),
        (r"\'\"\\\?", "'\"\\?"),
        (r"\x41\101\u00e9\U0001F600", "AA\u00e9\U0001f600"),
        (r"\xc3\xa9", "\u00e9"),
        (r"\xff", "\u00ff"),
        (r"\cA\c[", "\x01\x1b"),
        (r"a\0b", "a"),
        (r"\ud800", "\ufffd"),
        (r"\q", r"\q"),
    ],
)
def test_ansi_c_escapes(inner: str, value: str) -> None:
    """Guards `$'…'` (bash manual 3.1.2.4): a hidden program name must be seen."""
    command = only(f"echo $'{inner}'")
    assert command.words == ["echo", value]
    assert command.flags == [0, QUOTED]


@pytest.mark.parametrize(
    ("text", "value", "flags"),
    [
        ("$HOME/x", "$HOME/x", DYNAMIC),
        ("${x}", "${x}", DYNAMIC),
        ("$1$@", "$1$@", DYNAMIC),
        ("${x:-a b}", "${x:-a b}", DYNAMIC),
        ("${x//\\}/'}'}", "${x//\\}/'}'}", DYNAMIC),
        ('"${x:-it\'s}"', "${x:-it's}", DYNAMIC | QUOTED),
        ("\"${x#'}'}\"", "${x#'}'}", DYNAMIC | QUOTED),
        ('"${x:-"}"}"', '${x:-"}"}', DYNAMIC | QUOTED),
        ("$((1 + (2)))", "$((…))", DYNAMIC),
        ("$[1 + a[2]]", "$((…))", DYNAMIC),
        ("*.py", "*.py", GLOB),
        ("'*'.py", "*.py", QUOTED),
        ("a[bc]?", "a[bc]?", GLOB),
        ('$"hi $x"', "hi $x", DYNAMIC | QUOTED),
        ("pre$(x)post", "pre$(…)post", DYNAMIC),
        ('"`x`"', "$(…)", DYNAMIC | QUOTED),
        ("<(x)", "<(…)", DYNAMIC),
        (">(x)", ">(…)", DYNAMIC),
        ('"${ x; }"', "$(…)", DYNAMIC | QUOTED),
    ],
)
def test_expansions_stay_and_are_flagged(text: str, value: str, flags: int) -> None:
    """Guards that a value nobody knows is never mistaken for a known one."""
    command = scan(f"echo {text}").commands[-1]
    assert (command.words, command.flags) == (["echo", value], [0, flags])


@pytest.mark.parametrize(
    "text",
    [
        "echo $(hit a)",
        'echo "x $(hit a) y"',
        "echo `hit a`",
        "echo `echo \\`hit a\\``",
        'echo "`hit "a"`"',
        "echo ${x:-$(hit a)}",
        "echo \"${x:-'$(hit a)'}\"",
        'echo "${x:-"$(hit a)"}"',
        "echo $((1 + $(hit a)))",
        "echo $[1 + `hit a`]",
        "(( x = $(hit a) ))",
        "x=$(hit a)",
        "x=(1 $(hit a) 2)",
        "x[$(hit a)]=1",
        "x+=$(hit a)",
        "[[ -n $(hit a) ]]",
        "[[ x =~ ^($(hit a)|b)$ ]]",
        "cat <<E\n$(hit a)\nE\n",
        "cat <<E\n${x:-$(hit a)}\nE\n",
        "cat <<E\n'`hit a`'\nE\n",
        "echo > $(hit a)",
        "cat <<< $(hit a)",
        "cat <(hit a)",
        "x=${ hit a; }",
        "x=${| hit a; }",
        "for i in $(hit a); do :; done",
        "case $(hit a) in x) ;; esac",
        "case x in $(hit a)) ;; esac",
        "for (( i = $(hit a); ; )); do :; done",
        "echo @(a|$(hit a))",
        "echo $( (hit a) )",
        "echo $((hit a); b)",
        "f() { hit a; }",
        "echo $(case x in (y) hit a;; esac)",
        "echo $(case x in y) hit a;; esac)",
        "echo $(# it's )\n hit a)",
        "echo $(cat <<E\n)\nE\nhit a)",
    ],
)
def test_commands_inside_other_things_are_found(text: str) -> None:
    """Guards that no expansion hides a command."""
    scanned = scan(text)
    assert ["hit", "a"] in [command.words for command in scanned.commands]
    assert not scanned.partial


@pytest.mark.parametrize(
    "text",
    [
        "echo 'hit a; hit a'",
        "echo '$(hit a)' \\$(hit a | cat",
        'echo "\\$(hit a) \\`hit a\\`"',
        "cat <<'E'\n$(hit a)\nE\n",
        "cat <<\\E\n`hit a`\nE\n",
        "cat <<E\nhit a\n\\$(hit a)\nE\n",
        "# hit a",
        "echo x # ; hit a",
        "echo $((hit + a))",
        "[[ a && hit ]]",
        "for hit in a; do :; done",
        "case hit in hit) ;; esac",
        "x=(hit a)",
        "echo <(:) hit a",
        "hit () { :; }",
        "cat <<< 'hit a'",
    ],
)
def test_text_that_only_looks_like_a_command_is_none(text: str) -> None:
    """Guards against firing on data."""
    assert ["hit", "a"] not in words(text)
    assert ["hit"] not in words(text)


def test_evaluation_order() -> None:
    """Guards that what an expansion runs comes before the command that gets its result."""
    text = "a $(b `c`) <<E | d $(e)\n$(f)\nE\ng && h"
    assert [w[0] for w in words(text)] == ["c", "b", "f", "a", "e", "d", "g", "h"]


def test_assignments() -> None:
    """Guards prefix assignments, and that one alone is no command."""
    command = only("A=1 b+='x y' c[1]=$z npm test A=2")
    assert command.words == ["npm", "test", "A=2"]
    assert command.assigns == [("A", "1"), ("b", "x y"), ("c", "$z")]
    assert words("A=1 B=2; c=(1 2)\n> x") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x > f", [(">", "f")]),
        ("2>/dev/null x", [(">", "/dev/null")]),
        ("x 2>&1 >>f <&- {fd}>g", [(">&", "1"), (">>", "f"), ("<&", "-"), (">", "g")]),
        ("x &> f", [("&>", "f")]),
        ("x &>>f <>g >|h", [("&>>", "f"), ("<>", "g"), (">|", "h")]),
        ("x >'a b'\\ c", [(">", "a b c")]),
        ("x <<< $y", [("<<<", "$y")]),
        ("x>f", [(">", "f")]),
        ("x 2\\\n>f", []),
    ],
)
def test_redirections_are_no_words(text: str, expected: list[tuple[str, str]]) -> None:
    """Guards redirections anywhere in a command, with and without descriptors."""
    command = only(text)
    if expected:
        assert command.words == ["x"]
        assert [(r.op, r.target) for r in command.redirs] == expected
    else:  # the joined `2>` is two tokens for us, a descriptor for bash: the target is the same
        assert command.redirs[0].target == "f"


def test_a_number_that_touches_no_operator_is_a_word() -> None:
    """Guards `2 > f` and `a2>f`: neither has a descriptor."""
    assert only("x 2 > f").words == ["x", "2"]
    assert only("x a2>f").words == ["x", "a2"]


@pytest.mark.parametrize(
    ("text", "bodies"),
    [
        ("cat <<E\na\nb\nE\n", ["a\nb\n"]),
        ("cat <<E\nE", [""]),
        ("cat <<-E\n\t\ta\n\tE\n", ["a\n"]),
        ("cat <<-E\nx\tE\nE\n", ["x\tE\n"]),
        ("cat <<A <<'B'\n1\nA\n2\nB\n", ["1\n", "2\n"]),
        ("cat <<E; cat <<F\n1\nE\n2\nF\n", ["1\n", "2\n"]),
        ("cat <<'a b'\nx\na b\n", ["x\n"]),
        ("cat << \"E\"'F'\nx\nEF\n", ["x\n"]),
        ("cat <<$'E'\nx\nE\n", ["x\n"]),
        ("cat <<$x\ny\n$x\n", ["y\n"]),
        ("cat <<E\r\nx\r\nE\r\n", ["x\r\n"]),
        ("cat <<E\na\\\nE\nE\n", ["a\\\nE\n"]),
        ("cat <<E\na\\\\\nE\n", ["a\\\\\n"]),
        ("cat <<'E'\na\\\nE\n", ["a\\\n"]),
        ("cat <<E\n EE\nE \nEE\nE\n", [" EE\nE \nEE\n"]),
        ("x=$(cat <<E\n)'\"\nE\n)", [")'\"\n"]),
        ("x=$(cat <<E)\na\nE\n", ["a\n"]),
        ("<<E cat\na\nE\n", ["a\n"]),
        ("cat <<E &&\na\nE\ntrue", ["a\n"]),
    ],
)
def test_here_documents(text: str, bodies: list[str]) -> None:
    """Guards where a body begins and ends (POSIX 2.7.4): a wrong end runs data or hides code."""
    scanned = scan(text)
    found = [r.body for command in scanned.commands for r in command.redirs if r.op[:2] == "<<"]
    assert found == bodies
    assert not scanned.partial


def test_a_here_document_knows_whether_it_is_literal() -> None:
    """Guards `quoted`, which decides whether the body is expanded."""
    plain, quoted = (only(f"sh <<{d}\n$(x)\nE").redirs[0].quoted for d in ("\\E", "'E'"))
    assert plain and quoted
    assert not scan("sh <<E\nx\nE").commands[0].redirs[0].quoted


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a; b 'c", [["a"], ["b"]]),
        ('a; b "c $(d', [["a"], ["d"], ["b"]]),
        ("a) b", [["a"], ["b"]]),
        ("{ a; b", [["a"], ["b"]]),
        ("if a; then b", [["a"], ["b"]]),
        ("fi; a", [["a"]]),
        ("a &&", [["a"]]),
        ("&& a", [["a"]]),
        ("a;; b", [["a"], ["b"]]),
        ("cat <<E\nx", [["cat"]]),
        ("x=$(cat <<E\nx\nE); a", [["cat"], ["a"]]),
        ("a >; b", [["a"], ["b"]]),
        ("a <b>  # c", [["a"]]),
        ("a `b", [["a"]]),
        ("a ${b", [["a"]]),
        ("a $((1", [["1"], ["a"]]),
        ("[[ a", []),
        ("case x in", []),
        ("ls *(.) (a|b)*", [["ls", "*(.)", "(a|b)*"]]),
        ("for f (a b) x $f", [["x", "$f"]]),
        ("f() a", [["a"]]),
        ("(a) b", [["a"], ["b"]]),
    ],
)
def test_unreadable_text_keeps_what_was_found(text: str, kept: list[list[str]]) -> None:
    """Guards partial scans: errors and zsh's own syntax lose no command before (or behind) them."""
    scanned = scan(text)
    assert [command.words for command in scanned.commands] == kept
    assert scanned.partial


@pytest.mark.parametrize("text", ["", " \n\t", "# x", ";", "\\\n", "x=1", "! ", "(( 1 ))"])
def test_nothing_to_run(text: str) -> None:
    """Guards the empty cases."""
    assert scan(text).commands == []


def test_more_code_than_the_limit_is_partial() -> None:
    """Guards the 64 KiB limit: commands before it are kept, the body of a here-document is free."""
    filler = "# " + "x" * 70_000
    assert words(f"a\n{filler}\nb") == [["a"]]
    assert scan(f"a\n{filler}\nb").partial
    scanned = scan(f"cat <<E\n{filler}\nE\nb")
    assert [command.words for command in scanned.commands] == [["cat"], ["b"]]
    assert not scanned.partial
    assert not scan(f"cat <<E\n{'${x} ' * 30_000}\nE\nb").partial
    assert scan("a; b; c", limit=2).partial


def test_limits_on_number_and_nesting() -> None:
    """Guards the bounds that keep a scan cheap: 256 commands, 40 lists, 8 backquoted texts."""
    assert len(scan("a\n" * 256).commands) == 256
    assert not scan("a\n" * 256).partial
    assert len(scan("a\n" * 257).commands) == 256
    assert scan("a\n" * 257).partial
    assert not scan("(" * 1 + "(x) " + ")" * 1).partial
    assert not scan("( " * 39 + "x" + " )" * 39).partial
    assert scan("( " * 40 + "x" + " )" * 40).partial

    def backquoted(levels: int) -> str:
        code = "x"
        for _ in range(levels):
            code = "y `" + code.replace("\\", "\\\\").replace("`", "\\`") + "`"
        return code

    assert not scan(backquoted(8)).partial
    assert scan(backquoted(9)).partial
