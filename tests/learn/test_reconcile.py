"""Guards the way from facts to memories: nobody's memory is touched, nothing counts twice."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.core.config import BeforeTool, Settings
from hmd.core.memory import Signature
from hmd.learn.matching import Rule
from hmd.learn.reconcile import AGED, State, reconcile
from hmd.learn.rows import DAY, Add, Attach, Contest, Open, Proposal, Revise, Row
from tests.learn.making import T0, calls, corrected, fact, judge, learn, resolved, signature

OBSERVED: dict[str, Any] = {"evidence_refs": ["e3", "e5"], "knowledge_kind": "failure_resolution"}


def only(state: State) -> Row:
    (row,) = state.rows.values()
    return row


def human(**more: Any) -> Row:
    base: dict[str, Any] = {
        "id": "h" * 32,
        "project": "p" * 32,
        "summary": "Deploy on Fridays only with a second pair of eyes",
        "authority": "human",
        "status": "active",
        "source": "manual",
        "evidence": "user_said",
        "key": "k",
    }
    return Row(**{**base, **more})


def test_a_correction_is_active_and_holds_in_the_next_session() -> None:
    state = State()
    plan = learn(state, corrected(), fact())
    (change,) = plan.changes
    assert isinstance(change, Add)
    assert change.row == only(state)
    row = only(state)
    assert (row.status, row.level, row.authority) == ("active", "soft_deny", "auto")
    assert row.supports[0].cites[0].excerpt.startswith("don't use npm")
    assert plan.counts == {"created": 1, "activated": 1}


def test_an_observation_advises_and_climbs_with_a_second_session() -> None:
    state = State()
    learn(state, resolved("s1"), fact(**OBSERVED))
    assert (only(state).status, only(state).level) == ("active", "advise")
    plan = learn(state, resolved("s2", T0 + DAY), fact(**OBSERVED))
    assert only(state).level == "soft_deny"
    assert isinstance(plan.changes[0], Revise)
    assert "level" in plan.changes[0].fields


def test_the_seeds_way_advises_first() -> None:
    advise = Settings(before_tool=BeforeTool(auto_enforcement="advise"))
    state = State()
    learn(state, corrected("s1"), fact(), settings=advise)
    assert only(state).level == "advise"
    learn(state, corrected("s2", at=T0 + DAY), fact(), settings=advise)
    assert only(state).level == "soft_deny"


def test_similar_words_reinforce_in_every_script() -> None:
    pairs = [
        ("Ask before you touch the billing folder", "Before touching the billing folder, ask"),
        ("결제 폴더를 건드리기 전에 먼저 물어볼 것", "결제 폴더를 건드리기 전에 꼭 먼저 물어보기"),
        ("請求フォルダを変更する前に確認すること", "請求フォルダを変更する前に必ず確認すること"),
    ]
    for first, second in pairs:
        state = State()
        plain: dict[str, Any] = {"trigger_signature": None, "type": "workflow"}
        learn(state, corrected("s1"), fact(summary=first, **plain))
        learn(state, corrected("s2", at=T0 + DAY), fact(summary=second, **plain))
        assert len(state.rows) == 1, first
        assert only(state).summary == first


def test_similar_words_about_two_calls_are_two_memories() -> None:
    state = State()
    learn(state, corrected("s1"), fact())
    other = fact(
        summary="npm test fails in this project; run pnpm test first",
        trigger_signature=signature("pnpm test x", "cmd"),
    )
    learn(state, corrected("s2"), other)
    assert len(state.rows) == 2


def test_replay_keeps_a_rule_that_would_have_stopped_good_calls() -> None:
    state = State()
    past = calls("npm test", "npm test -- -u", at=T0 - DAY)
    learn(state, resolved(), fact(**OBSERVED), past=past)
    assert only(state).status == "candidate"
    assert "2 of them went well" in only(state).note


def test_words_about_something_near_do_not_make_a_rule_the_users_own() -> None:
    state = State()
    learn(state, resolved("s1"), fact(**OBSERVED))
    near = fact(
        action="reinforce",
        target=only(state).id,
        trigger_signature=None,
        summary="The lock file is never edited by hand",
    )
    said = "don't touch the lock file"
    learn(state, corrected("s2", said, T0 + DAY), near)
    assert only(state).evidence == "tool_observed"


def test_remember_makes_a_persons_rule_and_at_most_two_of_a_turn() -> None:
    said = "Remember this: never use npm test, yarn test or make test, always pnpm"
    state = State()
    facts = [
        fact(),
        fact(
            summary="Never run the tests with yarn; use pnpm",
            type="policy",
            trigger_signature=signature("npm test --all"),
        ),
        fact(
            summary="make is not the way to run these tests, pnpm is",
            trigger_signature=signature("pnpm test --x", "cmd"),
        ),
    ]
    learn(state, corrected(said=said), *facts)
    rows = list(state.rows.values())
    assert [row.authority for row in rows] == ["human", "human", "auto"]
    assert [row.level for row in rows[:2]] == ["soft_deny", "confirm"]
    assert [row.expires for row in rows[:2]] == [None, None]
    assert rows[0].note == "remember"


def test_remember_makes_an_automatic_memory_a_persons() -> None:
    state = State()
    learn(state, resolved("s1"), fact(**OBSERVED))
    assert only(state).authority == "auto"
    said = "Remember this: npm test does not work here"
    learn(state, corrected("s2", said, T0 + DAY), fact())
    row = only(state)
    assert (row.authority, row.status, row.level, row.expires) == (
        "human",
        "active",
        "soft_deny",
        None,
    )


def test_a_fact_that_does_not_cite_the_request_stays_automatic() -> None:
    state = State()
    said = "Remember this: the release branch is frozen, don't use npm test"
    learn(state, corrected(said=said), fact(evidence_refs=["e3"]))
    assert only(state).authority == "auto"


def test_a_policy_waits_and_is_proposed() -> None:
    state = State()
    plan = learn(state, corrected(), fact(type="policy"))
    assert only(state).status == "candidate"
    assert [type(change) for change in plan.changes] == [Add, Open]
    assert [claim[0] for claim in state.proposals] == ["activate_policy"]


def test_caps_of_an_episode() -> None:
    state = State()
    facts = [
        fact(summary=f"npm test with option {n} fails here", trigger_signature=signature(text))
        for n, text in enumerate(["npm test", "npm test a", "npm test b", "npm test c"])
    ]
    episode = corrected(said="don't use npm test here, use pnpm")
    for one in episode.context:
        one.input = "npm test a b c"
    learn(state, episode, *facts)
    assert [row.status for row in state.rows.values()] == ["active"] * 3 + ["candidate"]


def test_forgotten_text_does_not_come_back() -> None:
    state = State()
    checked = judge(corrected(), fact())
    gone = {fact()["summary"]}
    plan = reconcile(
        state, corrected(), checked.learned, Settings(), T0, forgotten=lambda text: text in gone
    )
    assert (plan.counts, plan.changes, state.rows) == ({"forgotten": 1}, [], {})


def test_what_a_person_rejected_stays_rejected_and_what_aged_comes_back() -> None:
    state = State()
    learn(state, corrected("s1"), fact())
    only(state).status = "rejected"
    assert learn(state, corrected("s2"), fact()).changes == []
    only(state).note = AGED
    learn(state, corrected("s3"), fact())
    assert only(state).status == "active"


def test_evidence_for_a_persons_memory_is_attached_and_nothing_else() -> None:
    state = State(rows={"h" * 32: human(summary=fact()["summary"])})
    before = human(summary=fact()["summary"])
    plan = learn(state, corrected(), fact(trigger_signature=None))
    assert [type(change) for change in plan.changes] == [Attach]
    after = only(state)
    after.supports = ()
    assert after == before


def stale(name: str, session: str, **more: Any) -> tuple[Any, dict[str, Any]]:
    return corrected(session, at=T0 + DAY), fact(action="propose_stale", target=name, **more)


def test_two_sessions_settle_an_automatic_memory_and_contest_a_persons() -> None:
    state = State()
    learn(state, corrected("s1"), fact())
    name = only(state).id
    learn(state, *stale(name, "s2"))
    assert only(state).status == "active"
    plan = learn(state, *stale(name, "s3"))
    assert only(state).status == "stale"
    assert plan.counts["stale"] == 1
    assert state.proposals == {}

    mine = human()
    state = State(rows={mine.id: mine})
    learn(state, *stale(mine.id, "s2"))
    plan = learn(state, *stale(mine.id, "s3"))
    assert [type(change) for change in plan.changes] == [Open, Contest]
    assert (mine.status, mine.contested) == ("active", True)
    proposal = next(iter(state.proposals.values()))
    assert isinstance(proposal, Proposal)
    assert len(proposal.claims) == 2


def test_a_run_is_known_by_its_id_when_what_it_did_has_been_settled() -> None:
    state = State()
    learn(state, corrected("s1"), fact())
    name = only(state).id
    claims = [stale(name, "s2"), stale(name, "s3")]
    for episode, change in claims:
        learn(state, episode, change)
    assert state.proposals == {}
    for episode, change in claims:
        assert learn(state, episode, change).changes == []
    assert state.proposals == {}


def test_a_replacement_waits_until_its_proposal_is_settled() -> None:
    state = State()
    learn(state, corrected("s1"), fact())
    name = only(state).id
    better = fact(
        action="propose_supersede",
        target=name,
        summary="The suite needs pnpm: npm does not know its scripts",
        trigger_signature=signature("npm test --silent"),
    )
    episode = corrected("s2", at=T0 + DAY)
    episode.context[0].input = "npm test --silent"
    learn(state, episode, better)
    (new,) = [row for row in state.rows.values() if row.id != name]
    assert (new.status, new.replaces) == ("candidate", name)
    again = corrected("s3", at=T0 + 2 * DAY)
    again.context[0].input = "npm test --silent"
    learn(state, again, better)
    assert state.rows[name].status == "superseded"
    assert state.rows[new.id].status == "active"


# -- properties -------------------------------------------------------------------------------

FACTS: list[dict[str, Any]] = [
    fact(),
    fact(type="policy", summary="Tests are never run with npm test"),
    fact(trigger_signature=None, type="workflow", summary="Install before you run the tests"),
    fact(trigger_signature=signature("npm test", "substring"), type="workflow"),
    fact(type="decision", summary="pnpm was chosen for its store", trigger_signature=None),
    fact(confidence=0.3, summary="npm test might be slow on this machine"),
    fact(trigger_signature=signature("pnpm test"), summary="pnpm test is what the user wants"),
    fact(knowledge_kind="convention", trigger_signature=signature("npm test -w a")),
]
ACTIONS = ["create", "reinforce", "propose_stale", "propose_supersede"]
# (session, turn in it, kind of turn, fact, action)
STEP = st.tuples(
    st.sampled_from(["a", "b", "c"]),
    st.sampled_from(["corrected", "resolved", "remember"]),
    st.integers(0, len(FACTS) - 1),
    st.sampled_from(ACTIONS),
)


def turn(session: str, kind: str, at: int) -> Any:
    if kind == "resolved":
        return resolved(session, at)
    if kind == "remember":
        return corrected(session, "remember this: don't use npm test, use pnpm", at)
    return corrected(session, at=at)


def run(state: State, steps: list[Any], target: str = "") -> list[Any]:
    plans = []
    for number, (session, kind, place, action) in enumerate(steps):
        episode = turn(f"{session}{number}", kind, T0 + number * DAY)
        episode.key = session
        change = {**FACTS[place], "action": action, "target": "" if action == "create" else target}
        checked = judge(episode, change, state=state)
        plans.append(
            (episode, checked.learned, reconcile(state, episode, checked.learned, Settings(), T0))
        )
    return plans


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(STEP, max_size=10), st.sampled_from(["candidate", "active", "stale"]))
def test_no_sequence_of_facts_changes_a_persons_row(steps: list[Any], status: Any) -> None:
    mine = human(status=status, summary=fact()["summary"], sig=Signature(pattern="npm test"))
    before = human(status=status, summary=fact()["summary"], sig=Signature(pattern="npm test"))
    state = State(rows={mine.id: mine})
    plans = run(state, steps, target=mine.id)
    for _episode, _facts, plan in plans:
        for change in plan.changes:
            assert not (isinstance(change, Revise) and change.row.id == mine.id)
    after = state.rows[mine.id]
    after.supports, after.contested = (), False
    assert after == before


@settings(derandomize=True, max_examples=50, deadline=None)
@given(st.lists(STEP, max_size=8))
def test_replaying_any_run_is_a_no_op(steps: list[Any]) -> None:
    """By its id; and, where that was lost, by the evidence that it left."""
    state = State()
    plans = run(state, steps)
    rows = {name: str(row) for name, row in state.rows.items()}
    for episode, facts, _plan in plans:
        assert reconcile(state, episode, facts, Settings(), T0 + 99 * DAY).changes == []
    state.done.clear()
    state.proposals.clear()
    for episode, facts, _plan in plans:
        again = reconcile(state, episode, facts, Settings(), T0)
        assert not [one for one in again.changes if not isinstance(one, Open)]
    assert {name: str(row) for name, row in state.rows.items()} == rows


@settings(derandomize=True, max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["corrected", "resolved"]),
                  st.sampled_from([0, 2, 4])),
        max_size=7,
    ),
    st.randoms(use_true_random=False),
)  # fmt: skip
def test_any_legal_interleaving_of_sessions_gives_the_same_memories(
    steps: list[Any], random: Any
) -> None:
    """Each session's episodes in their order, the sessions mixed at will."""
    todo = [
        (
            session,
            turn(f"{session}{number}", kind, T0 + number * DAY),
            {**FACTS[place], "details": f"as step {number} tells it"},
        )
        for number, (session, kind, place) in enumerate(steps)
    ]
    for session, episode, _change in todo:
        episode.key = session
    mixed = []
    left = {name: [one for one in todo if one[0] == name] for name in "abc"}
    while any(left.values()):
        name = random.choice([name for name in left if left[name]])
        mixed.append(left[name].pop(0))
    ends = T0 + 30 * DAY
    results = []
    for order in (todo, mixed):
        state = State()
        for _session, episode, change in order:
            checked = judge(episode, change, state=state)
            reconcile(state, episode, checked.learned, Settings(), ends)
        results.append({name: str(row) for name, row in sorted(state.rows.items())})
    assert results[0] == results[1]


@settings(derandomize=True, max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=8))
def test_every_active_automatic_rule_matches_its_origin_and_not_its_fix(steps: list[Any]) -> None:
    state = State()
    plans = run(state, steps)
    origin, fix = calls("!npm test")[0], calls("pnpm test")[0]
    for row in state.rows.values():
        if row.status == "active" and row.authority == "auto" and row.sig is not None:
            assert Rule(row.sig).meets(origin)
            assert not Rule(row.sig).meets(fix)
    assert len(plans) == len(steps)
