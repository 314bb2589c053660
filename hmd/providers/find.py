"""Where an extraction program lies: the first place that names one that can be run."""

import os
import shutil
from collections.abc import Mapping, Sequence

from hmd.providers.base import Recorded

_USUAL = (
    "{HOME}/.local/bin",
    "{HOME}/.claude/local",
    "{HOME}/.npm-global/bin",
    "/opt/homebrew/bin",
    "/usr/local/bin",
    "{LOCALAPPDATA}/Microsoft/WinGet/Links",
)


def find_program(
    name: str, variables: Sequence[str], environ: Mapping[str, str], recorded: Recorded
) -> str:
    """Absolute path of program `name`, "" where there is none.

    In this order: the variables (ours first, then the host's own), what install found, the PATH
    that install was run with, this process's PATH, the platform's usual places. A variable of ours
    that names nothing runnable ends the search: it was meant.
    """
    for place, variable in enumerate(variables):
        named = environ.get(variable, "")
        if _runs(named):
            return named
        if named and place == 0:
            return ""
    if _runs(recorded.programs.get(name, "")):
        return recorded.programs[name]
    usual = [_filled(each, environ) for each in _USUAL]
    places = [recorded.path, environ.get("PATH", ""), *filter(None, usual)]
    found = shutil.which(name, path=os.pathsep.join([each for each in places if each]))
    return os.path.abspath(found) if found else ""


def _runs(path: str) -> bool:
    return bool(path) and os.path.isabs(path) and os.path.isfile(path) and os.access(path, os.X_OK)


def _filled(place: str, environ: Mapping[str, str]) -> str:
    for name in ("HOME", "LOCALAPPDATA"):
        mark = "{" + name + "}"
        if mark in place:
            value = environ.get(name, "")
            return place.replace(mark, value) if value else ""
    return place
