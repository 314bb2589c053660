"""Reads PowerShell text and lists the simple commands it would run.

PowerShell reads a pipeline element in one of two modes (about_Parsing): what begins like a value
(`$x`, `"…"`, `[type]`, `(`, a number, a unary operator) is an expression, anything else a command
with bare words. Expressions hold commands only in `(…)`, `$(…)`, `@(…)`, `@{…}`, in script blocks
and right of an assignment; so one function walks expressions, another reads words.

Script blocks share the session of their caller: a `cd` in one outlives it, except where a job, a
remote session or another process runs the block.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.powershell_words import (
    BLANK,
    DASHES,
    ENDS_COMMAND,
    ENDS_WORD,
    MAX_DEPTH,
    PLAIN,
    QUOTES,
    REDIRECTION,
    VARIABLE,
    Place,
    Reader,
)
from hmd.kernel.shell.syntax import DYNAMIC, FUNCTION, TOP, Command, Redirection, Scan

MAX_COMMANDS = 256

_NUMBER = compile_pattern(
    r"(?i)(?:0x[0-9a-f]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)(?:[dlsuyn]{0,2})(?:[kmgtp]b)?"
    r"(?=[\s;|&(){},<>+*/%=!\]-]|\.[.A-Za-z]|$)"
)
_NAME = compile_pattern(r"[A-Za-z]+(?![\w.\\/:*?-])")
_ENVIRONMENT = compile_pattern(r"\$(?:env:(\w+)|\{env:([^}]+)\})[ \t]*=")

# Keywords by what follows them: a condition and a body, a body alone, a pipeline, one word.
_CONDITION = frozenset(("if", "elseif", "while", "until", "for", "foreach", "switch", "param"))
_BODY = frozenset(("else", "try", "finally", "do", "catch", "trap"))
_NAMED_BODY = frozenset(("begin", "process", "end", "dynamicparam", "clean", "data"))
_PIPELINE = frozenset(("return", "throw", "exit"))
_WORD = frozenset(("break", "continue"))
_DEFINITION = frozenset(("function", "filter", "workflow", "class", "enum", "configuration"))
# Commands whose script block runs in another session or process.
_ELSEWHERE = frozenset(
    ("start-job", "sajb", "start-threadjob", "invoke-command", "icm", "pwsh", "powershell")
)


def scan(text: str, limit: int = 65536) -> Scan:
    """The commands of PowerShell `text`, of which `limit` characters are read (literal
    here-strings do not count). Never raises."""
    scanner = _Scanner(text, limit)
    try:
        scanner.statements("", (TOP, ()))
    except RecursionError:
        scanner.partial = True
    return Scan(scanner.commands, scanner.partial or scanner.end < len(text))


class _Scanner(Reader):
    __slots__ = ("commands", "env", "pipes", "shells")

    def __init__(self, text: str, limit: int) -> None:
        super().__init__(text, limit)
        self.commands: list[Command] = []
        self.pipes = 0
        self.shells = 0
        self.env: list[tuple[str, str]] = []  # what `$env:N = v` has set so far

    def statements(self, closer: str, place: Place) -> None:
        """Reads statements up to and with `closer` ("" is the end of the text)."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.give_up()
        while True:
            self.space("\n;,")
            char = self.peek()
            if char == closer:
                self.pos += 1
                break
            if char == "":
                self.partial = True
                break
            before = self.pos
            if char not in ")}":
                self.statement(place)
            if self.pos == before:
                self.pos += 1
                self.partial = True
        self.depth -= 1

    def statement(self, place: Place) -> None:
        """One statement, or the part of one that a keyword leads."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.give_up()
        if self.peek() == ":" and self.peek(1).isalpha():  # a loop's label
            match = PLAIN.match(self.text, self.pos, self.end)
            self.pos = match.end() if match else self.pos + 1
            self.blanks()
        name = _NAME.match(self.text, self.pos, self.end)
        while name and name[0].lower() in _PIPELINE:
            self.pos = name.end()
            self.blanks()
            name = _NAME.match(self.text, self.pos, self.end)
        if not (name and self.keyword(name[0].lower(), name.end(), place)):
            self.chain(place)
        self.depth -= 1

    def keyword(self, word: str, after: int, place: Place) -> bool:
        """Reads what belongs to the keyword `word`; False (and nothing read) when it is a name."""
        start, self.pos = self.pos, after
        self.space()
        if word in _CONDITION and (self.peek() in ("(", "-") or word == "switch"):
            self.condition(word, place)
        elif word in _BODY and self.peek() in ("{", "["):
            while self.peek() == "[":  # what `catch` and `trap` are for
                self.bracket(place)
                self.space("\n,")
        elif word in _NAMED_BODY:
            if word == "data" and self.peek() != "{":
                self.word(place)
                self.space()
            if self.peek() != "{":
                self.pos = start
                return False
        elif word in _DEFINITION:
            self.definition(word, place)
            return True
        elif word in _WORD:
            if self.peek() not in ENDS_COMMAND:
                self.word(place)
            return True
        elif word == "using":
            self.pos = self.text.find("\n", after, self.end)
            self.pos = self.end if self.pos < 0 else self.pos
            return True
        else:
            self.pos = start
            return False
        if self.peek() == "{":
            self.pos += 1
            if word == "switch":
                self.cases(place)
            else:
                self.statements("}", place)
        return True

    def condition(self, word: str, place: Place) -> None:
        while self.peek() == "-":  # `switch -Regex -File x`, `foreach -Parallel`
            option = self.word(place)[0].lower()
            self.space()
            if len(option) > 1 and "-file".startswith(option) and self.peek() not in ENDS_COMMAND:
                self.word(place)
                self.space()
        if self.peek() == "(":
            self.pos += 1
            if word == "foreach":
                self.space()
                variable = VARIABLE.match(self.text, self.pos, self.end)
                if variable:
                    self.pos = variable.end()
                    self.space()
                    if self.text[self.pos : self.pos + 2].lower() == "in":
                        self.pos += 2
            self.statements(")", place)
        self.space_before("{")

    def space_before(self, char: str) -> None:
        """Steps over line ends only if `char` follows them."""
        start, partial = self.pos, self.partial
        self.space()
        if self.peek() != char:
            self.pos, self.partial = start, partial

    def cases(self, place: Place) -> None:
        """The body of a `switch`: values, each with a block."""
        while True:
            self.space("\n;")
            char = self.peek()
            if char in ("}", ""):
                self.partial |= char == ""
                self.pos += 1
                return
            before = self.pos
            if char == "{":
                self.pos += 1
                self.statements("}", place)
            elif char not in ENDS_WORD or char == "(":
                self.word(place)
            self.space()
            if self.peek() == "{":
                self.pos += 1
                self.statements("}", place)
            if self.pos == before:
                self.partial = True
                self.pos += 1

    def definition(self, word: str, place: Place) -> None:
        """The name, the parameters and the body of a function or a class."""
        found = PLAIN.match(self.text, self.pos, self.end)
        self.pos = found.end() if found else self.pos
        inside = (FUNCTION, place[1])
        self.space()
        if self.peek() == "(":
            self.pos += 1
            self.expression(inside, ")")
            self.space()
        while word == "class" and self.peek() not in ("{", ""):  # its bases
            self.pos += 1
        if self.peek() != "{":
            return
        self.pos += 1
        if word not in ("class", "enum"):
            self.statements("}", inside)
        else:
            self.expression(inside, "}")

    def chain(self, place: Place) -> None:
        """Pipelines joined by `&&` and `||`, up to a `&` or the end of the statement."""
        while True:
            self.pipeline(place)
            if not (self.at("&&") or self.at("||")):
                break
            self.pos += 2
            self.space()
        if self.peek() == "&":
            self.pos += 1

    def pipeline(self, place: Place) -> None:
        self.pipes += 1
        number = self.pipes
        first = True
        while True:
            self.element(place, number, first)
            first = False
            if self.peek() == "\n":
                self.space_before("|")  # a line may begin with the bar
            if self.peek() != "|" or self.peek(1) == "|":
                return
            self.pos += 1
            self.space()

    def element(self, place: Place, number: int, first: bool) -> None:
        self.blanks()
        while self.starts_expression():
            variable = _ENVIRONMENT.match(self.text, self.pos, self.end) if first else None
            if not self.expression(place, "", first):
                return
            self.pos += 1  # the `=`
            self.space()
            value = self.pos
            if not self.starts_expression():
                self.statement(place)
            elif variable:
                self.expression(place, "")
            if variable:
                raw = self.text[value : self.pos].strip()
                quoted = len(raw) > 1 and raw[0] in QUOTES and raw[-1] == raw[0]
                self.env.append((variable[1] or variable[2], raw[1:-1] if quoted else raw))
            if self.pos > value:
                return
        self.command(place, number)

    def starts_expression(self) -> bool:
        char, after = self.peek(), self.peek(1)
        if char in "$([{!,+-]" or char in QUOTES or char in DASHES:
            return char != ""
        if char == "@":
            return after in ("(", "{", "'", '"')
        return (char == "." or char.isdigit()) and _NUMBER.match(
            self.text, self.pos, self.end
        ) is not None

    def command(self, place: Place, number: int) -> None:
        """One command with its arguments; `&` and `.` before it are dropped."""
        self.call_operators()
        words: list[str] = []
        flags: list[int] = []
        redirs: list[Redirection] = []
        at = -1  # of the command itself: before those of its script blocks
        anonymous = self.peek() == "{"
        while True:
            self.blanks()
            char = self.peek()
            if char in ENDS_COMMAND:
                break
            if char == "{":
                at = len(self.commands) if at < 0 else at
                self.pos += 1
                self.statements("}", self.block_place(words, place))
                word, flag = "{…}", DYNAMIC
            elif self.at("--%") and self.peek(3) in " \t":
                self.verbatim(words, flags)
                break
            elif REDIRECTION.match(self.text, self.pos, self.end):
                redirs.append(self.redirection(place))
                continue
            else:
                word, flag = self.word(place)
            words.append(word)
            flags.append(flag)
        if words and not anonymous:
            command = Command(words, flags, list(self.env), redirs, place[0], place[1], number)
            self.commands.insert(len(self.commands) if at < 0 else at, command)
            if len(self.commands) >= MAX_COMMANDS:
                self.space("\n;")
                self.partial |= self.pos < self.end
                del self.commands[MAX_COMMANDS:]
                self.pos = self.end

    def call_operators(self) -> None:
        while self.peek() == "&" or (
            self.peek() == "." and (self.peek(1) in BLANK + QUOTES + "$({" or not self.peek(1))
        ):
            self.pos += 1
            self.blanks()

    def block_place(self, words: "list[str]", place: Place) -> Place:
        if not words:
            return place
        program = words[0].lower().removesuffix(".exe")
        parallel = any(len(word) > 2 and "-parallel".startswith(word.lower()) for word in words)
        if program not in _ELSEWHERE and not parallel:
            return place
        self.shells += 1
        return place[0], (*place[1], self.shells)

    def verbatim(self, words: "list[str]", flags: "list[int]") -> None:
        """What follows `--%`: words up to the end of the line or a bar, nothing expanded."""
        self.pos += 3
        line = self.text.find("\n", self.pos, self.end)
        line = self.end if line < 0 else line
        bar = self.text.find("|", self.pos, line)
        line = line if bar < 0 else bar
        pieces = self.text[self.pos : line].split('"')
        self.pos = line
        joined = ""
        for index, piece in enumerate(pieces):  # every second piece was quoted
            joined += piece.replace(" ", "\0").replace("\t", "\0") if index % 2 == 0 else piece
        for word in joined.split("\0"):
            if word.strip():
                words.append(word)
                flags.append(DYNAMIC if word.count("%") > 1 else 0)
