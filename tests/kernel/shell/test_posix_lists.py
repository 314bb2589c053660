"""Pipelines, compound commands, functions: which commands run, and in which environment."""

import pytest

from hmd.kernel.shell.posix import scan
from hmd.kernel.shell.syntax import FUNCTION, PROCSUB, SUBSHELL, SUBST, TOP, Command


def names(text: str) -> str:
    return " ".join(command.words[0] for command in scan(text).commands)


def by_name(text: str) -> dict[str, Command]:
    return {command.words[0]: command for command in scan(text).commands}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a; b & c && d || e | f |& g\nh", "a b c d e f g h"),
        ("a&&b||c|d;e&f", "a b c d e f"),
        ("a &\\\n& b |\\\n| c", "a b c"),
        ("! a | ! b", "a b"),
        ("{ a; b; }", "a b"),
        ("{(a)}", "a"),
        ("(a;b)", "a b"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("if(a)then(b)fi", "a b"),
        ("while a; do b; done; until c; do d; done", "a b c d"),
        ("for i in x y; do a; done; for i; do b; done", "a b"),
        ("for i\nin x\ndo\na\ndone", "a"),
        ("for i in x; { a; }", "a"),
        ("for ((i = 0; i < 3; i++)); do a; done", "a"),
        ("for ((;;)) { a; }", "a"),
        ("select i in x; do a; done", "a"),
        ("case x in a|b) a;; (c) b;& d) c;;& *) d; esac; e", "a b c d e"),
        ("case x in esac; a", "a"),
        ("case x in\n# c\nx)\na\n;;\nesac", "a"),
        ("f() { a; }; f", "a f"),
        ("function f { a; }; function g() ( b ); h () if c; then d; fi", "a b c d"),
        ("f()\n{ a; }", "a"),
        ("[[ a < b && (c > d) || -f x ]] && e", "[[ e"),
        ("[[ x =~ ^(a b|c)+$ ]]; d", "[[ d"),
        ("((1 < 2)) && a", "a"),
        ("((a); (b))", "a b"),
        ("coproc a; coproc N { b; }", "a b"),
        ("time a | b; time -p c", "a b c"),
        ("if a; then b; fi > f; while c; do d; done < g | e", "a b c d e"),
        ("done\\\n; a", "a"),
        ("a\r\nb\r\n", "a b"),
        ("{ { { a; }; }; }", "a"),
        ("while a; do case x in y) if b; then c; fi;; esac; done | d", "a b c d"),
    ],
)
def test_every_command_is_found_once(text: str, expected: str) -> None:
    """Guards separators, reserved words and compound commands (POSIX 2.9)."""
    assert names(text) == expected


def test_context_is_the_innermost() -> None:
    """Guards `ctx`; a subshell inside a substitution or function still belongs to that."""
    found = by_name("a; (b $(c; (d))); e <(f `g`); h() { i; (j); }")
    assert {name: command.ctx for name, command in found.items()} == {
        "a": TOP,
        "b": SUBSHELL,
        "c": SUBST,
        "d": SUBST,
        "e": TOP,
        "f": PROCSUB,
        "g": SUBST,
        "i": FUNCTION,
        "j": FUNCTION,
    }


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("cd x; y", True),
        ("cd x && y", True),
        ("{ cd x; }; y", True),
        ("if cd x; then y; fi", True),
        ("while cd x; do y; done", True),
        ("(cd x; y)", True),
        ("! cd x; y", True),
        ("cd x > f; y", True),
        ("(cd x); y", False),
        ("z $(cd x); y", False),
        ("z `cd x`; y", False),
        ("z <(cd x); y", False),
        ("cd x | z; y", False),
        ("z | cd x; y", False),
        ("z | { cd x; }; y", False),
        ("cd x & y", False),
        ("cd x && z & y", False),
        ("{ cd x; z; } & y", False),
        ("coproc cd x; y", False),
        ("f() { cd x; }; y", False),
        ("cd x | y", False),
        ("z | { cd x; y; }", True),
        ("{ cd x && y; } | z", True),
        ("cat <<E\n$(cd x)\nE\ny", False),
        ("a |\nb; cd x; y", True),
    ],
)
def test_whether_a_directory_outlives_its_shell(text: str, leaves: bool) -> None:
    """Guards `shells`: `y` runs where `cd x` led only if each shell around `cd` is around `y`."""
    found = by_name(text)
    inner, outer = found["cd"].shells, found["y"].shells
    assert (outer[: len(inner)] == inner) is leaves


def test_shell_ids_name_one_environment_each() -> None:
    """Guards that two subshells are told apart and one is recognised again."""
    found = by_name("(a; (b); c); (d)")
    assert found["a"].shells == found["c"].shells
    assert found["b"].shells[:1] == found["a"].shells
    assert found["d"].shells[0] not in (*found["a"].shells, *found["b"].shells)


def test_parts_of_a_pipeline_share_its_number() -> None:
    """Guards `pipe`, by which a downloader is seen to feed a shell."""
    found = by_name("a | b |\n c && d; e | (f | g)")
    assert found["a"].pipe == found["b"].pipe == found["c"].pipe
    assert found["f"].pipe == found["g"].pipe
    assert len({found[name].pipe for name in "adef"}) == 4


def test_reserved_words_before_a_command() -> None:
    """Guards `prefix`: `time` and `coproc` are kept, `!` is not; `time -f` is the program."""
    found = scan("time a; ! time -p b; coproc c; ! d; time -f %e e").commands
    assert [command.prefix for command in found] == [("time",), ("time",), ("coproc",), (), ()]
    assert found[-1].words == ["time", "-f", "%e", "e"]


def test_redirections_of_a_compound_command_reach_the_commands_inside() -> None:
    """Guards `{ …; } > f`: what is inside writes to the file, what it expands does not."""
    found = by_name("{ a $(b); (c); } > f")
    assert [r.target for r in found["a"].redirs] == ["f"]
    assert [r.target for r in found["c"].redirs] == ["f"]
    assert found["b"].redirs == []


def test_a_here_document_of_a_compound_command() -> None:
    """Guards that a script fed to `(bash)` is seen, and not given to one of several readers."""
    assert scan("(bash) <<E\nx\nE").commands[0].redirs[0].body == "x\n"
    assert all(not c.redirs for c in scan("{ read a; bash; } <<E\nx\nE").commands)
