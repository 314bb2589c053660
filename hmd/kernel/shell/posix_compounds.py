"""Reads compound commands and the bodies of functions (POSIX 2.9.4, 2.9.5; bash manual 3.2.5)."""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.posix_expansions import PAREN
from hmd.kernel.shell.posix_text import Incomplete
from hmd.kernel.shell.posix_words import BLANKS, PLAIN, Words, skip_blanks
from hmd.kernel.shell.syntax import FUNCTION, SUBSHELL, TOP, Command, Function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hmd.kernel.shell.posix_expansions import Match


def _operators(*operators: str) -> str:
    """A pattern for `operators`, also where line continuations split them (POSIX 2.2.1)."""
    escaped = (["\\" + char for char in operator] for operator in operators)
    return "|".join(r"(?:\\\n)*".join(chars) for chars in escaped)


# What ends a plain word. A parenthesis does, except where it opens an array or a pattern.
END = r"(?=(?:\\\n)*+(?:[ \t\r\n;|&)]|[<>](?!\()|(?<![=?*+@!])\(|\Z))"
_DESCRIPTOR = r"(?:(?:[0-9]++|\{[A-Za-z_][A-Za-z0-9_]*(?:\[[^]\n]*\])?\})(?=[<>]))?"
_REDIRECTS = _operators("<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "&>>", "&>")
_CONTROLS = _operators("&&", "||", ";;&", ";;", ";&", "|&")
token: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"{BLANKS}(?:{_DESCRIPTOR}({_REDIRECTS}|[<>](?!\())"
    rf"|(?:((?!#){PLAIN}|\[\[?)|'([^']*+)'|\"([^\"\\`$]*+)\"){END}"
    rf"|({_CONTROLS}|[\n;|&()])|(#)[^\n]*|([\s\S]))?"
).match
REDIRECT, WORD, SINGLE, DOUBLE, CONTROL, COMMENT, OTHER = range(1, 8)

_spaced_parens = compile_pattern(r"[ \t]*\([ \t]*\)").match
_keyword: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"((?:[a-z]+|[{{}}]|\[\[){END})?"
).match
_condition_end = compile_pattern(rf"\]\]{END}").match
_condition_operators: "Match" = compile_pattern(  # type: ignore[assignment]
    r"(?:[ \t\r\n()|&!;]|\\\n|[<>](?!\())*+"
).match


_THEN, _DO, _DONE = frozenset(("then",)), frozenset(("do",)), frozenset(("done",))
_BRANCH, _FI = frozenset(("elif", "else", "fi")), frozenset(("fi",))
_BRACE = frozenset(("}",))
_CLAUSE = frozenset((";;", ";&", ";;&", "esac"))


class Compounds(Words):
    """The cursor, able to read compound commands; each method stands behind the word that opens
    its command and takes the context and the shells around it."""

    __slots__ = ()

    def _subshell(self, ctx: str, shells: "tuple[int, ...]") -> None:
        if self.text.startswith("(", self.index, self.end) and self.is_arithmetic(self.index - 1):
            self.arithmetic()
        else:
            inner = SUBSHELL if ctx == TOP else ctx
            self.read(inner, (*shells, self.found.new_shell()), PAREN)

    def _braces_group(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.read(ctx, shells, _BRACE)

    def _if(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.read(ctx, shells, _THEN)
        while True:
            closer = self.read(ctx, shells, _BRANCH)
            if closer == "elif":
                self.read(ctx, shells, _THEN)
            elif closer == "else":
                self.read(ctx, shells, _FI)
                return
            else:
                return

    def _while(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.read(ctx, shells, _DO)
        self.read(ctx, shells, _DONE)

    def _for(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.skip_breaks()
        if self.text.startswith("((", self.index, self.end):
            self.index += 1
            self.arithmetic()
        else:
            self.word()
            self.skip_breaks()
            if self._take("in"):
                self._words()
            elif self.text.startswith("(", self.index, self.end):  # zsh
                self.index += 1
                self._array()
        self.skip_breaks(";")
        if self._take("do"):
            self.read(ctx, shells, _DONE)
        elif self._take("{"):
            self.read(ctx, shells, _BRACE)
        else:
            self.found.partial = True  # zsh's short loop: the list goes on with its command

    def _take(self, word: str) -> bool:
        """Passes the reserved word `word` if it stands at the cursor."""
        match = _keyword(self.text, self.index, self.end)
        if match[1] != word:
            return False
        self.index = match.end()
        return True

    def _words(self) -> None:
        """Passes the words of a `for` loop."""
        while True:
            match = token(self.text, self.index, self.end)
            kind = match.lastindex
            if kind is None or kind == CONTROL:
                return
            if kind == OTHER:
                self.index = match.start(kind)
                self.word()
            else:
                self.index = match.end()

    def _case(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.skip_breaks()
        self.word()
        self.skip_breaks()
        if not self._take("in"):
            self.found.partial = True
        while True:
            self.skip_breaks()
            if self._take("esac"):
                return
            if self.text.startswith("(", self.index, self.end):
                self.index += 1
            self._patterns()
            if self.read(ctx, shells, _CLAUSE) == "esac":
                return

    def _patterns(self) -> None:
        """Passes the patterns of a `case` clause and the parenthesis behind them."""
        while True:
            self.skip_breaks("|")
            start = self.index
            if start >= self.end:
                raise Incomplete
            if self.text[start] == ")":
                self.index += 1
                return
            self.word()
            if self.index == start:
                self.index += 1
                self.found.partial = True

    def _condition(self, ctx: str, shells: "tuple[int, ...]") -> None:
        """Passes `[[ … ]]` (bash manual 3.2.5.2): its operators are no redirections or pipes."""
        text = self.text
        while True:
            self.index = start = _condition_operators(text, self.index, self.end).end()
            if start >= self.end:
                raise Incomplete
            close = _condition_end(text, start, self.end)
            if close:
                self.index = close.end()
                break
            if text.startswith("=~", start, self.end):
                self.index = start + 2
                self._regular_expression()
                continue
            self.word()
            if self.index == start:
                self.index += 1
        self.found.pipes += 1
        self.found.add(Command(["[["], [0], [], [], ctx, shells, self.found.pipes))

    def _regular_expression(self) -> None:
        """Passes the operand of `=~`: one word, but for the blanks inside its parentheses."""
        text = self.text
        self.index = skip_blanks(text, self.index, self.end).end()
        depth = 0
        while self.index < self.end:
            char = text[self.index]
            if char == "(":
                depth += 1
            elif char == ")" and depth:
                depth -= 1
            elif char in " \t\r\n)" and not depth:
                return
            elif char not in " \t\r\n|&;<>" or text.startswith(("<(", ">("), self.index, self.end):
                start = self.index
                self.word()
                if self.index > start:
                    continue
            self.index += 1

    def _function_keyword(self, ctx: str, shells: "tuple[int, ...]") -> None:
        self.skip_breaks()
        name = self.word()[0]
        match = _spaced_parens(self.text, self.index, self.end)
        if match:
            self.index = match.end()
        self._body(name)

    def _body(self, name: str) -> None:
        """Reads the body of a function. It runs elsewhere, if at all: a shell of its own."""
        start = len(self.found.commands)
        shells = (*self.shells, self.found.new_shell())
        self.skip_breaks()
        word = _keyword(self.text, self.index, self.end)[1]
        if word in COMPOUNDS:
            self.index += len(word)
            COMPOUNDS[word](self, FUNCTION, shells)
        elif self.text.startswith("(", self.index, self.end):
            self.index += 1
            self._subshell(FUNCTION, shells)
        else:
            self.found.partial = True
        body = self.found.commands[start:]
        if body:
            self.found.functions.append(Function(name, body, shells[-1]))


COMPOUNDS: "dict[str, Callable[[Compounds, str, tuple[int, ...]], None]]" = {
    "{": Compounds._braces_group,
    "[[": Compounds._condition,
    "case": Compounds._case,
    "for": Compounds._for,
    "function": Compounds._function_keyword,
    "if": Compounds._if,
    "select": Compounds._for,
    "until": Compounds._while,
    "while": Compounds._while,
}
