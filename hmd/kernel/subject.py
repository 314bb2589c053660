"""One call as rules look at it: read once, then held against every rule that could match."""

from hmd.kernel import event as ev
from hmd.kernel.buckets import DENY, first_segment
from hmd.kernel.glob import matches as glob_matches
from hmd.kernel.glob import matches_everything
from hmd.kernel.redact import redact
from hmd.kernel.shell import match
from hmd.kernel.shell.canonical import Form, canonical
from hmd.kernel.shell.tokens import resolution_tokens
from hmd.kernel.targets import normalize_path, target_of
from hmd.kernel.text import stars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hmd.kernel.shell.signature import Signature
    from hmd.kernel.shell.unit import Unit
    from hmd.kernel.targets import Target

    Record = dict[str, Any]

# A call of many parts is remembered by its first ones.
KEYED_KEPT = 8
KEY_LIMIT = 400

# How a signature met a call.
MATCH, HIDDEN, MISS = "match", "hidden", "miss"


class Met:
    """Outcome of holding a signature against a call: `how`, the literal key that a hold is kept
    under, and for a miss the reason in one line."""

    __slots__ = ("how", "key", "reason")

    def __init__(self, how: str, key: str = "", reason: str = "") -> None:
        self.how = how
        self.key = key
        self.reason = reason


_MISSED = Met(MISS)


class Subject:
    """A call with its canonical form (shell tools) or target (others), relative to one root.

    `paths` are its path tokens, `cwd` the directory relative to the root ("" outside of it).
    """

    __slots__ = ("call", "cwd", "form", "paths", "target")

    def __init__(self, call: ev.Call, cwd: str, root: str, home: str) -> None:
        self.call = call
        at_root = cwd == root and cwd.startswith("/")
        relative = "." if at_root else normalize_path(cwd, cwd, root, home)
        self.cwd = relative
        self.form: Form | None = None
        self.target: Target | None = None
        self.paths: list[str] = []
        if call.tool == "bash":
            dialect = call.dialect or "posix"
            self.form = canonical(call.target, dialect, relative or ".", root, home)
            for unit in self.form.units:
                self.paths += unit.paths
        else:
            self.target = target_of(call.tool, call.target, call.input or None, cwd, root, home)
            if call.tool in ev.PATH_TOOLS and self.target.text:
                self.paths = [self.target.text]

    @property
    def key(self) -> str:
        """The literal key of the whole call, with its directory: what a correction binds to."""
        if self.form is None:
            return redact(self.target.text)[:KEY_LIMIT] if self.target is not None else ""
        parts = [unit_key(unit) for unit in self.form.units if unit.program != "cd"]
        return " ; ".join(parts)[:KEY_LIMIT]

    @property
    def keyed(self) -> "list[list[object]]":
        """[literal key, the words by which a person would name it] of each part of the call:
        a command's units (program first), or the one file or tool."""
        if self.form is None:
            text = self.target.text if self.target is not None else ""
            return [[redact(text)[:KEY_LIMIT], self._target_names(text)]] if text else []
        out: list[list[object]] = []
        for unit in self.form.units[:KEYED_KEPT]:
            if unit.program == "cd" or unit.query or unit.dynamic:
                continue
            words = [word for word in unit.keys[0] if not word.startswith("-")]
            out.append(
                [unit_key(unit)[:KEY_LIMIT], list(dict.fromkeys([unit.program, *words]))[:12]]
            )
        return out

    def _target_names(self, text: str) -> "list[str]":
        if self.call.tool.startswith("mcp:"):
            server, _, tool = self.call.tool[4:].partition("/")
            return [tool, server]
        return list(dict.fromkeys([text.rpartition("/")[2], text]))

    @property
    def tokens(self) -> "list[str]":
        """Resolution tokens: what two attempts at the same thing have in common."""
        found = resolution_tokens(self.form) if self.form is not None else list(self.paths)
        return redact("\n".join(found)).split("\n") if found else []

    def buckets(self) -> "list[str]":
        """Every bucket in which a rule that could match is filed."""
        tool = self.call.tool
        segments = list(dict.fromkeys([*map(first_segment, self.paths), "*"]))
        out = ["t:" + tool, "t:*"]
        if self.form is not None:
            out += ["c:" + head for head in match.heads(self.form)]
            out += ["h:" + head for head in match.hidden_heads(self.form)]
            if self.form.opaque:
                out.append(DENY)
            segments.append(first_segment(self.call.target))
        out += [f"g:{tool}:{segment}" for segment in segments]
        out += ["s:" + segment for segment in segments]
        return out

    def meet(self, record: "Record", explain: bool = False) -> Met:
        """Holds the record's signature against the call; a miss has its reason if asked for."""
        sig = record["sig"]
        if sig["tool"] not in (self.call.tool, "*"):
            return Met(MISS, reason=f"the signature is for {sig['tool']}") if explain else _MISSED
        met = self._positive(record, sig, explain)
        if not sig["negate"]:
            return met
        if met.how == MISS:
            return Met(MATCH, self.key)
        return Met(MISS, reason="the call matches the pattern that is excluded")

    def _positive(self, record: "Record", sig: "Record", explain: bool) -> Met:
        if sig["kind"] == "cmd":
            return self._command(record, sig, explain)
        if self.form is None:
            field = sig["target"].partition(".")[2]
            target = self.target
            if target is not None and target.matches(sig["kind"], sig["pattern"], field):
                return Met(MATCH, self.key)
            if not explain:
                return _MISSED
            return Met(MISS, reason=f"{sig['kind']} {sig['pattern']!r} does not match the target")
        return self._command_text(sig, explain)

    def _command(self, record: "Record", sig: "Record", explain: bool) -> Met:
        if self.form is None:
            return Met(MISS, reason="the call is no command")
        if sig["plain"] is None:
            return Met(MISS, reason="the signature cannot be read")
        parsed = _parsed(sig["plain"])
        unit = match.matches(parsed, self.form)
        if unit is not None:
            return Met(MATCH, unit_key(unit))
        if record["level"] == "deny":
            unit = match.hidden(parsed, self.form)
            if unit is not None:
                return Met(HIDDEN, unit_key(unit))
        return Met(MISS, reason=match.why_not(parsed, self.form)) if explain else _MISSED

    def _command_text(self, sig: "Record", explain: bool) -> Met:
        """A glob, regex or substring signature on a shell tool looks at the text of the command;
        a glob without a blank looks at the paths in it as well."""
        pattern, text = sig["pattern"], self.call.target
        if sig["kind"] == "glob":
            hit = stars(pattern, text) or (
                " " not in pattern and any(glob_matches(pattern, path) for path in self.paths)
            )
        else:
            if self.target is None:
                self.target = target_of("command", text)  # once for all such rules
            hit = self.target.matches(sig["kind"], pattern)
        if hit:
            return Met(MATCH, self.key)
        if not explain:
            return _MISSED
        return Met(MISS, reason=f"{sig['kind']} {pattern!r} does not match the command")

    def in_scope(self, scope: str, last_path: str) -> bool:
        """Whether a path of the call, or the directory it runs in, lies in the scope.

        A call that names no path falls back to the file touched last.
        """
        if matches_everything(scope):
            return True
        if any(glob_matches(scope, path) for path in self.paths):
            return True
        if self.form is not None:
            places = {unit.cwd for unit in self.form.units}
        else:
            places = set()
        for place in places:
            if place in ("", ".", "?") or place.startswith("@"):
                continue
            if glob_matches(scope, place) or glob_matches(scope, place + "/x"):
                return True
        return not self.paths and bool(last_path) and glob_matches(scope, last_path)


# Signatures of records that stay in memory, by the identity of their stored form (which is held
# here too, so that no other object can take its place).
_SIGNATURES_KEPT = 4096
_signatures: "dict[int, tuple[Record, Signature]]" = {}


def _parsed(plain: "Record") -> "Signature":
    held = _signatures.get(id(plain))
    if held is not None:
        return held[1]
    if len(_signatures) >= _SIGNATURES_KEPT:
        _signatures.clear()
    parsed = match.from_plain(plain)
    _signatures[id(plain)] = (plain, parsed)
    return parsed


def subject_of(event: ev.Event, root: str, home: str) -> Subject:
    """The event's call relative to a root, read once per event."""
    known = event.subjects.get(root)
    if not isinstance(known, Subject):
        known = Subject(event.call or ev.Call(""), event.cwd, root, home)
        event.subjects[root] = known
    return known


def unit_key(unit: "Unit") -> str:
    """The literal key of a unit and the directory it runs in, as one text fit for the ledger."""
    text = redact(" ".join(unit.keys[0]))[:KEY_LIMIT]
    return text if unit.cwd in (".", "") else f"{text} @{unit.cwd}"
