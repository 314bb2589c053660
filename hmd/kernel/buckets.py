"""Says under which words a memory is filed, so that an event finds it without reading the rest.

Writer and reader of snapshots share this; docs/internals.md ("Snapshot file") lists the buckets.
"""

from hmd.kernel.shell.keys import index_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

BASELINE, START, AFTER = "baseline", "start", "after"
# Fixes, by the literal key of the command that failed.
FIX = "f:"
# Command rules at deny: looked up when a call hides what it runs.
DENY = "deny"


def first_segment(path: str) -> str:
    """The bucket word of a path or glob: its first segment in lower case, `*` where that is not
    literal (or there is none). A file is looked up under its own first segment and under `*`."""
    text = path.replace("\\", "/").lower()
    while text.startswith("./"):
        text = text[2:]
    segment = text.lstrip("/").partition("/")[0]
    if not segment or segment == "." or segment[0] == "!":
        return "*"
    for char in "*?[{":
        if char in segment:
            return "*"
    return segment


def buckets_of(record: "Record") -> "list[str]":
    """Every bucket that a memory is filed under; [] for one that no hook event looks for."""
    fix = record.get("fix")
    if isinstance(fix, dict):
        return [FIX + str(fix.get("key") or "")]
    triggers = record.get("triggers") or ()
    names = []
    if "before_tool" in triggers:
        names += _before_tool(record)
    if "before_model" in triggers and record.get("baseline"):
        names.append(BASELINE)
    if "session_start" in triggers:
        names.append(START)
    if "after_tool" in triggers:
        names.append(AFTER)
    return names


def _before_tool(record: "Record") -> "list[str]":
    sig = record.get("sig")
    if not isinstance(sig, dict):
        return ["s:" + first_segment(str(record.get("scope") or ""))]
    tool = str(sig.get("tool") or "")
    kind = sig.get("kind")
    if sig.get("negate") or kind in ("regex", "substring"):
        return ["t:" + tool]
    pattern = str(sig.get("pattern") or "")
    if kind == "glob":
        if tool == "*":
            return ["t:*"]
        # A URL pattern may leave out its scheme, so its first segment says nothing.
        segment = "*" if tool == "fetch" else first_segment(pattern)
        return ["g:" + tool + ":" + segment]
    keys = _keys_of(sig.get("plain"))
    if not keys:
        return ["t:" + tool]  # unreadable: found by every call of the tool rather than by none
    names = ["c:" + index_words(keys[0])]
    if record.get("level") == "deny":
        names.append(DENY)
        if len(keys) > 1:
            names.append("h:|")
        elif len(keys[0]) > 1:
            second = keys[0][1]
            names.append("h:-" if second.startswith("-") else "h:" + second.lower())
    return names


def _keys_of(plain: object) -> "list[tuple[str, ...]]":
    """The key of each part of a command signature as `shell.signature.to_plain` wrote it; [] if it
    cannot be read. `Signature.head` and `.hidden_head` say the same, and a test holds them equal.
    """
    parts = plain.get("parts") if isinstance(plain, dict) else None
    if not isinstance(parts, list) or not parts:
        return []
    keys = []
    for part in parts:
        key = part[0] if isinstance(part, list) and part else None
        if not isinstance(key, list) or not key or not all(isinstance(word, str) for word in key):
            return []
        keys.append(tuple(key))
    return keys
