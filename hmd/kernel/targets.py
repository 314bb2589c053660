"""What a signature looks at when a call is no command: a path, an address, the fields of an input.

Everything here is lexical. No file is touched and no name is resolved, so that the daemon, the
hook stub and a replay a week later read the same target. All texts are NFC.
"""

from hmd.kernel import glob
from hmd.kernel.fields import flatten_input, mcp_field
from hmd.kernel.pattern import compile_pattern
from hmd.kernel.text import MAX_TEXT, compose, stars
from hmd.kernel.url import normalize_url, url_matches

__all__ = [
    "INPUT",
    "PATH",
    "URL",
    "Target",
    "flatten_input",
    "mcp_field",
    "normalize_path",
    "normalize_url",
    "target_of",
    "url_matches",
]

PATH, URL, INPUT = "path", "url", "input"

_KINDS = {"edit": PATH, "write": PATH, "read": PATH, "fetch": URL}
_DRIVE_MOUNTS = ("/mnt/", "/cygdrive/", "/")  # WSL, Cygwin, Git Bash


class Target:
    """The target of one call. `kind` is PATH, URL or INPUT; `text` its normal form; `absolute` the
    full path of a PATH; `fields` the structured input of an INPUT."""

    __slots__ = ("absolute", "fields", "fold", "home", "kind", "text")

    def __init__(
        self,
        kind: str,
        text: str,
        absolute: str = "",
        fields: object = None,
        fold: bool = False,
        home: str = "",
    ) -> None:
        self.kind = kind
        self.text = text
        self.absolute = absolute
        self.fields = fields
        self.fold = fold
        self.home = home

    def matches(self, how: str, pattern: str, field: str = "") -> bool:
        """Whether a signature of kind `how` (`glob`, `regex`, `substring`) holds for this target.

        `field` (`a.b`) narrows an INPUT to one field. Case counts, except in a glob over paths
        where the file system ignores it. A glob over an input is held against each of its lines.
        Any other `how`, and an expression that does not compile, hold for nothing.
        """
        text = mcp_field(self.fields, field) if field and self.kind == INPUT else self.text
        pattern = compose(pattern)
        if how == "substring":
            return pattern != "" and pattern in text
        if how == "regex":
            return _searches(pattern, text)
        if how != "glob":
            return False
        if self.kind == URL:
            return url_matches(pattern, text)
        if self.kind == INPUT:
            return any(stars(pattern, line) for line in text.split("\n"))
        return self._covered(pattern)

    def _covered(self, pattern: str) -> bool:
        if pattern.startswith("~"):
            pattern = _join_home(pattern, self.home) or pattern
        rooted = _rooted(pattern)
        if rooted:  # written for a place, not for a project
            return glob.matches(rooted, self.absolute or self.text, self.fold)
        return glob.matches(pattern, self.text, self.fold)


def target_of(
    tool: str,
    text: str,
    fields: object = None,
    cwd: str = "",
    root: str = "",
    home: str = "",
    fold: bool = False,
) -> Target:
    """The target of a call of canonical `tool` (`edit`, `write`, `read`, `fetch`, else an input).

    `text` is the path or address as the host spelled it; `cwd`, `root` and `home` are absolute.
    """
    kind = _KINDS.get(tool, INPUT)
    if kind == PATH:
        absolute = normalize_path(text, cwd, "", home, fold)
        return Target(
            PATH, normalize_path(text, cwd, root, home, fold), absolute, fold=fold, home=home
        )
    if kind == URL:
        return Target(URL, normalize_url(text))
    return Target(INPUT, flatten_input(fields) if fields is not None else compose(text), "", fields)


def _searches(pattern: str, text: str) -> bool:
    """Whether the expression finds something in the part of `text` that can be seen. It passed
    `regex_check.problem` when its rule was made, which is what bounds its cost."""
    try:
        return compile_pattern(pattern).search(text[:MAX_TEXT]) is not None
    except Exception:  # re.error; re itself is not imported here
        return False


def normalize_path(
    path: str, cwd_abs: str, root_abs: str, home: str = "", fold: bool = False
) -> str:
    """The one spelling of `path`: relative to `root_abs` when inside it (`.` for the root itself),
    else absolute; always with forward slashes. "" when it cannot be known (no path, or a relative
    one with no absolute `cwd_abs`).

    `C:\\x`, `/c/x`, `/mnt/c/x` and `/cygdrive/c/x` are all `C:/x` (canonical form, section 7).
    `fold` ignores case where the root is recognized; drives do so always.
    """
    if not isinstance(path, str) or not path:
        return ""
    absolute = _absolute(compose(path), cwd_abs, home)
    root = _rooted(compose(root_abs)) if isinstance(root_abs, str) else ""
    if not absolute or not root:
        return absolute
    parts = absolute.split("/")
    base = _collapse(root).rstrip("/").split("/")
    head = parts[: len(base)]
    if head != base:
        if not (fold or absolute[1:2] == ":"):
            return absolute
        if [part.casefold() for part in head] != [part.casefold() for part in base]:
            return absolute
    return "/".join(parts[len(base) :]) or "."


def _absolute(path: str, cwd: str, home: str) -> str:
    if path.startswith("~"):
        path = _join_home(path, home) or path
        if path == "~" or path.startswith(("~/", "~\\")):
            return ""
    base = _rooted(compose(cwd)) if isinstance(cwd, str) else ""
    if path.startswith("\\") and not path.startswith("\\\\") and base[1:2] == ":":
        path = base[:2] + path  # rooted in the current drive
    rooted = _rooted(path)
    if not rooted and base:
        rooted = base.rstrip("/") + "/" + path.replace("\\", "/")
    if not rooted:
        return ""
    plain = _collapse(rooted)
    return plain if plain.startswith("//") else _rooted(plain)


def _join_home(path: str, home: str) -> str:
    """`~` and `~/x` below `home`; "" for `~user` and for a home that is not known."""
    if isinstance(home, str) and home and (path == "~" or path[1:2] in ("/", "\\")):
        return home + "/" + path[2:]
    return ""


def _rooted(path: str) -> str:
    """`path` with forward slashes and its drive as `X:/`; "" for a relative one."""
    shared = path.startswith("\\\\")
    path = path.replace("\\", "/")
    if shared:
        path = _share(path)
    if path[1:2] == ":" and path[:1].isascii() and path[:1].isalpha():
        return path[0].upper() + ":/" + path[2:].lstrip("/")
    if not path.startswith("/"):
        return ""
    if path.startswith("//"):
        return path if shared else "/" + path.lstrip("/")
    for mount in _DRIVE_MOUNTS:
        if path.startswith(mount):
            drive, _, rest = path[len(mount) :].partition("/")
            if len(drive) == 1 and drive.isascii() and drive.isalpha():
                return drive.upper() + ":/" + rest
    return path


def _share(path: str) -> str:
    """A path that began with two backslashes: long-path prefixes and WSL's own shares go."""
    if path.startswith(("//?/", "//./")):
        path = path[4:]
        path = "//" + path[4:] if path[:4].upper() == "UNC/" else path
    lowered = path.lower()
    for server in ("//wsl$/", "//wsl.localhost/"):
        if lowered.startswith(server):
            return "/" + path[len(server) :].partition("/")[2]
    return path


def _collapse(path: str) -> str:
    """Without `.`, `..`, doubled and trailing slashes. `..` stops at the root."""
    if path.startswith("//"):
        lead, rest = "//", path[2:]
    elif path.startswith("/"):
        lead, rest = "/", path[1:]
    else:
        lead, rest = path[:3], path[3:]
    parts: list[str] = []
    for part in rest.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part and part != ".":
            parts.append(part)
    return lead + "/".join(parts)
