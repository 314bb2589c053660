"""Calls: which are answered without a store, how long others wait, what errors become."""

import json
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from hmd.core.clock import FakeClock
from hmd.core.config import Config
from hmd.core.errors import HmdError
from hmd.core.memory_calls import MemoryList
from hmd.daemon.calls import RECALL_CASES, USE_CASES
from hmd.daemon.handlers import WITHOUT_STORE, Handlers
from hmd.daemon.learning_calls import LEARNING_CASES
from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.resident import Resident
from hmd.daemon.services import Caller, Services
from hmd.kernel import frame
from hmd.kernel.address import Home
from hmd.transport.methods import METHODS
from tests.daemon.fakes import LinesOnly

OURS = "0.1.0-ours"


class UseCases:
    """Use cases that do what a test says."""

    app: Any = None
    recall: Any = None

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.hold: trio.Event | None = None
        self.done: list[str] = []
        self.callers: list[Caller] = []

    async def run(self, method: str, caller: Caller, parameters: Any) -> Any:
        self.callers.append(caller)
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        self.done.append(method)
        return MemoryList()

    async def take_settings(self, config: Config) -> list[str]:
        return []

    def heard(self, session: str, kind: str, cwd: str) -> None: ...

    async def learn(self) -> None: ...

    def let_erase(self, resident: Resident) -> None: ...


class Bench:
    def __init__(self, home: Home) -> None:
        self.left: list[str] = []
        self.log = LinesOnly()
        record = OwnerRecord(1, "start", OURS, 0, home.socket, "")
        resident = Resident(home, "ours")
        self.services = Services(home, record, FakeClock(), resident, self.log, self.left.append)
        self.use_cases = UseCases()
        self.handlers = Handlers(self.services, lambda header, body: (frame.OK, body))

    def open(self) -> None:
        self.services.store.opened(self.use_cases)

    async def call(self, method: str, body: bytes = b"{}", **header: str) -> tuple[str, Any]:
        status, data = await self.handlers.call({"method": method, **header}, body)
        return status, json.loads(data)


@pytest.fixture
def bench(home: Home) -> Bench:
    return Bench(home)


def test_every_method_has_exactly_one_function() -> None:
    """Guards the table against methods that are promised and not there, and the other way."""
    tables = (WITHOUT_STORE, USE_CASES, LEARNING_CASES, RECALL_CASES)
    names = [name for table in tables for name in table]
    assert sorted(names) == sorted(METHODS)


async def test_ping_status_and_stop_need_no_store(bench: Bench) -> None:
    """Guards start and repair: a daemon whose store is not open yet, or damaged, can be asked."""
    _, pong = await bench.call("ping")
    assert not pong["ready"] and pong["build"] == OURS
    assert (await bench.call("status"))[1]["store"]["state"] == "opening"
    bench.services.store.failed(HmdError("damaged", "the database is damaged"))
    _, status = await bench.call("status")
    assert status["store"]["state"] == "damaged"
    assert "the database is damaged" in status["store"]["problems"][0]
    assert (await bench.call("stop"))[0] == frame.OK and bench.left


async def test_a_call_waits_for_the_store(
    bench: Bench, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards the first command after a start: it waits a moment and is done."""
    answers: list[tuple[str, Any]] = []

    async def ask() -> None:
        answers.append(await bench.call("memory.list"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        await trio.sleep(1)
        assert not answers
        bench.open()
    assert answers[0][0] == frame.OK


async def test_but_not_for_ever(bench: Bench, autojump_clock: trio.testing.MockClock) -> None:
    """Guards the deadline: `busy`, which hmctl turns into exit code 75."""
    before = trio.current_time()
    status, error = await bench.call("memory.add", b'{"summary":"x"}')
    assert (status, error["code"]) == (frame.ERROR, "busy")
    assert trio.current_time() - before == pytest.approx(METHODS["memory.add"].deadline_ms / 1000)


async def test_a_change_that_has_begun_runs_to_its_end(
    bench: Bench, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards acknowledged changes: neither deadline nor drain tears journal and snapshot apart;
    a read is given up at its deadline."""
    bench.open()
    bench.use_cases.hold = trio.Event()
    with trio.CancelScope() as draining:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.call, "memory.add")
            nursery.start_soon(bench.call, "memory.list")
            await trio.sleep(60)
            draining.cancel()
            nursery.start_soon(_set_later, bench.use_cases.hold)
    assert bench.use_cases.done == ["memory.add"]


async def _set_later(event: trio.Event) -> None:
    with trio.CancelScope(shield=True):
        await trio.sleep(1)
        event.set()


async def test_refusals_keep_their_words_and_surprises_their_secrets(bench: Bench) -> None:
    """Guards the border: HmdError as it is; anything else is `internal`, without its text."""
    bench.open()
    bench.use_cases.error = HmdError("refused", "not yours", "/x", "ask")
    assert (await bench.call("memory.list"))[1] == {
        "code": "refused", "what": "not yours", "where": "/x", "do": "ask",
    }  # fmt: skip
    secret = "-".join(["s3cr3t"])
    bench.use_cases.error = KeyError(secret)
    status, error = await bench.call("memory.list")
    assert (status, error["code"]) == (frame.ERROR, "internal")
    assert secret not in json.dumps(error) and secret not in "".join(bench.log.lines)
    assert "KeyError" in error["what"] and "KeyError" in bench.log.lines[0]


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"limit": "many"}', b'{"limit": 0}', b"\xff"])
async def test_parameters_that_cannot_be_read_are_usage(bench: Bench, body: bytes) -> None:
    """Guards use cases: they only ever see what their type allows."""
    bench.open()
    status, error = await bench.call("memory.list", body)
    assert (status, error["code"]) == (frame.ERROR, "usage")
    assert not bench.use_cases.callers


async def test_an_answer_that_no_frame_holds_is_refused_in_words(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards large stores: whoever asks for all of one learns what to do, and no connection is just
    dropped."""
    bench.open()
    monkeypatch.setattr(frame, "BODY_LIMIT", 10)
    status, told = await bench.call("memory.list")
    assert (status, told["code"]) == (frame.ERROR, "refused")
    assert "larger than" in told["what"] and "--output" in told["do"]


async def test_an_unknown_method_names_the_likely_cause(bench: Bench) -> None:
    """Guards newer clients of the same major protocol: they learn that the daemon is older."""
    status, error = await bench.call("memory.transmogrify")
    assert (status, error["code"]) == (frame.ERROR, "usage") and "older" in error["do"]


async def test_who_asks_is_taken_from_the_header(bench: Bench) -> None:
    """Guards authority: an unknown actor is not a person."""
    bench.open()
    header = {"cwd": "/w", "env.HOME": "/h", "env.TMPDIR": "/t", "actor": "terminal"}
    await bench.handlers.call({"method": "memory.list", **header}, b"")
    await bench.call("memory.list", actor="root")
    await bench.call("memory.list")
    person, odd, silent = bench.use_cases.callers
    assert (person.actor, person.cwd, person.never) == ("terminal", "/w", ("/h", "/t"))
    assert odd.actor == silent.actor == "agent_cli"


def test_hand_over_asks_what_is_installed_now(bench: Bench, home: Home) -> None:
    """Guards equal versions: the build that hooks were switched to since we started wins; one
    that was there before does not, or two daemons would chase each other out."""
    assert not bench.handlers.is_newer("0.1.0-theirs")
    Path(home.app).mkdir()
    Path(home.app_current).write_text("0.1.0-theirs\n")
    assert bench.handlers.is_newer("0.1.0-theirs")
    assert not bench.handlers.is_newer(OURS) and not bench.handlers.is_newer("")
    assert not Bench(home).handlers.is_newer("0.1.0-theirs")
    assert Bench(home).handlers.is_newer("0.2.0")
