"""A learned fix as the snapshot holds it, beside memories and with all of their keys."""

from typing import Any

from hmd.core.learning import FixRow


def evidence_of(row: FixRow) -> str:
    """ "seen once", "3 times in 2 sessions"."""
    count = len(row.seen)
    if count <= 1:
        return "seen once"
    sessions = len({session for session, _at in row.seen.values()})
    return f"{count} times in " + ("one session" if sessions == 1 else f"{sessions} sessions")


def fix_record(row: FixRow) -> dict[str, Any]:
    """No trigger and no signature: only a failure of its command looks for it."""
    sessions = len({session for session, _at in row.seen.values()})
    return {
        "id": row.id,
        "version": "",
        "type": "fix",
        "summary": f"it failed this way before; what worked then: {row.fix}",
        "details": "",
        "scope": "**",
        "triggers": [],
        "tools": [row.tool],
        "sig": None,
        "level": "advise",
        "authority": "auto",
        "evidence": "tool_observed",
        "label": evidence_of(row),
        "score": 0.0,
        "expires": None,
        "baseline": False,
        "policy": None,
        "loaded": "",
        "aliases": [],
        "updated": max((at for _session, at in row.seen.values()), default=0),
        "fix": {
            "key": row.key,
            "class": row.failure,
            "signature": row.signature,
            "sessions": sessions,
            "count": len(row.seen),
        },
    }
