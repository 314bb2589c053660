"""What the POSIX scanner's parts share: its limits, what it has found, `$'…'` and here-documents.

Nothing here knows a grammar; positions are indexes into the scanned text.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.flow import SOURCE, enclose
from hmd.kernel.shell.syntax import Command, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    from hmd.kernel.shell.flow import Flow

MAX_COMMANDS = 256
MAX_TEXTS = 8  # texts within texts: backquotes, whose code is unescaped and read anew
MAX_DEPTH = 40  # lists within lists
BODY_CODE = 65536  # characters of code read from the expansions in all here-document bodies


class Incomplete(Exception):
    """The text ends inside a construct, or a limit is reached: nothing more can be read."""


class Findings:
    """What one call of `scan` has found so far, over all nested texts.

    `late` holds commands to be put before `commands[index]` when the scan is over, with the number
    of their here-document: a body is read after the command that it feeds, yet expanded before it.
    """

    __slots__ = (
        "body_code",
        "commands",
        "functions",
        "late",
        "partial",
        "passed",
        "pipes",
        "shells",
        "total",
    )

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self.functions: list[Function] = []
        self.late: list[tuple[int, int, list[Command]]] = []
        self.partial = False
        self.passed: set[int] = set()
        self.pipes = 0
        self.shells = 0
        self.total = 0
        self.body_code = BODY_CODE

    def new_shell(self) -> int:
        """A number for one more subshell-like environment."""
        self.shells += 1
        return self.shells

    def new_pipe(self) -> int:
        """A number for one more pipeline, substitution or here-document."""
        self.pipes += 1
        return self.pipes

    def add(self, command: Command) -> None:
        """Keeps `command`; raises Incomplete when there is no room."""
        if self.total >= MAX_COMMANDS:
            raise Incomplete
        self.total += 1
        self.commands.append(command)

    def in_order(self) -> "list[Command]":
        """All commands, those of here-document bodies before the command that has the body."""
        for _, number, commands in self.late:
            enclose(commands, (*self._around(number), (number, SOURCE, 0)))
        for index, _, commands in sorted(self.late, key=lambda late: late[0])[::-1]:
            self.commands[index:index] = commands
        self.late = []
        return self.commands

    def _around(self, number: int) -> "Flow":
        """The flow around the command that reads the here-document `number`."""
        for command in self.commands:
            for index, entry in enumerate(command.flow):
                if entry[0] == number:
                    return command.flow[:index]
        return ()


# --- $'…' (bash manual 3.1.2.4, POSIX 2024 2.2.4) -------------------------------------------------

_ESCAPES = compile_pattern(
    r"\\(?:((?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3})(?:\\(?:x[0-9A-Fa-f]{1,2}|[0-7]{1,3}))*)"
    r"|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c([\s\S])|([\s\S]))"
)
_LETTERS = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
}


def unescape(inner: str) -> str:
    """The value of `$'inner'`. Like bash, it ends at a NUL; no lone surrogate is ever made."""
    if "\\" not in inner:
        return inner
    return _ESCAPES.sub(_unescape_one, inner).split("\0", 1)[0]


def _unescape_one(match: "re.Match[str]") -> str:
    octets, short, long, control, letter = match.groups()
    if octets:
        numbers = [int(n[1:], 16) if n[0] == "x" else int(n, 8) & 255 for n in octets.split("\\")]
        try:
            return bytes(numbers).decode()
        except UnicodeDecodeError:
            return bytes(numbers).decode("latin-1")
    if short or long:
        point = int(short or long, 16)
        return chr(point) if point < 0xD800 or 0xDFFF < point < 0x110000 else "\ufffd"
    if control:
        return chr(ord(control.upper()) & 31) if control.isascii() else control
    return _LETTERS.get(letter) or "\\" + letter


# --- here-documents (POSIX 2.7.4) -----------------------------------------------------------------

_LEADING_TABS = compile_pattern(r"^\t+", 8)  # re.MULTILINE


def strip_tabs(body: str) -> str:
    """The body of a `<<-` here-document as the command sees it."""
    return _LEADING_TABS.sub("", body)


def find_delimiter(
    text: str, start: int, stop: int, delimiter: str, tabs: bool, joins: bool
) -> "tuple[int, int]":
    """Finds the line that ends a here-document whose body starts at `start`, behind a newline.

    `tabs`: the line may be indented by tabs (`<<-`); `joins`: a backslash at the end of a line
    joins the next one (unquoted delimiter), which then cannot be the delimiter. A carriage return
    at its end is forgiven. Returns the start of that line and of the one after it, or (-1, -1).
    Linear in `stop - start`: every needle is looked for from where it was found last.
    """
    needles = ["\n" + delimiter + "\n", "\n" + delimiter + "\r\n"]
    if tabs:
        needles += ["\t" + delimiter + "\n", "\t" + delimiter + "\r\n"]
    places = [text.find(needle, start - 1, stop) for needle in needles]
    while True:
        found = min((place for place in places if place >= 0), default=-1)
        if found < 0:
            break
        line = _line_start(text, start, found + 1)
        if line >= 0 and not (joins and _joined(text, start, line)):
            return line, text.find("\n", found + 1, stop) + 1
        places = [
            text.find(needle, found + 1, stop) if place == found else place
            for needle, place in zip(needles, places, strict=True)
        ]
    line = text.rfind("\n", start - 1, stop) + 1
    last = text[line:stop].rstrip("\r")
    if line < start or (last.lstrip("\t") if tabs else last) != delimiter:
        return -1, -1
    return (-1, -1) if joins and _joined(text, start, line) else (line, stop)


def _line_start(text: str, start: int, at: int) -> int:
    """The start of the line on which only tabs stand before `at`, or -1."""
    while at > start and text[at - 1] == "\t":
        at -= 1
    return at if at == start or text[at - 1] == "\n" else -1


def _joined(text: str, start: int, line: int) -> bool:
    """Whether the line before `line` ends in an unescaped backslash."""
    at = line - 2
    while at >= start and text[at] == "\\":
        at -= 1
    return (line - 2 - at) % 2 == 1
