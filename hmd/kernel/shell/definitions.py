"""Functions and aliases that a text defines: what a call of one would run (POSIX 2.3.1, 2.9.5).

Only what is written out is followed: a body is taken as it stands, its positional parameters are
those of the call, and `shift` drops as many of them as it says.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.syntax import DYNAMIC, FUNCTION, QUOTED, TOP, Command, Function
from hmd.kernel.shell.texts import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    Word = tuple[str, int]

_ALL = frozenset(("$@", "${@}", "$*", "${*}"))
_parameter = compile_pattern(
    r"\$(?:([1-9@*])|\{(?:([@*]|[1-9][0-9]*)|([1-9][0-9]*):?-([^}$`]*))\})"
).sub
_LONGEST_FILLED_IN = 100_000


class Definitions:
    """What has been defined so far. `calling`: names that are being followed, which are not
    followed again."""

    __slots__ = ("aliases", "calling", "functions")

    def __init__(self) -> None:
        self.aliases: dict[str, str] = {}
        self.functions: dict[str, Function] = {}
        self.calling: set[str] = set()

    @property
    def known(self) -> bool:
        return bool(self.functions or self.aliases)

    def alias(self, words: "list[Word]") -> None:
        """Keeps what `alias name=value…` says; a value that is not known takes the name away."""
        for word, flag in words:
            name, sign, value = word.partition("=")
            if sign and not flag & DYNAMIC:
                self.aliases[name] = value
            elif sign:
                self.aliases.pop(name, None)

    def expansion(self, words: "list[Word]") -> str:
        """The text that an alias makes of a command, "" where there is none. A quoted word is no
        alias (POSIX 2.3.1)."""
        name, flag = words[0]
        value = self.aliases.get(name, "")
        if flag or not value or name in self.calling:
            return ""
        return " ".join([value, *(quote(word, flag) for word, flag in words[1:])])

    def called(self, words: "list[Word]") -> "Function | None":
        """The function that a command calls, with the arguments filled in."""
        name, flag = words[0]
        found = self.functions.get(name)
        if found is None or flag & DYNAMIC or name in self.calling:
            return None
        return filled(found, words[1:])


def filled(function: Function, arguments: "list[Word]") -> Function:
    """A copy of a function with the arguments of a call in the words of its commands. They run in
    the shell of the call: a `cd` among them is one of its own."""
    out = []
    room = _LONGEST_FILLED_IN
    size = sum(len(word) for word, _ in arguments) + len(arguments)
    for command in function.commands:
        copy = Command([], [], command.assigns, command.redirs, command.ctx)
        copy.shells = command.shells[command.shells.index(function.shell) + 1 :]
        copy.pipe, copy.prefix, copy.flow = command.pipe, command.prefix, command.flow
        copy.own, copy.named = command.own, command.named
        if copy.ctx == FUNCTION:
            copy.ctx = TOP
        for word, flag in zip(command.words, command.flags, strict=True):
            if flag & DYNAMIC and "$" in word and room > 0:
                room -= size
                new = _filled(word, flag, arguments)
            else:
                new = [(word, flag)]
            copy.words += [one for one, _ in new]
            copy.flags += [one for _, one in new]
        if copy.words:
            out.append(copy)
        if command.words[0] == "shift":
            count = command.words[1] if len(command.words) > 1 else "1"
            arguments = arguments[int(count) if count.isdecimal() else 1 :]
    copied = Function(function.name, out, function.shell)
    copied.last = function.last
    return copied


def _filled(word: str, flag: int, arguments: "list[Word]") -> "list[Word]":
    """The words that `word` becomes; an unquoted one that is empty is no word."""
    if word in _ALL:
        return list(arguments)
    used = 0

    def value(match: "re.Match[str]") -> str:
        nonlocal used
        name = match[1] or match[2] or match[3]
        if name in "@*":
            used |= max((each for _, each in arguments), default=0)
            return " ".join(each for each, _ in arguments)
        number = int(name)
        if number > len(arguments):
            return match[4] or ""
        used |= arguments[number - 1][1]
        return arguments[number - 1][0]

    rest = _parameter("", word)
    text = _parameter(value, word)
    if not text and not flag & QUOTED:
        return []
    hidden = "$" in rest or "`" in rest or "(…)" in rest
    return [(text, used | (flag if hidden else flag & ~DYNAMIC))]
