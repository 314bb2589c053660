"""Plays the transcripts in this directory (`*.test`): what is typed, what goes over the wire, what
is printed.

A case begins with `[case name]`. Then, line by line:

    env NAME=VALUE      set for this case
    $ hmctl WORDS       one run; what follows belongs to it
    > METHOD JSON       the request it must send; fields left out must have their default
    < JSON              the answer it gets
    <! JSON             the error it gets (code, what, where, do)
    TEXT                a line on standard output
    ! TEXT              a line on standard error
    = N                 the exit code (0 where it is not said)

`…` at the end of an expected line stands for any rest.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hmd import link
from hmd.cli.main import main
from hmd.cli.session import AGENT_VARIABLES
from hmd.core.errors import HmdError
from hmd.transport.methods import METHODS

HERE = Path(__file__).parent


@dataclass
class Run:
    """One `hmctl` of a case, and what is expected of it."""

    words: list[str]
    wire: list[tuple[str, str]] = field(default_factory=list)
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    code: int = 0


@dataclass
class Case:
    name: str
    env: dict[str, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)


def cases() -> Iterator[Case]:
    for path in sorted(HERE.glob("*.test")):
        case: Case | None = None
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("[case "):
                if case is not None:
                    yield case
                case = Case(f"{path.stem}: {line[6:-1]}")
            elif case is not None and line and not line.startswith("#"):
                read(case, line)
        if case is not None:
            yield case


def read(case: Case, line: str) -> None:
    """Adds one line of a transcript to its case."""
    if line.startswith("env "):
        name, _, value = line[4:].partition("=")
        case.env[name] = value
    elif line.startswith("$ hmctl"):
        case.runs.append(Run(shlex.split(line)[2:]))
    elif line.startswith(("> ", "< ", "<! ")):
        mark, _, rest = line.partition(" ")
        case.runs[-1].wire.append((mark, rest))
    elif line.startswith("! "):
        case.runs[-1].err.append(line[2:])
    elif line.startswith("= "):
        case.runs[-1].code = int(line[2:])
    else:
        case.runs[-1].out.append(line)


class Wire:
    """Stands for the daemon: takes the expected requests in order and gives the written answers."""

    def __init__(self, steps: list[tuple[str, str]]) -> None:
        self.steps = list(steps)

    def call(
        self, home: object, method: str, body: object, result: type[Any], **options: object
    ) -> Any:
        assert self.steps, f"an unexpected request: {method} {body}"
        mark, expected = self.steps.pop(0)
        name, _, fields = expected.partition(" ")
        contract = METHODS[method]
        wanted: object = msgspec.json.decode((fields or "{}").encode(), type=contract.parameters)
        sent: object = msgspec.convert(msgspec.to_builtins(body), contract.parameters)
        assert (mark, name, wanted) == (">", method, sent)
        answer_mark, answer = self.steps.pop(0)
        if answer_mark == "<!":
            raise HmdError(**msgspec.json.decode(answer.encode()))
        assert answer_mark == "<"
        reply = msgspec.json.decode(answer.encode(), type=contract.result)
        return msgspec.json.decode(msgspec.json.encode(reply), type=result)


def fits(found: list[str], expected: list[str]) -> bool:
    return len(found) == len(expected) and all(
        line.startswith(want[:-1]) if want.endswith("…") else line == want
        for line, want in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_transcript(
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Guards arguments, requests, answers, remarks and exit codes as people meet them."""
    for name in (*AGENT_VARIABLES, "HMD_DISABLE", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HMD_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "app").mkdir()
    monkeypatch.chdir(tmp_path / "app")
    for name, value in case.env.items():
        monkeypatch.setenv(name, value.replace("TMP", str(tmp_path)))
    for run in case.runs:
        wire = Wire([(mark, text.replace("TMP", str(tmp_path))) for mark, text in run.wire])
        monkeypatch.setattr(link, "call", wire.call)
        code = main(run.words)
        printed = capsys.readouterr()
        out = printed.out.replace(str(tmp_path), "TMP").splitlines()
        err = printed.err.replace(str(tmp_path), "TMP").splitlines()
        said = "\n".join([f"$ hmctl {shlex.join(run.words)}", *out, *(f"! {e}" for e in err)])
        assert fits([line for line in out if line], run.out), said
        assert fits([line for line in err if line], run.err), said
        assert code == run.code, said
        assert wire.steps == [], said
