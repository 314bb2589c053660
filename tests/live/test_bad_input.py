"""Whatever a host may write to a hook: exit 0, the same answer and the same log line, with the
daemon up and down. (That both decoders give equal values is a property test of tests/daemon.)"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Host, Session, Town

pytestmark = pytest.mark.live

STATUS = re.compile(r"(\S+)$")
EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "PostToolBatch",
          "SessionStart", "Stop", "PreCompact", "SessionEnd")  # fmt: skip
WRONG: list[Any] = [None, True, 0, -1, 1e308, "", "x", [], ["x"], {}, {"x": {"y": []}}, [[[]]]]


@pytest.fixture(scope="module")
def session(town: Town) -> Session:
    return town.place("bad", ("bash:command:cmd:git push", "deny"), ("edit:path:glob:**", "advise"))


def full(session: Session, event: str, use: str) -> dict[str, Any]:
    """A payload with every field that any event has."""
    call = {
        "tool_name": "Bash",
        "tool_input": {"command": "git push", "description": "pushes"},
        "tool_use_id": use,
    }
    return session.payload(
        event,
        **call,
        prompt="don't use git push",
        source="startup",
        trigger="auto",
        reason="clear",
        tool_response={"stdout": "x", "stderr": "", "interrupted": False},
        error="Exit code 1\nx",
        is_interrupt=False,
        tool_calls=[{"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "t"}],
        last_assistant_message="done",
        agent_id="a1",
        effort={"level": "high"},
    )


def bodies(session: Session) -> "Iterator[tuple[str, bytes, bool | None]]":
    """(name, stdin of a PreToolUse hook, whether it still says `git push`; None: either)."""
    good = json.dumps(full(session, "PreToolUse", "USE")).encode()
    push = b'"git push"'
    assert push in good
    yield "good", good, True
    yield "empty", b"", False
    yield "blank", b" \n\t\r\n", False
    yield "truncated", good[:-1], False
    yield "cut in half", good[: len(good) // 2], False
    yield "two objects", good + b"\n" + good, False
    yield "a list", b"[" + good + b"]", False
    yield "a text", b'"git push"', False
    yield "null", b"null", False
    yield "20 MB of one text", good.replace(b"pushes", b"x" * 20_000_000), True
    yield "20 MB of nonsense", b"\x00" * 20_000_000, False
    yield "33 MB", good.replace(b"pushes", b"x" * 34_000_000), False
    yield "65 KB", good.replace(b"pushes", b"x" * 66_000), True
    for depth in (50, 400, 900, 5_000, 100_000):
        deep = b"[" * depth + b"]" * depth
        # How deep a decoder goes is the interpreter's business: 3.14 goes further.
        read = None if depth == 5_000 else depth <= 900
        yield f"nested {depth}", good.replace(b'"pushes"', deep), read
    yield "no UTF-8", good.replace(b"pushes", b"\xff\xfe\xe9\x80"), True
    yield "UTF-16", good.decode().encode("utf-16"), False
    yield "NUL", good.replace(b"pushes", b"\x00"), False
    yield "NUL escaped", good.replace(b"pushes", b"\\u0000"), True
    # No shell can be started with it, so it runs nothing.
    yield "NUL in the command", good.replace(push, b'"git push\\u0000"'), False
    yield "lone surrogate", good.replace(b"pushes", b"\\ud83d"), True
    yield "lone surrogate in the command", good.replace(push, b'"git push \\udc00"'), True
    yield "lone surrogate, raw", good.replace(b"pushes", b"\xed\xa0\xbd"), True
    yield "NaN", good.replace(b'"pushes"', b"[NaN, Infinity, -Infinity]"), True
    yield "BOM", b"\xef\xbb\xbf" + good, True
    yield "big number", good.replace(b'"pushes"', b"9" * 4000), True
    yield "huge number", good.replace(b'"pushes"', b"1" * 6000), False
    yield "overflow", good.replace(b'"pushes"', b"1e99999"), True
    yield (
        "a key twice",
        good.replace(b'"tool_name": "Bash"', b'"tool_name": "x", "tool_name": "Bash"'),
        True,
    )
    yield "single quotes", good.replace(b'"', b"'"), False
    yield "a comment", b"// hi\n" + good, False
    yield (
        "an input of text",
        good.replace(b'{"command": "git push", "description": "pushes"}', push),
        True,
    )
    # The hook's own argument names the event as well.
    yield "no event", good.replace(b'"hook_event_name": "PreToolUse", ', b""), True
    yield "another event", good.replace(b"PreToolUse", b"NoSuchEvent"), False
    yield "no session", good.replace(b'"session_id": "bad", ', b""), True
    yield (
        "a path for a session",
        good.replace(b'"session_id": "bad"', b'"session_id": "../../x"'),
        True,
    )


def both(session: Session, sent: "list[tuple[str, str, bytes]]") -> dict[str, list[Any]]:
    """name → [(answer, status in the log) up, the same down] of (name, event, stdin)."""
    host: Host = session.host
    found: dict[str, list[Any]] = {name: [] for name, _, _ in sent}
    for served in (True, False):
        host.start() if served else host.stop()
        lines = len(host.log_lines())
        for name, event, body in sent:
            # Each report is of another call, in another session: nothing is a repeat.
            fresh = body.replace(b'"USE"', f'"{name}-{served}"'.encode())
            fresh = fresh.replace(
                b'"session_id": "bad"', f'"session_id": "{name}-{served}"'.encode()
            )
            answer = host.hook(event, fresh, cwd=session.project)
            assert not contract.problem(event, *answer), (name, answer)
            lines += 1
            log = host.log_lines(lines)
            assert len(log) == lines, (name, log[-2:])
            status = STATUS.search(log[-1])
            assert status
            found[name].append((answer.out, status.group(1)))
    host.release()
    return found


def test_whatever_comes_is_answered_and_logged(session: Session, figure: Figure) -> None:
    """Guards promise three for broken input: exit 0, an answer where there is something to answer,
    a line that says what was wrong with the rest."""
    kinds = list(bodies(session))
    found = both(session, [(name, "PreToolUse", body) for name, body, _ in kinds])
    wrong = []
    for name, _, pushes in kinds:
        up, down = found[name]
        if pushes is None:
            pushes = b'"deny"' in up[0]
        right = up == down and (b'"deny"' in up[0]) is pushes and not up[1].startswith("error")
        if not right or (up[1] == "ok" and not pushes and not name.startswith("NUL")):
            wrong.append((name, up, down))
    assert not wrong
    statuses = {name: up[1] for name, (up, _) in found.items()}
    assert statuses["empty"] == "bad_stdin" and statuses["another event"].startswith("skipped")
    figure(f"{len(kinds)} kinds of bad input up and down, equal: {sorted(set(statuses.values()))}")


def replaced(payload: dict[str, Any], path: "tuple[str, ...]", value: Any) -> dict[str, Any]:
    head, *rest = path
    inner = replaced(payload[head], tuple(rest), value) if rest else value
    return {**payload, head: inner}


def paths(payload: dict[str, Any]) -> "Iterator[tuple[str, ...]]":
    for name, value in payload.items():
        yield (name,)
        if isinstance(value, dict):
            yield from ((name, *inner) for inner in paths(value))


def test_every_field_may_be_of_any_type(session: Session, figure: Figure) -> None:
    """Guards the same for well-formed payloads: each field of each event in turn of a wrong type
    (which one rotates, so that every type meets every event). The hook's own argument names the
    event where the payload's does not."""
    sent = []
    for number, event in enumerate(EVENTS):
        payload = full(session, event, "USE")
        for place, path in enumerate(paths(payload)):
            wrong = WRONG[(place + number) % len(WRONG)]
            body = json.dumps(replaced(payload, path, wrong)).encode()
            sent.append((f"{event}.{'.'.join(path)}={wrong!r}"[:60], event, body))
    picked = sent[:: max(1, len(sent) // 60)]
    found = both(session, picked)
    for name, (up, down) in found.items():
        assert up == down, name
        assert not up[1].startswith("error"), (name, up)
    figure(f"{len(picked)} of {len(sent)} payloads with a field of a wrong type: no error, equal")


def test_every_field_of_any_type_in_process(session: Session, tmp_path: Path) -> None:
    """Guards all of them, through the answer path itself: the sources of the daemon and those of a
    stub give equal bytes and status, and nothing is raised."""
    from hmd.daemon.hook import decode
    from hmd.daemon.resident import Resident
    from hmd.hosts.table import HOSTS
    from hmd.kernel import payload as plain
    from hmd.kernel.address import Home
    from hmd.kernel.answer import answer
    from hmd.kernel.files import FileSources

    home = Home(session.host.home.path)
    resident, files = Resident(home, "k"), FileSources(home, "k")
    count = 0
    for event in EVENTS:
        payload = full(session, event, "USE")
        for path in paths(payload):
            for wrong in WRONG:
                count += 1
                given = replaced(payload, path, wrong)
                printed = []
                for name, sources, reader in (("d", resident, decode), ("s", files, plain.decode)):
                    own = json.dumps(given).replace('"USE"', f'"{count}{name}"')
                    own = own.replace('"session_id": "bad"', f'"session_id": "{count}{name}"')
                    header = {"host": "claude-code", "event": event, "at": "1795994373490"}
                    header["delivery"] = f"{count}{name}"
                    body = own.encode()
                    done = answer(sources, header, body, reader(body), HOSTS)
                    printed.append((done.out, done.status))
                assert printed[0] == printed[1], (event, path, wrong)
    resident.close()
    assert count > 2000
