"""Fixes learned from the ledger: what worked where a command had failed, and how often it did.

A book is a plain value that travels from run to run; every sighting has a name, so that reading a
session again adds nothing, and books do not depend on the order of sessions.
"""

from msgspec import Struct, field

from hmd.kernel.address import digest
from hmd.learn.calls import Call
from hmd.learn.episodes import Episode
from hmd.learn.variants import changes_something, failed_key, variant

LOOK_BACK = 40  # calls between a failure and what worked
FAILED_KEPT = 4096
FIXES_KEPT = 2000
SEEN_KEPT = 64


class Fix(Struct, kw_only=True):
    """One variant that worked. `seen` names its sightings: name → [session key, time in ms]."""

    id: str
    tool: str
    key: str
    failure: str
    signature: str
    fix: str
    fix_key: str
    seen: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.seen)

    @property
    def sessions(self) -> int:
        return len({session for session, _at in self.seen.values()})

    @property
    def last(self) -> int:
        return max((at for _session, at in self.seen.values()), default=0)


class Book(Struct, kw_only=True):
    """Everything known of fixes in one project. `failed`: literal key → when it last failed. A fix
    whose own key is among them is never offered."""

    fixes: dict[str, Fix] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    def is_retired(self, fix: Fix) -> bool:
        return fix.fix_key in self.failed

    def offered(self) -> list[Fix]:
        """The fixes that may be offered, best evidence first."""
        live = [fix for fix in self.fixes.values() if not self.is_retired(fix)]
        return sorted(live, key=lambda fix: (-fix.sessions, -fix.count, -fix.last, fix.id))


class FixFold:
    """Reads the episodes of one session, in order, into a book."""

    def __init__(self, book: Book, session_key: str) -> None:
        self._book = book
        self._session = session_key
        self._past: list[Call] = []
        self._open: list[Call] = []  # failures that nothing has resolved

    def feed(self, episode: Episode) -> list[Fix]:
        """Takes a closed episode in; returns the fixes seen in it."""
        found = []
        for call in episode.calls:
            if call.tool == "bash" and call.failed:
                self._fail(call)
            elif call.tool == "bash" and call.state == "ok":
                fix = self._work(call)
                if fix is not None:
                    found.append(fix)
            self._past.append(call)
            del self._past[:-LOOK_BACK]
        return found

    def _fail(self, call: Call) -> None:
        self._open.append(call)
        self._open = [one for one in self._open[-8:] if one in self._past or one is call]
        failed = self._book.failed
        key = failed_key(call)
        failed[key] = max(call.at, failed.pop(key, 0))
        if len(failed) > FAILED_KEPT:
            oldest = sorted(failed, key=lambda key: (failed[key], key))
            for key in oldest[: len(failed) - FAILED_KEPT]:
                del failed[key]

    def _work(self, call: Call) -> Fix | None:
        self._open = [one for one in self._open if any(one is past for past in self._past)]
        if "<redacted" in call.input:
            return None
        for failed in reversed(self._open):
            if failed.agent != call.agent or failed.dialect != call.dialect:
                continue
            place = next(at for at, past in enumerate(self._past) if past is failed)
            between = [one for one in self._past[place + 1 :] if one.agent == call.agent]
            clean = not any(changes_something(one) for one in between if one.state != "held")
            found = variant(failed, call, clean)
            if found is not None:
                self._open.remove(failed)
                return self._record(failed, call, found.key, found.fix, found.fix_key)
        # The very command works again: whatever was wrong lay elsewhere.
        self._open = [one for one in self._open if not set(one.keys) <= set(call.keys)]
        return None

    def _record(self, failed: Call, worked: Call, key: str, text: str, fix_key: str) -> Fix:
        name = digest("\x1f".join([worked.tool, key, failed.signature, fix_key]), 32)
        fix = self._book.fixes.get(name)
        if fix is None:
            fix = Fix(
                id=name,
                tool=worked.tool,
                key=key,
                failure=failed.failure,
                signature=failed.signature,
                fix=text,
                fix_key=fix_key,
            )
            self._book.fixes[name] = fix
        fix.fix = min(fix.fix, text, key=lambda one: (len(one), one))
        sighting = digest(f"{self._session}\x1f{failed.at}\x1f{worked.at}", 16)
        fix.seen[sighting] = (self._session, worked.at)
        _trim(fix.seen)
        self._forget_oldest()
        return fix

    def _forget_oldest(self) -> None:
        fixes = self._book.fixes
        if len(fixes) > FIXES_KEPT:
            oldest = min(fixes.values(), key=lambda fix: (fix.last, fix.id))
            del fixes[oldest.id]


def _trim(seen: dict[str, tuple[str, int]]) -> None:
    while len(seen) > SEEN_KEPT:
        del seen[min(seen, key=lambda name: (seen[name][1], name))]


def learn(book: Book, episodes: list[Episode]) -> list[Fix]:
    """Reads whole sessions (episodes in their order, sessions in any) into `book`."""
    folds: dict[str, FixFold] = {}
    found: list[Fix] = []
    for episode in episodes:
        fold = folds.get(episode.key)
        if fold is None:
            fold = folds[episode.key] = FixFold(book, episode.key)
        found += fold.feed(episode)
    return found
