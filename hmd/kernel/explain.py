"""Why a call is stopped, advised or left alone: the hook's own function, with its reasons.

Reads every rule, also those whose bucket the hook would not open, so that each one that stays
silent has its reason in one line.
"""

from hmd.kernel import event as ev
from hmd.kernel.decide import consider, decide
from hmd.kernel.rules import Rules
from hmd.kernel.subject import Subject, subject_of
from hmd.kernel.turn import Turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hmd.kernel.verdict import Verdict

    Record = dict[str, Any]


class Explanation:
    """`units` and `keys` show how the call was read; `fired` are (record, level, how); `silent` are
    (record, kind, reason) for every other rule; `partial`/`opaque` say what could not be read."""

    __slots__ = ("fired", "opaque", "partial", "silent", "subject", "verdict")

    def __init__(self, subject: Subject, verdict: "Verdict") -> None:
        self.subject = subject
        self.verdict = verdict
        self.fired: list[tuple[Record, str, str]] = []
        self.silent: list[tuple[Record, str, str]] = []
        self.partial = subject.form is not None and subject.form.partial
        self.opaque = subject.form is not None and subject.form.opaque


def explain(rules: Rules, turn: Turn, event: ev.Event, root: str, home: str = "") -> Explanation:
    """Explains what the hook would answer to a pre-tool event, changing nothing."""
    verdict = decide(rules, turn, event, root, home)
    out = Explanation(subject_of(event, root, home), verdict)
    fired = {one.id: one for one in verdict.fired}
    suppressed = {memory_id: (kind, text) for memory_id, kind, text in verdict.suppressed}
    for source, base in rules.sources:
        subject = subject_of(event, base, home)
        for record in source.all_records():
            if "fix" in record:
                continue  # told where its command fails, never before it runs
            one = fired.get(record["id"])
            if one is not None:
                out.fired.append((record, one.level, one.how))
                continue
            kind, text, met = consider(record, subject, turn, event.at, explain=True)
            if met is not None:
                kind, text = suppressed.get(record["id"], _outranked(record, verdict))
            out.silent.append((record, kind, text))
    return out


def _outranked(record: "Record", verdict: "Verdict") -> "tuple[str, str]":
    """A rule that applies and still says nothing, beside a stronger one that stopped the call."""
    stopped = f"the call is already stopped ({verdict.level})"
    return "outranked", f"it applies ({record['level']}), but {stopped}"
