"""A hook call inside the daemon."""

import json
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hmd.daemon import hook
from hmd.daemon.hook import Hooks, decode
from hmd.daemon.hooklog import HookLog
from hmd.daemon.metrics import Metrics
from hmd.daemon.resident import Resident
from hmd.kernel import frame, payload
from hmd.kernel.address import Home
from tests.daemon.fakes import LinesOnly

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**30), max_value=10**30)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()), max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=8,
)


@settings(derandomize=True, max_examples=300)
@given(VALUES, st.booleans(), st.sampled_from(["", "\ufeff", " \n"]))
def test_json_decodes_as_the_kernel_decodes_it(value: object, ascii_: bool, before: str) -> None:
    """Guards the first promise at its first step: daemon and stub see the same payload, lone
    surrogates, big numbers, infinities and byte order marks included."""
    text = before + json.dumps(value, ensure_ascii=ascii_)
    body = text.encode("utf-8", "surrogatepass")
    assert repr(decode(body)) == repr(payload.decode(body))


@settings(derandomize=True, max_examples=300)
@given(st.binary(max_size=40))
@example(b'{"a":1,"a":2}')
@example(b"-0")
@example(b"-0.0")
@example(b"1e400")
@example(b"[NaN,-Infinity]")
@example(b'"\\ud83d"')
@example(b'"\\ud83d\\ude00"')
@example(b'"\xff"')
@example(b"123456789012345678901234567890")
@example(b"0.1e-400")
@example(b"1.")
@example(b"01")
@example(b'"\t"')
@example(b'"\x7f\\/"')
@example(b"[1,]")
@example(b"")
@example(b"[" * 2000 + b"]" * 2000)
@example(b"[" * 200_000)
@example(b'{"\\u0000":"\\u0000"}')
def test_bytes_decode_as_the_kernel_decodes_them(body: bytes) -> None:
    """Guards the same over what is hardly JSON at all."""
    assert repr(decode(body)) == repr(payload.decode(body))


@pytest.fixture
def hooks(home: Home) -> Hooks:
    return Hooks(Resident(home, "k"), Metrics(), HookLog(home), LinesOnly())


def logged(hooks: Hooks, home: Home) -> list[str]:
    hooks._hooklog.flush()
    return Path(home.hook_log).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", "bad_stdin"), (b"[]", "bad_stdin"), (b"{}", "skipped:event")],
)
def test_every_call_leaves_one_line(hooks: Hooks, home: Home, body: bytes, status: str) -> None:
    """Guards the hook log for calls that decide nothing."""
    header = {"event": "?", "host": "claude-code", "at": "1750000000000"}
    assert hooks.decide(header, body) == (frame.OK, b"")
    (line,) = logged(hooks, home)
    assert line.endswith(f"by=hmd {status}")


def test_a_surprise_sends_the_stub_its_own_way(
    hooks: Hooks, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the third promise: a fault of ours costs neither the verdict nor the host's call."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("what a user said")

    monkeypatch.setattr(hook, "answer", broken)
    assert hooks.decide({"event": "PreToolUse", "at": "1"}, b"{}") == (frame.RETRY, b"")
    (line,) = logged(hooks, home)
    assert line.endswith("error:ZeroDivisionError")
    assert hooks._metrics.failed == 1


def test_detail_is_for_the_debug_switch_and_tells_no_words(home: Home) -> None:
    """Guards the switch: one more line, of JSON, without anything that was said."""
    switch = [False]
    hooks = Hooks(Resident(home, "k"), Metrics(), HookLog(home, lambda: switch[0]), LinesOnly())
    body = json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "a-secret"}).encode()
    hooks.decide({"event": "UserPromptSubmit", "delivery": "d1"}, body)
    switch[0] = True
    hooks.decide({"event": "UserPromptSubmit", "delivery": "d2"}, body)
    lines = logged(hooks, home)
    assert len(lines) == 3
    assert json.loads(lines[2])["delivery"] == "d2"
    assert "a-secret" not in "".join(lines)


def test_an_event_that_cannot_be_written_here_is_left_to_the_stub(
    home: Home, tmp_path: Path
) -> None:
    """Guards against an answer whose event is nowhere: a daemon without disk or descriptors says
    `retry`, and the stub, which may have both, decides and writes."""
    project = tmp_path / "app"
    (project / ".git").mkdir(parents=True)
    Path(home.everywhere).parent.mkdir(parents=True)
    Path(home.everywhere).touch()
    log = LinesOnly()
    hooks = Hooks(Resident(home, "k"), Metrics(), HookLog(home, lambda: False), log)
    call = {
        "session_id": "s", "cwd": str(project), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1",
    }  # fmt: skip
    header = {"host": "claude-code", "event": "PreToolUse", "at": "1000", "delivery": "d"}
    ledgers = Path(home.path) / "ledger"
    ledgers.write_text("in the way")
    assert hooks.decide(header, json.dumps(call).encode())[0] == frame.RETRY
    assert any("appended" in line for line in log.lines)
    ledgers.unlink()
    assert hooks.decide(header, json.dumps(call).encode())[0] == frame.OK
