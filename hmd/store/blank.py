"""Changes without the content of what was erased: what journal lines and proposals become.

The emptied change keeps kind, identifiers and times, so that a journal which holds it still replays
to the same rows as the database that was erased (the erasing itself fills what must not be empty).
It is never longer than before: it takes the place of the old one.
"""

from typing import TypeVar

import msgspec

from hmd.core.changes import (
    AddMemory,
    AnyChange,
    Batch,
    Demote,
    EditMemory,
    ImportFacts,
    MarkFact,
    OpenProposal,
    Patch,
    Promote,
    RememberFact,
    Restore,
    ReviseFact,
    ReviseMemory,
    SetLearned,
    SetStatus,
)
from hmd.core.facts import FactContent, FactRow
from hmd.core.memory import Content, Evidence, Origin

T = TypeVar("T", bound=FactContent)
_replace = msgspec.structs.replace


def emptied(change: AnyChange, gone: set[str]) -> AnyChange:
    """`change` without what it says of the facts and memories `gone` (identifiers)."""
    match change:
        case RememberFact() | ReviseFact():
            if change.fact in gone:
                return _replace(
                    change, content=_fact(change.content), origin=_origin(change.origin)
                )
        case ImportFacts():
            rows = [_row(row) if row.id in gone else row for row in change.rows]
            return _replace(change, rows=rows)
        case MarkFact():
            if change.fact in gone:
                return _replace(
                    change,
                    tags=[] if change.tags else change.tags,
                    links=[] if change.links else change.links,
                )
        case AddMemory():
            if change.memory in gone:
                return _replace(
                    change,
                    content=_content(change.content),
                    evidence=[_evidence(each) for each in change.evidence],
                    origin=_origin(change.origin),
                )
        case EditMemory():
            if change.memory in gone:
                return _replace(
                    change,
                    patch=_patch(change.patch),
                    evidence=[_evidence(each) for each in change.evidence],
                )
        case ReviseMemory():
            if change.memory in gone:
                return _replace(
                    change,
                    content=_content(change.content),
                    evidence=[_evidence(each) for each in change.evidence],
                )
        case SetLearned():
            if change.row.memory in gone:
                return _replace(change, row=_replace(change.row, key="", replay=""))
        case SetStatus() | Promote() | Demote() | Restore():
            if change.memory in gone:
                return _replace(change, note="")
        case Batch():
            return _replace(change, changes=[emptied(one, gone) for one in change.changes])
        case OpenProposal():
            inner = [emptied(one, gone) for one in change.changes]
            if inner != change.changes or {change.target, change.candidate} & gone:
                return _replace(change, changes=inner, reason="", claim="")
    return change


def _fact(content: T) -> T:
    return _replace(
        content, subject="", predicate="", fact="", details="", source_agent="", source_ref="",
        commit="", path="", blob="", tags=[], links=[],
    )  # fmt: skip


def _row(row: FactRow) -> FactRow:
    return _replace(_fact(row), origin=_origin(row.origin), checked_head="")


def _origin(origin: Origin) -> Origin:
    return _replace(origin, session="", worktree="")


def _content(content: Content) -> Content:
    return _replace(
        content, summary="", details="", sig=None, aliases=[], note="", source_ref="",
        loaded="", scope="", knowledge="",
    )  # fmt: skip


def _evidence(evidence: Evidence) -> Evidence:
    return _replace(evidence, ref="", excerpt="", session="")


def _patch(patch: Patch) -> Patch:
    """What was set stays set, to nothing."""
    values: dict[str, object] = {
        "summary": "", "details": "", "scope": "", "sig": None, "aliases": [],
        "loaded": "", "source_ref": "",
    }  # fmt: skip
    given = {
        name: value for name, value in values.items() if getattr(patch, name) is not msgspec.UNSET
    }
    return _replace(patch, **given)
