"""What a user is told at the start of a session, and never the model: the digest of what waits for
review (once a day) and rules that an explicit "remember" made, with their undo, for 24 hours."""

import json
from pathlib import Path

from hmd.app.context import DAY_MS, App
from hmd.core.memory_calls import MemoryFilter
from hmd.core.proposals import ProposalFilter
from hmd.learn.tiers import REMEMBERED_FOR
from hmd.store.snapshot_file import replace_file

SOON_MS = 7 * DAY_MS
_FOREVER = 1 << 52
Notice = tuple[int, int, str]


async def refresh_all(app: App) -> None:
    """Writes the notices of every enabled project anew, where they changed."""
    for row in await app.store.list_projects():
        if row.enabled:
            await refresh(app, row.id)


async def refresh(app: App, project: str) -> None:
    path = Path(app.store.home.notice(project))
    old = _read(path)
    notices = [*await _remembered(app, project), *await _digest(app, project, old)]
    if notices != old:
        _write(path, notices)


def shown(app: App, project: str) -> None:
    """A session has begun: the digest is said again tomorrow."""
    path = Path(app.store.home.notice(project))
    now = app.now()
    old = _read(path)
    tomorrow = (now // DAY_MS + 1) * DAY_MS
    new = [(tomorrow if _is_digest(one) and one[0] <= now else one[0], *one[1:]) for one in old]
    if new != old:
        _write(path, new)


async def _remembered(app: App, project: str) -> list[Notice]:
    rows = await app.store.list_memories(
        MemoryFilter(status="active", authority="human", source="extraction", project=project)
    )
    return [
        (
            row.created,
            row.created + REMEMBERED_FOR,
            f"hmd: remembered as you asked ({row.type}, {row.level}): {row.summary}"
            f" — undo: hmctl memory demote {row.id[:8]}",
        )
        for row in rows.rows
        if row.note == "remember" and app.now() < row.created + REMEMBERED_FOR
    ]


async def _digest(app: App, project: str, old: list[Notice]) -> list[Notice]:
    rows = await app.store.list_proposals(ProposalFilter(limit=100_000))
    mine = [row for row in rows if row.project in (project, None)]
    if not mine:
        return []
    soon = sum(row.expires_at is not None and row.expires_at - app.now() < SOON_MS for row in mine)
    text = f"hmd: {len(mine)} waiting for your review"
    text += f", {soon} of them for less than 7 more days" if soon else ""
    before = [one for one in old if _is_digest(one)]
    since = before[0][0] if before else 0
    return [(since, _FOREVER, f"{text}: hmctl review")]


def _is_digest(notice: Notice) -> bool:
    return notice[1] == _FOREVER


def _read(path: Path) -> list[Notice]:
    try:
        found = json.loads(path.read_bytes())
        return [(int(since), int(until), str(text)) for since, until, text in found]
    except (OSError, ValueError, TypeError):
        return []


def _write(path: Path, notices: list[Notice]) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, json.dumps(notices, ensure_ascii=False).encode("utf-8", "replace"))
    except OSError:
        return  # said another time
