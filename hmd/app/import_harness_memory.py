"""Rules of a harness-memory database (schema 9 to 16, newer ones column by column).

Traps of that format: which way a superseded row points depends on whether it was replaced or
merged; identity may be null; columns of 11 to 14 may be absent; candidates of its consolidation are
template noise; times may be in SQLite's own spelling.
"""

import json
import re
import sqlite3
from typing import Any

from hmd.core import ids
from hmd.core.changes import AddMemory
from hmd.core.database import ImportReport
from hmd.core.errors import HmdError
from hmd.core.memory import MEMORY_TYPES, TRIGGERS, Content, Evidence, Trigger
from hmd.core.times import parse_time
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

Row = dict[str, Any]


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
    by_id = {row["id"]: row for row in rows}
    successors = {row["supersedes_memory_id"]: row for row in rows if row["status"] == "active"}
    out = []
    for row in rows:
        try:
            note = _end_of(row, by_id, successors)
            out.append(_change(row, note, evidence.get(row["id"], []), project, now, report))
        except (HmdError, ValueError, KeyError, TypeError) as error:
            report.skipped.append(f"memory {row.get('id')}: {error}")
    if "policy_rules" in tables:
        out += _policies(connection, by_id, project, now, report)
    return out


def _end_of(row: Row, by_id: dict[str, Row], successors: dict[str, Row]) -> str:
    """What took the place of a superseded row.

    A row that replaced another points to it; one that was merged away points to its survivor.
    """
    if row["status"] != "superseded":
        return ""
    target = by_id.get(row["supersedes_memory_id"])
    if target is not None and target["status"] != "superseded":
        return f"merged into {ids.short(_identifier(target['id']))}"
    if row["id"] in successors:
        return f"replaced by {ids.short(_identifier(successors[row['id']]['id']))}"
    return "superseded before it was imported"


def _identifier(text: str) -> str:
    found = str(text).replace("-", "").lower()
    if not ids.is_id(found):
        raise ValueError(f"'{text}' is no identifier")
    return found


def _change(
    row: Row, note: str, evidence: list[Evidence], project: str | None, now: int,
    report: ImportReport,
) -> AddMemory:  # fmt: skip
    summary, details = redact(str(row["summary"]).strip()), redact(str(row["details"] or ""))
    if not summary:
        raise ValueError("it says nothing")
    status: Any = row["status"] if row["status"] in _STATUSES else "candidate"
    is_auto = row.get("promotion_source") == "auto" or status == "candidate"
    if status == "candidate" and _NOISE.match(summary) and details.startswith(_PREAMBLE):
        status, note = "rejected", "a template of consolidation"
    if status == "active" and not is_safe(summary + "\n" + details):
        status, note = "candidate", "its text reads like an instruction to the model"
        report.notes.append(f"{ids.short(_identifier(row['id']))} is kept as a candidate: {note}")
    kind: Any = row["type"] if row["type"] in MEMORY_TYPES else "pitfall"
    triggers = _triggers(row)
    if row["scope_glob"] == "**/*" and triggers == ["before_model"] and status == "candidate":
        note = note or "it names no files: give it a scope"
    expires = row.get("ttl_expires_at")
    content = Content(
        type=kind,
        summary=summary,
        details=details,
        scope=row["scope_glob"] or "**",
        triggers=triggers,
        tools=_tools(row),
        level="advise",
        authority="auto" if is_auto else "human",
        evidence="agent_inferred" if is_auto else "user_said",
        confidence=_share(row["confidence"]),
        importance=_share(row["importance"]),
        policy=row.get("policy_subtype") if row.get("policy_subtype") in ("hard", "soft") else None,
        status=status,
        note=note,
        baseline=row["activation_class"] == "baseline",
        source="import",
        source_ref="harness-memory",
        validations=max(0, int(row.get("validation_count") or 0)),
        expires=_time(expires) if expires else None,
    )
    identifier = _identifier(row["id"])
    return AddMemory(
        actor="import", at=now, memory=identifier, version=ids.new_id(), content=content,
        project=project, evidence=evidence, valid_from=min(now, _time(row["created_at"])),
    )  # fmt: skip


def _triggers(row: Row) -> list[Trigger]:
    found = json.loads(row["lifecycle_triggers"] or "[]")
    if row["activation_class"] == "startup" and "session_start" not in found:
        found.append("session_start")
    return [each for each in TRIGGERS if each in found]  # type: ignore[misc]


def _tools(row: Row) -> list[str] | None:
    given = row.get("relevant_tools_json")
    tools = json.loads(given) if given else None
    return [str(tool) for tool in tools] if isinstance(tools, list) else None


def _share(value: Any) -> float:
    return min(1.0, max(0.0, float(value)))


def _time(text: str) -> int:
    return parse_time(str(text))


def _evidence(
    connection: sqlite3.Connection, tables: list[str], rows: list[Row], report: ImportReport
) -> dict[str, list[Evidence]]:
    out: dict[str, list[Evidence]] = {}
    if "evidence" not in tables:
        return out
    known = {row["id"] for row in rows}
    for row in connection.execute("SELECT * FROM evidence ORDER BY rowid"):
        if row["memory_id"] not in known:
            report.skipped.append(f"evidence {row['id']}: its memory is not there")
            continue
        session = row["source_ref"] if row["source_kind"] == "session" else ""
        out.setdefault(row["memory_id"], []).append(
            Evidence(
                id=_identifier(row["id"]),
                kind=row["source_kind"],
                ref=redact(row["source_ref"]),
                excerpt=redact(row["excerpt"]),
                session=session,
            )
        )
    return out


def _policies(
    connection: sqlite3.Connection, by_id: dict[str, Row], project: str | None, now: int,
    report: ImportReport,
) -> list[AddMemory]:  # fmt: skip
    """Policy rules that belong to no memory become policies; the others' memory says it already."""
    out = []
    for row in connection.execute("SELECT * FROM policy_rules ORDER BY rowid"):
        if row["memory_id"] in by_id:
            report.skipped.append(f"policy rule {row['rule_code']}: its memory says it")
            continue
        trigger = row["trigger_kind"]
        content = Content(
            type="policy",
            summary=redact(row["message"]),
            scope=row["scope_glob"] or "**",
            triggers=[trigger] if trigger in TRIGGERS else ["before_model"],
            policy="hard" if row["severity"] == "warning" else "soft",
            status="active",
            source="import",
            source_ref="harness-memory",
            note=row["rule_code"],
        )
        out.append(
            AddMemory(
                actor="import", at=now, memory=_identifier(row["id"]), version=ids.new_id(),
                content=content, project=project, valid_from=min(now, _time(row["created_at"])),
            )
        )  # fmt: skip
    return out
