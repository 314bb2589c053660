"""The one function that decides. Pure: what it sees is what it is given.

`decide(rules, turn, event)` runs in the daemon over resident data and in the stub over files and
gives the same verdict, byte for byte; `event.at` is the only clock. It changes nothing: what later
decisions must know travels in the verdict into the ledger.
"""

from hmd.kernel import event as ev
from hmd.kernel import texts
from hmd.kernel.buckets import AFTER, BASELINE, FIX, START
from hmd.kernel.builtin import builtin
from hmd.kernel.failure import signature
from hmd.kernel.ledger import ERROR_KEPT, failure_class
from hmd.kernel.redact import clip
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
# Types that are given at the start of a session.
START_TYPES = frozenset(["decision", "architecture_constraint", "workflow"])


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
        return _also(after_tool(rules, turn, event, home), event.recalled, turn)
    return _also(Verdict(), event.recalled, turn)


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


def give(
    verdict: Verdict,
    records: "list[Record]",
    turn: Turn,
    max_items: int,
    max_bytes: int,
    quotas: "dict[str, int] | None" = None,
) -> "list[Record]":
    """Puts the texts that fit into the context, each once a session; returns those records."""
    chosen: list[Record] = []
    used = 0
    left = dict(quotas) if quotas is not None else None
    for record in records:
        text = texts.line(record)
        size = len(text.encode("utf-8", "surrogatepass")) + 1
        if turn.given.get(record["id"]):
            verdict.suppressed.append((record["id"], "already_fired", "given in this session"))
        elif left is not None and left.get(record["type"], max_items) <= 0:
            why = f"enough of type {record['type']}"
            verdict.suppressed.append((record["id"], "type_balance_limit", why))
        elif len(chosen) >= max_items or used + size > max_bytes:
            why = f"over {max_items} items or {max_bytes} bytes"
            verdict.suppressed.append((record["id"], "budget_limit", why))
        else:
            chosen.append(record)
            used += size
            if left is not None:
                left[record["type"]] = left.get(record["type"], max_items) - 1
    if chosen:
        verdict.context = "\n".join([texts.line(record) for record in chosen])
        verdict.delivery = "with_result"
    return chosen


# -- the other events -------------------------------------------------------------------------


def before_model(rules: Rules, turn: Turn, event: ev.Event) -> Verdict:
    """Baseline rows, which hold with the daemon up or down, and what the prompt's words find."""
    verdict = _standing(rules, turn, event, "before_model", BASELINE)
    return _also(verdict, event.past, turn)


def session_start(rules: Rules, turn: Turn, event: ev.Event) -> Verdict:
    """Lasting context: baseline rows, decisions, constraints and workflows; then the hot index."""
    verdict = _standing(rules, turn, event, "session_start", START)
    ids, text = event.hot
    if text:
        verdict.context = f"{verdict.context}\n{text}" if verdict.context else text
        verdict.delivery = "with_result"
        known = {one.id for one in verdict.fired}
        verdict.fired += [Fired(name, ADVISE, "advised", "") for name in ids if name not in known]
    return verdict


def _also(verdict: Verdict, records: "list[Record]", turn: Turn) -> Verdict:
    """Adds rows that were chosen within a budget of their own, each once a session."""
    if records:
        before = verdict.context
        known = {one.id for one in verdict.fired}
        fresh = [record for record in records if record["id"] not in known]
        chosen = give(verdict, fresh, turn, len(fresh), 1 << 20)
        if before:
            parts = [before, verdict.context] if chosen else [before]
            verdict.context = "\n".join(parts)
        verdict.fired += [Fired(one["id"], ADVISE, "advised", "") for one in chosen]
    return verdict


def _standing(rules: Rules, turn: Turn, event: ev.Event, trigger: str, bucket: str) -> Verdict:
    verdict = Verdict()
    records: list[Record] = []
    for source, _root in rules.sources:
        for record in source.records_for([bucket]):
            if record["expires"] is not None and record["expires"] <= event.at:
                verdict.suppressed.append((record["id"], "ttl_expired", "its time has ended"))
            elif record["loaded"]:
                why = f"the host loads {record['loaded']} by itself"
                verdict.suppressed.append((record["id"], "loaded_by_host", why))
            elif trigger == "before_model" or record["baseline"] or record["type"] in START_TYPES:
                records.append(record)
    records.sort(key=lambda one: (not one["baseline"], -one["score"], -one["updated"], one["id"]))
    standing = {record["id"] for record in records}
    records += [record for record in event.recalled if record["id"] not in standing]
    fresh = turn
    if trigger == "session_start" and event.detail in ("compact", "clear"):
        fresh = Turn()  # what was given before is gone from the model's view
    chosen = give(
        verdict,
        records,
        fresh,
        rules.limit(trigger, "max_items"),
        rules.limit(trigger, "max_bytes"),
    )
    verdict.fired += [Fired(one["id"], ADVISE, "advised", "") for one in chosen]
    return verdict


def after_tool(rules: Rules, turn: Turn, event: ev.Event, home: str) -> Verdict:
    """Hints at a failure: rules for after_tool that match the call, or its place and failure."""
    verdict = Verdict()
    hints: list[tuple[bool, Record]] = []
    call = event.call
    if call is None or call.interrupted:
        return verdict
    failure = failure_class(call)
    for source, root in rules.sources:
        rows = source.records_for([AFTER])
        subject = subject_of(event, root, home) if rows else None
        for record in rows:
            if subject is None or (record["expires"] is not None and record["expires"] <= event.at):
                continue
            if record["tools"] and call.tool not in record["tools"]:
                verdict.suppressed.append((record["id"], "tool_mismatch", "another tool"))
            elif record["sig"] is not None:
                met = subject.meet(record)
                if met.how == MISS:
                    verdict.suppressed.append((record["id"], "signature_mismatch", met.reason))
                else:
                    hints.append((False, record))
            elif _about(record, failure) and subject.in_scope(record["scope"], turn.last_path):
                hints.append((True, record))
            else:
                verdict.suppressed.append((record["id"], "failure_mismatch", f"not {failure}"))
    hints.sort(key=lambda hint: (hint[0], -hint[1]["score"], -hint[1]["updated"], hint[1]["id"]))
    chosen = give(
        verdict,
        [*known_fixes(rules, event, home, failure), *[record for _loose, record in hints]],
        turn,
        rules.limit("after_tool", "max_items"),
        rules.limit("after_tool", "max_bytes"),
    )
    verdict.fired += [Fired(one["id"], ADVISE, "advised", "") for one in chosen]
    return verdict


def known_fixes(rules: Rules, event: ev.Event, home: str, failure: str) -> "list[Record]":
    """The best fix of each part of a call that failed the way it failed before (N3)."""
    call = event.call
    found: list[Record] = []
    said = ""
    for source, root in rules.sources:
        if call is None or call.tool != "bash":
            break
        for key, _names in subject_of(event, root, home).keyed:
            rows = source.records_for([FIX + str(key)])
            if rows and not said:
                said = signature(clip(call.error, ERROR_KEPT))
            same = [row for row in rows if _same_failure(row, call.tool, str(key), said, failure)]
            same.sort(key=lambda row: (-row["fix"]["sessions"], -row["fix"]["count"], row["id"]))
            found += same[:1]
    return found


def _same_failure(row: "Record", tool: str, key: str, said: str, failure: str) -> bool:
    """The same line went wrong, or (where a failure said nothing) it is of the same class."""
    fix = row.get("fix")
    if not isinstance(fix, dict) or fix.get("key") != key or row["tools"] != [tool]:
        return False
    return bool(fix.get("signature") == said and (said or fix.get("class") == failure))


def _about(record: "Record", failure: str) -> bool:
    """Whether a row names this failure class, in its aliases or its text."""
    words = [str(alias).lower() for alias in record["aliases"]]
    return failure in words or failure in f"{record['summary']} {record['details']}".lower()
