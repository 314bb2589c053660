"""File globs, read the way minimatch reads them, and matched in linear time.

`*` and `?` stay within a segment, `**` spans segments when it is a whole one, `[…]` is a character
class, `{a,b}` and `{1..3}` are alternatives. Files that begin with a dot match like any other.
Backslashes in pattern and path are slashes, so nothing is escaped by them: write `[*]`.

Two things go beyond minimatch, because agents write such patterns and paths. A segment such as
`[slug]` also matches its own text (file-based routers name directories so). A path that itself
is a glob (`src/*.ts`, from a command line) matches where its literal directory does.

Why matching is linear: every expression written here tries the leftmost place for the text
between two wildcards and never another (an atomic group). For text of fixed length that is
enough, as the leftmost place leaves the most for what follows.
"""

from hmd.kernel.pattern import compile_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

MAX_PATTERN = 512
"""Longest pattern read, in characters; a longer one matches only a path equal to it."""
MAX_PATH = 4096
"""Longest path read: PATH_MAX of Linux."""
MAX_ALTERNATIVES = 128
"""Most alternatives that braces may stand for; beyond it all braces are plain characters."""

_WILD = "*?[{"
_SPECIAL = frozenset("\\.^$*+?{}[]|()")
_SPECIAL_IN_CLASS = frozenset("\\]^-[&~|")
_NEVER = "(?!)"
_END = "(?![^/])"  # of a segment
_DIRECTORY = r"(?!\.\.?/)[^/]*/"  # what `**` may step over: never `..`
_POSIX_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": "!-\\/:-@\\[-`{-\\~",
    "space": "\\s",
    "upper": "A-Z",
    "word": "\\w",
    "xdigit": "0-9a-fA-F",
}
_CACHE_LIMIT = 1024
_read: "dict[tuple[str, bool], _Glob]" = {}


class _Glob:
    """A pattern in the form `matches` wants it. `regex` is compiled at its first use: most rules
    are told apart by `prefix` and never need theirs."""

    __slots__ = ("everything", "prefix", "regex", "source")

    def __init__(self, source: str) -> None:
        self.source = source
        self.everything = _is_everything(source)
        directory = literal_prefix(source)
        self.prefix = directory if not directory or directory == "/" else directory + "/"
        self.regex: re.Pattern[str] | None = None

    def match(self, path: str) -> bool:
        if self.everything or path == self.source:
            return True
        if not path.startswith(self.prefix):
            return False
        if self.regex is None:
            self.regex = compile_pattern(translate(self.source))
        return self.regex.match(path) is not None


def matches(pattern: str, path: str, fold: bool = False) -> bool:
    """Whether `pattern` covers `path`; `fold` ignores case. Never raises.

    `""` and `.` are the path of a call whose path is unknown: only patterns that match everything
    (`**`, `**/*`) cover it.
    """
    path = _tidy(path, fold)
    glob = _glob(pattern, fold)
    if path in ("", "."):
        return glob.everything
    if len(path) > MAX_PATH:
        return False
    if glob.match(path):
        return True
    if not _is_wild(path):
        return False
    directory = literal_prefix(path)
    return directory != "" and glob.match(directory if directory == "/" else directory + "/")


def matches_everything(pattern: str) -> bool:
    """Whether `pattern` covers every path, and so the unknown one too."""
    return _glob(pattern, False).everything


def literal_prefix(pattern: str) -> str:
    """The leading directories that hold no wildcard: `src/api` of `src/api/**/*.ts`, "" of `*.ts`,
    `src` of `src/a.ts`, `/` of `/*`."""
    pattern = _tidy(pattern)
    cut = len(pattern)
    for char in _WILD:
        found = pattern.find(char, 0, cut)
        if found >= 0:
            cut = found
    slash = pattern.rfind("/", 0, cut)
    return "/" if slash == 0 else pattern[: max(slash, 0)]


def translate(pattern: str) -> str:
    """The source of a regular expression that matches (from the start to the end) the paths
    `pattern` covers. A pattern beyond `MAX_PATTERN` gives one that matches nothing."""
    pattern = _tidy(pattern)
    if not pattern or len(pattern) > MAX_PATTERN:
        return _NEVER
    paths = [_tidy(alternative) for alternative in _expand(pattern)]
    alternatives = dict.fromkeys([_path(path.split("/")) for path in paths if path])
    return "(?s:" + ("|".join(alternatives) or _NEVER) + ")\\Z"


def _glob(pattern: str, fold: bool) -> _Glob:
    key = (pattern, fold)
    glob = _read.get(key)
    if glob is None:
        if len(_read) >= _CACHE_LIMIT:
            _read.clear()
        glob = _read[key] = _Glob(_tidy(pattern, fold))
    return glob


def _tidy(text: str, fold: bool = False) -> str:
    """One spelling per path: slashes forward and single, no `.` segments, composed characters."""
    if not text.isascii():
        from unicodedata import normalize  # late: paths are rarely more than ASCII

        text = normalize("NFC", text)
    if fold:
        text = text.casefold()
    text = text.replace("\\", "/")
    while "//" in text:
        text = text.replace("//", "/")
    if "./" in text or text.endswith("/."):
        parts = text.split("/")
        text = "/".join([part for part in parts[:-1] if part != "."] + parts[-1:])
        if text.endswith("/."):
            text = text[:-1]
    return text


def _is_wild(path: str) -> bool:
    return "*" in path or "?" in path or "[" in path or "{" in path


def _is_everything(pattern: str) -> bool:
    if "**" not in pattern or len(pattern) > MAX_PATTERN:
        return False
    for alternative in _expand(pattern):
        parts = alternative.split("/")
        if parts[-1] == "*":
            parts.pop()
        if parts and all(part == "**" for part in parts):
            return True
    return False


def _path(parts: "list[str]") -> str:
    """The expression of one brace-free pattern: runs of segments between its `**`."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part != "**":
            runs[-1].append(part)
        elif len(runs) == 1 or runs[-1]:  # `**/**` is `**`
            runs.append([])
    first, *others = ["/".join([_segment(part) for part in run]) for run in runs]
    if not others:
        return first + "/?"
    found = first + "/" if runs[0] else ""
    for middle in others[:-1]:
        found += f"(?>(?:{_DIRECTORY})*?{middle}/)"
    if runs[-1]:
        return f"{found}(?:{_DIRECTORY})*?{others[-1]}/?"
    return rf"{found}(?:{_DIRECTORY})*+(?!\.\.?\Z)[^/]*"


def _segment(part: str) -> str:
    """The expression of one segment. It is atomic: a segment ends at one place only."""
    if not _is_wild(part):
        return "".join([_literal(char) for char in part])
    chunks = [""]
    bracketed = False
    at = 0
    while at < len(part):
        char = part[at]
        at += 1
        if char == "*":
            if chunks[-1] or len(chunks) == 1:  # a run of stars is one star
                chunks.append("")
        elif char == "?":
            chunks[-1] += "[^/]"
        elif char == "[":
            source, at = _character_class(part, at)
            bracketed |= source != "\\["
            chunks[-1] += source
        else:
            chunks[-1] += _literal(char)
    first, *others = chunks
    found = first + "".join([f"(?>[^/]*?{chunk})" for chunk in others[:-1]])
    if others:
        found += "[^/]*" + others[-1]
    if part[0] in "*?":
        found = rf"(?=[^/])(?!\.\.?{_END})" + found
    if bracketed:
        found = "".join([_literal(char) for char in part]) + _END + "|" + found
    return f"(?>(?:{found}){_END})"


def _character_class(part: str, at: int) -> "tuple[str, int]":
    """The class that opens before `at` and the place after it; `[` itself when none closes."""
    negated = part[at : at + 1] in ("!", "^")
    at = start = at + negated
    members = ""
    while at < len(part):
        char = part[at]
        if char == "]" and at > start:
            if negated:
                return f"[^{members}/]", at + 1
            return (f"[{members}]" if members else _NEVER), at + 1
        name_end = part.find(":]", at + 2) if part.startswith("[:", at) else -1
        if name_end > 0 and part[at + 2 : name_end] in _POSIX_CLASSES:
            members += _POSIX_CLASSES[part[at + 2 : name_end]]
            at = name_end + 2
        elif part[at + 1 : at + 2] == "-" and part[at + 2 : at + 3] not in ("", "]"):
            if char <= part[at + 2]:  # a range that runs backwards holds nothing
                members += f"{_member(char)}-{_member(part[at + 2])}"
            at += 3
        else:
            members += _member(char)
            at += 1
    return "\\[", start - negated


def _literal(char: str) -> str:
    return "\\" + char if char in _SPECIAL else char


def _member(char: str) -> str:
    return "\\" + char if char in _SPECIAL_IN_CLASS else char


def _expand(pattern: str) -> "list[str]":
    """What the braces of `pattern` stand for, in order; itself alone when that is too much."""
    done: list[str] = []
    todo = [pattern]
    while todo:
        text = todo.pop()
        group = _first_group(text) if "{" in text else None
        if group is None:
            done.append(text)
        else:
            start, end, choices = group
            head, tail = text[:start], text[end + 1 :]
            todo += [head + choice + tail for choice in reversed(choices)]
        if len(done) + len(todo) > MAX_ALTERNATIVES:
            return [pattern]
    return done


def _first_group(text: str) -> "tuple[int, int, list[str]] | None":
    """The leftmost brace group that means something: its ends and its choices."""
    open_groups: list[list[int]] = []  # places of `{` and of its commas
    best: tuple[int, int, list[str]] | None = None
    for at, char in enumerate(text):
        if char == "{":
            open_groups.append([at])
        elif char == "," and open_groups:
            open_groups[-1].append(at)
        elif char == "}" and open_groups:
            places = open_groups.pop()
            start = places[0]
            if (best and best[0] < start) or text[start - 1 : start] == "$":
                continue
            if len(places) > 1:
                ends = [*places[1:], at]
                choices = [text[a + 1 : b] for a, b in zip(places, ends, strict=True)]
            else:
                choices = _sequence(text[start + 1 : at])
            if choices:
                best = (start, at, choices)
    return best


def _sequence(inside: str) -> "list[str]":
    """The members of `1..3`, `01..10` or `a..e`; none when it is no sequence or a very long one."""
    first, dots, last = inside.partition("..")
    if not dots or not first.isascii() or not last.isascii():
        return []
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit() and len(inside) < 20:
        try:
            low, high = int(first), int(last)
        except ValueError:
            return []
        padded = first.lstrip("-")[:-1].startswith("0") or last.lstrip("-")[:-1].startswith("0")
        width = max(len(first), len(last)) if padded else 0
        numbers = range(low, high + 1) if low <= high else range(low, high - 1, -1)
        return [f"{n:0{width}d}" if width else str(n) for n in numbers[: MAX_ALTERNATIVES + 1]]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        step = 1 if first <= last else -1
        return [chr(code) for code in range(ord(first), ord(last) + step, step)]
    return []
