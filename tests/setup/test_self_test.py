"""Guards the judgement over a hook's answer, and that silence is no proof."""

from __future__ import annotations

from pathlib import Path

import pytest

from hmd.kernel.address import Home
from hmd.setup import self_test
from hmd.setup.claude_code import Hook
from hmd.setup.surroundings import base_interpreter


@pytest.mark.parametrize(
    ("code", "out", "err", "word"),
    [
        (0, b"", b"", ""),
        (0, b'{"hookSpecificOutput": {}}\n', b"", ""),
        (2, b"", b"no such file", "exit code 2"),
        (0, b"", b"Traceback", "stderr"),
        (0, b"[]", b"", "no JSON object"),
        (0, b"log line\n{}", b"", "no JSON"),
    ],
)
def test_the_contract_is_judged(code: int, out: bytes, err: bytes, word: str) -> None:
    """Guards exit code, standard error and the shape of the answer."""
    problem = self_test.judge(code, out, err)
    assert (word in problem) if word else problem == ""


def test_a_hook_without_its_copy_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a bootstrap that hides a missing copy: no line in the log, no success."""
    monkeypatch.setattr(self_test, "_LOG_SECONDS", 0.0)
    hook = Hook(base_interpreter().path, str(tmp_path))
    assert "left no line" in self_test.run(Home(str(tmp_path)), hook)


def test_an_interpreter_that_is_gone_is_named(tmp_path: Path) -> None:
    """Guards the commonest break: the Python was removed."""
    problem = self_test.run(Home(str(tmp_path)), Hook("/no/python3", str(tmp_path)))
    assert '"/no/python3" cannot be run' in problem
