"""Reads what stands inside words: double quotes, expansions, arithmetic, here-document bodies.

The commands in them are read on the way, by `read`, which posix_lists.py provides. Rules: POSIX
2.2.3, 2.6 (expansions), 2.7.4 (here-documents); bash manual 3.5, 6.5.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.flow import SINK, SOURCE, enclose
from hmd.kernel.shell.posix_text import (
    MAX_TEXTS,
    Findings,
    Incomplete,
    find_delimiter,
    strip_tabs,
    unescape,
)
from hmd.kernel.shell.syntax import DYNAMIC, QUOTED, SUBST, Redirection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    Match = Callable[[str, int, int], re.Match[str]]

NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
PARAMETER = rf"\$(?:{NAME}|[0-9@*#?$!_-]|\{{[#!]?(?:{NAME}|[0-9]++|[@*?])(?:\[[@*]\])?\}})"

# Each of these matches everywhere, if only the empty string.
_parameter: "Match" = compile_pattern(rf"({PARAMETER})?").match  # type: ignore[assignment]
_inside: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"([^\"\\`$]++)|({PARAMETER})|\\([\s\S])|"
).match
# Text of a here-document in which nothing has to be read.
_inert: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"(?:[^\\`$]++|\\[\s\S]|\$(?![(\[{{])|{PARAMETER})*+"
).match
_ansi = compile_pattern(r"\$'((?:[^'\\]++|\\[\s\S])*+)'").match
_backquoted = compile_pattern(r"`((?:[^`\\]++|\\[\s\S])*+)`").match
_unquote = compile_pattern(r"\\([`\\$])").sub
_unquote_double = compile_pattern(r"\\([`\\$\"])").sub
_brace_head: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"[!#]?(?:{NAME}|[0-9]++|[@*#?$!_-])?(?:\[(?:[^]\n\"'$`\\]|\"[^\"\n]*\"|'[^'\n]*')*\])?"
).match
_brace_part = compile_pattern(r"[}\\'\"`$]").search
_paren_part = compile_pattern(r"[()\\'\"`$]").search
_bracket_part = compile_pattern(r"[\[\]\\'\"`$]").search
_pairing = compile_pattern(r"[()]|\\[\s\S]|'[^']*'|\"(?:[^\"\\]++|\\[\s\S])*+\"").finditer

MAX_PAIRINGS = 3  # regions of unclosed `((` that are searched to the end of the text

NOTHING: "frozenset[str]" = frozenset()
PAREN = frozenset((")",))
FUNSUB = frozenset(("}",))  # unlike a group's `}`, it may touch the word behind it


class Expansions:
    """A cursor in a text. `index` is where it stands, `end` where the visible code ends, `last`
    where the text does (they differ where the text exceeds the limit); `shells` the environments
    around the list being read; `pending` the here-documents whose bodies follow the next newline;
    `named` the numbers of the substitutions read since a command or a redirection began.
    """

    __slots__ = (
        "closing",
        "depth",
        "end",
        "found",
        "index",
        "last",
        "level",
        "named",
        "pending",
        "shells",
        "text",
        "unbalanced",
    )

    def __init__(
        self,
        text: str,
        end: int,
        found: Findings,
        level: int = 0,
        depth: int = 0,
        shells: "tuple[int, ...]" = (),
    ) -> None:
        self.text = text
        self.index = 0
        self.end = end
        self.last = len(text)
        self.found = found
        self.level = level
        self.depth = depth
        self.shells = shells
        self.pending: list[tuple[Redirection, bool, int, tuple[int, ...], int]] = []
        self.named: list[int] = []
        self.closing: dict[int, int] = {}
        self.unbalanced = 0

    def read(self, ctx: str, shells: "tuple[int, ...]", closers: "frozenset[str]") -> str:
        """Reads commands until one of `closers`, which it passes and returns."""
        raise NotImplementedError

    def _double(self, parts: "list[str]") -> int:
        """Reads on behind an opening double quote until behind the closing one (POSIX 2.2.3)."""
        text, end = self.text, self.end
        flags = QUOTED
        while True:
            match = _inside(text, self.index, end)
            kind = match.lastindex
            if kind is None:
                if self.index >= end or text[self.index] == "\\":
                    raise Incomplete
                if text[self.index] == '"':
                    self.index += 1
                    return flags
                value = self._expansion(True)
                if value != "$":
                    flags |= DYNAMIC
            else:
                self.index = match.end()
                value = match[kind]
                if kind == 2:
                    flags |= DYNAMIC
                elif kind == 3 and value not in '$`"\\':
                    value = "" if value == "\n" else "\\" + value
            parts.append(value)

    def _ansi(self, parts: "list[str]") -> int:
        match = _ansi(self.text, self.index, self.end)
        if match is None:
            raise Incomplete
        self.index = match.end()
        parts.append(unescape(match[1]))
        return QUOTED

    # --- expansions -------------------------------------------------------------------------------

    def _expansion(self, quoted: bool) -> str:
        """Reads what `$` or a backquote starts and returns how a word shows it: raw text for a
        parameter, `$(…)` for commands, `$((…))` for arithmetic, `$` where nothing is expanded."""
        text, start, end = self.text, self.index, self.end
        if text[start] == "`":
            return self._backquote(quoted)
        match = _parameter(text, start, end)
        if match[1]:
            self.index = match.end()
            return match[1]
        at = start + 1
        while text.startswith("\\\n", at, end):
            at += 2
        char = text[at] if at < end else ""
        self.index = at + 1
        if char == "(":
            if text.startswith("(", at + 1, end) and self.is_arithmetic(at):
                self.arithmetic()
                return "$((…))"
            self.nested(SUBST, PAREN)
            return "$(…)"
        if char == "{":
            after = text[at + 1] if at + 1 < end else ""
            if after and after in " \t\n|":  # bash 5.3: `${ commands; }`, `${| commands; }`
                self.index = at + 2
                self.nested(SUBST, FUNSUB)
                return "$(…)"
            self._braces(quoted)
            return text[start : self.index]
        if char == "[":
            self._balanced("[", "]")
            return "$((…))"
        self.index = start + 1
        return "$"

    def nested(self, ctx: str, closers: "frozenset[str]", sink: bool = False) -> None:
        """Reads the commands of a substitution; `sink`: its command prints into it (`>(…)`)."""
        start = len(self.found.commands)
        self.read(ctx, (*self.shells, self.found.new_shell()), closers)
        self._number(start, sink)

    def _number(self, start: int, sink: bool = False) -> None:
        """Gives the substitution whose commands begin at `start` a number."""
        number = self.found.new_pipe()
        self.named.append(number)
        entry = (number, SINK, 0) if sink else (number, SOURCE, number)
        enclose(self.found.commands[start:], (entry,))

    def _backquote(self, quoted: bool) -> str:
        match = _backquoted(self.text, self.index, self.end)
        if match is None:
            raise Incomplete
        self.index = match.end()
        code = match[1]
        if "\\" in code:
            code = (_unquote_double if quoted else _unquote)(r"\1", code)
        if not code:
            return "$(…)"
        if self.level >= MAX_TEXTS:
            self.found.partial = True
            return "$(…)"
        shells = (*self.shells, self.found.new_shell())
        inner = type(self)(code, len(code), self.found, self.level + 1, self.depth, shells)
        start = len(self.found.commands)
        try:
            inner.read(SUBST, shells, NOTHING)
        except Incomplete:
            self.found.partial = True
        self._number(start)
        return "$(…)"

    def _braces(self, quoted: bool) -> None:
        """Passes the rest of `${…}`. Inside double quotes a single quote is literal, except in the
        pattern of the operators `# % / ^ ,` (bash manual 3.5.3)."""
        text, end = self.text, self.end
        head = _brace_head(text, self.index, end).end()
        literal = quoted and not text.startswith(("#", "%", "/", "^", ","), head, end)
        while True:
            match = _brace_part(text, self.index, end)
            if match is None:
                raise Incomplete
            self.index = at = match.start()
            char = match[0]
            if char == "}":
                self.index += 1
                return
            if char == "'" and literal:
                self.index += 1
            elif char == "$" and not literal and text.startswith("'", at + 1, end):
                self._ansi([])
            else:
                self._inner(char, True, quoted)

    def _inner(self, char: str, strict: bool, quoted: bool) -> None:
        """Passes a quoted part or an expansion that stands at the cursor and starts with `char`."""
        if char == "\\":
            self.index += 2
        elif char == "'":
            close = self.text.find("'", self.index + 1, self.end)
            if close < 0 and strict:
                raise Incomplete
            self.index = (close if close >= 0 else self.index) + 1
        elif char == '"':
            self.index += 1
            self._double([])
        else:
            self._expansion(quoted)

    def _balanced(self, opener: str, closer: str) -> None:
        """Passes everything until behind the `closer` that has no `opener` from here on."""
        text, end = self.text, self.end
        search = _paren_part if opener == "(" else _bracket_part
        depth = 0
        while True:
            match = search(text, self.index, end)
            if match is None:
                raise Incomplete
            self.index = match.start()
            char = match[0]
            if char == opener:
                depth += 1
                self.index += 1
            elif char == closer:
                self.index += 1
                if not depth:
                    return
                depth -= 1
            else:
                self._inner(char, False, True)

    # --- arithmetic -------------------------------------------------------------------------------

    def arithmetic(self) -> None:
        """Passes `(…))`; the cursor stands on the second parenthesis of `((`."""
        self.index += 1
        self._balanced("(", ")")
        if self.text.startswith(")", self.index, self.end):
            self.index += 1

    def is_arithmetic(self, first: int) -> bool:
        """Whether the `((` at `first` is closed by an adjacent `))`; if not, it opens a subshell
        within a subshell (POSIX 2.6.3). Parentheses are paired once for the whole region, so that
        nested doubts cost nothing more."""
        closing = self.closing
        if first not in closing and self.unbalanced < MAX_PAIRINGS:
            self._pair(first)
        return closing.get(first + 1, -2) + 1 == closing.get(first, -3)

    def _pair(self, first: int) -> None:
        opened: list[int] = []
        closing = self.closing
        for match in _pairing(self.text, first, self.end):
            char = match[0]
            if char == "(":
                opened.append(match.start())
            elif char == ")":
                closing[opened.pop()] = match.start()
                if not opened:
                    return
        self.unbalanced += 1

    # --- here-documents ---------------------------------------------------------------------------

    def read_bodies(self) -> None:
        """Reads the bodies of the pending here-documents; the cursor stands behind a newline."""
        pending = self.pending
        text = self.text
        for redirection, tabs, place, shells, number in pending:
            start = self.index
            stop, after = find_delimiter(
                text, start, self.last, redirection.target, tabs, not redirection.quoted
            )
            if stop < 0:
                self.found.partial = True
                stop, after = self._unended(start, redirection.target)
            self.end = min(self.last, self.end + after - start)
            self.index = after
            body = text[start:stop]
            redirection.body = strip_tabs(body) if tabs else body
            if not redirection.quoted and ("`" in body or "$" in body):
                self._read_body(start, stop, place, shells, number)
        self.pending = []

    def _unended(self, start: int, delimiter: str) -> "tuple[int, int]":
        """Where a body without its last line ends: bash lets `delimiter)` close a substitution and
        the document together, else the body goes on to the end of the text."""
        if self.depth > 1:
            found = self.text.find("\n" + delimiter + ")", start - 1, self.last)
            if found >= 0:
                return found + 1, found + 1 + len(delimiter)
        return self.last, self.last

    def _read_body(
        self, start: int, stop: int, place: int, shells: "tuple[int, ...]", number: int
    ) -> None:
        """Reads the commands in the expansions of a body, and puts them before the command that
        has it, which reads what they print. They may use up `found.body_code` characters; the rest
        of a body costs no code."""
        found = self.found
        cursor = self.index, self.end, self.last, self.depth, self.shells, self.unbalanced
        outer, named = (found.commands, found.late), self.named
        self.named = []
        self.index, self.last, self.shells, self.pending = start, stop, shells, []
        found.commands, found.late = [], []
        try:
            while True:
                at = self.index = _inert(self.text, self.index, stop).end()
                if at >= stop or self.text[at] == "\\":  # (that backslash is the last character)
                    break
                if found.body_code <= 0:
                    raise Incomplete
                self.end = min(stop, at + found.body_code)
                self._expansion(True)
                found.body_code -= self.index - at
        except Incomplete:
            found.partial = True
        finally:
            inner = found.in_order()
            self.index, self.end, self.last, self.depth, self.shells, self.unbalanced = cursor
            found.commands, found.late = outer
            found.passed.update(self.named)
            self.named = named
            if inner:
                found.late.append((place, number, inner))
