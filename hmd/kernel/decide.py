"""The one function that decides. Pure: what it sees is what it is given.

`decide(rules, turn, event)` runs in the daemon over resident data and in the stub over files and
gives the same verdict, byte for byte; `event.at` is the only clock. It changes nothing: what later
decisions must know travels in the verdict into the ledger.
"""

from hmd.kernel import event as ev
from hmd.kernel import texts
from hmd.kernel.builtin import builtin
from hmd.kernel.giving import give
from hmd.kernel.occasions import after_tool, also, before_model, session_start
from hmd.kernel.rules import Rules
from hmd.kernel.subject import HIDDEN, MISS, Met, Subject, subject_of
from hmd.kernel.turn import Turn, hold_key
from hmd.kernel.verdict import (
    ADVISE,
    ASK,
    CONFIRM,
    DENY,
    HARD_DENY,
    SOFT_DENY,
    STRENGTH,
    Fired,
    Verdict,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

# How many texts of a type are given before a tool (the seed's quotas).
QUOTAS = {"policy": 2, "pitfall": 2, "workflow": 1}
SIGNATURELESS = frozenset(["policy", "pitfall", "workflow"])
# Permission modes in which nobody is asked.
UNASKED_MODES = frozenset(["bypassPermissions", "dontAsk"])
# A correction is settled after this many overrides.
GUARD_OVERRIDES = 2


class Hit:
    """A rule that applies to the call: the level it will be given at, and under which key."""

    __slots__ = ("level", "met", "record")

    def __init__(self, record: "Record", met: Met) -> None:
        self.record = record
        self.met = met
        self.level: str = record["level"]

    @property
    def automatic(self) -> bool:
        return bool(self.record["authority"] == "auto")


def decide(
    rules: Rules, turn: Turn, event: ev.Event, root: str, home: str = "", can_hold: bool = True
) -> Verdict:
    """The verdict on an event.

    `root` is the project's directory, `home` the user's (for `~`). `can_hold` is false where no
    ledger line can be written, so that a hold could never be lifted.
    """
    first = turn.first_report(event.event_id, event.at)
    if first is not None:
        return _repeated(first, event)
    if event.kind == ev.PRE_TOOL and event.call is not None:
        return before_tool(rules, turn, event, root, home, can_hold)
    if event.kind == ev.PROMPT and not event.background:
        return before_model(rules, turn, event)
    if event.kind == ev.SESSION_START:
        return session_start(rules, turn, event)
    if event.kind == ev.TOOL_FAILURE and event.call is not None:
        return also(after_tool(rules, turn, event, home), event.recalled, turn)
    return also(Verdict(), event.recalled, turn)


def _repeated(first: "list[object]", event: ev.Event) -> Verdict:
    """The answer to an event reported again. The same delivery never got its answer and gets it
    whole; another delivery (a host that registered us twice) gets decision and reason only."""
    verdict = Verdict()
    verdict.repeat = True
    answer = first[2]
    if isinstance(answer, list) and len(answer) == 4:
        decision, reason, context, notice = (str(part) for part in answer)
        verdict.decision, verdict.reason = decision, reason
        if event.delivery and first[1] == event.delivery:
            verdict.context, verdict.notice = context, notice
    return verdict


# -- before a tool ----------------------------------------------------------------------------


def before_tool(
    rules: Rules, turn: Turn, event: ev.Event, root: str, home: str, can_hold: bool
) -> Verdict:
    """Rules and corrections that apply to the call about to run."""
    verdict = Verdict()
    hits: list[Hit] = []
    for source, base in rules.sources:
        subject = subject_of(event, base, home)
        for record in source.records_for(subject.buckets()):
            kind, text, met = consider(record, subject, turn, event.at)
            if met is None:
                verdict.suppressed.append((record["id"], kind, text))
            else:
                hits.append(Hit(record, met))
    subject = subject_of(event, root, home)
    hits += _guards(turn, subject)
    hits += [Hit(record, met) for record, met in builtin(subject, rules.home)]
    hits.sort(key=_rank)
    unasked = not event.attended or event.mode in UNASKED_MODES
    denied = [hit for hit in hits if hit.level == HARD_DENY]
    asked = [] if unasked else [hit for hit in hits if hit.level == CONFIRM]
    one_time = [hit for hit in hits if hit.level == SOFT_DENY or (unasked and hit.level == CONFIRM)]
    held = _hold(one_time, rules, turn, event, verdict, can_hold)
    advised = [hit for hit in hits if hit.level == ADVISE]
    if denied:
        _refuse(verdict, denied)
    elif held:
        _hold_back(verdict, held, unasked)
    elif asked:
        _ask(verdict, asked)
    else:
        _advise(verdict, advised, rules, turn)
    _say_opaque(verdict, rules, turn, subject)
    return verdict


def consider(
    record: "Record", subject: Subject, turn: Turn, at: int, explain: bool = False
) -> "tuple[str, str, Met | None]":
    """Whether a rule applies to a call: (suppression kind, reason, how it met or None). Why a
    signature misses is told only if asked for: finding it takes longer than the miss."""
    if "before_tool" not in record["triggers"]:
        return "trigger_mismatch", "it is not for before_tool", None
    if record["expires"] is not None and record["expires"] <= at:
        return "ttl_expired", "its time to live has ended", None
    tools = record["tools"]
    if tools and subject.call.tool not in tools:
        return "tool_mismatch", f"it is for {', '.join(tools)}", None
    if record["sig"] is None:
        if record["type"] not in SIGNATURELESS:
            return (
                "trigger_mismatch",
                f"a {record['type']} without a signature waits for prompts",
                None,
            )
        if not subject.in_scope(record["scope"], turn.last_path):
            return "scope_mismatch", f"nothing the call touches lies in {record['scope']}", None
        return "", "", Met("match", subject.key)
    met = subject.meet(record, explain)
    if met.how == MISS:
        return "signature_mismatch", met.reason, None
    # A person who gives both wants both; what was learned keeps its scope as a hint only.
    if record["authority"] == "human" and not subject.in_scope(record["scope"], ""):
        return "scope_mismatch", f"the call lies outside {record['scope']}", None
    return "", "", met


def _rank(hit: Hit) -> "tuple[object, ...]":
    """Enforcement, signature before scope, people before machines, score; then stable."""
    record = hit.record
    return (
        -STRENGTH[hit.level],
        record["sig"] is None,
        record["authority"] != "human",
        -record["score"],
        -record["updated"],
        record["id"],
    )


def _guards(turn: Turn, subject: Subject) -> "list[Hit]":
    """Corrections of this session that bind to this very call."""
    hits = []
    keys = {str(part[0]) for part in subject.keyed} if turn.guards else set()
    for guard in turn.guards:
        if guard["tool"] != subject.call.tool or guard["key"] not in keys:
            continue
        if turn.overrides.get(str(guard["id"]), 0) >= GUARD_OVERRIDES:
            continue
        hits.append(Hit(texts.guard_record(guard), Met("match", str(guard["key"]))))
    return hits


def _hold(
    hits: "list[Hit]", rules: Rules, turn: Turn, event: ev.Event, verdict: Verdict, can_hold: bool
) -> "list[Hit]":
    """Those of the one-time rules that hold now; the others pass (an override) or advise."""
    held = []
    spent = turn.held_calls >= rules.limit("before_tool", "max_holds_per_session")
    for hit in hits:
        hold = turn.holds.get(hold_key(event.agent, hit.record["id"], hit.met.key))
        if hold is not None and not turn.wave_open(hold, event.at):
            if hold[1] != 2:
                verdict.fired.append(Fired(hit.record["id"], SOFT_DENY, "passed", hit.met.key))
            verdict.suppressed.append((hit.record["id"], "already_fired", "held once this turn"))
        elif not can_hold or (hit.automatic and spent and hold is None):
            hit.level = ADVISE
        else:
            held.append(hit)
    return held


def _refuse(verdict: Verdict, hits: "list[Hit]") -> None:
    first = hits[0]
    ending = texts.LIFT.format(id=first.record["id"][: texts.SHORT])
    if first.met.how == HIDDEN:
        ending = f"{texts.HIDDEN} {ending}"
    verdict.decision = DENY
    verdict.reason = texts.reason([hit.record for hit in hits], ending)
    verdict.notice = texts.notice(first.record, HARD_DENY, "blocked a call")
    verdict.delivery = "before"
    verdict.fired += [Fired(hit.record["id"], HARD_DENY, "denied", hit.met.key) for hit in hits]


def _hold_back(verdict: Verdict, hits: "list[Hit]", unasked: bool) -> None:
    first = hits[0]
    downgraded = unasked and first.level == CONFIRM
    verdict.automatic = any(hit.automatic for hit in hits)
    verdict.decision = DENY
    verdict.reason = texts.reason([hit.record for hit in hits], texts.RETRY)
    verdict.notice = texts.notice(first.record, SOFT_DENY, "held a call once")
    verdict.delivery = "before_downgraded" if downgraded else "before"
    verdict.fired += [Fired(hit.record["id"], SOFT_DENY, "held", hit.met.key) for hit in hits]


def _ask(verdict: Verdict, hits: "list[Hit]") -> None:
    first = hits[0]
    verdict.decision = ASK
    verdict.reason = texts.reason([hit.record for hit in hits], texts.ASKED)
    verdict.notice = texts.notice(first.record, CONFIRM, "asks about a call")
    verdict.delivery = "before"
    verdict.fired += [Fired(hit.record["id"], CONFIRM, "asked", hit.met.key) for hit in hits]


def _advise(verdict: Verdict, hits: "list[Hit]", rules: Rules, turn: Turn) -> None:
    chosen = give(
        verdict,
        [hit.record for hit in hits],
        turn,
        rules.limit("before_tool", "max_items"),
        rules.limit("before_tool", "max_bytes"),
        QUOTAS,
    )
    keys = {hit.record["id"]: hit.met.key for hit in hits}
    verdict.fired += [Fired(one["id"], ADVISE, "advised", keys[one["id"]]) for one in chosen]


def _say_opaque(verdict: Verdict, rules: Rules, turn: Turn, subject: Subject) -> None:
    """Once a session, where blocking rules exist and the command hides what it runs."""
    if turn.opaque_said or verdict.decision or subject.form is None or not subject.form.opaque:
        return
    if not any(source.records_for(["deny"]) for source, _root in rules.sources):
        return
    verdict.opaque = True
    verdict.notice = verdict.notice or texts.OPAQUE
    verdict.context = f"{verdict.context}\n{texts.OPAQUE}" if verdict.context else texts.OPAQUE
    verdict.delivery = "with_result"
