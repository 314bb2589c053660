"""What rules did in an episode, worked out of its ledger: receipts."""

from hmd.core.learning import ReceiptRow
from hmd.core.times import week_of
from hmd.learn.episodes import Episode, FiredMemory

_GIVEN = frozenset(["advised", "asked", "held", "denied"])


def receipts_of(episode: Episode) -> list[ReceiptRow]:
    """One row a memory, for the week in which the episode ended."""
    week = week_of(episode.ended)
    rows: dict[str, ReceiptRow] = {}
    passed = {(one.agent, one.memory, one.key) for one in episode.fired if _passed(one)}
    by_seq = {call.seq: call for call in episode.calls}
    for one in episode.fired:
        row = rows.setdefault(
            one.memory, ReceiptRow(memory=one.memory, session=episode.key, week=week)
        )
        row.last = episode.ended
        if one.how in _GIVEN:
            row.fired += 1
        elif _passed(one):
            row.overridden += 1
            call = by_seq.get(one.seq)
            row.false_alarm += call is not None and call.state == "ok"
        # A memory is heeded once an episode, whatever else of it was passed (Episode.heeded).
        heeded = one.how == "held" and (one.agent, one.memory, one.key) not in passed
        if heeded and not row.heeded:
            row.heeded = 1
            row.avoided = int(_did_it_otherwise(episode, one))
    return list(rows.values())


def _passed(one: FiredMemory) -> bool:
    return one.how == "passed"


def _did_it_otherwise(episode: Episode, held: FiredMemory) -> bool:
    """Whether, after a call was held, another one of its tool went well that the memory let be."""
    stopped = next((call for call in episode.calls if call.seq == held.seq), None)
    if stopped is None:
        return False
    overrides = {one.seq for one in episode.fired if _passed(one) and one.memory == held.memory}
    return any(
        call.seq > held.seq
        and call.state == "ok"
        and call.tool == stopped.tool
        and call.seq not in overrides
        for call in episode.calls
    )
