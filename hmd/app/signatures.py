"""Signatures as people type them, `[!]tool:target:kind:pattern`, checked before they are stored."""

from functools import lru_cache
from typing import Any, Literal, cast, get_args

from hmd.core.errors import HmdError
from hmd.core.memory import Signature
from hmd.kernel.glob import MAX_PATTERN
from hmd.kernel.shell import match

Kind = Literal["cmd", "glob", "regex", "substring"]
KINDS: tuple[str, ...] = get_args(Kind)
_FORM = "write tool:target:kind:pattern, for example bash:command:cmd:npm test"
_MIN_SUBSTRING = 3
# Tools that only look: no hook of theirs can be held, so a rule on them speaks before the model.
LOOKING_TOOLS = frozenset(["read", "grep", "glob", "task"])
_HOST_NAMES = {
    "powershell": "bash",
    "multiedit": "edit",
    "notebookedit": "edit",
    "webfetch": "fetch",
    "any": "*",
}


def canonical_tool(name: str) -> str:
    """A tool as rules name it: a host's spelling is accepted (`Bash`, `mcp__mail__send`)."""
    text = name.strip()
    if text.startswith("mcp__"):
        server, _, tool = text[len("mcp__") :].partition("__")
        return f"mcp:{server}/{tool}"
    if text.startswith("mcp:"):
        return text
    return _HOST_NAMES.get(text.lower(), text.lower())


def parse(spec: str) -> Signature:
    """The signature in `spec`. Raises HmdError "usage" that says what is wrong with it."""
    text = spec.strip()
    negate = text.startswith("!")
    tool, target, kind, pattern = _split(text.removeprefix("!"))
    if kind not in KINDS:
        raise HmdError("usage", f"'{kind}' is no kind of signature", "--signature", _KINDS_HELP)
    if len(pattern) > MAX_PATTERN:
        raise HmdError("usage", f"the pattern is longer than {MAX_PATTERN}", "--signature")
    known = cast(Kind, kind)
    problem = _problem(known, pattern)
    if known == "cmd" and tool not in ("bash", "*"):
        problem = f"a command signature is for bash, not for {tool}"
    if problem:
        raise HmdError("usage", f"'{pattern}' cannot be a signature: {problem}", "--signature")
    return Signature(tool=tool, target=target, kind=known, pattern=pattern, negate=negate)


_KINDS_HELP = "write one of " + ", ".join(KINDS)


def _split(text: str) -> tuple[str, str, str, str]:
    """tool, target, kind and pattern; the pattern may contain colons, and so does `mcp:s/t`."""
    prefix = "mcp:" if text.startswith("mcp:") else ""
    parts = text.removeprefix(prefix).split(":", 3)
    if len(parts) < 4 or not all(part.strip() for part in parts):
        raise HmdError("usage", f"'{text}' is not a signature", "--signature", _FORM)
    tool, target, kind, pattern = parts
    return canonical_tool(prefix + tool), target.strip(), kind.strip().lower(), pattern.strip()


@lru_cache(maxsize=65536)
def plain_of(pattern: str) -> dict[str, Any] | None:
    """The parsed form of a command pattern, as snapshots hold it; None for an unreadable one.

    Never stored elsewhere: it is the kernel's, and changes with it.
    """
    signature = match.parse_signature(pattern)
    return None if signature.problem else match.to_plain(signature)


def is_specific(sig: Signature) -> bool:
    """False for a command signature that meets every use of a program."""
    return sig.kind != "cmd" or match.parse_signature(sig.pattern).specific


def _problem(kind: Kind, pattern: str) -> str:
    """What is wrong with a pattern, "" if nothing."""
    if kind == "cmd":
        return match.parse_signature(pattern).problem
    if kind == "regex":
        from hmd.core.regex_check import problem  # late: walks parse trees, rarely needed

        return problem(pattern)
    if kind == "substring" and len(pattern) < _MIN_SUBSTRING:
        return f"it is shorter than {_MIN_SUBSTRING} characters"
    return ""
