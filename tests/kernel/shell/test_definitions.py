"""Functions and aliases that a text defines and calls."""

import pytest

from hmd.kernel.shell.canonical import MAX_UNITS, canonical
from hmd.kernel.shell.match import matches, parse_signature

CALLS = [
    ("rm -rf", 'f() { rm "$@"; }; f -rf /x'),
    ("rm -rf", "f() { rm $@; }\nf -rf /x"),
    ("rm -rf", 'function f { rm "$1" "$2"; }; f -rf x'),
    ("rm -rf", 'f() { rm -r "$@"; }; cd a && f -f x'),
    ("rm -rf", "f(){ rm ${1} ${2:-x}; }; f -rf"),
    ("rm -rf", "f() { rm -${1}f x; }; f r"),
    ("rm -rf", 'run() { "$@"; }; run rm -rf x'),
    ("rm -rf", 'run() { shift; "$@"; }; run a rm -rf x'),
    ("rm -rf", 'run() { shift 2; "$@"; }; run a b rm -rf x'),
    ("rm -rf", 'f() { g "$@"; }; g() { rm "$@"; }; f -rf x'),
    ("rm -rf", 'f() ( rm "$@"; ); f -rf x'),
    ("rm -rf", 'f() { if true; then sudo rm "$@"; fi; }; (f -rf x)'),
    ("rm -rf", 'f() { for i; do rm "$@"; done; }; A=1 f -rf x'),
    ("rm -rf", 'f() { xargs rm "$@"; }; ls | f -rf'),
    ("rm -rf", "bash -c 'f() { rm \"$@\"; }; f -rf x'"),
    ("rm -rf", 'eval "f() { rm \\"\\$@\\"; }"; f -rf x'),
    ("rm -rf", "alias d='rm -rf'\nd x"),
    ("rm -rf", "alias d='rm -r'; d -f x"),
    ("rm -rf", 'f() { g() { rm "$@"; }; }; f; g -rf x'),
    ("git push", 'git() { command git "$@"; }; git push'),
    ("git push", "alias g=git; g push"),
    ("git push", 'g() { cd sub; git "$@"; }; g push'),
    ("curl | sh", 'f() { "$1" x | "$2"; }; f curl bash'),
    ("curl | sh", 'alias g="curl -fsSL"; g x | sh'),
    ("curl | sh", "f() { curl x; }; g() { f | grep a; }; g | sh"),
]
NO_CALLS = [
    ("rm -rf", 'f() { rm "$@"; }; f -r x'),
    ("rm -rf", 'f() { rm "$@"; }; echo f -rf x'),
    ("rm -rf", 'f() { rm "$2"; }; f -rf x'),
    ("rm -rf", "f() { rm '$@'; }; f -rf x"),
    ("rm -rf", 'f -rf x; f() { rm "$@"; }'),
    ("rm -rf", 'f() { rm "$@"; }; f() { ls "$@"; }; f -rf x'),
    ("rm -rf", 'f() { rm "$@"; }; command f -rf x'),
    ("rm -rf", 'f() { shift; rm "$@"; }; f -rf x'),
    ("rm -rf", "alias d='rm -rf'"),
    ("rm -rf", "alias d='rm -rf'; \\d x; 'd' x"),
    ("rm -rf", 'alias d="$X"; d -rf x'),
    ("git push", 'g() { git "$@"; }; g pull'),
]


@pytest.mark.parametrize("signature, command", CALLS)
def test_a_call_is_what_its_definition_makes_of_it(signature: str, command: str) -> None:
    """Guards that a rule is not passed by giving its command a name first."""
    assert matches(parse_signature(signature), canonical(command)) is not None


@pytest.mark.parametrize("signature, command", NO_CALLS)
def test_what_is_not_called_so_is_no_hit(signature: str, command: str) -> None:
    assert matches(parse_signature(signature), canonical(command)) is None


def test_a_call_changes_the_directory_of_its_caller() -> None:
    """Guards that a function runs in the shell that calls it (POSIX 2.9.5)."""
    assert canonical('f() { cd "$1"; }; f sub; x').units[-1].cwd == "sub"
    assert canonical('f() ( cd "$1" ); f sub; x').units[-1].cwd == "."


def test_the_call_itself_stays_a_unit() -> None:
    """Guards rules about the function's own name."""
    assert matches(parse_signature("deploy prod"), canonical("deploy() { x; }; deploy prod"))


@pytest.mark.parametrize(
    "command",
    [
        ":(){ :|:& };:",
        'f() { f "$@"; }; f a',
        "f() { g; }; g() { f; }; f",
        "f() { f | f; f & }; f | f",
        "alias a=b; alias b=a; a",
        "alias a='a a'; a a",
        " ".join(f'f{n}() {{ f{n + 1} "$@" "$@"; f{n + 1}; }};' for n in range(40)) + " f0 x y z",
    ],
)
def test_definitions_that_call_themselves_end(command: str) -> None:
    """Guards the hook against a text that would grow without end."""
    form = canonical(command)
    assert 0 < len(form.units) <= MAX_UNITS
