"""The sentences that agents and users read. Every refusal says what can be done next, and only
things that work from where the reader stands."""

from hmd.kernel.verdict import REASON_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

MARK = "[hmd]"
SHORT = 8

_TYPE_NAMES = {
    "policy": "POLICY",
    "workflow": "WORKFLOW",
    "pitfall": "PITFALL",
    "architecture_constraint": "CONSTRAINT",
    "decision": "DECISION",
    "guard": "CORRECTION",
    "fix": "FIX",
}

RETRY = "If this does not apply here, make the same call again: it will pass."
ASKED = "The user is asked before this runs."
LIFT = (
    "A human set this as blocked; do not try another way around it. Only the user can lift it, in"
    " their own terminal: hmctl memory enforce {id} advise"
)
HIDDEN = "The program of this call is hidden in a variable; write it out to have it judged."
OPAQUE = (
    "hmd: part of this command is hidden (a variable or an encoding decides what runs), so blocking"
    " rules could not be checked against it"
)

UNREADABLE = "hmd: rules are not in force, {path} cannot be read; run: hmctl snapshot rebuild"


def line(record: "Record") -> str:
    """`[hmd] PITFALL (auto, provisional): summary — details`."""
    name = _TYPE_NAMES.get(record["type"], record["type"].upper())
    details = f" — {record['details']}" if record["details"] else ""
    return f"{MARK} {name} ({record['label']}): {record['summary']}{details}"


def reason(records: "list[Record]", ending: str) -> str:
    """The reason of a refusal or a question: what applies, then the way out, within the limit."""
    room = REASON_LIMIT - len(ending) - 2
    text = ""
    for record in records:
        more = line(record)
        if text and len(text) + 1 + len(more) > room:
            break
        text = f"{text}\n{more}" if text else more
    if len(text) > room:
        text = text[: room - 1].rstrip() + "…"
    stop = "" if text.endswith((".", "!", "?", "…", "”")) else "."
    return f"{text}{stop} {ending}"


def notice(record: "Record", level: str, what: str) -> str:
    """One line for the user: type, short id and level of what was stopped."""
    return f"hmd: {record['type']} {record['id'][:SHORT]} {what} ({level})"


def guard_record(guard: "Record") -> "Record":
    """A correction of this session in the shape of a memory, so that one code path serves both."""
    worked = f" What worked: {guard['worked']}" if guard.get("worked") else ""
    said = str(guard["said"]).replace("\n", " ")
    return {
        "id": guard["id"],
        "type": "guard",
        "summary": f"the user said in this session: “{said}”.{worked}",
        "details": "",
        "label": "the user's own words",
        "level": "soft_deny",
        "authority": "auto",
        "score": 1.0,
        "updated": 0,
        "sig": {},
    }
