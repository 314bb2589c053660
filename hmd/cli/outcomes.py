"""Says what a change did, in the same words everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hmd.cli import fact_lines, show

if TYPE_CHECKING:
    from hmd.core.answers import Outcome
    from hmd.core.facts import FactOutcome


def tell(outcome: Outcome, done: str, json: bool) -> None:
    """Prints a change: what it made of the memory or project, or the proposal it became."""
    if json:
        show.json_answer(outcome)
        return
    if outcome.proposal is not None and outcome.proposal.state == "open":
        show.answer("proposed " + show.short(outcome.proposal.id))
    elif outcome.memory is not None:
        row = outcome.memory
        show.answer(
            f"{done} {show.short(row.id)} ({row.status}, {row.type}, {row.level}): "
            + show.line(row.summary)
        )
    elif outcome.project is not None:
        project = outcome.project
        state = "enabled" if project.enabled else "disabled"
        said = "" if done == state else f" ({state})"
        place = project.locations[0] if project.locations else project.name
        # A repository is known by its git directory, and people know it by what that lies in.
        show.answer(f"{done} {show.short(project.id)}{said}: {place.removesuffix('/.git')}")
    else:
        show.answer(done)
    for note in outcome.notes:
        show.note(note)


def tell_fact(done: FactOutcome, word: str, json: bool) -> None:
    """Prints a change of facts: `word` and the fact as it is now, or the proposal it became."""
    if json:
        show.json_answer(done)
        return
    if done.proposal:
        show.answer(f"proposed {show.short(done.proposal)}")
    elif done.fact is not None:
        show.answer(f"{word} {fact_lines.fact(done.fact)}")
    for note in done.notes:
        show.note(note)
