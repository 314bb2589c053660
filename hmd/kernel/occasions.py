"""What is said where no call is about to run: on a prompt, at session start, at a failure.

Called by `hmd.kernel.decide` and as pure as it.
"""

from hmd.kernel import event as ev
from hmd.kernel.buckets import AFTER, BASELINE, FIX, START
from hmd.kernel.failure import signature
from hmd.kernel.giving import give
from hmd.kernel.ledger import ERROR_KEPT, failure_class
from hmd.kernel.redact import clip
from hmd.kernel.rules import Rules
from hmd.kernel.subject import MISS, subject_of
from hmd.kernel.turn import Turn
from hmd.kernel.verdict import ADVISE, Fired, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

# Types that are given at the start of a session.
START_TYPES = frozenset(["decision", "architecture_constraint", "workflow"])


def before_model(rules: Rules, turn: Turn, event: ev.Event) -> Verdict:
    """Baseline rows, which hold with the daemon up or down, and what the prompt's words find."""
    verdict = _standing(rules, turn, event, "before_model", BASELINE)
    return also(verdict, event.past, turn)


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


def also(verdict: Verdict, records: "list[Record]", turn: Turn) -> Verdict:
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
