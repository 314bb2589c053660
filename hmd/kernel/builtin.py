"""Rules that come with hmd: an agent is asked about before it changes hmd's own files, its hook
entries or, through `hmctl`, its rules.

A guard-rail, not a boundary: an agent that wants to get around it can.
"""

from hmd.kernel.subject import MATCH, Met, Subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Record = dict[str, Any]

# Words of an installed hook entry (hmd/setup/claude_code.py knows them by the same).
ENTRY_MARKS = ("client.hook", "hmd-hook")
SETTINGS_FILES = ("settings.json", "settings.local.json", "hooks.json", "config.toml")

# Programs that change the files they are given; redirections are seen apart.
WRITERS = frozenset(
    "rm mv cp ln tee truncate dd install rsync chmod chown shred unlink rmdir sed perl touch mkdir"
    " sqlite3 patch git tar unzip".split()
)
# `hmctl` words that change rules or switch hooks off; run by an agent they only propose.
_SWITCHES = frozenset(["uninstall", "daemon", "service", "db", "config"])
_READS = frozenset(["status", "list", "get", "path", "check"])


def builtin(subject: Subject, home: str) -> "list[tuple[Record, Met]]":
    """The built-in rules that apply to a call; `home` is hmd's own directory."""
    if not home:
        return []
    if subject.form is None:
        why = _edits(subject, home)
    else:
        why = _writes(subject, home) or _switches(subject)
    return [(_record(why), Met(MATCH, subject.key))] if why else []


def _edits(subject: Subject, home: str) -> str:
    target = subject.target
    if target is None or subject.call.tool not in ("edit", "write"):
        return ""
    if _under(target.absolute, home):
        return "this call changes hmd's own files"
    name = target.absolute.rpartition("/")[2]
    if name in SETTINGS_FILES and _drops_entry(subject.call.input):
        return "this call changes the hook entries of hmd"
    return ""


def _drops_entry(given: "dict[str, object]") -> bool:
    """Whether an edit takes text of our entry away."""
    edits = given.get("edits")
    parts = [given, *edits] if isinstance(edits, list) else [given]
    for part in parts:
        if not isinstance(part, dict):
            continue
        old, new = str(part.get("old_string", "")), str(part.get("new_string", ""))
        if any(mark in old and mark not in new for mark in ENTRY_MARKS):
            return True
    return False


def _writes(subject: Subject, home: str) -> str:
    for unit in subject.form.units if subject.form is not None else []:
        changed = [redir.target for redir in unit.redirs if ">" in redir.op]
        if unit.program in WRITERS:
            changed += unit.paths
        if any(_under(path, home) for path in [*changed, *_absolute(unit.paths, changed)]):
            return "this command changes hmd's own files"
    return ""


def _absolute(paths: "list[str]", changed: "list[str]") -> "list[str]":
    """Path tokens are normalized; a redirection's target is found among them by its name."""
    names = {one.rpartition("/")[2] for one in changed}
    return [path for path in paths if path.rpartition("/")[2] in names]


def _switches(subject: Subject) -> str:
    for unit in subject.form.units if subject.form is not None else []:
        words = [word for word in unit.argv[1:4] if not word.startswith("-")]
        if unit.program != "hmctl" or unit.boundary or not words:
            continue
        if words[0] in _SWITCHES and not (len(words) > 1 and words[1] in _READS):
            return f"hmctl {' '.join(words[:2])} changes how hmd works"
    return ""


def _under(path: str, home: str) -> bool:
    return path == home or path.startswith(home + "/")


def _record(why: str) -> "Record":
    return {
        "id": "built-in",
        "type": "policy",
        "summary": why,
        "details": "",
        "label": "built in",
        "level": "confirm",
        "authority": "human",
        "score": 1.0,
        "updated": 0,
        "sig": {},
    }
