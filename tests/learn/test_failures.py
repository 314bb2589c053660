"""Guards that one mistake has one signature, and which failures blame the command itself."""

import pytest

from hmd.learn.failures import blames_command, is_answer, signature


def test_runs_of_one_mistake_share_a_signature() -> None:
    first = "Exit code 1\n/home/a/x.py:12: error 0x7ffe in 3.2s at 12:04:11"
    second = "Exit code 1\n/home/b/y/z.py:7: error 0x81aa in 11s at 08:00:59"
    assert signature(first) == signature(second)
    assert signature(first) != signature("Exit code 1\nsyntax error near unexpected token")


def test_the_telling_line_is_chosen() -> None:
    text = "Exit code 1\n\n> app@1.0.0 test\ncollected 3 items\nerror: unknown option '--fo'"
    assert signature(text) == "error: unknown option '--fo'"
    assert signature("") == ""


@pytest.mark.parametrize(
    "text",
    [
        "bash: pnpn: command not found",
        "error: unknown option `--alll'",
        'npm error Missing script: "biuld"',
        "git: 'pshu' is not a git command.",
        "make: *** No rule to make target 'tset'.",
        "fatal: The current branch x has no upstream branch.",
        "python: can't open file 'run.py': [Errno 2] No such file or directory",
    ],
)
def test_failures_that_blame_the_command(text: str) -> None:
    assert blames_command(text)


@pytest.mark.parametrize(
    "text",
    [
        "FAILED tests/test_cart.py::test_total - assert 9 == 10",
        "error[E0308]: mismatched types",
        "! [rejected] main -> main (fetch first)",
        "3 problems (3 errors, 0 warnings)",
        "",
    ],
)
def test_failures_that_tell_of_the_code(text: str) -> None:
    assert not blames_command(text)


def test_a_search_without_a_hit_is_an_answer() -> None:
    assert is_answer(["grep"], "exit_1", "Exit code 1")
    assert not is_answer(["grep"], "exit_2", "grep: x: No such file or directory")
    assert not is_answer(["pytest"], "exit_1", "Exit code 1")
