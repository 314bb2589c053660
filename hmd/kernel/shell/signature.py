"""A signature: the learned or written pattern that a call is compared with.

It is canonicalized by the same function as the calls, so the two can never disagree about what a
wrapper, a runner or an alias is.
"""

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.flow import reaches
from hmd.kernel.shell.keys import FAMILIES, head_length, index_words
from hmd.kernel.shell.tables_programs import CWD_OPTIONS
from hmd.kernel.shell.tables_wrappers import NEUTRAL_WRAPPERS, SHELLS
from hmd.kernel.shell.texts import scan_text
from hmd.kernel.shell.unit import CODE_RUNNER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hmd.kernel.shell.canonical import Form
    from hmd.kernel.shell.unit import Unit

LONGEST_PATTERN = 2000
MOST_PARTS = 8
_CHANGES_DIRECTORY = ("cd", "pushd", "popd", "chdir", "set-location", "push-location")


class Part:
    """One command of a signature.

    `key`      the canonical tokens; `head` the leading ones that must be equal and first, `rest`
               the other operands, an ordered subsequence, `options` the option words.
    `words`    head and other operands, `folded` these in lower case.
    `wrap`, `env`, `cwd`  what the unit must have ("" = any directory).
    `query`    the signature is itself a question (`which python`).
    `runs_code` it stands for any shell fed by a pipe.
    """

    __slots__ = (
        "cwd",
        "env",
        "folded",
        "head",
        "key",
        "options",
        "query",
        "rest",
        "runs_code",
        "words",
        "wrap",
    )

    def __init__(
        self,
        key: "tuple[str, ...]",
        wrap: "tuple[str, ...]" = (),
        env: "tuple[str, ...]" = (),
        cwd: str = "",
        query: bool = False,
        runs_code: bool = False,
    ) -> None:
        self.key = key
        self.wrap = wrap
        self.env = env
        self.cwd = cwd
        self.query = query
        self.runs_code = runs_code
        self.head, self.rest, self.options = divide(key)
        self.words = frozenset((*self.head, *self.rest))
        self.folded = frozenset(word.lower() for word in self.words)


class Signature:
    """What `parse_signature` makes of a pattern.

    `parts` are its commands: one, or those of a pipeline in order. `head` is the bucket an index
    files it under, by its first part (`keys.index_words`); `hidden_head` likewise for the hidden
    case (`match.hidden_heads`). `literal` is its readable key. `specific` tells whether it
    names more than a program (V10). `problem` says why it cannot be a signature, "" if it can.
    """

    __slots__ = ("literal", "parts", "problem")

    def __init__(self, parts: "list[Part]", problem: str = "") -> None:
        self.parts = parts
        self.problem = problem
        self.literal = " | ".join(" ".join(map(readable, part.key)) for part in parts)

    @property
    def head(self) -> str:
        return index_words(self.parts[0].key) if self.parts else ""

    @property
    def hidden_head(self) -> str:
        if len(self.parts) != 1:
            return "|"
        second = self.parts[0].key[1:2]
        return "" if not second else "-" if second[0][:1] == "-" else second[0].lower()

    @property
    def specific(self) -> bool:
        tokens = sum(len(part.key) - (part.key[0] in FAMILIES) for part in self.parts)
        return tokens >= 2


def divide(
    key: "tuple[str, ...]",
) -> "tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]":
    """(head, other operands, options) of a signature's tokens (specification §5, Match 1 to 3)."""
    end = head_length(key)
    rest: list[str] = []
    options: list[str] = []
    literal = False
    for token in key[end:]:
        if not literal and token[:1] == "-" and len(token) > 1:
            options.append(token)
            literal = token == "--"
        else:
            rest.append(token)
    return key[:end], tuple(rest), tuple(options)


def readable(token: str) -> str:
    """A token as one would type it."""
    if token and not any(char in token for char in " \t\n'\"|;&<>()"):
        return token
    return "'" + token.replace("'", "'\\''") + "'"


def parse_signature(pattern: str, dialect: str = "posix") -> Signature:
    """The signature that `pattern` writes down; never raises (see `Signature.problem`).

    Its subject is the last command that is no `cd`; a `cd`, `-C`, wrapper or prefix assignment
    before it becomes a requirement. `pm`, `pypm` and `bin` at the front are taken literally.
    """
    if not pattern.strip():
        return Signature([], "the pattern is empty")
    if len(pattern) > LONGEST_PATTERN:
        return Signature([], f"the pattern is longer than {LONGEST_PATTERN} characters")
    scan = scan_text(pattern, dialect)
    commands = [command for command in scan.commands if command.words]
    if not commands:
        return Signature([], "the pattern names no command")
    if scan.partial:
        return Signature([], "the pattern cannot be read to its end")
    if len(commands) == 1 and commands[0].words[0] in FAMILIES:
        return Signature([Part(tuple(commands[0].words))])
    return _from_form(canonical(pattern, dialect))


def _from_form(form: "Form") -> Signature:
    units = [unit for unit in form.units if not unit.boundary]
    acting = [unit for unit in units if unit.program not in _CHANGES_DIRECTORY] or units[-1:]
    if not acting:
        return Signature([], "the pattern names no command")
    subject = acting[-1]
    members = [unit for unit in acting if reaches(unit.flow, subject.flow)] + [subject]
    if len(members) > MOST_PARTS:
        return Signature([], f"the pipeline has more than {MOST_PARTS} commands")
    if any(unit.dynamic for unit in members):
        return Signature([], "which program runs is only known when it runs")
    return Signature([_part(unit, index) for index, unit in enumerate(members)])


def _part(unit: "Unit", index: int) -> Part:
    key = unit.keys[0]
    cwd = "" if unit.cwd in (".", "?") else unit.cwd
    if cwd:
        key = _without_directory(key, unit.program)
    return Part(
        key,
        tuple(w for w in unit.wrap if w not in NEUTRAL_WRAPPERS and w not in SHELLS),
        unit.env,
        cwd,
        unit.query,
        index > 0 and any(token == (CODE_RUNNER,) for token in unit.keys),
    )


def _without_directory(key: "tuple[str, ...]", program: str) -> "tuple[str, ...]":
    """`key` without its directory option: the directory is a requirement of its own."""
    options = CWD_OPTIONS.get(program, frozenset())
    kept: list[str] = []
    skip = False
    for token in key:
        if skip:
            skip = False
        elif token in options:
            skip = True
        elif token.partition("=")[0] not in options:
            kept.append(token)
    return tuple(kept)


def to_plain(signature: Signature) -> "dict[str, Any]":
    """The signature as JSON types, for a snapshot."""
    parts = []
    for part in signature.parts:
        row: list[Any] = [list(part.key), list(part.wrap), list(part.env)]
        parts.append([*row, part.cwd, part.query, part.runs_code])
    return {"parts": parts, "problem": signature.problem}


def from_plain(plain: "dict[str, Any]") -> Signature:
    """The signature that `to_plain` wrote; a row it did not write gives one with a problem."""
    try:
        parts = [
            Part(tuple(key), tuple(wrap), tuple(env), cwd, query, runs_code)
            for key, wrap, env, cwd, query, runs_code in plain["parts"]
        ]
        return Signature(parts, plain["problem"])
    except (KeyError, TypeError, ValueError, IndexError):
        return Signature([], "the stored signature cannot be read")
