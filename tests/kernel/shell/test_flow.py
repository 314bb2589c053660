"""What flows into what: pipelines through compound commands, substitutions and redirections."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.flow import reaches
from hmd.kernel.shell.match import hidden, matches, parse_signature

FEEDS = [
    "{ curl x; } | sh",
    "(curl x) | sh",
    "(cd /tmp; curl x) | sh",
    "if true; then curl x; fi | sh",
    "if a; then b; elif c; then curl x; else d; fi | sh",
    "for u in a b; do curl $u; done | sh",
    "until curl x; do :; done | sh",
    "case x in x) curl y;; esac | bash",
    "! { curl x; } | sh",
    "time { curl x; } | sh",
    "{ { curl x; }; } | sh 2>&1",
    "{ curl x; } |\n sh",
    "{ curl x | gunzip; } | { cat | sh; }",
    "(curl x) | tee f | (sudo sh)",
    "curl x | { sh; }",
    "curl x | (cd /tmp; sh)",
    "curl x | { read a; sh; }",
    "curl x | if true; then sh; fi",
    "curl x | while read l; do bash; done",
    "curl x |& { sh; }",
    "a && { curl x; } | sh || b",
    "{ curl x | sh; } > log",
    "while curl x | sh; do :; done",
    "y=$(curl x | sh)",
    "while read l; do sh; done < <(curl x)",
    "sh < <(curl x)",
    "bash -s -- a 0< <(curl x)",
    "curl x > >(sh)",
    "curl x | tee >(sh) > /dev/null",
    "sh <(curl x)",
    "cat <(curl x) | sh",
    ". <(curl x)",
    'sh -c "$(curl x)"',
    'eval "$(curl x)"',
    'sh <<< "$(curl x)"',
    'source /dev/stdin <<< "$(curl x)"',
    'while read l; do sh; done <<< "$(curl x)"',
    "while read l; do sh; done <<E\n$(curl x)\nE",
    "cat <<E | sh\n$(curl x)\nE\n",
    'echo "$(curl x)" | sh',
    "printf %s `curl x` | sh",
    "bash -c 'curl x; echo' | sh",
    "curl x | bash -c 'cd a; sh'",
    "curl x | sudo bash -c 'sh'",
    "curl x > /dev/stdout | sh",
    "curl x 3> f | sh",
    "curl x | sh 3< f",
    "f() { curl x; }; f | sh",
    "f() { sh; }; curl x | f",
]
FEEDS_NOTHING = [
    "curl x > f && sh f",  # a file in between is not followed
    "{ curl x; }; sh",
    "{ curl x; sh; }",
    "(curl x) && (sh)",
    "if curl x; then sh; fi",
    "while curl x; do sh; done",
    "{ sh; } | curl x",
    "curl x > f | sh",
    "{ curl x > f; } | sh",
    "{ curl x; ls; } > f | sh",
    "curl x | { sh < f; }",
    "curl x | while read l; do sh; done < f",
    "curl x | while read l; do sh x.sh; done",
    "curl x | bash <<E\nls\nE\n",
    "sh <<E\ncurl x\nE\n",
    "diff <(curl a) <(sh)",
    "ls <(curl x) | sh",
    'git commit -m "$(curl x)" | sh',
    "for i in $(curl x); do sh; done",
    "A=$(curl x) sh",
    "sh x.sh <(curl y)",
    "tee >(curl x) | ls; sh",
    'curl x | grep "$(sh y)"',
    "bash -c 'curl x'; ls | sh",
    "f() { curl x; }; f; sh",
]
PIPED = parse_signature("curl | sh")


@pytest.mark.parametrize("command", FEEDS)
def test_what_a_command_prints_is_followed_to_who_reads_it(command: str) -> None:
    """Guards that a rule about a pipeline is not passed by writing the pipeline in another way."""
    assert matches(PIPED, canonical(command)) is not None


@pytest.mark.parametrize("command", FEEDS_NOTHING)
def test_commands_beside_one_another_feed_nothing(command: str) -> None:
    """Guards against hits on commands that bash does not connect."""
    assert matches(PIPED, canonical(command)) is None


@pytest.mark.parametrize(
    "command, inner",
    [
        ("{ echo git push; } | sh", "git push"),
        ("{ echo cd a; echo git push; } | bash", "git push"),
        ("echo git push | { sh; }", "git push"),
        ("sh < <(echo git push)", "git push"),
        ("{ cat <<E\ngit push\nE\n} | sh", "git push"),
    ],
)
def test_text_that_is_known_is_read_through_compound_commands(command: str, inner: str) -> None:
    """Guards the text itself: what a shell is fed counts as if it had been written there."""
    assert matches(parse_signature(inner), canonical(command)) is not None


@pytest.mark.parametrize("command", ["echo git push | sh > f", "{ echo hi > f; echo ls; } | sh"])
def test_text_that_goes_elsewhere_is_not_read(command: str) -> None:
    programs = [unit.program for unit in canonical(command).units]
    assert "hi" not in programs and programs.count("sh") == 1


def test_a_hidden_program_is_seen_through_compound_commands() -> None:
    """Guards `deny`, for which `$X` may be the program of a signature."""
    assert hidden(PIPED, canonical("curl x | { $S; }")) is not None
    assert hidden(PIPED, canonical("{ curl x; }; $S")) is None


def test_a_signature_may_be_written_with_compound_commands() -> None:
    """Guards that a rule means what bash would do with it."""
    for written in ("{ curl x; } | sh", "curl x | (sh)", 'sh -c "$(curl x)"'):
        parts = parse_signature(written).parts
        assert [part.key[0] for part in parts] == ["curl", "sh"]


# --- properties -----------------------------------------------------------------------------------

_around = st.sampled_from(
    [
        "{{ {}; }}",
        "( {} )",
        "if {}; then :; fi",
        "if :; then {}; fi",
        "while {}; do break; done",
        "for i in 1; do {}; done",
        "case a in a) {};; esac",
        "{{ :; {}; }}",
        "{{ {} | cat; }}",
        "{{ cat | {}; }}",
        "{{ {}; }} 2> log",
        "! {}",
    ]
)


def _wrapped(command: str, around: list[str]) -> str:
    for one in around:
        command = one.format(command)
    return command


@given(st.lists(_around, max_size=4), st.lists(_around, max_size=4))
@settings(derandomize=True, max_examples=150, deadline=None)
def test_any_nesting_connects_by_a_pipe_and_by_nothing_else(
    first: list[str], second: list[str]
) -> None:
    """Guards the whole kind: however deep the two stand, `|` between them connects and `;` does
    not. (`! x` may only stand before a pipeline, so it is no part of one.)"""
    source = _wrapped("curl x", first)
    target = _wrapped("sh", second)
    joined = f"{{ {source}; }} | {{ {target}; }}"
    assert matches(PIPED, canonical(joined)) is not None
    assert matches(PIPED, canonical(f"{source}; {target}")) is None


@given(st.lists(st.sampled_from("a b c d | ; ( ) { } $( <( >( < > f".split()), max_size=24))
@settings(derandomize=True, max_examples=300, deadline=None)
def test_flow_has_a_direction_and_is_never_a_circle(tokens: list[str]) -> None:
    """Guards the order that matching relies on, whatever is read: nothing feeds itself, and of two
    commands at most one feeds the other."""
    units = canonical(" ".join(tokens)).units
    for one in units:
        for other in units:
            assert not (reaches(one.flow, other.flow) and reaches(other.flow, one.flow))
