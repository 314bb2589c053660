"""Records of a HarnMem home: one Markdown file each, with front matter.

Its keys are not documented. Those read here are what its own description names; every
other key, and every line that is no YAML we know, is counted in the report.
"""

from collections import Counter
from hashlib import sha1
from pathlib import Path

from hmd.app import front_matter
from hmd.app.import_chains import whole
from hmd.core.database import ImportReport
from hmd.core.errors import HmdError
from hmd.core.facts import FactRow
from hmd.core.memory import Origin
from hmd.core.times import parse_time
from hmd.kernel.redact import redact

BIGGEST = 1024 * 1024
_INDEXES = frozenset(["memory.md", "readme.md", "index.md"])
_APART = {"trash": "in its trash", "archive.d": "packed away"}
_KEYS = frozenset(
    "id title name description summary type tags entities links importance pinned sensitive status "
    "state created created_at updated updated_at supersedes superseded_by source scope subject "
    "confidence".split()
)


class Found:
    """One file, read."""

    def __init__(self, path: Path, row: FactRow, name: str, supersedes: list[str]) -> None:
        self.path, self.row, self.name, self.supersedes = path, row, name, supersedes
        self.links: list[str] = []
        self.is_superseded = False


def read(home: Path, report: ImportReport, now: int) -> list[FactRow]:
    """Its records as facts; fills the counts of `report`."""
    report.version = "Markdown with front matter"
    strange: Counter[str] = Counter()
    found: list[Found] = []
    paths = [path for path in sorted(home.rglob("*.md")) if path.is_file()]
    report.counted["files"] = len(paths)
    for path in paths:
        where = path.relative_to(home).as_posix()
        reason = _left_out(path, where)
        if reason:
            report.skipped.append(f"{where}: {reason}")
            continue
        try:
            found.append(_record(path, where, strange, now))
        except (HmdError, ValueError, OSError) as error:
            report.skipped.append(f"{where}: {error}")
    for other in sorted({path.suffix for path in home.rglob("*") if path.is_file()} - {".md", ""}):
        report.notes.append(f"files of sort {other} were not read")
    report.not_understood += [f"{what}: {count}" for what, count in sorted(strange.items())]
    found = _single(found, report)
    _connect(found, report)
    return whole([each.row for each in found], report)


def _single(found: list[Found], report: ImportReport) -> list[Found]:
    """One record for each identifier, the first by path."""
    by_id: dict[str, Found] = {}
    for each in found:
        first = by_id.setdefault(each.row.id, each)
        if first is not each:
            report.skipped.append(f"{each.path.name}: {first.path.name} has the same id")
    return list(by_id.values())


def _left_out(path: Path, where: str) -> str:
    if path.name.lower() in _INDEXES:
        return "an index, made from the records"
    for part in Path(where).parts[:-1]:
        if part.lower().strip(".") in _APART:
            return _APART[part.lower().strip(".")]
    return "too big" if path.stat().st_size > BIGGEST else ""


def _record(path: Path, where: str, strange: Counter[str], now: int) -> Found:
    note = front_matter.parse(_text(path))
    fields = note.fields
    strange.update(f"key {key}" for key in fields if key not in _KEYS)
    strange.update(f"line {line!r}" for line in note.strange)
    name = _word(fields, "id", "name") or path.stem
    title = _word(fields, "title", "summary", "description", "name") or _first_line(note.body)
    if not title:
        raise ValueError("it says nothing")
    created = _moment(fields, strange, "created", "created_at")
    created = _changed(path, now) if created is None else created
    recorded = min(now, created)
    entities = _list(fields, "entities")
    shard = _word(fields, "scope") or Path(where).parts[0].removesuffix(".md")
    tags = sorted({*_list(fields, "tags"), *entities, *filter(None, [_word(fields, "type")])})
    state = _word(fields, "status", "state").lower()
    row = FactRow(
        id=_identifier(name, where),
        number=0,
        subject=redact(_word(fields, "subject") or (entities or [shard])[0]),
        fact=redact(title)[:8000],
        details=redact(note.body if note.body != title else "")[:40_000],
        confidence=_number(fields, "confidence", 1.0, 0.0, 1.0),
        importance=round(_importance(fields)),
        actor="import",
        authority="human",
        source_ref=redact(_word(fields, "source") or f"harnmem:{where}")[:500],
        tags=[redact(tag)[:80] for tag in tags][:32],
        sensitive=fields.get("sensitive") is True,
        pinned=fields.get("pinned") is True or state == "pinned",
        archived=state == "archived",
        origin=Origin(host="harnmem"),
        valid_from=recorded,
        recorded_at=recorded,
    )
    out = Found(path, row, name, [*_list(fields, "supersedes")])
    out.links = _list(fields, "links")
    out.is_superseded = state == "superseded"
    after = _word(fields, "superseded_by")
    if after:
        out.links.append(">" + after)
    return out


def _connect(found: list[Found], report: ImportReport) -> None:
    """Chains and links, where both ends were read. The numbers follow time, then name."""
    by_name = {each.name: each for each in found}
    in_time = sorted(found, key=lambda one: (one.row.recorded_at, one.name))
    for number, each in enumerate(in_time, 1):
        each.row.number = number
    for each in found:
        for target in each.supersedes:
            _close(by_name.get(target), each, report)
        for link in each.links:
            if link.startswith(">"):
                _close(each, by_name.get(link[1:]), report)
            elif link in by_name:
                each.row.links.append(by_name[link].row.id)
            else:
                report.notes.append(f"{each.name}: its link to '{link}' leads nowhere")
    for each in found:
        if each.is_superseded and not each.row.superseded_by:
            # Ended by something that is not there: it stays as history and is given no more.
            each.row.archived = True
            report.notes.append(f"{each.name}: superseded by something that is not there")


def _close(old: Found | None, new: Found | None, report: ImportReport) -> None:
    if old is None or new is None or old is new:
        there = old or new
        if there is not None:
            report.notes.append(f"{there.name}: what it replaces or was replaced by is not there")
        return
    if old.row.superseded_by:
        return  # a fact has one successor; the first one named stays
    learned = max(new.row.recorded_at, old.row.recorded_at)
    old.row.superseded_by = new.row.id
    old.row.closed_at = max(new.row.valid_from, old.row.valid_from)
    old.row.closed_tx = learned


def _text(path: Path) -> str:
    """Raises ValueError where it is no text."""
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data:
        raise ValueError("it is no text")
    return data.decode("utf-8", "replace")


def _identifier(name: str, where: str) -> str:
    text = f"harnmem\0{Path(where).parts[0] if len(Path(where).parts) > 1 else ''}\0{name}"
    return sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:32]


def _first_line(body: str) -> str:
    for line in body.splitlines():
        text = line.strip().lstrip("#").strip()
        if text:
            return text
    return ""


def _word(fields: dict[str, front_matter.Value], *keys: str) -> str:
    for key in keys:
        value = fields.get(key)
        if isinstance(value, float):
            value = f"{value:.15g}"
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _list(fields: dict[str, front_matter.Value], key: str) -> list[str]:
    value = fields.get(key)
    if isinstance(value, list):
        return [each.strip() for each in value if each.strip()]
    return [value.strip()] if isinstance(value, str) and value.strip() else []


def _number(
    fields: dict[str, front_matter.Value], key: str, default: float, least: float, most: float
) -> float:
    value = fields.get(key)
    return min(most, max(least, value)) if isinstance(value, float) else default


def _importance(fields: dict[str, front_matter.Value]) -> float:
    """From 1 to 10; a share of 1 is spread over that."""
    value = _number(fields, "importance", 5.0, 0.0, 10.0)
    return max(1.0, value * 10 if 0 < value < 1 else value)


def _moment(fields: dict[str, front_matter.Value], strange: Counter[str], *keys: str) -> int | None:
    """A time as people write it, or in seconds or milliseconds since the epoch."""
    text = _word(fields, *keys)
    if text.isdecimal() and text.isascii() and len(text) in (10, 13):
        return int(text) * (1000 if len(text) == 10 else 1)
    try:
        return parse_time(text) if text else None
    except HmdError:
        strange[f"time {text[:40]!r}"] += 1
        return None


def _changed(path: Path, now: int) -> int:
    return min(now, int(path.stat().st_mtime * 1000))
