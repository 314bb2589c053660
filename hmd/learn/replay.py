"""Replay before trust: a rule proves itself on the past before it may act on its own.

It must match the call that it came from, must not match the call that put it right, and is run over
the project's past calls: one that would have stopped calls that went well stays a candidate, with
the figures.
"""

from collections.abc import Iterable

from msgspec import Struct

from hmd.core.memory import Signature
from hmd.learn.calls import Call
from hmd.learn.matching import Rule, same_call

# Beginnings of the three ways to fail.
NO_ORIGIN = "it does not match the call it came from"
HITS_FIX = "it matches the call that put it right"
STOPS_GOOD = "it would have stopped calls that went well"


class Replayed(Struct, kw_only=True, frozen=True):
    """The outcome. `problem` is "" when the rule passed. `tried` past calls were looked at, `hits`
    matched, of which `well` went well and `excused` did not count."""

    problem: str = ""
    tried: int = 0
    hits: int = 0
    well: int = 0
    excused: int = 0

    @property
    def passed(self) -> bool:
        return not self.problem

    @property
    def figures(self) -> str:
        return f"{self.hits} of {self.tried} past calls, {self.well} of them went well"


def replay(
    signature: Signature | None,
    origins: Iterable[Call],
    fixes: Iterable[Call],
    past: Iterable[Call],
    user_said: bool,
    before: int,
) -> Replayed:
    """Runs a rule over what happened.

    `origins` are the calls that went wrong (one must match), `fixes` those that put them right.
    `before` is when the user spoke (ms): where `user_said`, earlier calls with an origin's own
    literal key are excused, since a correction is about just these. A call that was held, is still
    open or was interrupted says nothing of the rule.
    """
    if signature is None:
        return Replayed()
    rule = Rule(signature)
    wrong = [call for call in origins if rule.meets(call)]
    if not wrong:
        return Replayed(problem=NO_ORIGIN)
    for fix in fixes:
        if rule.meets(fix) and not any(same_call(fix, call) for call in wrong):
            return Replayed(problem=f"{HITS_FIX}: {_short(fix)}")
    tried = hits = well = excused = 0
    for call in past:
        tried += 1
        if call.tool != signature.tool or not rule.meets(call):
            continue
        hits += 1
        if call.state != "ok":
            continue
        if user_said and call.at <= before and any(same_call(call, one) for one in wrong):
            excused += 1
        else:
            well += 1
    found = Replayed(tried=tried, hits=hits, well=well, excused=excused)
    if not well:
        return found
    problem = f"{STOPS_GOOD}: {found.figures}"
    return Replayed(problem=problem, tried=tried, hits=hits, well=well, excused=excused)


def combined(before: str, now: str, alone: bool) -> str:
    """The problem of a rule that an earlier episode left with problem `before` and this one with
    `now`; `alone`: there was no earlier one. To match a fix is final; to match no call of one
    episode counts only while no other showed one. Neither depends on the order of episodes."""
    if alone or before.startswith(NO_ORIGIN) or now.startswith(HITS_FIX):
        return now
    return before if before.startswith(HITS_FIX) or now.startswith(NO_ORIGIN) else now


def _short(call: Call) -> str:
    text = " ".join(call.input.split())
    return text if len(text) <= 80 else text[:79] + "…"
