"""Reads lists of commands in POSIX shell and bash: pipelines, compound commands, functions.

Rules: POSIX 2.9 (commands), 2.10 (grammar); bash manual 3.2. Where zsh writes a compound command
differently its commands are still found, and the scan is partial.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.flow import enclose, own_flow
from hmd.kernel.shell.posix_compounds import (
    COMMENT,
    COMPOUNDS,
    CONTROL,
    DOUBLE,
    END,
    OTHER,
    REDIRECT,
    SINGLE,
    WORD,
    Compounds,
    token,
)
from hmd.kernel.shell.posix_expansions import FUNSUB
from hmd.kernel.shell.posix_line import Line
from hmd.kernel.shell.posix_text import MAX_DEPTH, Incomplete
from hmd.kernel.shell.posix_words import skip_blanks
from hmd.kernel.shell.syntax import GLOB, QUOTED, SUBSHELL, Command, Redirection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_assignment = compile_pattern(
    r"([A-Za-z_][A-Za-z0-9_]*)"
    r"(\[(?:[^][\n'\"\\]|\\.|'[^'\n]*'|\"[^\"\n]*\"|\[[^][\n]*\]){0,256}\])?\+?="
).match
_empty_parens = compile_pattern(r"\([ \t]*\)").match
_time_options = compile_pattern(r"(?:[ \t]+-p(?![^ \t\n;]))?(?:[ \t]+--(?![^ \t\n;]))?").match
_coprocess_name = compile_pattern(
    rf"[ \t]+[A-Za-z_][A-Za-z0-9_]*[ \t]+(?=\(|(?:\{{|\[\[|while|until|for|select|if|case){END})"
).match
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}", "]]"))
_MODIFIERS = frozenset(("!", "time", "coproc"))


class Reader(Compounds):
    """Reads commands at the cursor into `found`."""

    __slots__ = ()

    def read(self, ctx: str, shells: "tuple[int, ...]", closers: "frozenset[str]") -> str:
        """Reads commands until one of `closers` (reserved words, `)`, case terminators) stands
        where a command could, passes it and returns it; without closers, to the end of the text.

        Raises Incomplete where the text ends before; what was found until then is kept.
        """
        if self.depth >= MAX_DEPTH:
            raise Incomplete
        self.depth += 1
        outside, self.shells = self.shells, shells
        line = Line(self.found, ctx, shells)
        try:
            closer = self._read(line, closers)
        finally:
            line.end()
        self.shells = outside
        self.depth -= 1
        return closer

    def _read(self, line: Line, closers: "frozenset[str]") -> str:
        text = self.text
        match = token(text, self.index, self.end)
        while True:
            kind = match.lastindex
            if kind == CONTROL:
                self.index = match.end()
                operator = match[kind].replace("\\\n", "")
                if operator in closers:
                    return operator
                if operator == "(":
                    self._parenthesis(line)
                else:
                    self._separate(operator, line)
            elif kind == WORD:
                word = match[kind]
                if word in closers:
                    self.index = match.end()
                    return word
                if closers is FUNSUB and word[0] == "}":
                    self.index = match.start(kind) + 1
                    return "}"
                if word in COMPOUNDS or word in _CLOSERS or word in _MODIFIERS:
                    self.index = match.end()
                    if not self._reserved(word, line):
                        match = self._simple(match, line)
                        continue
                else:
                    match = self._simple(match, line)
                    continue
            elif kind == COMMENT:
                self.index = match.end()
            elif kind is None:
                self.index = match.end()
                return self._at_end(line, closers)
            else:
                if closers is FUNSUB and text.startswith("}", match.start(kind)):
                    self.index = match.start(kind) + 1
                    return "}"
                match = self._simple(match, line)
                continue
            match = token(text, self.index, self.end)

    def _at_end(self, line: Line, closers: "frozenset[str]") -> str:
        if closers:
            raise Incomplete
        if self.end < self.last or self.pending or (line.wanted and not line.begun):
            self.found.partial = True
        for redirection, *_ in self.pending:
            redirection.body = ""
        return ""

    def _separate(self, operator: str, line: Line) -> None:
        """Acts on a control operator other than `(` that closes nothing."""
        if operator == "\n":
            if self.pending:
                self.read_bodies()
            if line.begun or not line.wanted:
                line.end()
            return
        if not line.begun:
            self.found.partial = True
        if operator == "|" or operator == "|&":
            line.piped = True
            line.end_part()
            line.wanted = True
        elif operator == "&&" or operator == "||":
            line.end_pipeline()
            line.wanted = True
        else:
            line.end(background=operator == "&")
            if operator != ";" and operator != "&":  # `)` or the end of a clause, out of place
                self.found.partial = True

    # --- simple commands --------------------------------------------------------------------------

    def _simple(self, match: "re.Match[str]", line: Line) -> "re.Match[str]":
        """Reads a simple command whose first token is `match`; returns the token after it."""
        if line.closed:  # words behind a compound command: an error, read as a new command
            self.found.partial = True
            line.end()
        text = self.text
        command = Command([], [], [], [], line.ctx, line.shells)
        words, flags = command.words, command.flags
        outside, self.named = self.named, []
        fed: list[int] = []
        try:
            while True:
                kind = match.lastindex
                if kind == WORD:
                    word = match[kind]
                    if words or "=" not in word or not self._assign(match.start(kind), command):
                        self.index = match.end()
                        words.append(word)
                        flags.append(0)
                elif kind in (SINGLE, DOUBLE):
                    self.index = match.end()
                    words.append(match[kind])
                    flags.append(QUOTED)
                elif kind == REDIRECT:
                    self._redirect(match, command.redirs, fed)
                elif kind == OTHER:
                    self.index = match.start(kind)
                    if words or not self._assign(self.index, command):
                        word, flag = self.word()
                        words.append(word)
                        flags.append(flag)
                elif kind == COMMENT:
                    self.index = match.end()
                elif kind == CONTROL and match[kind] == "(" and (words or command.assigns):
                    self.index = match.start(kind)
                    if self._function(command, line):
                        return token(text, self.index, self.end)
                    self._group(match.start() == match.start(kind), command)
                else:
                    return match
                match = token(text, self.index, self.end)
        finally:
            if not line.closed:
                if fed or self.named or command.redirs:
                    command.flow = own_flow(command.redirs, fed, self.named)
                    command.own = len(command.flow)
                    command.named = tuple(self.named)
                line.emit(command)
            self.named = outside

    def _assign(self, start: int, command: Command) -> bool:
        """Reads an assignment at `start` (POSIX 2.9.1), if there is one."""
        match = _assignment(self.text, start, self.end)
        if match is None:
            return False
        named = len(self.named)
        if match[2] and ("$" in match[2] or "`" in match[2]):
            self.index = match.start(2) + 1
            self._balanced("[", "]")
        self.index = match.end()
        if self.text.startswith("(", self.index, self.end):
            self.index += 1
            self._array()
            value = "(…)"
        else:
            value = self.word()[0]
        del self.named[named:]  # a variable is not followed
        command.assigns.append((match[1], value))
        return True

    def _redirect(
        self, match: "re.Match[str]", redirections: "list[Redirection]", fed: "list[int]"
    ) -> None:
        """Reads one redirection; `fed` gets the numbers of its substitutions or here-document."""
        operator = match[REDIRECT].replace("\\\n", "")
        descriptor = self.text[match.start() : match.start(REDIRECT)].strip(" \t\r\n\\")
        named = len(self.named)
        self.index = start = skip_blanks(self.text, match.end(), self.end).end()
        if operator == "<<" or operator == "<<-":
            target, quoted = self.delimiter()
            flags = QUOTED if quoted else 0
            redirection = Redirection(operator, target, flags, None, quoted, descriptor)
            place, number = len(self.found.commands), self.found.new_pipe()
            fed.append(number)
            self.pending.append((redirection, operator == "<<-", place, self.shells, number))
        else:
            comment = self.text.startswith("#", start, self.end)
            target, flags = ("", 0) if comment else self.word()
            body = target if operator == "<<<" else None
            redirection = Redirection(operator, target, flags, body, descriptor=descriptor)
            read = self.named[named:]
            del self.named[named:]
            fed += read
            if operator == "<<<" or (operator == "<" and target[:2] == "<("):
                self.found.passed.update(read)
        redirections.append(redirection)
        if self.index == start:
            self.found.partial = True

    def _group(self, adjacent: bool, command: Command) -> None:
        """A parenthesis where no grammar has one: zsh's glob groups and qualifiers."""
        self.found.partial = True
        value = self.group()
        rest, flags = self.word()
        if adjacent and command.words:
            command.words[-1] += value + rest
            command.flags[-1] |= GLOB | flags
        else:
            command.words.append(value + rest)
            command.flags.append(GLOB | flags)

    # --- compound commands ------------------------------------------------------------------------

    def _reserved(self, word: str, line: Line) -> bool:
        """Acts on a reserved word behind the cursor; False if it is a program's name after all."""
        if word in COMPOUNDS:
            if line.closed:
                self.found.partial = True
                line.end()
            start = len(self.found.commands)
            COMPOUNDS[word](self, line.ctx, line.shells)
            self._close(start, line)
        elif word in _CLOSERS:
            self.found.partial = True
            line.end()
        elif word == "time":
            options = _time_options(self.text, self.index, self.end)
            after = skip_blanks(self.text, options.end() if options else self.index, self.end).end()
            if self.text.startswith("-", after, self.end):
                return False  # options that only the program has
            self.index = after
            line.modify(word)
        elif word == "coproc":
            name = _coprocess_name(self.text, self.index, self.end)
            self.index = name.end() if name else self.index
            line.modify(word)
            line.background = True
        else:  # `!` alone is a command, too
            line.begun = True
        return True

    def _close(self, start: int, line: Line) -> None:
        """Reads the redirections of a compound command that has just ended; the commands in it
        inherit them. A here-document goes to its command only where it has just one."""
        line.begun = line.closed = True
        line.prefix = ()
        redirections: list[Redirection] = []
        fed: list[int] = []
        inside = self.found.commands[start:]
        while True:
            match = token(self.text, self.index, self.end)
            if match.lastindex != REDIRECT:
                break
            self._redirect(match, redirections, fed)
        if redirections:
            enclose(inside, own_flow(redirections, fed, ()))
            depth = len(line.shells) + 1
            own = [c for c in inside if c.ctx in (line.ctx, SUBSHELL) and len(c.shells) <= depth]
            for command in own:
                command.redirs += [r for r in redirections if r.op[:2] != "<<" or len(own) == 1]

    def _parenthesis(self, line: Line) -> None:
        """Reads `((…))` or a subshell; the cursor stands behind the first parenthesis."""
        if line.closed:
            self.found.partial = True
            line.end()
        start = len(self.found.commands)
        self._subshell(line.ctx, line.shells)
        self._close(start, line)

    # --- functions --------------------------------------------------------------------------------

    def _function(self, command: Command, line: Line) -> bool:
        """Reads `name () body`, the cursor on the parenthesis, if it is that."""
        if len(command.words) != 1 or command.assigns:
            return False
        match = _empty_parens(self.text, self.index, self.end)
        if match is None:
            return False
        self.index = match.end()
        name = command.words.pop()
        start = len(self.found.commands)
        self._body(name)
        self._close(start, line)
        return True
