"""The package on disk that this process was loaded from: whether it is still the same, and whole.

An installer replaces files one after another while the daemon runs on from memory. `__init__.py`
tells that it has been there; its list of installed files (RECORD, "Recording installed projects",
PyPA), which installers write last, tells that it is through.
"""

import csv
import os
from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DISTRIBUTION = "harness_memory_daemon-"

Look = tuple[int, int, int, int]


class Package:
    """The files at `path` as they were when this was made."""

    def __init__(self, path: str = PACKAGE) -> None:
        self.path = path
        self.at_start = self.look()
        # A checkout has no list; an installed package without one is not through.
        self._listed = any(True for _ in self._lists())

    def look(self) -> Look | None:
        """Changes when the package is installed anew; None while it is not there."""
        try:
            found = os.stat(self.path + "/__init__.py")
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    def is_whole(self) -> bool:
        """Whether every file that an installer lists for the package is there, in its size."""
        if not self._listed:
            return True
        return any(self._holds(path) for path in self._lists())

    def _lists(self) -> Iterator[str]:
        try:
            names = os.listdir(os.path.dirname(self.path))
        except OSError:
            return
        for name in names:
            if name.startswith(DISTRIBUTION) and name.endswith(".dist-info"):
                path = f"{os.path.dirname(self.path)}/{name}/RECORD"
                if os.path.exists(path):
                    yield path

    def _holds(self, record: str) -> bool:
        root, ours = os.path.dirname(self.path), os.path.basename(self.path) + "/"
        listed = 0
        try:
            with open(record, encoding="utf-8", newline="") as file:
                for row in csv.reader(file):
                    if len(row) != 3 or not row[0].startswith(ours) or not row[2]:
                        continue  # not ours, or without a size (compiled files)
                    listed += 1
                    if os.stat(f"{root}/{row[0]}").st_size != int(row[2]):
                        return False
        except (OSError, ValueError, csv.Error):
            return False
        return listed > 0
