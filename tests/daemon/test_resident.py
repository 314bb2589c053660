"""The resident sources against the files that a stub reads."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.daemon.resident import Resident
from hmd.hosts.table import DEFAULT, HOSTS
from hmd.kernel import turn
from hmd.kernel.address import Home, session_key
from hmd.kernel.answer import answer
from hmd.kernel.files import FileSources
from hmd.store.leftovers import Left
from hmd.store.mask import Words
from hmd.store.snapshot_file import append_tail, write_base
from tests.kernel.rulebook import rule

KERNEL = "0123456789ab"
PROJECT = "c" * 32
COMMANDS = ["npm install", "npm ci", "git push --force", "ls src", "make"]


RULES = [
    rule(1, "bash:command:cmd:npm install", level="soft_deny"),
    rule(2, "bash:command:cmd:git push", level="deny", triggers=["before_tool", "before_model"]),
    rule(3, "bash:command:cmd:make", level="confirm"),
    rule(4, "bash:command:cmd:ls"),
]


def prepare(home: Home, work: Path) -> None:
    """A home in which the project of `work` is known, enabled and has rules."""
    (work / ".git").mkdir(parents=True, exist_ok=True)
    location = str((work / ".git").resolve())
    for path in (home.by_path(location), home.project(PROJECT), home.snapshot("x")):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(home.by_path(location)).write_text(
        json.dumps({"location": location, "project": PROJECT}), encoding="utf-8"
    )
    Path(home.project(PROJECT)).write_text('{"enabled": true}')
    write_base(
        Path(home.snapshot(PROJECT)), RULES[:3], kernel_hash=KERNEL, generation=3, settings={}
    )


class World:
    """One home and whoever answers from it."""

    def __init__(self, path: Path, work: Path, pick: Iterator[bool]) -> None:
        self.home = Home(str(path))
        self.work = work
        prepare(self.home, work)
        self.resident = Resident(self.home, KERNEL)
        self.pick = pick

    def answer(self, body: dict[str, Any], at: int, delivery: str) -> tuple[bytes, str]:
        served = next(self.pick)
        sources = self.resident if served else FileSources(self.home, KERNEL)
        header = {
            "host": DEFAULT,
            "event": body["hook_event_name"],
            "at": str(at),
            "delivery": delivery,
            "env.CLAUDE_CODE_SESSION_ATTENDED": "1",
        }
        outcome = answer(sources, header, json.dumps(body).encode(), body, HOSTS)
        if served and outcome.event is not None:
            self.resident.settle(outcome.key, outcome.event.kind)
        return outcome.out, outcome.status

    def change(self) -> None:
        append_tail(Path(self.home.snapshot(PROJECT)), 4, RULES[3]["id"], RULES[3])


STEPS = st.one_of(
    st.tuples(st.just("PreToolUse"), st.sampled_from(COMMANDS)),
    st.tuples(st.just("PostToolUse"), st.sampled_from(COMMANDS)),
    st.tuples(st.just("UserPromptSubmit"), st.sampled_from(["go on", "no, don't npm install"])),
    st.tuples(st.just("PostToolBatch"), st.just("")),
    st.tuples(st.just("Stop"), st.just("")),
    st.tuples(st.just("SessionEnd"), st.just("")),
    st.tuples(st.just("change"), st.just("")),
    st.tuples(st.just("again"), st.just("")),
)


def payload(work: Path, number: int, event: str, text: str) -> dict[str, Any]:
    body: dict[str, Any] = {"session_id": f"s{number % 2}", "hook_event_name": event}
    body["cwd"] = str(work)
    if event in ("PreToolUse", "PostToolUse"):
        body |= {"tool_name": "Bash", "tool_use_id": f"t{number}", "tool_input": {"command": text}}
        body["tool_response"] = {"stdout": "done", "stderr": ""}
    elif event == "UserPromptSubmit":
        body["prompt"] = text
    elif event == "PostToolBatch":
        body["tool_calls"] = []
    return body


@settings(
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
@given(st.lists(STEPS, max_size=14), st.lists(st.booleans(), min_size=14, max_size=14))
def test_daemon_stub_and_any_mixture_answer_alike(
    tmp_path: Path, steps: list[tuple[str, str]], mixture: list[bool]
) -> None:
    """Guards the first promise over whole sessions: resident, from files, or changing from event
    to event, every answer is the same bytes."""
    shutil.rmtree(tmp_path / "world", ignore_errors=True)
    work = tmp_path / "world" / "work"
    picks = ([True] * 14, [False] * 14, mixture)
    worlds = [
        World(tmp_path / "world" / f"home{number}", work, iter(pick))
        for number, pick in enumerate(picks)
    ]
    last: tuple[dict[str, Any], int] | None = None
    for number, (event, text) in enumerate(steps):
        if event == "change":
            for world in worlds:
                world.change()
            continue
        if event != "again":
            last = payload(work, number, event, text), 1_750_000_000_000 + number * 700
        if last is None:
            continue
        body, at = last
        answers = [
            world.answer(body, at + 5 * (event == "again"), f"d{number}") for world in worlds
        ]
        assert answers[0] == answers[1] == answers[2], (number, body)
    for key in (session_key(DEFAULT, "s0"), session_key(DEFAULT, "s1")):
        states = []
        for world in worlds:
            state = turn.Turn()
            turn.catch_up(state, world.home.ledger(key))
            states.append(turn.dump(state))
        assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("late", [Resident, FileSources])
def test_who_is_overtaken_while_deciding_writes_no_second_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: type[Any]
) -> None:
    """Guards "each event once", and its answer: whichever of daemon and hook is stopped after it
    looked and before it wrote, for every kind of event."""
    world = World(
        tmp_path / "home", tmp_path / "work", iter([late is Resident, late is FileSources] * 9)
    )
    append = late.append
    overtaken: list[bytes] = []

    def slowly(sources: Any, key: str, record: Any, data: bytes) -> bool:
        monkeypatch.setattr(late, "append", append)
        overtaken.append(world.answer(body, at, f"d{number}")[0])
        return bool(append(sources, key, record, data))

    kinds = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd"]
    for number, kind in enumerate(kinds):
        body = payload(tmp_path / "work", 2 * number, kind, "npm install")
        at = 1_750_000_000_000 + number * 5000
        monkeypatch.setattr(late, "append", slowly)
        assert world.answer(body, at, f"d{number}")[0] == overtaken[number]
    lines = Path(world.home.ledger(session_key(DEFAULT, "s0"))).read_bytes().splitlines()
    assert len([one for one in lines if one]) == len(kinds)


@pytest.fixture
def world(tmp_path: Path) -> World:
    def always() -> Iterator[bool]:
        while True:
            yield True

    return World(tmp_path / "home", tmp_path / "work", always())


def test_many_sessions_are_kept_within_bounds(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards memory: the session that was not used the longest goes, with its checkpoint."""
    monkeypatch.setattr("hmd.daemon.resident.SESSIONS", 3)
    for number in range(6):
        body = {**payload(world.work, number, "PreToolUse", "ls"), "session_id": f"n{number}"}
        world.answer(body, 1_750_000_000_000 + number, f"d{number}")
    assert world.resident.sessions == 3
    saved = {path.stem for path in Path(world.home.turns).iterdir()}
    assert saved == {session_key(DEFAULT, f"n{number}") for number in range(3)}


def test_a_long_turn_is_saved_on_the_way(world: World) -> None:
    """Guards stubs after a kill -9: they never fold more than the bound since a checkpoint."""
    for number in range(60):
        body = payload(world.work, 2 * number, "PostToolUse", "make " + "x" * 400)
        body["tool_response"]["stdout"] = f"{number} word" * 600
        world.answer(body, 1_750_000_000_000 + number, f"d{number}")
    key = session_key(DEFAULT, "s0")
    size = Path(world.home.ledger(key)).stat().st_size
    assert size > 2 * turn.CHECKPOINT_EVERY
    saved = turn.load(Path(world.home.turn(key)).read_bytes())
    assert size - saved.offset < turn.CHECKPOINT_EVERY + 32_768


def test_snapshots_beyond_the_bound_are_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards descriptors: each open snapshot holds one."""
    monkeypatch.setattr("hmd.daemon.resident.SNAPSHOTS", 2)
    opened = []
    for number in range(5):
        name = f"p{number}"
        write_base(
            Path(world.home.snapshot(name)), RULES, kernel_hash=KERNEL, generation=1, settings={}
        )
        opened.append(world.resident.snapshot(name))
    assert [snapshot is not None and snapshot._fd >= 0 for snapshot in opened] == [
        False, False, False, True, True,
    ]  # fmt: skip
    world.resident.close()
    assert all(snapshot is not None and snapshot._fd < 0 for snapshot in opened)


async def test_what_is_erased_leaves_the_turns_in_memory(tmp_path: Path) -> None:
    """Guards against a checkpoint that writes down again what was erased from every file."""
    home = Home(str(tmp_path / "home"))
    resident = Resident(home, KERNEL)
    for name in ("one", "two", "three"):
        held = resident.turn(name)
        text = "plain words" if name == "three" else "the secret of the mill"
        held.calls.append({"input": f"cat '{text}'"})
        held.seen["e"] = [1, "d", ["", f"so {text} it is", "", ""]]
        held.offset = 7
    resident.save_all()
    await resident.erase(Left(Words((), "The Secret of the Mill"), frozenset(["two"])))
    assert not Path(home.turn("two")).exists()
    assert b"secret" not in Path(home.turn("one")).read_bytes()
    assert resident.turn("one").offset == 7 and len(resident.turn("one").calls) == 1
    assert resident.turn("two").calls == []
    assert resident.turn("three").calls == [{"input": "cat 'plain words'"}]
    resident.save_all()
    files = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert [path for path in files if b"secret" in path.read_bytes()] == []
