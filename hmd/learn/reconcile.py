"""From facts that passed to planned changes against the memories that exist.

A fact becomes a new memory, evidence for one that says the same, or a proposal. Nothing here
changes a person's row. Ids follow from project and semantic key and evidence is kept per episode,
so a run done again plans nothing, and sessions may arrive in any order.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct, field, structs

from hmd.core.config import Settings
from hmd.kernel.address import digest
from hmd.kernel.glob import matches_everything
from hmd.learn import proposals as prop
from hmd.learn.calls import Call
from hmd.learn.episodes import Episode
from hmd.learn.facts import Learned
from hmd.learn.replay import combined, replay
from hmd.learn.rows import (
    Add,
    Attach,
    CloseProposal,
    Contest,
    Open,
    Planned,
    Proposal,
    ProposalKind,
    Revise,
    Row,
    Support,
    differing,
)
from hmd.learn.tiers import MOST_REMEMBERED, Caps, decide_tier, remembered_level
from hmd.learn.words import jaccard, tokens

SIMILAR = 0.6
# Note of a candidate that consolidation rejected for its age: new evidence brings it back.
AGED = "nothing confirmed it in time"
MOST_CONFIDENCE = 0.99
# A further episode closes a fifth of what is missing to certainty.
DOUBT_LEFT = 0.8
IMPORTANCE = {"correction": 0.8, "failure_resolution": 0.7, "design": 0.6, "convention": 0.5}
_CLASS_ORDER = ("agent_inferred", "tool_observed", "user_said")


class State(Struct, kw_only=True):
    """What a project's learning knows, as the use case read it from the store.

    `muted`: claim → when it was rejected. `done`: ids of runs that were applied. `activated`: day
    number → automatic activations on it.
    """

    rows: dict[str, Row] = field(default_factory=dict)
    proposals: dict[tuple[str, str, str], Proposal] = field(default_factory=dict)
    muted: dict[tuple[str, str, str], int] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)
    activated: dict[int, int] = field(default_factory=dict)


class Plan(Struct, kw_only=True):
    """The changes of one run, in order, with what was counted."""

    run: str = ""
    changes: list[Planned] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


class Run:
    """One reconciliation. Works on `state`, which afterwards is as if the plan had been applied."""

    def __init__(
        self,
        state: State,
        episode: Episode,
        settings: Settings,
        past: Iterable[Call],
        now: int,
        forgotten: Callable[[str], bool],
        run: str,
    ) -> None:
        self.state = state
        self.episode = episode
        self.settings = settings
        self.past = list(past)
        self.now = now
        self.forgotten = forgotten
        self.plan = Plan(run=run)
        self._activated = 0
        self._remembered = 0

    def take(self, fact: Learned) -> None:
        """Takes one fact in."""
        action = fact.fact.action
        if self.forgotten(fact.fact.summary) or self.forgotten(fact.key):
            self._count("forgotten")
        elif action == "propose_stale":
            self._argue("stale", fact, "")
        elif action == "propose_supersede":
            self._supersede(fact)
        else:
            target = self.state.rows.get(fact.fact.target) if action == "reinforce" else None
            if target is None or _other_call(target, fact):
                target = self._same(fact)
            if target is None:
                self._create(fact)
            else:
                self._reinforce(target, fact)

    def _same(self, fact: Learned) -> Row | None:
        """The row that says the same: equal key, else the most similar summary."""
        project = self.episode.project
        live = [row for row in self.state.rows.values() if row.project in (project, None)]
        exact = [row for row in live if row.key == fact.key or _guards(row, fact)]
        if exact:
            return min(exact, key=lambda row: (not row.live, row.authority != "human", row.id))
        mine = tokens(fact.fact.summary)
        best: tuple[float, str] = (0.0, "")
        for row in live:
            if not row.live or row.type != fact.fact.type or _other_call(row, fact):
                continue
            likeness = jaccard(mine, tokens(row.summary))
            if likeness >= SIMILAR and (-likeness, row.id) < (-best[0], best[1] or "~"):
                best = (likeness, row.id)
        return self.state.rows.get(best[1])

    def _create(self, fact: Learned, replaces: str = "") -> Row | None:
        name = digest(f"{self.episode.project}\x1f{fact.key}\x1f{replaces}", 32)
        if name in self.state.rows:  # that row tells of something else by now
            name = digest(f"{name}\x1f{self.episode.id}", 32)
        row = self._worded(Row(id=name, replaces=replaces), fact)
        row.project = self.episode.project or None
        row.created = self.now
        row.supports = (self._support(fact),)
        row.evidence = fact.evidence
        self._tell(row, fact)
        if not self._remember(row, fact):
            self._decide(row, was_active=False)
        self.state.rows[row.id] = row
        self.plan.changes.append(Add(row=structs.replace(row)))
        self._count("created")
        self._propose_activation(row)
        return row

    def _remember(self, row: Row, fact: Learned) -> bool:
        """The user asked for it in so many words: a person's rule, at once; two in a turn."""
        if not fact.asked or fact.evidence != "user_said" or self._remembered >= MOST_REMEMBERED:
            return False
        self._remembered += 1
        row.authority = "human"
        row.status = "active"
        row.note = "remember"
        row.level = remembered_level(row, self.settings)
        row.expires = row.revalidate_at = None
        self._count("remembered")
        return True

    def _reinforce(self, row: Row, fact: Learned) -> None:
        support = self._support(fact)
        if not row.live and row.note != AGED:
            # A person, or another memory, has settled this: evidence changes nothing.
            self._count("settled before")
            return
        replaced = row.source == "guard" and row.authority == "auto"
        told = [one for one in row.supports if not replaced or one.episode != support.episode]
        supports = with_support(tuple(told), support)
        if supports == row.supports and not replaced:
            self._count("known")
            return
        if row.authority == "human":
            row.supports = supports
            self.plan.changes.append(Attach(memory=row.id, support=support))
            self._count("confirmed a person's memory")
            return
        before = structs.replace(row)
        earlier = (support.at, support.episode) < row.first
        row.supports = supports
        if replaced or (earlier and fact.fact.action == "create"):
            self._worded(row, fact)
        if row.sig is None or row.sig == fact.sig:
            # The user's words about something near it are no words about this call.
            row.evidence = max(row.evidence, fact.evidence, key=_CLASS_ORDER.index)
        self._tell(row, fact)
        if not self._remember(row, fact):
            self._decide(row, was_active=before.status == "active")
        self._revise(before, row, "reinforced")
        self._count("reinforced")
        self._propose_activation(row)

    def _tell(self, row: Row, fact: Learned) -> None:
        """Works out what follows from the evidence: confidence and whether replay trusts it."""
        best = max(support.confidence for support in row.supports)
        doubt = (1 - best) * DOUBT_LEFT**row.validations
        row.confidence = round(min(1 - doubt, MOST_CONFIDENCE), 4)
        row.importance = IMPORTANCE[row.knowledge]
        if row.sig is not None:
            found = replay(
                row.sig,
                fact.origins,
                fact.fixes,
                self.past,
                user_said=row.evidence == "user_said",
                before=max(support.at for support in row.supports),
            )
            row.replay = combined(row.replay, found.problem, alone=len(row.supports) == 1)

    def _decide(self, row: Row, was_active: bool) -> None:
        day = self.now // 86_400_000
        caps = Caps(episode=self._activated, day=self.state.activated.get(day, 0))
        tier = decide_tier(row, self.settings, caps, self.now)
        row.status, row.level, row.note = tier.status, tier.level, tier.reason
        row.expires, row.revalidate_at = tier.expires, tier.revalidate_at
        if tier.shadowed:
            self.plan.notes.append(f"shadow: {row.id} would be active")
        if tier.status == "active" and not was_active:
            self._activated += 1
            self.state.activated[day] = caps.day + 1
            self._count("activated")

    def _propose_activation(self, row: Row) -> None:
        if row.authority == "human" or row.status == "active":
            return
        if row.type == "policy":
            self._open("activate_policy", row, "")
        elif row.sig is None and matches_everything(row.scope) and row.type in _ACTIVATED:
            self._open("activate_global", row, "")

    def _supersede(self, fact: Learned) -> None:
        target = self.state.rows.get(fact.fact.target)
        if target is None:
            return
        candidate = self._same(fact)
        if candidate is not None and candidate.id == target.id:
            self._reinforce(target, fact)
            return
        if candidate is None:
            candidate = self._create(fact, replaces=target.id)
        else:
            self._reinforce(candidate, fact)
        if candidate is not None:
            self._argue("supersede", fact, candidate.id)

    def _argue(self, kind: ProposalKind, fact: Learned, candidate: str) -> None:
        target = self.state.rows.get(fact.fact.target)
        if target is None:
            return
        proposal = self._open(kind, target, candidate, fact)
        if proposal is None:
            return
        if prop.settles(proposal, target):
            self._settle(proposal, target)
        elif prop.contests(proposal, target) and not target.contested:
            target.contested = True
            self.plan.changes.append(Contest(memory=target.id, contested=True))

    def _settle(self, proposal: Proposal, target: Row) -> None:
        before = structs.replace(target)
        target.status = "superseded" if proposal.kind == "supersede" else "stale"
        target.note = f"{prop.support(proposal)} sessions say so"
        self._revise(before, target, proposal.kind)
        replacement = self.state.rows.get(proposal.candidate)
        if replacement is not None and replacement.authority == "auto":
            before = structs.replace(replacement)
            replacement.replaces = ""
            self._decide(replacement, was_active=before.status == "active")
            self._revise(before, replacement, "takes its place")
        del self.state.proposals[proposal.claim]
        self.plan.changes.append(CloseProposal(proposal=proposal.id, outcome="applied"))
        self._count(proposal.kind)

    def _open(
        self, kind: ProposalKind, target: Row, candidate: str, fact: Learned | None = None
    ) -> Proposal | None:
        human, observed = self._signals(fact) if fact is not None else (False, False)
        proposal = prop.claim(
            self.state.proposals,
            self.state.muted,
            kind=kind,
            target=target.id,
            candidate=candidate,
            project=target.project,
            reason=fact.fact.rationale if fact is not None else target.note,
            session=self.episode.key,
            human=human,
            observed=observed,
            now=self.now,
        )
        if proposal is not None:
            self.state.proposals[proposal.claim] = proposal
            self.plan.changes.append(Open(proposal=proposal))
            self._count("proposed")
        return proposal

    def _revise(self, before: Row, row: Row, why: str) -> None:
        fields = differing(before, row)
        if fields:
            self.plan.changes.append(Revise(row=structs.replace(row), fields=fields, why=why))

    def _support(self, fact: Learned) -> Support:
        human, observed = self._signals(fact)
        return Support(
            episode=self.episode.id,
            session=self.episode.key,
            at=self.episode.ended,
            weight=self.episode.weight,
            confidence=fact.fact.confidence,
            human=human,
            observed=observed,
            cites=fact.cites,
        )

    def _signals(self, fact: Learned) -> tuple[bool, bool]:
        return fact.evidence == "user_said", fact.evidence == "tool_observed"

    def _worded(self, row: Row, fact: Learned) -> Row:
        row.source = "extraction"
        row.type = fact.fact.type
        row.summary, row.details = fact.fact.summary, fact.fact.details
        row.scope, row.sig = fact.scope, fact.sig
        row.triggers, row.tools = list(fact.triggers), fact.tools
        row.aliases = fact.fact.aliases
        row.knowledge = fact.fact.knowledge_kind
        row.key = fact.key
        return row

    def _count(self, what: str) -> None:
        self.plan.counts[what] = self.plan.counts.get(what, 0) + 1


_ACTIVATED = ("pitfall", "workflow")


def reconcile(
    state: State,
    episode: Episode,
    facts: Iterable[Learned],
    settings: Settings,
    now: int,
    past: Iterable[Call] = (),
    forgotten: Callable[[str], bool] = lambda text: False,
    run: str = "",
) -> Plan:
    """Plans what the facts of an episode change, and leaves `state` as it is after that.

    `past` are the project's calls with their outcome; `run` names the run ("" is the episode's
    own). A run that was done plans nothing. `forgotten` tells of a text whether it was erased (the
    store's keyed hashes).
    """
    name = run or episode.id
    if name in state.done:
        return Plan(run=name)
    one = Run(state, episode, settings, past, now, forgotten, name)
    for fact in facts:
        one.take(fact)
    state.done.add(name)
    return one.plan


def _guards(row: Row, fact: Learned) -> bool:
    """A correction kept without a model is about exactly this call: the fact takes its place."""
    return row.source == "guard" and row.sig is not None and row.sig == fact.sig


def _other_call(row: Row, fact: Learned) -> bool:
    """Similar words about two different calls are two memories."""
    return row.sig is not None and fact.sig is not None and row.sig != fact.sig


def with_support(supports: tuple[Support, ...], new: Support) -> tuple[Support, ...]:
    """With one episode's support added; several facts of one episode are one support."""
    if any(one.episode == new.episode for one in supports):
        return supports
    return tuple(sorted([*supports, new], key=lambda one: (one.at, one.episode)))
