"""Stored bytes against today's code, from both ends of the wire."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hmd.daemon.serve import read_request
from hmd.kernel import frame
from hmd.transport.methods import METHODS
from tests.daemon.fakes import FakeConnection
from tests.golden.stored import CALL_HEADER, HERE, HOOK_HEADER, stored_calls, stored_frame

REQUESTS = {frame.HOOK: HOOK_HEADER, frame.CALL: CALL_HEADER}


@pytest.mark.parametrize("kind", frame.KINDS)
def test_clients_write_requests_as_stored(kind: str) -> None:
    """Guards the stub's and hmctl's side: the same header and body give the same bytes."""
    stored = stored_frame(f"request-{kind}")
    body = stored[-int(stored.split(b"\n", 1)[0].split(b" ")[3]) :]
    assert frame.request(kind, REQUESTS[kind], body) == stored


@pytest.mark.parametrize("kind", frame.KINDS)
async def test_the_daemon_reads_requests_as_stored(kind: str) -> None:
    """Guards the daemon's side, whether the bytes arrive at once or one by one."""
    stored = stored_frame(f"request-{kind}")
    for pieces in ([stored], [bytes([byte]) for byte in stored]):
        request = await read_request(FakeConnection(pieces))
        assert request is not None
        assert (request.kind, request.header) == (kind, REQUESTS[kind])
        assert isinstance(json.loads(request.body), dict)


@pytest.mark.parametrize("status", frame.STATUSES)
def test_answers_are_as_stored_on_both_sides(status: str) -> None:
    """Guards every status: the daemon writes these bytes, the clients understand them."""
    stored = stored_frame(f"answer-{status}")
    parsed = frame.parse_answer(stored)
    assert parsed is not None and parsed[0] == status
    assert frame.answer(*parsed) == stored
    assert all(frame.parse_answer(stored[:cut]) is None for cut in range(len(stored)))


def test_an_answer_that_prints_nothing_is_an_answer() -> None:
    """Guards the commonest answer of all."""
    assert frame.parse_answer(stored_frame("answer-ok-empty")) == (frame.OK, b"")


def test_every_kind_status_and_method_is_stored() -> None:
    """Guards completeness: whoever adds one stores its bytes."""
    names = {path.stem for path in Path(HERE, "frames").iterdir()}
    wanted = {f"request-{kind}" for kind in frame.KINDS}
    wanted |= {f"answer-{status}" for status in frame.STATUSES}
    assert names >= wanted
    assert set(stored_calls()) == set(METHODS)


@pytest.mark.parametrize("name", sorted(METHODS))
def test_bodies_of_calls_still_mean_the_same(name: str) -> None:
    """Guards schema changes: no stored field may vanish, change its type or its meaning."""
    stored, method = stored_calls()[name], METHODS[name]
    for body, kind in ((stored["request"], method.parameters), (stored["answer"], method.result)):
        read = msgspec.json.decode(msgspec.json.encode(body), type=kind)
        assert_holds(msgspec.to_builtins(read), body, name)
        later = msgspec.json.encode({**body, "a field of a later version": 1})
        assert msgspec.json.decode(later, type=kind) == read


def assert_holds(found: Any, stored: Any, where: str) -> None:
    """Everything in `stored` is in `found`, which may hold more."""
    if isinstance(stored, dict):
        for key, value in stored.items():
            assert key in found, f"{where}.{key} is gone"
            assert_holds(found[key], value, f"{where}.{key}")
    elif isinstance(stored, list):
        assert len(found) == len(stored), where
        for number, value in enumerate(stored):
            assert_holds(found[number], value, f"{where}[{number}]")
    else:
        assert found == stored, where
