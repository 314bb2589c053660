"""Lines for the user at the start of a session: the daily digest, rules born of a "remember".

The daemon writes them to a file of the project (`notice/<project>` under the home) and hooks read
it, so they are the same with the daemon down. They never reach the model.
"""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.address import Home

LIMIT = 65_536


def lines(home: "Home", project: str, at: int) -> "list[str]":
    """What is to be said at time `at` (ms)."""
    try:
        with open(home.notice(project), encoding="utf-8") as file:
            found = json.loads(file.read(LIMIT))
    except (OSError, ValueError):
        return []
    out = []
    for entry in found if isinstance(found, list) else []:
        if isinstance(entry, list) and len(entry) == 3 and isinstance(entry[2], str):
            since, until = entry[0], entry[1]
            if isinstance(since, int) and isinstance(until, int) and since <= at < until:
                out.append(entry[2])
    return out
