"""Exports: the database as SQL text, every memory as a Markdown file, the best ones as skills.

Files are written for the person alone (mode 0600), into a folder that is empty or was written by an
export before.
"""

import os
import re
import sqlite3
import unicodedata
from collections.abc import Iterable
from pathlib import Path

import msgspec
import trio

from hmd.app.context import App, Caller, only_people
from hmd.core import ids, machine
from hmd.core.database import ExportQuery, ExportReport
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter
from hmd.core.times import format_time
from hmd.store import dump, facts_read

MARKER = ".hmd-export"
INDEX = "MEMORY.md"
SLUG = 60
# What a skill must be worth (harness-memory, export-skill).
SKILL_CONFIDENCE, SKILL_IMPORTANCE = 0.8, 0.5
_MOST = 100_000

Field = str | int | float | bool | None | list[str]


async def export(app: App, caller: Caller, wanted: ExportQuery) -> ExportReport:
    """Writes an export to the absolute path `path`. Raises HmdError."""
    if wanted.path:
        only_people(caller, "write an export to a file")
    if wanted.kind == "sql":
        text = await app.store.read(lambda one: "\n".join(dump.lines(one)) + "\n")
        if not wanted.path:
            return ExportReport(text=text, rows=text.count("\nINSERT INTO "))
        await trio.to_thread.run_sync(_write, Path(wanted.path), text)
        return ExportReport(files=[wanted.path], rows=text.count("\nINSERT INTO "))
    if not wanted.path:
        raise HmdError("usage", "an export of this sort needs a folder", "path")
    if wanted.kind == "skills":
        files = skills(await _rules(app), wanted.id)
        count = len(files)
    else:
        rows = await _rules(app)
        found = await app.store.read(_facts)
        files = markdown(rows, found)
        count = len(files) - 1
    return await trio.to_thread.run_sync(_write_all, Path(wanted.path), files, count)


async def _rules(app: App) -> list[MemoryRow]:
    found = await app.store.list_memories(MemoryFilter(project="all", limit=_MOST))
    return sorted(found.rows, key=lambda row: row.id)


def _facts(connection: sqlite3.Connection) -> list[FactRow]:
    return facts_read.living(connection)


# -- Markdown ---------------------------------------------------------------------------------


def markdown(rules: Iterable[MemoryRow], found: Iterable[FactRow]) -> dict[str, str]:
    """File name → text: one file per memory and fact, and an index of all."""
    files: dict[str, str] = {}
    index = ["# Memory", "", "One file each, by sort and subject.", ""]
    lines: dict[str, list[str]] = {}
    for rule in rules:
        name = _free(files, f"rules/{slug(rule.summary)}-{ids.short(rule.id)}.md")
        files[name] = _rule_text(rule)
        title = _one_line(rule.summary)
        lines.setdefault(rule.type, []).append(f"- [{title}]({name}): {rule.status}, {rule.level}")
    for fact in found:
        name = _free(files, f"facts/{slug(fact.fact)}-{ids.short(fact.id)}.md")
        files[name] = _fact_text(fact)
        lines.setdefault(f"about {_one_line(fact.subject)}", []).append(
            f"- [{_one_line(fact.fact)}]({name})"
        )
    for head in sorted(lines):
        index += [f"## {head}", "", *sorted(lines[head]), ""]
    return {**files, INDEX: "\n".join(index)}


def _rule_text(row: MemoryRow) -> str:
    fields: dict[str, Field] = {
        "id": row.id, "type": row.type, "status": row.status, "level": row.level,
        "scope": row.scope, "triggers": list(row.triggers), "tools": row.tools,
        "signature": row.sig.spec if row.sig else None, "authority": row.authority,
        "evidence": row.evidence, "confidence": row.confidence, "importance": row.importance,
        "policy": row.policy, "aliases": row.aliases, "source": row.source_ref,
        "project": row.project, "created": format_time(row.created),
        "recorded": format_time(row.recorded_at),
    }  # fmt: skip
    body = f"\n{row.details}\n" if row.details else ""
    return f"{front_matter(fields)}# {_one_line(row.summary)}\n{body}"


def _fact_text(row: FactRow) -> str:
    fields: dict[str, Field] = {
        "id": row.id, "subject": row.subject, "predicate": row.predicate, "kind": row.kind,
        "authority": row.authority, "evidence": row.evidence, "confidence": row.confidence,
        "importance": row.importance, "tags": row.tags, "links": row.links, "pinned": row.pinned,
        "archived": row.archived, "sensitive": row.sensitive, "source": row.source_ref,
        "commit": row.commit, "path": row.path, "freshness": row.freshness,
        "valid_from": format_time(row.valid_from),
        "valid_to": None if row.valid_to is None else format_time(row.valid_to),
        "recorded": format_time(row.recorded_at),
    }  # fmt: skip
    body = f"\n{row.details}\n" if row.details else ""
    return f"{front_matter(fields)}{row.fact}\n{body}"


def front_matter(fields: dict[str, Field]) -> str:
    """Only what says something. JSON's strings and lists are YAML's as well (YAML 1.2, 1.3)."""
    lines = [
        f"{key}: {msgspec.json.encode(value).decode()}"
        for key, value in fields.items()
        if value not in (None, "", [], False)
    ]
    return "\n".join(["---", *lines, "---", "", ""])


# -- skills -----------------------------------------------------------------------------------


def skills(rules: Iterable[MemoryRow], wanted: str = "") -> dict[str, str]:
    """File name → text: one folder with a SKILL.md for each active rule that is worth it, or for
    the one that `wanted` names. Raises HmdError."""
    rows = [row for row in rules if row.status == "active"]
    if wanted:
        chosen = ids.resolve(wanted, [row.id for row in rows])
        rows = [row for row in rows if row.id == chosen]
    else:
        rows = [
            row
            for row in rows
            if row.confidence >= SKILL_CONFIDENCE and row.importance >= SKILL_IMPORTANCE
        ]
    files: dict[str, str] = {}
    for row in rows:
        name = slug(row.summary)
        if f"{name}/SKILL.md" in files:
            name = f"{name[: SLUG - ids.SHORT - 1]}-{ids.short(row.id)}"
        files[f"{name}/SKILL.md"] = _skill_text(row, name)
    return files


def _skill_text(row: MemoryRow, name: str) -> str:
    fields: dict[str, Field] = {
        "name": name, "description": _one_line(row.summary), "version": "1.0.0",
        "memory": row.id, "type": row.type, "scope": row.scope, "triggers": list(row.triggers),
        "tools": row.tools, "confidence": row.confidence, "importance": row.importance,
    }  # fmt: skip
    details = f"\n## Details\n\n{row.details}\n" if row.details else ""
    return f"{front_matter(fields)}# {_one_line(row.summary)}\n{details}"


# -- files ------------------------------------------------------------------------------------


def slug(text: str) -> str:
    """A file name out of a sentence, in any script; `memory` where nothing of it is left."""
    plain = unicodedata.normalize("NFC", text).lower()
    words = re.sub(r"[^\w]+", "-", plain).replace("_", "-").strip("-")
    cut = words.encode()[:SLUG].decode("utf-8", "ignore")
    return cut.strip("-") or "memory"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("[", "(").replace("]", ")")


def _free(files: dict[str, str], name: str) -> str:
    number, free = 1, name
    while free in files:
        number += 1
        free = f"{name.removesuffix('.md')}-{number}.md"
    return free


def _write_all(folder: Path, files: dict[str, str], count: int) -> ExportReport:
    marker = folder / MARKER
    try:
        if folder.exists() and not marker.exists() and any(folder.iterdir()):
            raise HmdError(
                "refused", f"'{folder}' holds other files", do="name an empty or a new folder"
            )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What an export before has written and this one does not has been forgotten since.
        for name in marker.read_text("utf-8").splitlines() if marker.exists() else []:
            if name not in files and ".." not in name and not name.startswith("/"):
                (folder / name).unlink(missing_ok=True)
        for name, text in sorted(files.items()):
            _write(folder / name, text)
        _write(marker, "\n".join(sorted(files)) + "\n")
    except OSError as error:
        raise HmdError("refused", f"cannot be written: {error.strerror}", str(folder)) from error
    return ExportReport(files=[str(folder / name) for name in sorted(files)], rows=count)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        flags |= machine.NOT_FOLLOWED | machine.NOT_INHERITED
        descriptor = os.open(temporary, flags, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
            file.write(text)
        machine.replace(temporary, path)
    except OSError as error:
        raise HmdError("refused", f"cannot be written: {error.strerror}", str(path)) from error
