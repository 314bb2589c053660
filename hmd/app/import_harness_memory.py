"""Rules of a harness-memory database (schema 9 to 16, newer ones column by column).

Traps of that format: which way a superseded row points depends on whether it was replaced or
merged; identity may be null; columns of 11 to 14 may be absent; candidates of its consolidation are
template noise; times may be in SQLite's own spelling.
"""

import re
import sqlite3
from typing import Any

from hmd.app.import_values import Row, moment, number, strings, text
from hmd.core import ids
from hmd.core.changes import AddMemory
from hmd.core.database import ImportReport
from hmd.core.memory import MEMORY_TYPES, TRIGGERS, Content, Evidence, Trigger
from hmd.kernel.content import is_safe
from hmd.kernel.redact import redact

KNOWN_SCHEMAS = range(9, 17)
_COLUMNS = frozenset(
    "id content_hash identity_key type summary details scope_glob lifecycle_triggers confidence "
    "importance status supersedes_memory_id created_at updated_at last_verified_at "
    "activation_class embedding embedding_summary relevant_tools_json promotion_source "
    "ttl_expires_at validation_count policy_subtype".split()
)
# What is there besides memories, and why it is not taken.
_APART = {
    "activation_logs": "a log of what was shown",
    "dream_runs": "a log of consolidation",
    "dream_evidence_events": "raw evidence, no knowledge",
    "dream_memory_evidence_links": "links to raw evidence",
    "audit_log": "a log",
    "session_summaries": "summaries of sessions",
    "topic_summaries": "never filled",
}
_STATUSES = ("candidate", "active", "stale", "superseded", "rejected")
_NOISE = re.compile(r"^\w+ (?:for|around) .*\([^()]*\)$")
_PREAMBLE = "Dream consolidation candidate"

# Characters of a text and of a name; a longer one is no lesson but something gone wrong.
MOST, MOST_SCOPE = 20_000, 500


def read(
    connection: sqlite3.Connection, report: ImportReport, project: str | None, now: int
) -> list[AddMemory]:
    """The changes that record its memories; fills the counts of `report`."""
    schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
    report.version = str(schema)
    if schema not in KNOWN_SCHEMAS:
        report.notes.append(f"schema {schema} is not known; read column by column")
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
    ]
    for table in tables:
        count = int(connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])
        report.counted[table] = count
        if count and table in _APART:
            report.skipped.append(f"{table}: {count} ({_APART[table]})")
        elif count and table not in ("memories", "evidence", "policy_rules"):
            report.not_understood.append(f"table {table}: {count} rows")
    rows = [dict(row) for row in connection.execute("SELECT * FROM memories ORDER BY rowid")]
    unknown = sorted(set(rows[0]) - _COLUMNS) if rows else []
    report.not_understood += [f"column memories.{name}" for name in unknown]
    evidence = _evidence(connection, tables, rows, report)
    by_id = {row.get("id"): row for row in rows}
    successors = {
        row.get("supersedes_memory_id"): row for row in rows if row.get("status") == "active"
    }
    out = []
    for row in rows:
        try:
            note = _end_of(row, by_id, successors)
            out.append(_change(row, note, evidence.get(row["id"], []), project, now, report))
        except (ValueError, KeyError) as error:
            report.skipped.append(f"memory {row.get('id')!s:.80}: {error}")
    if "policy_rules" in tables:
        out += _policies(connection, by_id, project, now, report)
    return out


def _end_of(row: Row, by_id: dict[Any, Row], successors: dict[Any, Row]) -> str:
    """What took the place of a superseded row.

    A row that replaced another points to it; one that was merged away points to its survivor.
    """
    if row.get("status") != "superseded":
        return ""
    target = by_id.get(row.get("supersedes_memory_id"))
    if target is not None and target.get("status") != "superseded":
        return f"merged into {ids.short(_identifier(target['id']))}"
    if row["id"] in successors:
        return f"replaced by {ids.short(_identifier(successors[row['id']]['id']))}"
    return "superseded before it was imported"


def _identifier(given: object) -> str:
    found = str(given).replace("-", "").lower()
    if not ids.is_id(found):
        raise ValueError(f"{str(given)[:80]!r} is no identifier")
    return found


def _change(
    row: Row, note: str, evidence: list[Evidence], project: str | None, now: int,
    report: ImportReport,
) -> AddMemory:  # fmt: skip
    summary = redact(text(row, "summary", limit=MOST).strip())
    details = redact(text(row, "details", limit=MOST))
    if not summary:
        raise ValueError("it says nothing")
    status: Any = row.get("status") if row.get("status") in _STATUSES else "candidate"
    is_auto = row.get("promotion_source") == "auto" or status == "candidate"
    if status == "candidate" and _NOISE.match(summary) and details.startswith(_PREAMBLE):
        status, note = "rejected", "a template of consolidation"
    if status == "active" and not is_safe(summary + "\n" + details):
        status, note = "candidate", "its text reads like an instruction to the model"
        report.notes.append(f"{ids.short(_identifier(row['id']))} is kept as a candidate: {note}")
    kind: Any = row.get("type") if row.get("type") in MEMORY_TYPES else "pitfall"
    triggers = _triggers(row)
    scope = text(row, "scope_glob", limit=MOST_SCOPE)
    if scope == "**/*" and triggers == ["before_model"] and status == "candidate":
        note = note or "it names no files: give it a scope"
    content = Content(
        type=kind,
        summary=summary,
        details=details,
        scope=scope or "**",
        triggers=triggers,
        tools=strings(row, "relevant_tools_json"),
        level="advise",
        authority="auto" if is_auto else "human",
        evidence="agent_inferred" if is_auto else "user_said",
        confidence=number(row, "confidence", 0.5, 0.0, 1.0),
        importance=number(row, "importance", 0.5, 0.0, 1.0),
        policy=row.get("policy_subtype") if row.get("policy_subtype") in ("hard", "soft") else None,
        status=status,
        note=note,
        baseline=row.get("activation_class") == "baseline",
        source="import",
        source_ref="harness-memory",
        validations=int(number(row, "validation_count", 0, 0, 1_000_000)),
        expires=moment(row, "ttl_expires_at"),
    )
    identifier = _identifier(row["id"])
    return AddMemory(
        actor="import", at=now, memory=identifier, version=ids.new_id(), content=content,
        project=project, evidence=evidence, valid_from=_since(row, now),
    )  # fmt: skip


def _since(row: Row, now: int) -> int:
    created = moment(row, "created_at")
    return now if created is None else min(now, created)


def _triggers(row: Row) -> list[Trigger]:
    found = strings(row, "lifecycle_triggers") or []
    if row.get("activation_class") == "startup":
        found.append("session_start")
    return [each for each in TRIGGERS if each in found]  # type: ignore[misc]


def _evidence(
    connection: sqlite3.Connection, tables: list[str], rows: list[Row], report: ImportReport
) -> dict[Any, list[Evidence]]:
    out: dict[Any, list[Evidence]] = {}
    if "evidence" not in tables:
        return out
    known = {row.get("id") for row in rows}
    for row in map(dict, connection.execute("SELECT * FROM evidence ORDER BY rowid")):
        memory = row.get("memory_id")
        if memory not in known:
            report.skipped.append(f"evidence {row.get('id')!s:.80}: its memory is not there")
            continue
        try:
            out.setdefault(memory, []).append(_cited(row))
        except ValueError as error:
            report.skipped.append(f"evidence {row.get('id')!s:.80}: {error}")
    return out


def _cited(row: Row) -> Evidence:
    kind, ref = text(row, "source_kind", limit=MOST_SCOPE), text(row, "source_ref", limit=MOST)
    return Evidence(
        id=_identifier(row.get("id")),
        kind=kind,
        ref=redact(ref),
        excerpt=redact(text(row, "excerpt", limit=MOST)),
        session=ref if kind == "session" else "",
    )


def _policies(
    connection: sqlite3.Connection, by_id: dict[Any, Row], project: str | None, now: int,
    report: ImportReport,
) -> list[AddMemory]:  # fmt: skip
    """Policy rules that belong to no memory become policies; the others' memory says it already."""
    out = []
    for row in map(dict, connection.execute("SELECT * FROM policy_rules ORDER BY rowid")):
        name = f"policy rule {row.get('rule_code')!s:.80}"
        if row.get("memory_id") in by_id:
            report.skipped.append(f"{name}: its memory says it")
            continue
        try:
            out.append(_policy(row, project, now))
        except ValueError as error:
            report.skipped.append(f"{name}: {error}")
    return out


def _policy(row: Row, project: str | None, now: int) -> AddMemory:
    trigger: Any = row.get("trigger_kind")
    message = redact(text(row, "message", limit=MOST).strip())
    if not message:
        raise ValueError("it says nothing")
    content = Content(
        type="policy",
        summary=message,
        scope=text(row, "scope_glob", limit=MOST_SCOPE) or "**",
        triggers=[trigger] if trigger in TRIGGERS else ["before_model"],
        policy="hard" if row.get("severity") == "warning" else "soft",
        status="active" if is_safe(message) else "candidate",
        source="import",
        source_ref="harness-memory",
        note=text(row, "rule_code", limit=MOST_SCOPE),
    )
    return AddMemory(
        actor="import", at=now, memory=_identifier(row.get("id")), version=ids.new_id(),
        content=content, project=project, valid_from=_since(row, now),
    )  # fmt: skip
