"""Ledgers held open against the files: whoever else writes, removes or replaces them is seen."""

import os
from pathlib import Path

import pytest

from hmd.daemon import ledgers as module
from hmd.daemon.ledgers import Ledgers
from hmd.kernel import ledger, turn
from hmd.kernel.address import Home
from hmd.kernel.turn import Turn

KEY = "0123456789abcdef"


def prompt(number: int) -> ledger.Record:
    return {"v": 1, "t": number, "d": "d", "e": f"prompt:{number}", "k": "prompt"}


def line(number: int) -> bytes:
    """The record of a prompt."""
    return ledger.encode(prompt(number))


def read(home: Home) -> Turn:
    """What a stub would find."""
    state = Turn()
    turn.catch_up(state, home.ledger(KEY))
    return state


def step(kept: Ledgers, state: Turn, number: int) -> None:
    kept.catch_up(KEY, state)
    assert kept.append(KEY, state, prompt(number), line(number))


def same(kept: Ledgers, state: Turn, home: Home) -> bool:
    kept.catch_up(KEY, state)
    return turn.dump(state) == turn.dump(read(home))


def test_own_lines_count_without_being_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The state after an append is the one that the file gives."""
    home, state = Home(str(tmp_path)), Turn()
    kept = Ledgers(home)
    step(kept, state, 1)
    kept.catch_up(KEY, state)
    step(kept, state, 2)
    monkeypatch.setattr(turn, "catch_up", lambda *_: pytest.fail("read again"))
    step(kept, state, 3)
    kept.catch_up(KEY, state)
    monkeypatch.undo()
    assert state.number == 3 and turn.dump(state) == turn.dump(read(home))


def test_lines_of_a_stub_in_between_come_first(tmp_path: Path) -> None:
    """A late stub writes between our look and our append: the order in the file decides."""
    home, state = Home(str(tmp_path)), Turn()
    kept = Ledgers(home)
    step(kept, state, 1)
    kept.catch_up(KEY, state)
    ledger.append(home.ledger(KEY), line(2))
    assert kept.append(KEY, state, prompt(3), line(3))
    assert state.number == 3
    assert same(kept, state, home)


def test_an_event_that_a_stub_wrote_meanwhile_gets_no_second_line(tmp_path: Path) -> None:
    """A daemon that was stopped in the middle of a decision goes on after its client has decided
    alone (found by the soak: 4 of 100,000 events stood twice)."""
    home, state = Home(str(tmp_path)), Turn()
    kept = Ledgers(home)
    step(kept, state, 1)
    kept.catch_up(KEY, state)
    ledger.append(home.ledger(KEY), line(2))
    assert kept.append(KEY, state, prompt(2), line(2))
    assert Path(home.ledger(KEY)).read_bytes().count(b"prompt:2") == 1
    assert same(kept, state, home) and state.number == 2


@pytest.mark.parametrize("how", ["removed", "replaced"])
def test_a_ledger_that_went_away_is_not_written_to(tmp_path: Path, how: str) -> None:
    """`hmctl` may purge sessions while the daemon holds their files open."""
    home, state = Home(str(tmp_path)), Turn()
    kept = Ledgers(home)
    for number in range(1, 4):
        step(kept, state, number)
    os.unlink(home.ledger(KEY))
    if how == "replaced":
        ledger.append(home.ledger(KEY), line(9))
    step(kept, state, 10)
    step(kept, state, 11)
    assert same(kept, state, home)
    assert state.number == (3 if how == "replaced" else 2)


def test_descriptors_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many sessions must not use up what connections need."""
    monkeypatch.setattr(module, "OPEN", 2)
    home = Home(str(tmp_path))
    kept = Ledgers(home)
    before = len(os.listdir("/dev/fd"))
    for number in range(5):
        assert kept.append(f"{number:016x}", None, prompt(number), line(number))
    assert len(os.listdir("/dev/fd")) == before + 2
    kept.close_all()
    assert len(os.listdir("/dev/fd")) == before
