"""The and-or list that is being read in POSIX shell and bash (POSIX 2.9.2, 2.9.3)."""

from hmd.kernel.shell.flow import enclose
from hmd.kernel.shell.posix_text import Findings
from hmd.kernel.shell.syntax import Command


class Line:
    """The and-or list being read: where it and the current part of its pipeline began in the list
    of commands, so that a later `|` or `&` can put what was found into a subshell."""

    __slots__ = (
        "andor",
        "background",
        "begun",
        "closed",
        "ctx",
        "found",
        "number",
        "part",
        "pipe",
        "piped",
        "prefix",
        "shells",
        "wanted",
    )

    def __init__(self, found: Findings, ctx: str, shells: "tuple[int, ...]") -> None:
        self.found = found
        self.ctx = ctx
        self.shells = shells
        self.andor = self.part = len(found.commands)
        self.pipe = 0
        self.number = 0  # of the current part
        self.piped = False  # the pipeline has more than one part
        self.begun = False  # the current part has something in it
        self.closed = False  # … and that is a compound command that has ended
        self.wanted = False  # an operator before asks for one more command
        self.background = False  # the current part is a coprocess
        self.prefix: tuple[str, ...] = ()

    def emit(self, command: Command) -> None:
        """Keeps a simple command; one without words is no command."""
        self.begun = True
        if command.words:
            if not self.pipe:
                self.pipe = self.found.new_pipe()
            command.pipe = self.pipe
            command.prefix = self.prefix
            self.found.add(command)
        self.prefix = ()

    def modify(self, word: str) -> None:
        """A reserved word stands before the next command."""
        self.begun = True
        if word not in self.prefix:
            self.prefix += (word,)

    def end_part(self) -> None:
        """The part ends: each part of a real pipeline is a subshell (POSIX 2.12), and reads what
        the parts before it print."""
        if self.piped or self.background:
            self._enclose(self.part)
        if self.piped:
            self.pipe = self.pipe or self.found.new_pipe()
            enclose(self.found.commands[self.part :], ((self.pipe, self.number, 0),))
            self.number += 1
        self.part = len(self.found.commands)
        self.begun = self.closed = self.background = False
        self.prefix = ()

    def end_pipeline(self) -> None:
        """The pipeline ends (`&&`, `||` and all that ends a list)."""
        self.end_part()
        self.piped = self.wanted = False
        self.pipe = self.number = 0

    def end(self, background: bool = False) -> None:
        """The and-or list ends; in the background it is a subshell."""
        self.end_pipeline()
        if background:
            self._enclose(self.andor)
        self.andor = len(self.found.commands)

    def _enclose(self, start: int) -> None:
        commands = self.found.commands
        if start < len(commands):
            depth = len(self.shells)
            shell = self.found.new_shell()
            for command in commands[start:]:
                command.shells = (*command.shells[:depth], shell, *command.shells[depth:])
