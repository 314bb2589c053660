"""The one line of ours in a repository's `.git/info/exclude`, and which worktrees it covers.

gitrepository-layout(5): linked worktrees share the `info/exclude` of the common directory; a
submodule has its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from hmd.kernel.project import Location
from hmd.setup.files import make_directories, read_text, refusal, write_through


@dataclass(frozen=True, slots=True)
class Excluded:
    """What `add` did: the file and the line (both "" when nothing was added), and why not."""

    file: str = ""
    line: str = ""
    made_file: bool = False
    problem: str = ""


def pattern(location: Location, path: str) -> str:
    """The exclude line for `path`, anchored at the top of the working tree."""
    return "/" + os.path.relpath(os.path.realpath(path), location.root).replace(os.sep, "/")


def add(location: Location, path: str) -> Excluded:
    """Makes git overlook `path`; a line that is there already counts as somebody else's."""
    if not location.git:
        return Excluded(problem="this is no git repository: nothing keeps the file out of one")
    file = os.path.join(location.common, "info", "exclude")
    line = pattern(location, path)
    refused = refusal(file)
    if refused is not None:
        return Excluded(problem=f'"{refused.path}" {refused.reason}: add the line {line} by hand')
    try:
        text = read_text(file)
        if line in (text or "").splitlines():
            return Excluded()
        make_directories(os.path.dirname(file), 0o755)
        write_through(file, added(text or "", line), 0o644)
    except OSError as error:
        return Excluded(problem=f'"{file}": {error.strerror}: add the line {line} by hand')
    return Excluded(file, line, made_file=text is None)


def added(text: str, line: str) -> str:
    """`text` with `line` at its end; a missing last line end stays missing."""
    if text and not text.endswith("\n"):
        return text + "\n" + line
    return text + line + "\n"


def removed(text: str, line: str) -> str:
    """`text` without `line`: the inverse of `added`, also after lines were added below."""
    parts = text.split("\n")
    if line not in parts:
        return text
    parts.reverse()
    parts.remove(line)  # the last one is ours
    parts.reverse()
    return "\n".join(parts)


def withdraw(file: str, line: str, made_file: bool) -> bool:
    """Takes the line out again, and the file with it when we made it; False when it was gone."""
    text = read_text(file)
    if text is None or removed(text, line) == text:
        return False
    left = removed(text, line)
    if made_file and not left.strip():
        os.unlink(file)
    else:
        write_through(file, left)
    return True


def worktrees(location: Location) -> list[str]:
    """The working trees of this repository other than `location.root` that still exist."""
    found = []
    if os.path.basename(location.common) == ".git":
        found.append(os.path.dirname(location.common))
    try:
        names = sorted(os.listdir(os.path.join(location.common, "worktrees")))
    except OSError:
        names = []
    for name in names:
        pointer = os.path.join(location.common, "worktrees", name, "gitdir")
        try:
            marker = (read_text(pointer) or "").strip()
        except OSError:
            continue
        if marker:
            # extensions.relativeWorktrees: git may write it relative to its own directory.
            base = os.path.join(os.path.dirname(pointer), marker)
            found.append(os.path.dirname(os.path.realpath(base)))
    return [path for path in found if path != location.root and os.path.isdir(path)]
