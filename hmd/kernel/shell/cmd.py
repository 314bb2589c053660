"""Reads text for the Windows command interpreter (cmd.exe) and lists the commands it would run.

cmd finds separators, redirections and escapes itself, but hands a program its arguments as one
text, which the program's C run-time splits. So a command is read twice: here for where it ends, in
`cmd_words` for its words. The rules are those of `cmd /?` for a line that is typed, not for a batch
file: `%1` and a `%x` outside of `for` are plain text.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.cmd_words import BLANK, DELIMITERS, split
from hmd.kernel.shell.syntax import SUBST, TOP, Command, Redirection, Scan

MAX_COMMANDS = 256
MAX_DEPTH = 40

Place = tuple[str, tuple[int, ...]]
"""Where commands run: their `ctx` and `shells`."""

_ENDS_WORD = frozenset(BLANK + "\n&|()<>")
_ENDS_COMMAND = frozenset(("", *"\n&|)"))
_PLAIN = compile_pattern(r'[^"^&|()<>\n]+')
_KEYWORD = compile_pattern(r"[A-Za-z]+(?![\w.\\:-])")
_COMPARISONS = frozenset(("equ", "neq", "lss", "leq", "gtr", "geq", "=="))
_STATES = frozenset(("exist", "defined", "errorlevel", "cmdextversion"))
_START_VALUES = frozenset(("/d", "/affinity", "/node", "/machine"))


def scan(text: str, limit: int = 65536) -> Scan:
    """The commands of cmd `text`, of which `limit` characters are read. Never raises."""
    scanner = _Scanner(text[: max(limit, 0)])
    scanner.sequence(False, (TOP, ()))
    return Scan(scanner.commands, scanner.partial or len(text) > limit)


class _Scanner:
    __slots__ = (
        "commands",
        "depth",
        "end",
        "env",
        "groups",
        "partial",
        "pipes",
        "pos",
        "shells",
        "text",
        "variables",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = len(text)
        self.pos = 0
        self.commands: list[Command] = []
        self.partial = False
        self.depth = 0
        self.groups = 0
        self.pipes = 0
        self.shells = 0
        self.env: list[tuple[str, str]] = []  # what `set` has set so far
        self.variables = ""  # of the `for` loops so far

    # Characters

    def peek(self, offset: int = 0) -> str:
        at = self.pos + offset
        return self.text[at] if at < self.end else ""

    def blanks(self, chars: str = BLANK) -> None:
        """Steps over `chars` and over carets that continue a line."""
        while self.pos < self.end:
            if self.text[self.pos] in chars:
                self.pos += 1
            elif self.text.startswith("^\n", self.pos):
                self.pos += 2
            elif self.text.startswith("^\r\n", self.pos):
                self.pos += 3
            else:
                break

    def line_end(self) -> int:
        found = self.text.find("\n", self.pos, self.end)
        return self.end if found < 0 else found

    def token(self) -> str:
        """The text up to the next blank or operator, quotes and all; "" before an operator."""
        self.blanks()
        start = self.pos
        while self.pos < self.end:
            char = self.text[self.pos]
            if char == '"':
                close = self.text.find('"', self.pos + 1, self.end)
                self.pos = self.end if close < 0 else close + 1
                self.partial |= close < 0
            elif char == "^":
                self.pos = min(self.pos + 2, self.end)
            elif char in _ENDS_WORD:
                break
            else:
                self.pos += 1
        return self.text[start : self.pos]

    def peek_token(self) -> str:
        start, partial = self.pos, self.partial
        token = self.token()
        self.pos, self.partial = start, partial
        return token

    # Structure

    def sequence(self, grouped: bool, place: Place) -> None:
        """Commands between separators, up to the end or (`grouped`) with a `)`."""
        self.depth += 1
        self.groups += grouped
        if self.depth > MAX_DEPTH:
            self.partial = True
            self.pos = self.end
        while True:
            self.blanks(DELIMITERS + "\n&|@")
            char = self.peek()
            if char == "":
                self.partial |= grouped
                break
            if char == ")":
                self.pos += 1
                if grouped:
                    break
                self.partial = True
                continue
            before = self.pos
            self.pipeline(place)
            if self.pos == before:  # nothing a command could begin with
                self.partial = True
                self.pos += 1
        self.depth -= 1
        self.groups -= grouped

    def pipeline(self, place: Place) -> None:
        """Each part of a pipeline runs in an interpreter of its own."""
        self.pipes += 1
        number = self.pipes
        starts = []
        while True:
            starts.append(len(self.commands))
            self.element(place, number)
            self.blanks()
            if self.peek() != "|" or self.peek(1) == "|":
                break
            self.pos += 1
        if len(starts) == 1:
            return
        own = len(place[1])
        for start, stop in zip(starts, [*starts[1:], len(self.commands)], strict=True):
            self.shells += 1
            for command in self.commands[start:stop]:
                outer = command.shells
                command.shells = (*outer[:own], self.shells, *outer[own:])

    def element(self, place: Place, number: int) -> None:
        """One command, after the words that only lead to it (`if …`, `for … do`, `call`)."""
        while True:
            self.blanks(DELIMITERS + "@")
            char = self.peek()
            if char in _ENDS_COMMAND:
                return
            if char == ":":  # a label, or a comment by way of one
                self.pos = self.line_end()
                return
            if char == "(":
                self.pos += 1
                self.sequence(True, place)
                self.after_group()
                if self.peek_token().lower() != "else":
                    return
                self.token()
                continue
            found = _KEYWORD.match(self.text, self.pos, self.end)
            word = found[0].lower() if found else ""
            if word == "rem":
                self.pos = self.line_end()
                return
            if found and self.leads(word, found.end(), place):
                continue
            self.simple(place, number, word)
            return

    def after_group(self) -> None:
        """Steps over the redirections of a group."""
        while True:
            self.blanks()
            if self.peek() not in ("<", ">") and not (
                self.peek().isdigit() and self.peek(1) in ("<", ">")
            ):
                return
            self.redirection([])

    def leads(self, word: str, after: int, place: Place) -> bool:
        """Steps over `word` and its operands if it only leads to a command."""
        start = self.pos
        self.pos = after
        if word == "if":
            self.condition()
        elif word == "for":
            return self.loop(place)
        elif word == "call":
            if self.peek_token().startswith(":"):
                self.raw()
        elif word == "start":
            self.start_options()
            if self.peek() in _ENDS_COMMAND:  # opens a window, or a prompt
                self.pos = start
                return False
        elif word != "else":
            self.pos = start
            return False
        return True

    def condition(self) -> None:
        token = self.token()
        while token.lower() in ("/i", "not"):
            token = self.token()
        if token.lower() in _STATES or token.endswith("=="):
            self.token()
        elif "==" not in token:
            following = self.peek_token().lower()
            if following in _COMPARISONS:
                self.token()
                self.token()
            elif following.startswith("=="):
                self.token()

    def start_options(self) -> None:
        titled = False
        while True:
            self.blanks()
            if self.peek() == "/":
                if self.token().lower() in _START_VALUES:
                    self.token()
            elif self.peek() == '"' and not titled:
                titled = True
                self.token()
            else:
                return

    def loop(self, place: Place) -> bool:
        """The head of a `for`; the command that `/f` reads from is one of ours."""
        options: list[str] = []
        while True:
            token = self.token()
            if token.lower() == "in":
                break
            if not token:
                self.partial = True
                return True
            options.append(token.lower())
        name = options[-1].lstrip("%")[:1] if options else ""
        if name.isascii() and name.isalpha() and name not in self.variables:
            self.variables += name
        self.blanks()
        if self.peek() != "(":
            self.partial = True
            return True
        close = self.closing()
        inside = self.text[self.pos + 1 : close].strip()
        self.pos = min(close + 1, self.end)
        quote = "`" if any("usebackq" in option for option in options) else "'"
        if "/f" in options and len(inside) > 1 and inside[0] == inside[-1] == quote:
            self.inner(inside[1:-1], place)
        if self.peek_token().lower() == "do":
            self.token()
        else:
            self.partial = True
        return True

    def closing(self) -> int:
        """Where the parenthesis here is closed."""
        quoted = False
        depth = 0
        for at in range(self.pos, self.end):
            char = self.text[at]
            if char == '"':
                quoted = not quoted
            elif not quoted and char in "()" and self.text[at - 1] != "^":
                depth += 1 if char == "(" else -1
                if depth == 0:
                    return at
        self.partial = True
        return self.end

    def inner(self, text: str, place: Place) -> None:
        """The command of `for /f`, whose carets protected it from the outer reading."""
        scanner = _Scanner(text.replace("^", ""))
        self.shells += 1
        scanner.shells, scanner.pipes, scanner.depth = self.shells, self.pipes, self.depth + 5
        scanner.variables, scanner.env = self.variables, list(self.env)
        scanner.sequence(False, (SUBST, (*place[1], self.shells)))
        self.shells, self.pipes = scanner.shells, scanner.pipes
        self.partial |= scanner.partial
        for command in scanner.commands:
            self.add(command)

    # Commands

    def simple(self, place: Place, number: int, word: str) -> None:
        raw, redirs = self.raw()
        if word == "set" and self.assignment(raw[3:].strip()):
            return
        words, flags = split(raw, self.variables)
        if words:
            self.add(Command(words, flags, list(self.env), redirs, place[0], place[1], number))

    def add(self, command: Command) -> None:
        if len(self.commands) < MAX_COMMANDS:
            self.commands.append(command)
        else:
            self.partial = True
            self.pos = self.end

    def assignment(self, text: str) -> bool:
        """Notes `A=1` or `"A=1"`. Arithmetic and prompts set what is not known here; False for
        a question (`set`, `set A`)."""
        if text[:2].lower() in ("/a", "/p"):
            return True
        if text.startswith('"'):
            text = text[1:].rpartition('"')[0] or text[1:]
        name, equals, value = text.partition("=")
        if equals and name:
            self.env.append((name, value))
        return bool(equals)

    def raw(self) -> "tuple[str, list[Redirection]]":
        """The text of one command without its redirections and carets, up to a separator."""
        out: list[str] = []
        redirs: list[Redirection] = []
        quoted = False
        while self.pos < self.end:
            plain = _PLAIN.match(self.text, self.pos, self.end)
            if plain:
                out.append(plain[0])
                self.pos = plain.end()
                continue
            char = self.text[self.pos]
            if char == "\n":
                break
            if char == '"':
                quoted = not quoted
            elif not quoted and char == "^":
                self.pos += 1
                if self.text.startswith(("\n", "\r\n"), self.pos):
                    self.pos = self.text.index("\n", self.pos) + 1
                char = self.peek()
            elif not quoted and char in "<>":
                if out and out[-1][-1:].isdigit() and (out[-1][-2:-1] or " ") in DELIMITERS:
                    out[-1] = out[-1][:-1]  # the number of the stream
                self.redirection(redirs)
                out.append(" ")
                continue
            elif not quoted and (char in "&|" or (char == ")" and self.groups)):
                break
            out.append(char)
            self.pos += 1
        self.pos = min(self.pos, self.end)
        self.partial |= quoted
        return "".join(out), redirs

    def redirection(self, redirs: "list[Redirection]") -> None:
        if self.peek().isdigit():
            self.pos += 1
        op = self.peek()
        self.pos += 1
        if op == ">" and self.peek() == ">":
            op = ">>"
            self.pos += 1
        if self.peek() == "&" and self.peek(1).isdigit():
            redirs.append(Redirection(op + "&", self.peek(1)))
            self.pos += 2
            return
        self.blanks(DELIMITERS)
        words, flags = split(self.token().replace("^", ""), self.variables)
        self.partial |= not words
        if words:
            redirs.append(Redirection(op, words[0], flags[0]))
