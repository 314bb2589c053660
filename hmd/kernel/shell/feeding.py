"""What feeds the standard input of a command, and the text that comes in where it is known."""

from hmd.kernel.shell.flow import NO_INPUT, NO_OUTPUT, fed_by
from hmd.kernel.shell.syntax import DYNAMIC
from hmd.kernel.shell.tables_wrappers import words
from hmd.kernel.shell.texts import known_output

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.flow import Entry
    from hmd.kernel.shell.syntax import Command

    Fed = tuple[bool, "str | None"]

_PRINTERS = words("echo printf")


def passes_on(program: str, operands: "list[tuple[str, int]]") -> bool:
    """Whether a command prints what the substitutions in its words print: `echo "$(…)"`."""
    if program == "cat":
        return all(word[:2] == "<(" for word, flag in operands if flag & DYNAMIC)
    return program in _PRINTERS


class Feeding:
    """Who feeds whom among the commands of one text."""

    __slots__ = ("_by_place", "_commands", "_posix", "_previous", "_texts")

    def __init__(self, commands: "list[Command]", dialect: str) -> None:
        self._commands = commands
        self._posix = dialect == "posix"
        self._by_place: dict[tuple[int, int], list[Command]] | None = None
        self._texts: dict[Entry, str | None] = {}
        self._previous: dict[int, tuple[int, Command]] = {}

    def of(self, command: "Command") -> "Fed | None":
        """(whether anything feeds `command`, the text where it is known); None where it reads what
        is read around the text. Commands must be asked about in their order."""
        if not self._posix:
            return self._in_a_row(command)
        entry = fed_by(command.flow) if command.flow else None
        if entry is None:
            return None
        if entry == NO_INPUT:
            return False, None
        if entry not in self._texts:
            self._texts[entry] = self._text(entry)
        return True, self._texts[entry]

    def _in_a_row(self, command: "Command") -> "Fed | None":
        """The same for dialects without compound commands in a pipeline; gives the flow, too."""
        part, previous = self._previous.get(command.pipe, (-1, None))
        self._previous[command.pipe] = (part + 1, command)
        command.flow = ((command.pipe, part + 1, 0),)
        return None if previous is None else (True, known_output(previous))

    def _text(self, entry: "Entry") -> "str | None":
        """What the commands print that `entry` reads; None where one of them is not known."""
        if self._by_place is None:
            self._by_place = {}
            for command in self._commands:
                for number, part, _ in command.flow:
                    if number > 0:
                        self._by_place.setdefault((number, max(part, 0)), []).append(command)
        texts = []
        for command in self._by_place.get((entry[0], entry[1] - 1), ()):
            numbers = [one[0] for one in command.flow]
            inner = command.flow[numbers.index(entry[0]) + 1 :]
            own = inner[max(len(inner) - command.own, 0) :]
            if NO_OUTPUT in own or any(gate for _, _, gate in inner):
                continue  # it prints into something else
            text = known_output(command) if len(inner) <= command.own else None
            if text is None:
                return None
            texts.append(text)
        return "\n".join(texts)
