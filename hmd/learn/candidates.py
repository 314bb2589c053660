"""Corrections kept without a model: session guards that outlive their session as candidates.

A guard is about one exact call, and so is its candidate. Review offers it; an extraction that draws
the same rule takes its place.
"""

from collections.abc import Callable, Iterable

from msgspec import structs

from hmd.core.config import Settings
from hmd.core.memory import KEPT_CORRECTION, Signature
from hmd.kernel import event as ev
from hmd.kernel import turn as kernel_turn
from hmd.kernel.address import digest
from hmd.learn.calls import Call, Record, text_of
from hmd.learn.episodes import Episode
from hmd.learn.matching import exact_command
from hmd.learn.reconcile import Plan, State, with_support
from hmd.learn.replay import replay
from hmd.learn.rows import Add, Attach, Citation, Revise, Row, Support, differing
from hmd.learn.schema import SUMMARY_MAX
from hmd.learn.tiers import Caps, decide_tier
from hmd.learn.words import semantic_key

CONFIDENCE = 0.8
IMPORTANCE = 0.8
# A guard that was passed this often ended with its session (docs/internals.md, "Deciding").
MOST_OVERRIDES = 2


class Guard:
    """A guard of a session: the user's sentence, the call it is about and the one that worked."""

    __slots__ = ("call", "episode", "key", "said", "seq", "worked")

    def __init__(self, episode: Episode, seq: int, key: str, said: str, call: Call) -> None:
        self.episode = episode
        self.seq = seq
        self.key = key
        self.said = said
        self.call = call
        self.worked = ""


def guards_of(episodes: Iterable[Episode]) -> list[Guard]:
    """The guards of one session (its episodes in order) that were still in force at its end."""
    state = kernel_turn.Turn()
    found: dict[str, Guard] = {}
    past: list[Call] = []
    for episode in episodes:
        for seq, record in enumerate(episode.records, 1):
            kernel_turn.fold(state, record)
            for name, guard in _made(episode, seq, record, past):
                found[name] = guard
        past = [*past, *episode.calls][-64:]
    for known in state.guards:
        kept = found.get(str(known["id"]))
        if kept is not None:
            kept.worked = str(known.get("worked", ""))
    return [guard for name, guard in found.items() if state.overrides.get(name, 0) < MOST_OVERRIDES]


def keep(
    state: State,
    episodes: list[Episode],
    settings: Settings,
    now: int,
    past: Iterable[Call] = (),
    forgotten: Callable[[str], bool] = lambda text: False,
) -> Plan:
    """Plans what becomes of a finished session's guards, and leaves `state` as it is after that."""
    plan = Plan(run="guards:" + (episodes[0].key if episodes else ""))
    before = list(past)
    for guard in guards_of(episodes):
        signature = signature_of(guard)
        if signature is None or forgotten(guard.said):
            continue
        row = _row(guard, signature, now)
        known = _known(state, row)
        if known is None:
            fixes = [call for call in _calls(episodes) if call.input == guard.worked]
            spoke = guard.episode.started
            row.replay = replay(signature, [guard.call], fixes, before, True, spoke).problem
            row.note = row.replay or row.note  # one that would stop good calls stays silent
            state.rows[row.id] = row
            plan.changes.append(Add(row=structs.replace(row)))
        else:
            _confirm(plan, known, row.supports[0], settings, now)
    return plan


def signature_of(guard: Guard) -> Signature | None:
    """The signature of exactly the corrected call; None where it cannot be written down, as when a
    secret of it was masked."""
    tool, key = guard.call.tool, guard.key
    if "<redacted" in key:
        return None
    if tool == "bash":
        pattern = exact_command(guard.call, key)
        return Signature(pattern=pattern) if pattern else None
    if tool in ev.PATH_TOOLS:
        return Signature(tool=tool, target="path", kind="glob", pattern=_escaped(key))
    target = "url" if tool == "fetch" else "input"
    return Signature(tool=tool, target=target, kind="substring", pattern=key)


def _made(episode: Episode, seq: int, record: Record, past: list[Call]) -> list[tuple[str, Guard]]:
    out: list[tuple[str, Guard]] = []
    made = record.get("guards")
    for guard in made if isinstance(made, list) else []:
        if not isinstance(guard, dict):
            continue
        key, name = text_of(guard, "key"), text_of(guard, "id")
        named = [call for call in past if key in call.keys and call.tool == guard.get("tool")]
        if key and name and named:
            out.append((name, Guard(episode, seq, key, text_of(guard, "said"), named[-1])))
    return out


def _row(guard: Guard, signature: Signature, now: int) -> Row:
    episode = guard.episode
    summary = f"The user said: “{guard.said}”"
    if len(summary) > SUMMARY_MAX:
        summary = summary[: SUMMARY_MAX - 2] + "…”"
    details = f"It was about: {' '.join(guard.call.input.split())[:200]}"
    if guard.worked:
        details += f". What worked: {' '.join(guard.worked.split())[:200]}"
    key = semantic_key("pitfall", "**", signature.spec, summary)
    support = Support(
        episode=episode.id,
        session=episode.key,
        at=episode.ended,
        weight=episode.weight,
        confidence=CONFIDENCE,
        human=True,
        cites=(Citation(seq=guard.seq, kind=ev.PROMPT, excerpt=guard.said),),
    )
    return Row(
        id=digest(f"{episode.project}\x1f{key}\x1f", 32),
        project=episode.project or None,
        summary=summary,
        details=details,
        triggers=["before_tool"],
        sig=signature,
        evidence="user_said",
        note=KEPT_CORRECTION,
        source="guard",
        knowledge="correction",
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        key=key,
        supports=(support,),
        created=now,
    )


def _known(state: State, row: Row) -> Row | None:
    same = [
        one
        for one in state.rows.values()
        if one.project in (row.project, None) and (one.key == row.key or one.sig == row.sig)
    ]
    return min(same, key=lambda one: (not one.live, one.authority != "human", one.id), default=None)


def _confirm(plan: Plan, row: Row, support: Support, settings: Settings, now: int) -> None:
    """The user said it again, in another episode. What a person rejected stays so."""
    supports = with_support(row.supports, support)
    if not row.live or supports == row.supports:
        return
    if row.authority == "human":
        row.supports = supports
        plan.changes.append(Attach(memory=row.id, support=support))
        return
    before = structs.replace(row)
    row.supports = supports
    row.evidence = "user_said"
    if row.status == "active":
        tier = decide_tier(row, settings, Caps(), now)
        row.level, row.expires, row.revalidate_at = tier.level, tier.expires, tier.revalidate_at
    fields = differing(before, row)
    plan.changes.append(Revise(row=structs.replace(row), fields=fields, why="said again"))


def _calls(episodes: list[Episode]) -> list[Call]:
    return [call for episode in episodes for call in episode.calls]


def _escaped(path: str) -> str:
    """A path as a glob that matches it alone."""
    return "".join(f"[{char}]" if char in "*?[{" else char for char in path)
