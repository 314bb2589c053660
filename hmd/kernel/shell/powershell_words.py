"""Reads the words, strings and expressions of PowerShell text.

What a statement is, `powershell` knows: a reader calls it for the text inside `$(…)`, `(…)`,
`@(…)`, `@{…}` and `{…}`, whose commands are listed before the word that holds them.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.syntax import DYNAMIC, FUNCTION, GLOB, QUOTED, SUBST, Redirection

MAX_DEPTH = 40

Place = tuple[str, tuple[int, ...]]
"""Where commands run: their `ctx` and `shells`."""

_SINGLE = "'\u2018\u2019\u201a\u201b"
_DOUBLE = '"\u201c\u201d\u201e'
QUOTES = _SINGLE + _DOUBLE
DASHES = ("\u2013", "\u2014", "\u2015")
BLANK = " \t\r\f\v\u00a0\u0085"
ENDS_WORD = frozenset(BLANK + "\n;|&(){},<>")
ENDS_COMMAND = frozenset(("", *"\n;|&)}"))
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_KNOWN_VALUES = frozenset(("$true", "$false", "$null"))
PLAIN = compile_pattern(rf"[^{BLANK}\n;|&(){{}},<>{QUOTES}`$]+")
_IN_DOUBLE = compile_pattern(rf"[^{_DOUBLE}`$]+")
VARIABLE = compile_pattern(r"\$(?:\{[^}]{0,256}\}|[A-Za-z_]\w*(?::\w+)?|[0-9]+|[$?^]|:\w+)")
REDIRECTION = compile_pattern(r"(?:[1-6*]?>>?(?:&[12])?|<)")


class Reader:
    """A position in a text, and what can be read there. `end` is where reading stops."""

    __slots__ = ("depth", "end", "partial", "pos", "text")

    def __init__(self, text: str, limit: int) -> None:
        self.text = text
        self.end = min(len(text), max(limit, 0))
        self.pos = 0
        self.partial = False
        self.depth = 0

    def statements(self, closer: str, place: Place) -> None:
        """Reads statements up to and with `closer` ("" is the end of the text)."""
        raise NotImplementedError

    def statement(self, place: Place) -> None:
        """Reads one statement."""
        raise NotImplementedError

    def peek(self, offset: int = 0) -> str:
        at = self.pos + offset
        return self.text[at] if at < self.end else ""

    def at(self, text: str) -> bool:
        return self.text.startswith(text, self.pos) and self.pos + len(text) <= self.end

    def give_up(self) -> None:
        self.partial = True
        self.pos = self.end

    def find_end(self, mark: str) -> int:
        """Where `mark` comes next; the end of the text, and a partial result, if never."""
        found = self.text.find(mark, self.pos, self.end)
        if found < 0:
            self.partial = True
            return self.end
        return found

    def blanks(self) -> None:
        """Steps over blanks, line continuations and block comments, and over a comment's text."""
        text, end, pos = self.text, self.end, self.pos
        while pos < end:
            char = text[pos]
            if char in BLANK:
                pos += 1
            elif char == "`" and text[pos + 1 : pos + 2] == "\n":
                pos += 2
            elif char == "`" and text[pos + 1 : pos + 3] == "\r\n":
                pos += 3
            elif char == "#":
                found = text.find("\n", pos, end)
                pos = end if found < 0 else found
            elif char == "<" and text[pos + 1 : pos + 2] == "#":
                self.pos = pos
                pos = min(self.find_end("#>") + 2, end)
            else:
                break
        self.pos = pos

    def space(self, also: str = "\n") -> None:
        """Steps over blanks and line ends, and the characters of `also`."""
        self.blanks()
        while self.pos < self.end and self.text[self.pos] in also:
            self.pos += 1
            self.blanks()

    def expression(self, place: Place, closer: str, assignable: bool = False) -> bool:
        """Walks an expression for the commands inside it.

        Without `closer` it ends with the pipeline element; True when it stopped at an assignment's
        `=`. With one it goes on over lines and separators, up to and with the closer.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.give_up()
        joined = False  # an operator came last: the expression goes on after a line end
        called = False  # a name came last: `(` opens the arguments of a call
        assigned = False
        while True:
            here = self.pos
            self.blanks()
            called = called and here == self.pos
            char = self.peek()
            if char == closer or char == "":
                self.partial |= char != closer
                self.pos += len(char)
                break
            if not closer and char in ";|&)}\n" and not (char == "\n" and joined):
                break
            if char == "=" and assignable:
                assigned = True
                break
            called, joined = self.operand(place, char, called)
        self.depth -= 1
        return assigned

    def operand(self, place: Place, char: str, called: bool) -> "tuple[bool, bool]":
        """One piece of an expression; whether it is a name, and whether it is an operator."""
        if char in QUOTES:
            self.quoted(place)
        elif char == "$":
            self.dollar(place)
            return True, False
        elif char == "@":
            self.at_sign(place)
        elif char == "(":
            self.pos += 1
            if called:
                self.expression(place, ")")
            else:
                self.statements(")", (SUBST, place[1]))
        elif char == "{":
            self.pos += 1
            self.statements("}", (FUNCTION, place[1]))
        elif char == "[":
            self.bracket(place)
        elif char in "<>":
            self.redirection(place)
        elif char == "`" or self.at("++") or self.at("--"):
            self.pos += 2
        else:
            run = self.pos
            while run < self.end and (self.text[run].isalnum() or self.text[run] == "_"):
                run += 1
            if run > self.pos:
                self.pos = run
                return True, False
            self.pos += 1
            if char == "-" and self.peek().isalpha():  # `-and`, `-match`
                while self.peek().isalpha():
                    self.pos += 1
            return False, char not in "\n;)}]"
        return False, False

    def bracket(self, place: Place) -> None:
        """`[type]`, `[attribute(…)]` or `[index]`."""
        self.pos += 1
        self.expression(place, "]")

    def redirection(self, place: Place) -> Redirection:
        """`>`, `2>>`, `*>`, `2>&1`; `<` is reserved and read like one."""
        match = REDIRECTION.match(self.text, self.pos, self.end)
        written = match[0] if match else self.text[self.pos]
        self.pos += len(written)
        op, duplicate, stream = written.lstrip("123456*").partition("&")
        if duplicate:
            return Redirection(op + "&", stream)
        self.blanks()
        if self.peek() in ENDS_COMMAND or self.peek() in "<>":
            self.partial = True
            return Redirection(op, "")
        return Redirection(op, *self.word(place))

    def word(self, place: Place) -> "tuple[str, int]":
        """One argument; the elements of an array (`a, b`) are one word, joined by commas."""
        start = self.pos
        text, flags = self.primary(place)
        parts = [text]
        while True:
            after = self.pos
            self.blanks()
            if self.peek() != ",":
                self.pos = after
                break
            self.pos += 1
            self.space()
            if self.peek() in ENDS_COMMAND:
                parts.append("")
                break
            text, more = self.primary(place)
            parts.append(text)
            flags |= more
        if self.pos == start:  # nothing a word could begin with
            self.pos += 1
            self.partial = True
        return ",".join(parts), flags

    def primary(self, place: Place) -> "tuple[str, int]":
        char = self.peek()
        if char in QUOTES and char:
            text, flags = self.quoted(place)
        elif char == "@":
            text, flags = self.at_sign(place)
        elif char == "(":
            self.pos += 1
            self.statements(")", (SUBST, place[1]))
            text, flags = "(…)", DYNAMIC
        elif char == "{":
            self.pos += 1
            self.statements("}", (FUNCTION, place[1]))
            return "{…}", DYNAMIC
        else:
            return self.bare(place)
        if self.peek() in (".", "[") and self.peek(1) not in BLANK:  # a member of that value
            more, _ = self.bare(place)
            return text + more, flags | DYNAMIC
        return text, flags

    def bare(self, place: Place) -> "tuple[str, int]":
        """A word of plain, escaped, quoted and expanded parts."""
        out: list[str] = []
        flags = 0
        value = self.peek() in "$.["  # `$x.Name(…)` calls; `name(…)` is a name and a value
        member = False
        while self.pos < self.end:
            run = PLAIN.match(self.text, self.pos, self.end)
            if run:
                plain = run[0]
                if not out and plain[0] in DASHES:
                    plain = "-" + plain[1:]
                if "*" in plain or "?" in plain or "[" in plain:
                    flags |= GLOB
                member |= "." in plain or "::" in plain
                out.append(plain)
                self.pos = run.end()
                continue
            char = self.text[self.pos]
            if char == "`":
                if self.text.startswith(("\n", "\r\n"), self.pos + 1) or self.pos + 1 >= self.end:
                    if self.pos + 1 >= self.end:
                        self.pos += 1
                    break
                out.append(self.escape())
                flags |= QUOTED
            elif char in QUOTES:
                text, more = self.quoted(place)
                out.append(text)
                flags |= more
            elif char == "$":
                text, dynamic = self.dollar(place)
                out.append(text)
                flags |= dynamic
            elif char == "(" and value and member:
                self.pos += 1
                self.expression(place, ")")
                out.append("(…)")
                flags |= DYNAMIC
            else:
                break
        return "".join(out), flags

    def escape(self) -> str:
        """What a backtick and the character after it stand for."""
        char = self.peek(1)
        self.pos += 2
        if char == "u" and self.peek() == "{":
            close = self.text.find("}", self.pos, self.pos + 9)
            digits = self.text[self.pos + 1 : close] if close > 0 else ""
            try:
                text = chr(int(digits, 16))
            except (ValueError, OverflowError):
                return "u"
            self.pos = close + 1
            return text
        return _ESCAPES.get(char, char)

    def quoted(self, place: Place) -> "tuple[str, int]":
        """A string in single quotes (literal) or double quotes (expanded)."""
        if self.peek() in _DOUBLE:
            self.pos += 1
            return self.expandable(place, "")
        out: list[str] = []
        self.pos += 1
        text = self.text
        while True:
            if text.isascii():
                close = self.find_end("'")
            else:
                close = self.pos
                while close < self.end and text[close] not in _SINGLE:
                    close += 1
                self.partial |= close >= self.end
            out.append(text[self.pos : close])
            self.pos = min(close + 1, self.end)
            if self.peek() not in _SINGLE or not self.peek():
                return "".join(out), QUOTED
            out.append("'")
            self.pos += 1

    def expandable(self, place: Place, closer: str) -> "tuple[str, int]":
        """The text up to a double quote, or up to `closer` (of a here-string)."""
        out: list[str] = []
        flags = QUOTED
        stop = self.find_end(closer) if closer else self.end
        while self.pos < stop:
            run = _IN_DOUBLE.match(self.text, self.pos, stop)
            if run:
                out.append(run[0])
                self.pos = run.end()
                continue
            char = self.text[self.pos]
            if char == "`":
                out.append(self.escape())
            elif char == "$":
                text, dynamic = self.dollar(place)
                out.append(text)
                flags |= dynamic
            elif closer or (self.peek(1) in _DOUBLE and self.peek(1)):
                out.append(char)
                self.pos += 1 if closer else 2
            else:
                self.pos += 1
                return "".join(out), flags
        if closer:
            self.pos = min(max(stop, self.pos) + len(closer), self.end)
        else:
            self.partial = True
        return "".join(out), flags

    def dollar(self, place: Place) -> "tuple[str, int]":
        """A variable as written, `$(…)` for a subexpression, or a plain `$`."""
        if self.peek(1) == "(":
            self.pos += 2
            self.statements(")", (SUBST, place[1]))
            return "$(…)", DYNAMIC
        name = VARIABLE.match(self.text, self.pos, self.end)
        if not name:
            self.pos += 1
            return "$", 0
        self.pos = name.end()
        return name[0], 0 if name[0].lower() in _KNOWN_VALUES else DYNAMIC

    def at_sign(self, place: Place) -> "tuple[str, int]":
        """`@(…)`, `@{…}`, a here-string or a splatted variable."""
        opener = self.peek(1)
        if opener == "(":
            self.pos += 2
            self.statements(")", (SUBST, place[1]))
            return "@(…)", DYNAMIC
        if opener == "{":
            self.pos += 2
            self.table(place)
            return "@{…}", DYNAMIC
        if opener and opener in QUOTES:
            return self.here_string(place, opener)
        self.pos += 1
        text, _ = self.bare(place) if self.peek() not in ENDS_COMMAND else ("", 0)
        return "@" + text, DYNAMIC

    def here_string(self, place: Place, quote: str) -> "tuple[str, int]":
        """The body between `@'` and a line that begins with `'@`."""
        line = self.pos + 2
        while line < self.end and self.text[line] in BLANK:
            line += 1
        if line >= self.end or self.text[line] != "\n":
            self.pos += 1  # no here-string: a quote that follows an at sign
            text, flags = self.quoted(place)
            return "@" + text, flags
        closer = "\n" + quote + "@"
        if quote in _DOUBLE:
            self.pos = line
            text, flags = self.expandable(place, closer)
            return text.removeprefix("\n").removesuffix("\r"), flags
        close = self.text.find(closer, line)
        if close < 0:
            self.give_up()
            return self.text[line + 1 : self.end], QUOTED
        self.end = min(self.end + close - line, len(self.text))
        self.pos = close + len(closer)
        return self.text[line + 1 : close].removesuffix("\r"), QUOTED

    def table(self, place: Place) -> None:
        """The entries of `@{ key = statement; … }`."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.give_up()
        inside = (SUBST, place[1])
        while True:
            self.space("\n;")
            char = self.peek()
            if char in ("}", ""):
                self.partial |= char == ""
                self.pos += len(char)
                break
            before = self.pos
            if self.expression(inside, "", True):
                self.pos += 1
                self.space()
                if self.peek() not in ("}", ""):
                    self.statement(inside)
            if self.pos == before:
                self.partial = True
                self.pos += 1
        self.depth -= 1
