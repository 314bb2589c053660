"""What rules did in an episode, worked out of its ledger: receipts."""

from hmd.core.learning import ReceiptRow
from hmd.core.times import week_of
from hmd.learn.episodes import Episode

_GIVEN = frozenset(["advised", "asked", "held", "denied"])


def receipts_of(episode: Episode) -> list[ReceiptRow]:
    """One row a memory, for the week in which the episode ended."""
    week = week_of(episode.ended)
    rows: dict[str, ReceiptRow] = {}
    heeded = set(episode.heeded)
    by_seq = {call.seq: call for call in episode.calls}
    for one in episode.fired:
        row = rows.setdefault(
            one.memory, ReceiptRow(memory=one.memory, session=episode.key, week=week)
        )
        row.last = episode.ended
        if one.how in _GIVEN:
            row.fired += 1
        elif one.how == "passed":
            row.overridden += 1
            call = by_seq.get(one.seq)
            row.false_alarm += call is not None and call.state == "ok"
        if one.how == "held" and one.memory in heeded:
            heeded.discard(one.memory)
            row.heeded += 1
            row.avoided += _did_it_otherwise(episode, one.seq)
    return list(rows.values())


def _did_it_otherwise(episode: Episode, held: int) -> bool:
    """Whether, after a call was held, another one of its tool went well."""
    stopped = next((call for call in episode.calls if call.seq == held), None)
    if stopped is None:
        return False
    return any(
        call.seq > held and call.state == "ok" and call.tool == stopped.tool
        for call in episode.calls
    )
