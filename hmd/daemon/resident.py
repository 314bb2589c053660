"""What decisions read, held in memory: snapshots and the turns of sessions.

The daemon's `Sources` (hmd/kernel/answer.py). Files stay the truth: a snapshot is looked at anew
before each decision (two `stat` calls), and a turn folds whatever a stub appended meanwhile, so the
answer is the one a stub would have given from the same files.
"""

import contextlib
import os
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import trio

from hmd.daemon.ledgers import Ledgers
from hmd.daemon.places import Places
from hmd.kernel import event as ev
from hmd.kernel import hot, ledger, turn
from hmd.kernel.address import Home
from hmd.kernel.project import Project, adopt
from hmd.kernel.rules import Rules
from hmd.kernel.snapshot import USER, Snapshot
from hmd.kernel.turn import Turn

if TYPE_CHECKING:  # at run time these are imported after the socket listens
    from hmd.store.leftovers import Left
    from hmd.store.mask import Words

SESSIONS = 256
SNAPSHOTS = 64  # each holds a descriptor
BUCKETS = 4096  # parsed buckets kept of each snapshot
_LAST_OF_A_TURN = frozenset([ev.STOP, ev.STOP_FAILURE, ev.SESSION_END])


Recaller = Callable[[Project, Turn, ev.Event], None]


class Resident:
    """Snapshots and turns of one home, the least recently used given up first."""

    def __init__(self, home: Home, kernel_hash: str) -> None:
        self.home = home
        self.kernel_hash = kernel_hash
        self._places = Places(home)
        # Puts what a prompt or a command finds into its event; null until the store is open.
        self.recaller: Recaller | None = None
        self._ledgers = Ledgers(home)
        self._snapshots: OrderedDict[str, Snapshot] = OrderedDict()
        self._turns: OrderedDict[str, Turn] = OrderedDict()

    @property
    def sessions(self) -> int:
        return len(self._turns)

    # -- hmd.kernel.answer.Sources --

    def project(self, cwd: str, never: tuple[str, ...]) -> Project | None:
        found = self._places.project(cwd, never)
        if found is not None and found.enabled and not found.id:
            found.id = adopt(self.home, found.location)
        return found

    def rules(self, project: Project) -> Rules:
        wanted = [(project.id, project.root), (USER, project.root)]
        if project.parent:
            wanted.append((project.parent, project.parent_root))
        found = []
        for name, root in wanted:
            snapshot = self.snapshot(name) if name else None
            if snapshot is not None:
                found.append((snapshot, root))
        return Rules(found, self.home.path)  # type: ignore[arg-type]

    def turn(self, key: str) -> Turn:
        held = self._turns.get(key)
        if held is None:
            held = self._turns[key] = turn.load(_read(self.home.turn(key)))
            if len(self._turns) > SESSIONS:
                self._save(*self._turns.popitem(last=False))
        self._turns.move_to_end(key)
        self._ledgers.catch_up(key, held)
        return held

    def recall(self, project: Project, turn: Turn, event: ev.Event) -> None:
        if event.kind == ev.SESSION_START:
            event.hot = hot.read(self.home, project.id)
        elif self.recaller is not None:
            self.recaller(project, turn, event)

    def append(self, key: str, record: ledger.Record, data: bytes) -> bool:
        return self._ledgers.append(key, self._turns.get(key), record, data)

    # -- the daemon's own --

    def snapshot(self, name: str) -> Snapshot | None:
        """The snapshot of a project id or `user` as it is on disk now, None where there is none."""
        held = self._snapshots.get(name)
        if held is None:
            held = self._snapshots[name] = Snapshot(
                self.home.snapshot(name), self.kernel_hash, BUCKETS
            )
            if len(self._snapshots) > SNAPSHOTS:
                self._snapshots.popitem(last=False)[1].close()
        self._snapshots.move_to_end(name)
        held.refresh()
        return held if held.exists else None

    def settle(self, key: str, kind: str) -> None:
        """After a decision: writes a checkpoint where one is due."""
        held = self._turns.get(key)
        if held is None:
            return
        due = held.offset - held.saved >= turn.CHECKPOINT_EVERY
        if due or kind in _LAST_OF_A_TURN:
            self._save(key, held)
        if kind == ev.SESSION_END:
            self._turns.pop(key, None)
            self._ledgers.close(key)

    def save_all(self) -> None:
        """Writes a checkpoint of every turn that has moved since its last one."""
        for key, held in self._turns.items():
            self._save(key, held)

    async def erase(self, left: "Left") -> None:
        """Takes what was erased from files out of the turns as well, before one of them is written
        down again. A turn at a time: hooks are answered in between."""
        for key in list(self._turns):
            if key in left.sessions:
                self._turns.pop(key, None)
                _remove(self.home.turn(key))
            elif key in self._turns:
                self._erase_from(key, left.words)
            await trio.lowlevel.checkpoint()

    def _erase_from(self, key: str, words: "Words") -> None:
        held = self._turns[key]
        data = bytearray(turn.dump(held))
        spans = words.spans(bytes(data))
        for start, length in spans:
            data[start : start + length] = b"x" * length
        if spans:
            self._turns[key] = fresh = turn.load(bytes(data))
            turn.write_checkpoint(fresh, self.home.turn(key))

    def close(self) -> None:
        for snapshot in self._snapshots.values():
            snapshot.close()
        self._snapshots.clear()
        self._ledgers.close_all()

    def _save(self, key: str, held: Turn) -> None:
        turn.catch_up(held, self.home.ledger(key))  # our own last line is not folded in yet
        if held.offset != held.saved:
            turn.write_checkpoint(held, self.home.turn(key))


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
