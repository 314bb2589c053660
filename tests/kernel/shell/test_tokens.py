"""Guards resolution tokens: a failure and what resolves it must get the same name."""

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.tokens import resolution_tokens


@pytest.mark.parametrize(
    "text, expected",
    [
        ("npm t", ["pm test"]),
        ("pnpm test", ["pm test"]),
        ("npm ci", ["pm install"]),
        ("pip install x", ["pypm install"]),
        ("python -m pip install x", ["pypm install"]),
        ("git -C a push --force", ["git push"]),
        ("gh pr view 1", ["gh pr view"]),
        ("gcloud compute instances delete x", ["gcloud compute instances delete"]),
        ("make -j4 test", ["make test"]),
        ("python tools/x.py --a", ["x.py"]),
        ("uv run tools/x.py", ["x.py"]),
        ("python -m pytest -q", ["pytest"]),
        ("npx vitest run", ["vitest"]),
        ("./scripts/x.sh", ["scripts/x.sh"]),
        ("cd a && npm test 2>&1 | tail -5", ["pm test"]),
        ("echo hi | grep h", ["echo", "grep"]),
        ("go build ./... && go test ./...", ["go build", "go test"]),
        ("docker exec c npm test", ["docker exec"]),
        ("$X push", []),
        ("", []),
    ],
)
def test_tokens_of_a_call(text: str, expected: list[str]) -> None:
    assert resolution_tokens(canonical(text)) == expected


def test_a_token_is_capped() -> None:
    assert [len(token) for token in resolution_tokens(canonical("x" * 400))] == [256]
