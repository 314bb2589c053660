"""`config.toml` as it is now: read again when the file has changed."""

import os

from hmd.core import config
from hmd.core.config import Config, Problem


class LiveConfig:
    """The settings of a home and what is wrong with them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = (0, 0, 0)  # of no file, so the first look reads
        self.current = Config()
        self.problems: list[Problem] = []
        self.refresh()

    def refresh(self) -> bool:
        """Reads the file if it is another than before; True when it was."""
        seen = self._look()
        if seen == self._seen:
            return False
        self._seen = seen
        self.current, self.problems = config.load(self._path)
        return True

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns
