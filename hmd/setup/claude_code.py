"""Claude Code's settings: which hooks we register there, and how. Pure: text in, text out.

An entry of ours is known by what it says, never by where it stands: its words hold the bootstrap
(which names `/app/current` and `client.hook`) and end in the home and the event.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Literal

from hmd.setup.json_edit import WHITESPACE, JsonProblem, Node, Trace, append, at, parse, remove
from hmd.setup.shipped import BOOT

HOST = "claude-code"
TOOLS = "Bash|PowerShell|Edit|MultiEdit|Write|NotebookEdit|WebFetch|mcp__.*"
# Event, matcher (None where the host has none), seconds until the host gives the hook up.
EVENTS: tuple[tuple[str, str | None, int], ...] = (
    ("SessionStart", None, 10),
    ("UserPromptSubmit", None, 10),
    ("PreToolUse", TOOLS, 5),
    ("PostToolUse", "*", 5),
    ("PostToolUseFailure", "*", 5),
    ("PostToolBatch", None, 5),
    ("Stop", None, 10),
    ("StopFailure", None, 10),
    ("PreCompact", None, 10),
    ("SessionEnd", None, 1),
)
FLAGS = ("-I", "-S", "-c", BOOT)
EXEC_SINCE = (2, 1, 139)  # the first client that runs `command` with `args` without a shell

# A file may be there and hold nothing; this key of a trace says what blanks it held.
WHOLE = "/"
BLANK = WHITESPACE + "\ufeff"

Form = Literal["exec", "shell", "powershell"]
FORMS: tuple[Form, ...] = ("exec", "shell", "powershell")


@dataclass(frozen=True, slots=True)
class Hook:
    """What an entry runs: an interpreter (absolute path) for a home, in one of three forms."""

    interpreter: str
    home: str
    form: Form = "exec"

    def words(self, event: str) -> list[str]:
        """The process that the host starts for `event`."""
        return [self.interpreter, *FLAGS, self.home, event]

    def handler(self, event: str, seconds: int) -> dict[str, object]:
        """One entry of a `hooks` list."""
        program, *rest = self.words(event)
        entry: dict[str, object] = {"type": "command"}
        if self.form == "exec":
            entry |= {"command": program, "args": rest}
        elif self.form == "shell":
            entry |= {"command": shlex.join([program, *rest])}
        else:
            quoted = " ".join("'" + word.replace("'", "''") + "'" for word in (program, *rest))
            entry |= {"command": "& " + quoted, "shell": "powershell"}
        return {**entry, "timeout": seconds}


@dataclass(frozen=True, slots=True)
class Registration:
    """An entry of ours as found in a settings text."""

    event: str
    home: str
    form: Form
    interpreter: str
    current: bool  # it carries today's bootstrap
    place: tuple[int, int]  # group in the event's list, handler in the group


@dataclass(frozen=True, slots=True)
class Edited:
    """A settings text after an edit; the trace undoes it, `changed` counts entries."""

    text: str
    trace: Trace = field(default_factory=dict)
    changed: int = 0


def pick_form(version: tuple[int, ...] | None, windows: bool, bash: bool) -> Form:
    """The form for a client of `version` (None: unknown, taken as current).

    On Windows the shell form is PowerShell's where there is no `bash`.
    """
    if version is None or version >= EXEC_SINCE:
        return "exec"
    return "powershell" if windows and not bash else "shell"


def version_of(text: str) -> tuple[int, ...] | None:
    """The version in what `claude --version` prints, or None."""
    found = re.search(r"\b(\d+)\.(\d+)\.(\d+)", text)
    return tuple(int(part) for part in found.groups()) if found else None


def groups(hook: Hook) -> dict[str, dict[str, object]]:
    """What is added to each event's list."""
    added = {}
    for event, matcher, seconds in EVENTS:
        group: dict[str, object] = {} if matcher is None else {"matcher": matcher}
        added[event] = {**group, "hooks": [hook.handler(event, seconds)]}
    return added


def to_paste(hook: Hook) -> str:
    """The entries as text for a file that we may not write."""
    lists = {event: [group] for event, group in groups(hook).items()}
    return json.dumps({"hooks": lists}, indent=2, ensure_ascii=False)


def register(text: str, hook: Hook, trace: Trace) -> Edited:
    """`text` with exactly one set of entries for `hook.home`.

    `trace` is that of the earlier registration in this text ({} for none): its entries are
    replaced. Raises JsonProblem for a text that is no JSON object or has other shapes where the
    hooks stand.
    """
    text = unregister(text, hook.home, trace).text
    trace = {}
    if not text.strip(BLANK):
        trace[WHOLE], text = text, "{}\n"
    for event, group in groups(hook).items():
        text = append(text, ("hooks", event), group, trace)
    return Edited(text, trace, len(EVENTS))


def unregister(text: str, home: str, trace: Trace) -> Edited:
    """`text` without our entries for `home`; raises JsonProblem for a text that is no JSON."""
    removed = 0
    while text.strip(BLANK):
        ours = [found for found in registrations(text) if found.home == home]
        if not ours:
            break
        text = _remove_last(text, ours[-1], trace)
        removed += 1
    blank = trace.get(WHOLE)
    if removed and blank is not None and not parse(text).children:
        text = blank
    return Edited(text, trace, removed)


def _remove_last(text: str, found: Registration, trace: Trace) -> str:
    """Without one entry: its whole group when it is alone there, else the handler only."""
    group, handler = found.place
    path = ("hooks", found.event)
    array = at(parse(text), path)
    assert array is not None
    hooks = array.children[group].node.get("hooks")
    assert hooks is not None
    if len(hooks.children) == 1:
        return remove(text, path, group, trace)
    # Somebody put a handler of theirs into our group: work on that list alone.
    inner = remove(text[hooks.start : hooks.end], (), handler, {})
    return text[: hooks.start] + inner + text[hooks.end :]


def registrations(text: str) -> list[Registration]:
    """Every entry of ours in the order of the text, for any home; raises JsonProblem."""
    if not text.strip(BLANK):
        return []
    hooks = at(parse(text), ("hooks",))
    found = []
    for member in hooks.children if hooks is not None and hooks.kind == "object" else ():
        if hooks is not None and hooks.get(member.key) is not member.node:
            continue  # a repeated key: readers see only the last one
        for group, element in enumerate(member.node.children):
            inner = element.node.get("hooks") if element.node.kind == "object" else None
            for place, handler in enumerate(inner.children if inner is not None else ()):
                ours = _recognise(handler.node, member.key, (group, place))
                if ours is not None:
                    found.append(ours)
    return found


def _recognise(node: Node, event: str, place: tuple[int, int]) -> Registration | None:
    entry = node.plain()
    if not isinstance(entry, dict) or not isinstance(entry.get("command"), str):
        return None
    form, words = _words(entry)
    boot = [word for word in words if "/app/current" in word and "client.hook" in word]
    if not boot or len(words) < 4 or words[-2] in boot:
        return None
    return Registration(event, words[-2], form, words[0], boot[0] == BOOT, place)


def _words(entry: dict[str, object]) -> tuple[Form, list[str]]:
    """The form of an entry and its words; no words where its quoting cannot be read."""
    command, args = str(entry["command"]), entry.get("args")
    if isinstance(args, list):
        return "exec", [command, *(str(word) for word in args)]
    if command.startswith("& '"):
        quoted = re.findall(r"'((?:[^']|'')*)'", command)
        return "powershell", [word.replace("''", "'") for word in quoted]
    try:
        return "shell", shlex.split(command)
    except ValueError:
        return "shell", []


def hooks_switched_off(text: str) -> bool:
    """Whether this text turns all hooks of the host off; raises JsonProblem."""
    if not text.strip(BLANK):
        return False
    node = at(parse(text), ("disableAllHooks",))
    return node is not None and node.plain() is True


__all__ = [
    "EVENTS",
    "FORMS",
    "HOST",
    "Edited",
    "Form",
    "Hook",
    "JsonProblem",
    "Registration",
    "groups",
    "hooks_switched_off",
    "pick_form",
    "register",
    "registrations",
    "to_paste",
    "unregister",
    "version_of",
]
