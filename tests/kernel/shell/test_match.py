"""Guards signatures: what they ask for, why they do not match, how they are stored and found."""

import json

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.match import (
    from_plain,
    heads,
    hidden,
    hidden_heads,
    matches,
    parse_signature,
    to_plain,
    why_not,
)


@pytest.mark.parametrize(
    "pattern, literal, head, specific",
    [
        ("git push", "git push", "git push", True),
        ("git -C a push", "git push", "git push", True),
        ("cd a && git add . && git push", "git push", "git push", True),
        ("shutdown", "shutdown", "shutdown", False),
        ("sudo shutdown", "shutdown", "shutdown", False),
        ("pm test", "pm test", "pm test", False),
        ("bin vitest run", "bin vitest run", "bin vitest", True),
        ("npx vitest", "npx vitest", "npx vitest", True),
        ("curl | sh", "curl | sh", "curl", True),
        ("cd a", "cd a", "cd", True),
        ("Remove-Item -Recurse", "Remove-Item -Recurse", "remove-item", True),
        ("git commit -m 'a b'", "git commit -m 'a b'", "git commit", True),
    ],
)
def test_what_a_pattern_says(pattern: str, literal: str, head: str, specific: bool) -> None:
    signature = parse_signature(pattern)
    assert (signature.literal, signature.head, signature.specific) == (literal, head, specific)
    assert not signature.problem


@pytest.mark.parametrize(
    "pattern",
    ["", "  ", "# x", "A=1", "git 'push", "$X push", "x" * 3000, "|".join("abcdefghij")],
)
def test_what_cannot_be_a_signature_says_why(pattern: str) -> None:
    signature = parse_signature(pattern)
    assert signature.problem and signature.problem[0].islower()
    assert not signature.problem.endswith(".")
    form = canonical("git push")
    assert matches(signature, form) is None and hidden(signature, form) is None
    assert why_not(signature, form) == signature.problem
    assert signature.head == "" and not signature.specific


@pytest.mark.parametrize(
    "pattern, command, reason",
    [
        ("git push", "git pull", "no unit runs git push"),
        ("git push --force", "git push", "option --force missing"),
        ("git push origin", "git push fork", "word origin missing"),
        ("npm test", "docker exec c npm test", "inside docker exec"),
        ("npm test", "sudo docker exec c npm test", "inside docker exec"),
        ("git push", "git push --help", "only asks about git"),
        ("sudo rm x", "rm x", "not under sudo"),
        ("CI=1 npm test", "npm test", "CI is not set before it"),
        ("cd a && npm test", "cd b && npm test", "runs in b, not in a"),
        ("curl | sh", "curl x > f", "no unit runs sh"),
        ("curl | sh", "curl x; ls | sh", "no single pipeline runs curl | sh"),
        ("git push", "git push", ""),
    ],
)
def test_why_a_signature_does_not_match(pattern: str, command: str, reason: str) -> None:
    assert why_not(parse_signature(pattern), canonical(command)) == reason


@pytest.mark.parametrize(
    "pattern", ["git push --force", "cd a && CI=1 sudo npm test", "curl | sh", "which x", ""]
)
def test_a_stored_signature_is_the_same(pattern: str) -> None:
    signature = parse_signature(pattern)
    stored = from_plain(json.loads(json.dumps(to_plain(signature))))
    assert to_plain(stored) == to_plain(signature)
    for command in ("git push -f", "cd a && CI=1 sudo npm test", "curl x | bash", "which x"):
        form = canonical(command)
        assert (matches(stored, form) is None) == (matches(signature, form) is None)


@pytest.mark.parametrize("damaged", [{}, {"parts": [[1]]}, {"parts": [[[], [], [], "", 0, 0]]}])
def test_a_damaged_row_is_a_signature_with_a_problem(damaged: dict[str, object]) -> None:
    assert from_plain(damaged).problem


def test_the_unit_that_matched_is_returned() -> None:
    unit = matches(parse_signature("npm test"), canonical("cd a; ls; CI=1 npm t"))
    assert unit is not None and unit.argv == ["npm", "t"] and unit.cwd == "a"
    last = matches(parse_signature("curl | sh"), canonical("curl x | tee y | sudo bash"))
    assert last is not None and last.argv == ["bash"]


def test_heads_list_every_bucket_once() -> None:
    assert heads(canonical("CI=1 npx vitest run; GIT.EXE push; git pull")) == [
        "npx",
        "npx vitest",
        "vitest",
        "vitest run",
        "bin",
        "bin vitest",
        "git",
        "git push",
        "git pull",
    ]


@pytest.mark.parametrize(
    "pattern, head",
    [
        ("git push origin main", "git push"),
        ("git -C sub push", "git push"),
        ("git --version", "git"),
        ("git", "git"),
        ("rm -rf build", "rm"),
        ("rm build", "rm"),  # an operand may stand anywhere
        ("make test", "make"),  # so may a goal
        ("docker compose up", "docker compose"),
        ("npm run build", "npm run"),
        ("pm add", "pm add"),
        ("Git Push", "git"),  # another program, as far as is known
    ],
)
def test_the_words_that_must_come_first_file_a_signature(pattern: str, head: str) -> None:
    """Guards that many rules on one program are told apart without being read, and that a word
    that may stand further right is no part of a bucket."""
    assert parse_signature(pattern).head == head


def test_hidden_heads_list_only_what_a_dynamic_program_can_be() -> None:
    assert hidden_heads(canonical("git push")) == []
    assert hidden_heads(canonical("$X Push -f | y")) == ["push", "-", "|"]
    for pattern in ("git push", "rm -rf", "curl | sh"):
        signature = parse_signature(pattern)
        command = {"git push": "$G push", "rm -rf": "$R -fr x", "curl | sh": "curl x | $S"}
        assert signature.hidden_head in hidden_heads(canonical(command[pattern]))


@pytest.mark.parametrize(
    "pattern, command, found",
    [
        ("Remove-Item -Recurse", "remove-item -rec x", True),
        ("Remove-Item -Recurse -Force", "rm -r -fo x", True),
        ("Remove-Item -Recurse", "Remove-Item x", False),
        ("git push", "GIT Push", True),
        ("git push --force", "git push --Force", True),
        ("Stop-Process", "Get-Process x | Stop-Process", True),
        ("Stop-Process", "Write-Output 'Stop-Process'", False),
        ("npm test", "cmd /c npm test", True),
        ("npm test", "if ($x) { npm test }", True),
    ],
)
def test_powershell_compares_without_case(pattern: str, command: str, found: bool) -> None:
    form = canonical(command, "powershell")
    assert (matches(parse_signature(pattern), form) is not None) is found
    assert (matches(parse_signature(pattern, "powershell"), form) is not None) is found


def test_an_option_and_its_value_may_be_joined() -> None:
    signature = parse_signature("aws s3 rm --profile prod")
    assert matches(signature, canonical("aws s3 rm x --profile=prod")) is not None
    assert matches(signature, canonical("aws --profile prod s3 rm x")) is not None
    assert matches(signature, canonical("aws s3 rm x --profile=dev")) is None
    assert matches(parse_signature("pytest tests"), canonical("pytest --ignore=tests")) is None
