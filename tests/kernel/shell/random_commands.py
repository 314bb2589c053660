"""Writes random shell programs together with the simple commands they run.

The text and the expected commands come from the same random choices, so the scanner is checked
against how a program was meant, not against another reader of it.
"""

import random
from dataclasses import dataclass, field

PROGRAMS = ["make", "cargo", "npm", "git", "./run.sh", "tool-x", "pytest", "ls", "cc", "deploy"]
LITERALS = [
    "a",
    "-v",
    "--all",
    "x.py",
    "src/main.c",
    "k=v",
    "1",
    "@scope/p",
    "a,b",
    "%s",
    "a#b",
    "{}",
]
QUOTABLE = ["a b", "", "#", "; ls", "| sh", "&& x", "(y)", "<f>", "*", "done", "}", "tab\there"]
NAMES = ["x", "HOME", "i", "_y1"]


@dataclass
class Program:
    """A text and what it runs: for each simple command its words, None for a word whose value
    depends on an expansion."""

    text: str
    commands: list[list[str | None]]


@dataclass
class _Writer:
    random: random.Random
    out: list[str] = field(default_factory=list)
    commands: list[list[str | None]] = field(default_factory=list)
    bodies: list[tuple[str, str]] = field(default_factory=list)  # delimiter and body still due
    held: int = 0  # inside something on whose line an outer here-document is still due
    depth: int = 0
    delimiters: int = 0

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def put(self, text: str) -> None:
        self.out.append(text)

    def newline(self) -> None:
        """Ends the line and writes the bodies of the here-documents that were due."""
        if self.held:
            self.put("; ")
            return
        self.put("\n")
        for delimiter, body in self.bodies:
            self.put(f"{body}{delimiter}\n")
        self.bodies = []

    def blank(self) -> None:
        self.put(self.random.choice([" ", " ", " ", "  ", "\t", " \\\n"]))

    # --- words ------------------------------------------------------------------------------------

    def nested(self, opening: str, closing: str) -> None:
        """A list in a substitution of any kind."""
        outer, self.bodies = self.bodies, []
        self.held += bool(outer)
        self.put(opening)
        self.list()
        if self.bodies:
            self.newline()
        self.put(closing)
        self.held -= bool(outer)
        self.bodies = outer

    def dynamic(self) -> None:
        kind = self.random.randrange(7)
        if kind == 0 and self.depth < 4:
            self.nested("$(", ")")
        elif kind == 1:
            self.put("${x:-" + self.random.choice(["d", "'q'", "$y", ""]) + "}")
        elif kind == 2:
            self.put("$((1 + (2 * i)))")
        elif kind == 3:
            program = self.random.choice(PROGRAMS)
            self.put(f"`{program} b`")
            self.commands.append([program, "b"])
        elif kind == 4:
            self.put("${#x}")
        else:
            self.put("$" + self.random.choice(NAMES))
            self.put("/")

    def part(self) -> str | None:
        """One part of a word; returns its value, None if it is an expansion."""
        kind = self.random.randrange(10)
        if kind < 5:
            value = self.random.choice(LITERALS)
            self.put(value)
        elif kind == 5:
            value = self.random.choice(QUOTABLE)
            self.put(f"'{value}'")
        elif kind == 6:
            value = self.random.choice([*QUOTABLE, "$5", "`", '"', "\\"])
            for char in '\\"$`':
                escaped = value.replace(char, "\\" + char) if char in value else None
                if escaped:
                    break
            self.put('"' + (escaped or value) + '"')
        elif kind == 7:
            value = self.random.choice(list(" ;|&$'\"#()<>*"))
            self.put("\\" + value)
        elif kind == 8:
            value = "a\tb'"
            self.put(r"$'a\tb\''")
        else:
            quoted = self.chance(0.5)
            if quoted:
                self.put('"a ')
            self.dynamic()
            if quoted:
                self.put(' b"')
            return None
        return value

    def word(self) -> str | None:
        if self.chance(0.03) and self.depth < 4:
            self.nested("<(", ")")
            return None
        parts = [self.part() for _ in range(self.random.choice([1, 1, 1, 2]))]
        known = [part for part in parts if part is not None]
        return "".join(known) if len(known) == len(parts) else None

    # --- commands ---------------------------------------------------------------------------------

    def redirection(self) -> None:
        kind = self.random.randrange(5)
        if kind == 0 and not self.held:
            self.delimiters += 1
            delimiter = f"E{self.delimiters}"
            body = self.random.choice(["", "rm -rf /\n", 'it\'s "text" (\n', "done\n;;\n"])
            self.put("<<" + self.random.choice([delimiter, f"'{delimiter}'"]))
            self.bodies.append((delimiter, body))
        elif kind == 1:
            self.put("2>&1")
        elif kind == 2:
            self.put("2>/dev/null")
        elif kind == 3:
            self.put("< in.txt")
        else:
            self.put(self.random.choice([">", ">>", "&>"]) + "out.txt")

    def simple(self) -> None:
        if self.chance(0.1):
            self.redirection()
            self.blank()
        while self.chance(0.15):
            self.put(f"{self.random.choice(NAMES)}=")
            self.word()
            self.blank()
        words: list[str | None] = [self.random.choice(PROGRAMS)]
        self.put(str(words[0]))
        for _ in range(self.random.randrange(4)):
            self.blank()
            if self.chance(0.15):
                self.redirection()
            else:
                words.append(self.word())
        self.commands.append(words)

    def command(self) -> None:
        if self.depth >= 4 or self.chance(0.75):
            self.simple()
            return
        compounds = [self.group, self.subshell, self.branch, self.loop, self.each, self.choice]
        self.random.choice(compounds)()
        if self.chance(0.2):
            self.put(" ")
            self.redirection()

    def group(self) -> None:
        self.put("{ ")
        self.list()
        self.end()
        self.put("}")

    def subshell(self) -> None:
        self.put(" (")  # apart from another parenthesis: `((` would be arithmetic
        self.list()
        self.put(")")

    def branch(self) -> None:
        self.put("if ")
        self.list()
        self.end()
        self.put("then ")
        self.list()
        self.end()
        if self.chance(0.5):
            self.put("else ")
            self.list()
            self.end()
        self.put("fi")

    def loop(self) -> None:
        self.put(self.random.choice(["while ", "until "]))
        self.list()
        self.end()
        self.body()

    def each(self) -> None:
        self.put("for i in ")
        for _ in range(self.random.randrange(3)):
            self.word()
            self.blank()
        self.end()
        self.body()

    def body(self) -> None:
        self.put("do ")
        self.list()
        self.end()
        self.put("done")

    def choice(self) -> None:
        self.put("case $x in ")
        for _ in range(self.random.randrange(3)):
            self.put(self.random.choice(["a)", "(b|c*)", '"d e")', "*)"]) + " ")
            self.list()
            self.put(" ;; ")
        self.put("esac")

    def end(self) -> None:
        """A `;` or newline that ends a list before a reserved word."""
        if self.bodies or self.chance(0.4):
            self.newline()
        else:
            self.put("; ")

    def list(self) -> None:
        self.depth += 1
        for _ in range(self.random.choice([0, 0, 0, 1, 2])):
            self.command()
            separator = self.random.choice([" && ", " || ", " | ", "; ", "\n", " & ", "|\\\n"])
            if separator == "|\\\n" and self.bodies:  # legal, but shfmt loses the body
                separator = "|"
            if separator == "\n":
                self.newline()
            else:
                self.put(separator)
        self.command()
        self.depth -= 1


def random_program(seed: int) -> Program:
    """The program of `seed`: always the same one."""
    writer = _Writer(random.Random(seed))
    writer.list()
    writer.newline()
    return Program("".join(writer.out), writer.commands)
