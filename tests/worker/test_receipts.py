"""Receipts of one episode: what counts as heeded, avoided, overridden, a false alarm."""

import pytest

from hmd.learn.calls import Call
from hmd.learn.episodes import Episode, FiredMemory
from hmd.worker.receipts import receipts_of

# Each step of an episode: what the rule did at a call (or ""), the call's text, how it ended.
Step = tuple[str, str, str]


def episode(*steps: Step) -> Episode:
    made = Episode(id="e", host="claude-code", session="one", key="s", ended=5)
    for seq, (how, text, state) in enumerate(steps, 1):
        made.calls.append(Call(seq=seq, tool="bash", input=text, state=state))  # type: ignore[arg-type]
        if how:
            one = FiredMemory(memory="m", level="soft_deny", how=how, key=text, seq=seq)
            made.fired.append(one)
    return made


@pytest.mark.parametrize(
    ("steps", "figures"),
    [
        ([("advised", "a", "ok")], (1, 0, 0, 0, 0)),
        ([("denied", "a", "held")], (1, 0, 0, 0, 0)),
        ([("held", "a", "held")], (1, 1, 0, 0, 0)),
        ([("held", "a", "held"), ("", "b", "ok")], (1, 1, 1, 0, 0)),
        ([("held", "a", "held"), ("", "b", "failed")], (1, 1, 0, 0, 0)),
        ([("held", "a", "held"), ("passed", "a", "ok")], (1, 0, 0, 1, 1)),
        ([("held", "a", "held"), ("passed", "a", "failed")], (1, 0, 0, 1, 0)),
        # One call insisted upon, another given up: the override is not "another call that worked".
        (
            [("held", "a", "held"), ("passed", "a", "ok"), ("held", "b", "held")],
            (2, 1, 0, 1, 1),
        ),
        (
            [("held", "b", "held"), ("held", "a", "held"), ("passed", "a", "ok")],
            (2, 1, 0, 1, 1),
        ),
    ],
)
def test_figures(steps: list[Step], figures: tuple[int, ...]) -> None:
    """Guards the meaning of each figure, and that no call counts for two that exclude another."""
    made = episode(*steps)
    (row,) = receipts_of(made)
    assert (row.fired, row.heeded, row.avoided, row.overridden, row.false_alarm) == figures
    assert (row.memory, row.session, row.last) == ("m", "s", 5)
    assert bool(row.heeded) == (made.heeded == ["m"])
