"""Projects of directories, remembered as long as nothing that the resolver looked at has changed.

`hmd/kernel/project.py` is the one resolver; it takes 60 µs and more. Its answer depends on the
directories above the one asked for (a `.git` that appears changes its directory's time), on `.git`
files, and on three files under the home. All of these are looked at each time (one `stat` each), so
the answer is the one that a stub would find at this moment.
"""

import os
import time
from collections import OrderedDict
from collections.abc import Callable

from hmd.kernel.address import Home
from hmd.kernel.project import Project, resolve

PLACES = 512
# A change within one tick of the file system's clock leaves no trace in a directory's time, so
# directories that have only just changed are not trusted (as in git's index, "racy git").
SETTLED_NS = 50_000_000

Stamp = tuple[int, int, int, int]
Look = tuple[Stamp | None, ...]


class Places:
    """The projects of the directories that were asked for lately."""

    def __init__(self, home: Home, clock: Callable[[], int] = time.time_ns) -> None:
        self._home = home
        self._clock = clock
        self._known: OrderedDict[
            tuple[str, tuple[str, ...]], tuple[list[str], Look, Project | None]
        ] = OrderedDict()

    def project(self, cwd: str, never: tuple[str, ...]) -> Project | None:
        """What `resolve(home, cwd, never)` gives."""
        key = (cwd, never)
        held = self._known.get(key)
        if held is not None:
            paths, seen, found = held
            if _look(paths) == seen:
                self._known.move_to_end(key)
                return found
            del self._known[key]
        return self._resolve(key)

    def _resolve(self, key: tuple[str, tuple[str, ...]]) -> Project | None:
        above = _above(key[0])
        before = _look(above)
        found = resolve(self._home, *key)
        paths = above + self._files(above, found)
        seen = _look(paths)
        if seen[: len(above)] == before and self._settled(seen):
            self._known[key] = (paths, seen, found)
            if len(self._known) > PLACES:
                self._known.popitem(last=False)
        return found

    def _files(self, above: list[str], found: Project | None) -> list[str]:
        """What else the answer rests on: `.git` files, and what the home says of the project."""
        files = [self._home.everywhere]
        # One that appears is seen by its directory's time; the content of a file is not.
        files += [path for path in [each + "/.git" for each in above] if os.path.isfile(path)]
        location = found.location if found is not None else None
        while location is not None:
            files.append(self._home.by_path(location.common))
            if location.git:
                files.append(location.common + "/commondir")
            location = location.parent
        if found is not None and found.id:
            files.append(self._home.project(found.id))
        if found is None or not found.location.git:
            # A directory above may become a project without a trace in its own time.
            files += [self._home.by_path(directory) for directory in above]
        return files

    def _settled(self, seen: Look) -> bool:
        newest = max((stamp[2] for stamp in seen if stamp is not None), default=0)
        return self._clock() - newest > SETTLED_NS


def _above(directory: str) -> list[str]:
    """The directory and all above it, as spelled and as it really lies behind links."""
    try:
        real = os.path.realpath(directory)
    except (OSError, ValueError):
        real = directory
    found: dict[str, None] = {}
    for here in (directory, real):
        while here and here not in found:
            found[here] = None
            here = os.path.dirname(here)
    return list(found)


def _look(paths: list[str]) -> Look:
    seen: list[Stamp | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            seen.append(None)
        else:
            seen.append((status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(seen)
