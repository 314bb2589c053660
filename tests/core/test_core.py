"""Errors, clock and identifiers: small words that everything else leans on."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hmd.core import ids
from hmd.core.clock import Clock, FakeClock, SystemClock
from hmd.core.errors import CODES, HmdError


def test_errors_become_the_promised_exit_codes() -> None:
    """Guards the exit codes that scripts rely on: 2 usage, 75 busy (EX_TEMPFAIL), else 1."""
    codes = {code: HmdError(code, "x").exit_code for code in CODES}  # type: ignore[arg-type]
    assert codes.pop("usage") == 2
    assert codes.pop("busy") == 75
    assert set(codes.values()) == {1}


def test_error_text_says_what_where_and_what_to_do() -> None:
    """Guards that nothing of an error is lost where only its text is printed."""
    error = HmdError("refused", "no 'x'", "config.toml", "do y")
    assert str(error) == "no 'x' (config.toml); do y"
    assert str(HmdError("refused", "no 'x'")) == "no 'x'"


@pytest.mark.parametrize("clock", [SystemClock(), FakeClock()])
def test_clock_never_repeats(clock: Clock) -> None:
    """Guards the order of changes: times given out are strictly increasing."""
    times = [clock.now_ms() for _ in range(2000)]
    assert times == sorted(set(times))


def test_clock_set_back_keeps_rising(monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards a wall that steps back (and a store that was written in the future)."""
    clock = SystemClock()
    before = clock.now_ms()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000)
    assert before < clock.now_ms() < before + 60_000
    clock.observe(before + 100_000)
    assert before + 100_000 < clock.now_ms() < before + 160_000


def test_time_goes_on_while_the_wall_is_behind() -> None:
    """Guards everything that is due at a time after a wall that was a day ahead was set right: it
    comes, in order, at half the pace, until the wall has caught up and leads again."""
    hour = 3_600_000
    wall, passed = 100 * hour, 0
    clock = SystemClock(lambda: wall * 1_000_000, lambda: passed * 1_000_000)
    assert clock.now_ms() == 100 * hour
    wall += 24 * hour  # set wrong
    begin = clock.now_ms()
    assert begin == 124 * hour
    wall -= 24 * hour  # and right again
    times = []
    for _ in range(60):
        wall, passed = wall + hour, passed + hour
        times += [clock.now_ms(), clock.peek_ms()]
    assert times == sorted(times)
    assert times[1] - begin == hour // 2 and times[3] - begin == hour
    assert times[-1] == wall == 160 * hour
    clock.observe(wall + 10)
    wall, passed = wall + 2, passed + 2
    assert clock.now_ms() in (160 * hour + 11, 160 * hour + 12)


def test_fake_clock_follows_its_wall() -> None:
    """Guards the tool that the other tests tell time with."""
    clock = FakeClock(100)
    assert [clock.now_ms(), clock.now_ms()] == [100, 101]
    clock.advance(50)
    assert clock.now_ms() == 150
    clock.advance(-100)
    assert clock.now_ms() == 151


def test_new_ids() -> None:
    """Guards the form of identifiers, and that they are not all alike."""
    made = {ids.new_id() for _ in range(100)}
    assert len(made) == 100
    assert all(ids.is_id(each) for each in made)
    assert not ids.is_id("g" * 32)


HEX = st.text("0123456789abcdef", min_size=32, max_size=32)


@settings(
    derandomize=True, max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.sets(HEX, min_size=1, max_size=20), st.data())
def test_any_unique_prefix_names_an_id(known: set[str], data: st.DataObject) -> None:
    """Guards that a prefix gives its id or an error, and never another id."""
    wanted = data.draw(st.sampled_from(sorted(known)))
    prefix = wanted[: data.draw(st.integers(4, 32))]
    others = [each for each in known if each.startswith(prefix)]
    if others == [wanted]:
        assert ids.resolve(prefix.upper(), known) == wanted
    else:
        with pytest.raises(HmdError, match="more than one"):
            ids.resolve(prefix, known)


@pytest.mark.parametrize("text", ["", "abc", "wxyz", "a" * 33, "ab cd"])
def test_what_is_no_prefix_is_refused(text: str) -> None:
    """Guards against a typo that would name a memory at random."""
    with pytest.raises(HmdError) as caught:
        ids.check_prefix(text)
    assert caught.value.code == "usage"


def test_unknown_prefix_is_not_found_and_uuids_are_read() -> None:
    """Guards both ends: nothing found is said, a UUID's dashes do not matter."""
    with pytest.raises(HmdError) as caught:
        ids.resolve("abcd", [])
    assert caught.value.code == "not_found"
    known = "123e4567e89b42d3a456426614174000"
    assert ids.resolve("123E4567-e89b", [known]) == known
