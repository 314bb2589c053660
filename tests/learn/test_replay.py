"""Guards replay before trust: a rule proves itself on what happened before it may act."""

from hmd.core.memory import Signature
from hmd.learn.calls import Call
from hmd.learn.replay import HITS_FIX, NO_ORIGIN, STOPS_GOOD, Replayed, combined, replay
from tests.learn.making import T0, calls

RULE = Signature(pattern="npm test")


ORIGIN = calls("!npm test")


def run(past: list[Call], user_said: bool = False, before: int = 0) -> Replayed:
    return replay(RULE, ORIGIN, calls("pnpm test"), past, user_said, before)


def test_a_rule_that_misses_its_origin_or_hits_its_fix_fails() -> None:
    assert replay(RULE, calls("!yarn test"), [], [], False, 0).problem == NO_ORIGIN
    wide = Signature(kind="substring", pattern="npm test")
    assert replay(wide, ORIGIN, calls("pnpm test"), [], False, 0).problem.startswith(HITS_FIX)
    again = replay(RULE, ORIGIN, calls("npm test"), [], False, 0)
    assert again.passed  # what put it right was the very same call


def test_calls_that_went_well_speak_against_a_rule_with_the_figures() -> None:
    found = run(calls("npm test", "npm test -- --watch", "!npm test", "npm run build", "ls"))
    assert (found.tried, found.hits, found.well) == (5, 3, 2)
    assert found.problem == f"{STOPS_GOOD}: 3 of 5 past calls, 2 of them went well"
    assert run(calls("!npm test", "npm run build")).passed


def test_what_the_user_corrected_is_excused_before_the_correction_only() -> None:
    past = calls("npm test", "npm test", at=T0)
    assert run(past, user_said=True, before=T0 + 60_000).passed
    assert run(past, user_said=True, before=T0 + 60_000).excused == 2
    assert not run(past, user_said=True, before=T0).passed
    # Another call with the same head has not been corrected.
    assert not run(calls("npm test -- --watch"), user_said=True, before=T0 + 60_000).passed


def test_a_call_without_outcome_says_nothing() -> None:
    past = calls("npm test")
    past[0].state = "held"
    assert run(past).passed


def test_episodes_combine_in_any_order() -> None:
    problems = ["", NO_ORIGIN, f"{HITS_FIX}: x"]
    for one in problems:
        for other in problems:
            left = combined(combined("", one, True), other, False)
            right = combined(combined("", other, True), one, False)
            assert left == right
