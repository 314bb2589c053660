"""The queue of review: what is in it, in which order, and what deciding does."""

from hmd.app import proposals, review, stats, traces
from hmd.core.proposals import ProposalFilter, ProposalRef
from hmd.core.receipts import StatsWanted
from hmd.core.traces import TraceWanted
from tests.app.conftest import Place
from tests.app.lessons import NPM_RULE, correct
from tests.app.school import School, command, fact, said, school


async def items(made: School) -> list[tuple[str, str]]:
    found = await review.review(made.app, made.caller, ProposalFilter())
    return [(one.kind, one.row.summary if one.row is not None else "") for one in found.items]


async def test_a_learned_policy_waits_and_accepting_makes_it_human(place: Place) -> None:
    """Guards activate_policy: never active by itself; accepted it is a person's, at hard_policy."""
    rule = fact(
        type="policy",
        summary="Nobody pushes to main from a session",
        trigger_signature=command("git push origin main"),
        evidence_refs=["@never git push"],
    )
    async with school(place) as made:
        made.script(said(rule, when="user: never git push"))
        first = made.session("s1")
        first.say("publish it")
        first.bash("git push origin main")
        first.stop()
        first.say("never git push origin main from here")
        first.bash("git log")
        first.bash("make release")
        first.stop()
        first.end()
        await made.learn()
        found = await review.review(made.app, made.caller, ProposalFilter())
        first_item = found.items[0]
        assert (first_item.kind, first_item.support) == ("activate_policy", 1)
        await proposals.accept(made.app, made.caller, ProposalRef(id=first_item.proposal))
        (row,) = [row for row in await made.rows(status="active") if row.type == "policy"]
        assert (row.authority, row.level) == ("human", "confirm")
        counted = await stats.stats(made.app, made.caller, StatsWanted())
        assert counted.reviewed == 1


async def test_the_digest_counts_once_a_day_and_tells_the_model_nothing(place: Place) -> None:
    """Guards H7: the number of what waits goes to the user alone, once a day."""
    rule = fact(
        type="policy",
        summary="Nobody uses npm in this repository",
        trigger_signature=command("npm test"),
        evidence_refs=["@use pnpm"],
    )
    async with school(place) as made:
        made.script(said(rule, when="user: don't use npm"))
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        printed = made.session("s2").started
        assert "1 waiting for your review" in printed["systemMessage"]
        assert "hookSpecificOutput" not in printed
        made.learning.hear(first.key, "session_start", made.root)
        await made.learning.attend()
        assert "systemMessage" not in made.session("s3").started
        place.clock.advance(24 * 3_600_000)
        assert "1 waiting" in made.session("s4").started["systemMessage"]


async def test_trace_leads_from_a_rule_to_the_line_and_the_call(place: Place) -> None:
    """Guards provenance: the cited words, the episode, the run with its cost."""
    async with school(place) as made:
        made.script({**said(NPM_RULE, when="user: don't use npm"), "usage": {"cost_usd": 0.02}})
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        (row,) = await made.rows(source="extraction")
        found = await traces.memory(made.app, made.caller, TraceWanted(id=row.id[:8]))
        assert ["use pnpm" in one.excerpt for one in found.evidence] == [True]
        assert [one.correction for one in found.episodes] == [True]
        assert [(one.status, one.cost_usd) for one in found.runs] == [("ok", 0.02)]
        session = await traces.session(made.app, made.caller, TraceWanted(id=first.key[:6]))
        assert any("don't use npm" in line.text for line in session.lines)
        assert len(session.episodes) == 2


async def test_kept_corrections_are_offered(place: Place) -> None:
    """Guards corrections made without a model: review names them."""
    async with school(place, {"extraction": {"enabled": False}}) as made:
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        ((kind, summary),) = await items(made)
        assert kind == "correction" and "use pnpm" in summary
