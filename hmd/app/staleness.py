"""Whether anchored facts still hold: their commit and file against the repository as it is now.

A fact with the content of its file is compared by content, whatever the history; one with a commit
by git. The whole store is gone through in pages by number, each fact once.
"""

import os
import sqlite3
from functools import partial
from pathlib import Path

import trio

from hmd.app import anchors, git
from hmd.app.context import App, Caller
from hmd.core.changes import CheckFacts
from hmd.core.errors import HmdError
from hmd.core.fact_checks import StaleList, StaleQuery, Verdict
from hmd.core.facts import FactRow, Freshness
from hmd.store import facts_read

PAGE = 200
GIT_SECONDS = 20.0
# No driver for differences that the repository names.
_PLAIN = ("--quiet", "--no-ext-diff", "--no-textconv")


async def check(app: App, caller: Caller, wanted: StaleQuery) -> StaleList:
    """Checks every anchored fact against one repository. Raises HmdError where it is none."""
    root = wanted.path or caller.root or caller.cwd
    repository = Repository(root)
    head = await repository.head()
    out = StaleList(head=head)
    after = 0
    while True:
        page = await app.store.read(partial(_page, after))
        for row in page:
            if row.project is not None and caller.project and row.project != caller.project:
                continue  # another repository's: it would only seem lost
            await _judge(repository, head, row, out)
        if len(page) < PAGE:
            break
        after = page[-1].number
    if out.changed and not wanted.dry_run:
        await record(app, caller, head, out.changed)
    return out


def _page(after: int, connection: sqlite3.Connection) -> list[FactRow]:
    return facts_read.anchored(connection, after, PAGE)


async def record(app: App, caller: Caller, head: str, verdicts: list[Verdict]) -> None:
    """Writes down what a check found."""
    await app.snapshots.commit(
        CheckFacts(actor=caller.actor, at=app.now(), head=head, verdicts=verdicts)
    )


async def _judge(repository: "Repository", head: str, row: FactRow, out: StaleList) -> None:
    path = row.path or anchors.parse_ref(row.source_ref).path
    if row.blob and path:
        verdict = await repository.by_content(path, row.blob)
    elif row.commit:
        verdict = await repository.by_commit(row.commit, path, head)
    else:
        verdict = await repository.by_name(path)
    out.checked += 1
    if verdict == "current":
        out.current += 1
    elif verdict == "stale":
        out.stale += 1
    else:
        out.unresolved += 1
    found_path = "" if row.path else path
    if verdict != row.freshness or found_path:
        out.changed.append(Verdict(fact=row.id, freshness=verdict, path=found_path))


def classify(*, known: bool, is_head: bool, is_ancestor: bool, changed: bool) -> Freshness:
    """What the history says of a fact pinned to a commit: at the head it is current; a commit that
    is unknown or on another line of history tells nothing; else it counts what changed since."""
    if not known:
        return "unresolved"
    if is_head:
        return "current"
    if not is_ancestor:
        return "unresolved"
    return "stale" if changed else "current"


class Repository:
    """A working tree and its git; answers about commits are kept for one check."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._commits: dict[tuple[str, str], Freshness] = {}
        self._blobs: dict[str, str] = {}

    async def head(self) -> str:
        """The commit that is checked out. Raises HmdError where there is none."""
        code, text = await self._git("rev-parse", "--verify", "--quiet", "HEAD")
        if code != 0:
            raise HmdError(
                "usage", f"'{self._root}' is no git repository with a commit", do="name one: --path"
            )
        return text

    async def by_content(self, path: str, blob: str) -> Freshness:
        inside = anchors.relative(path, self._root)
        if not inside:
            return "unresolved"
        if inside not in self._blobs:
            self._blobs[inside] = await trio.to_thread.run_sync(
                anchors.blob_of, Path(self._root, inside)
            )
        return "current" if self._blobs[inside] == blob else "stale"

    async def by_name(self, path: str) -> Freshness:
        """Only that the file is still there can be said."""
        inside = anchors.relative(path, self._root)
        if not inside:
            return "unresolved"
        return "current" if os.path.exists(os.path.join(self._root, inside)) else "stale"

    async def by_commit(self, commit: str, path: str, head: str) -> Freshness:
        key = (commit, path)
        if key not in self._commits:
            self._commits[key] = await self._ask(commit, path, head)
        return self._commits[key]

    async def _ask(self, commit: str, path: str, head: str) -> Freshness:
        code, full = await self._git("rev-parse", "--verify", "--quiet", commit + "^{commit}")
        if code != 0:
            return classify(known=False, is_head=False, is_ancestor=False, changed=False)
        if full == head:
            return classify(known=True, is_head=True, is_ancestor=True, changed=False)
        code, _ = await self._git("merge-base", "--is-ancestor", full, head)
        if code != 0:
            return classify(known=True, is_head=False, is_ancestor=False, changed=False)
        changed = True  # without a path any later commit may have changed it
        if path:
            code, _ = await self._git("diff", *_PLAIN, full, head, "--", f":(top,literal){path}")
            changed = code != 0
        return classify(known=True, is_head=False, is_ancestor=True, changed=changed)

    async def _git(self, *arguments: str) -> tuple[int, str]:
        """(exit code, output) of git."""
        try:
            return await git.ask(["-C", self._root], arguments, GIT_SECONDS)
        except (OSError, trio.TooSlowError) as error:
            raise HmdError("busy", f"git could not be asked: {error}", self._root) from None
