"""The ledgers of sessions as the daemon appends to them: held open, its own lines not read again.

Files stay the truth: each is looked at before a decision, so what a stub appended meanwhile, a
ledger that was removed and one that stands in another's place are all seen.
"""

import os
from collections import OrderedDict

from hmd.kernel import ledger, system, turn
from hmd.kernel.address import Home
from hmd.kernel.turn import Turn

OPEN = 32  # descriptors held; sessions beyond these open their ledger for each line


class Ledgers:
    """Catches turns up with their ledgers and appends to these, by session key."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._open: OrderedDict[str, tuple[int, int, int]] = OrderedDict()  # descriptor, dev, inode

    def catch_up(self, key: str, state: Turn) -> None:
        """Folds into `state` what its ledger holds beyond it."""
        path = self._home.ledger(key)
        try:
            status = os.stat(path)
        except OSError:
            self.close(key)
            return
        held = self._open.get(key)
        if held is not None and held[1:] != (status.st_dev, status.st_ino):
            self.close(key)
        if status.st_size != state.offset:
            turn.catch_up(state, path)

    def append(self, key: str, state: Turn | None, record: ledger.Record, data: bytes) -> bool:
        """Appends one record; False where it could not be written whole. `state`, when it has all
        that stands before the record, takes the record in.

        A process that is stopped between two of its steps finds, once it goes on, that its client
        has decided alone: then the event's line is there, and no second one is written.
        """
        if state is not None:
            before = state.offset
            self.catch_up(key, state)
            if state.offset != before and state.has_line(record):
                return True
        held = self._open.get(key)
        if held is None:
            done = ledger.append(self._home.ledger(key), data)
            self._hold(key)
            return done
        self._open.move_to_end(key)
        try:
            if os.write(held[0], data) != len(data):
                return False
            # write(2): with O_APPEND the offset is at the end of what was just written.
            begin = os.lseek(held[0], 0, os.SEEK_CUR) - len(data)
        except OSError:
            return False
        if state is not None and state.offset == begin:
            turn.take(state, data)
        return True

    def _hold(self, key: str) -> None:
        """Opens the ledger, which exists by now, for the appends to come."""
        try:
            # Not `os.open`: stubs append to it too, and on Windows only this one appends whole.
            flags = system.O_WRONLY | system.O_APPEND | system.O_CLOEXEC
            descriptor = system.open(self._home.ledger(key), flags)
        except OSError:
            return
        status = os.fstat(descriptor)
        self._open[key] = (descriptor, status.st_dev, status.st_ino)
        if len(self._open) > OPEN:
            self.close(next(iter(self._open)))

    def close(self, key: str) -> None:
        held = self._open.pop(key, None)
        if held is not None:
            os.close(held[0])

    def close_all(self) -> None:
        for key in list(self._open):
            self.close(key)
