"""What every scanner (posix, powershell, cmd) hands to the canonical form: the simple commands.

A scanner reads text and lists the simple commands that would be executed, in evaluation order.
It knows nothing of programs, wrappers or rules.
"""

# Flags of a word.
DYNAMIC = 1  # contains an expansion whose value is not known here
QUOTED = 2  # some part was quoted or escaped
GLOB = 4  # contains an unquoted pattern character

# Where a command runs (canonical-form specification, table of unit fields).
TOP, SUBSHELL, SUBST, PROCSUB, FUNCTION = "top", "subshell", "subst", "procsub", "function"


class Redirection:
    """One redirection. `op` as written without its descriptor (`>`, `>>`, `<`, `<<`, `<<<`, `>&`…);
    `descriptor` as written, "" for none; `target` the word after quote removal (the delimiter of a
    here-document); `flags` of that word; `body` the text of a here-document or here-string, else
    None; `quoted` is true for a here-document whose delimiter was quoted (its body is literal).
    """

    __slots__ = ("body", "descriptor", "flags", "op", "quoted", "target")

    def __init__(
        self,
        op: str,
        target: str,
        flags: int = 0,
        body: "str | None" = None,
        quoted: bool = False,
        descriptor: str = "",
    ) -> None:
        self.op = op
        self.target = target
        self.flags = flags
        self.body = body
        self.quoted = quoted
        self.descriptor = descriptor


class Command:
    """One simple command as the shell would run it.

    `words`   after quote removal; expansions stay as raw text (`$HOME`) or `$(…)`.
    `flags`   one int per word (DYNAMIC | QUOTED | GLOB).
    `assigns` prefix assignments as (name, value text); a lone assignment is no command.
    `redirs`  its redirections, in order.
    `ctx`     one of the five constants above.
    `shells`  ids of the subshell-like environments around it, outermost first: a `cd` inside one
              does not outlive it. () at top level.
    `pipe`    number of its pipeline: the parts of `a | b` share it, in order; unique per scan.
    `prefix`  reserved words that precede it and are kept as wrappers (`time`, `coproc`), not `!`.
    `flow`    what it reads and what reads it, outermost first (`flow`); the last `own` entries are
              of its own redirections and words. Scanners of other dialects leave it empty.
    `named`   numbers of the substitutions in its words.
    """

    __slots__ = (
        "assigns",
        "ctx",
        "flags",
        "flow",
        "named",
        "own",
        "pipe",
        "prefix",
        "redirs",
        "shells",
        "words",
    )

    def __init__(
        self,
        words: "list[str]",
        flags: "list[int]",
        assigns: "list[tuple[str, str]]",
        redirs: "list[Redirection]",
        ctx: str = TOP,
        shells: "tuple[int, ...]" = (),
        pipe: int = 0,
        prefix: "tuple[str, ...]" = (),
    ) -> None:
        self.words = words
        self.flags = flags
        self.assigns = assigns
        self.redirs = redirs
        self.ctx = ctx
        self.shells = shells
        self.pipe = pipe
        self.prefix = prefix
        self.flow: tuple[tuple[int, int, int], ...] = ()
        self.own = 0
        self.named: tuple[int, ...] = ()


class Function:
    """A function that a text defines: its name, the commands of its body in order, the number of
    the environment they run in (`Command.shells`), and the `last` number of the scan it is from."""

    __slots__ = ("commands", "last", "name", "shell")

    def __init__(self, name: str, commands: "list[Command]", shell: int) -> None:
        self.name = name
        self.commands = commands
        self.shell = shell
        self.last = 0


class Scan:
    """The commands of a text. `partial` is true where something could not be read to its end
    (unclosed quote, stray `)`, a limit reached): what was found until then is kept.

    `last` is the highest number of a pipeline or a substitution; `passed` the substitutions that
    redirections read (`< <(…)`, `<<< "$(…)"`); `functions` the definitions, in order.
    """

    __slots__ = ("commands", "functions", "last", "partial", "passed")

    def __init__(self, commands: "list[Command]", partial: bool, last: int = -1) -> None:
        self.commands = commands
        self.partial = partial
        self.last = max((c.pipe for c in commands), default=0) if last < 0 else last
        self.passed: set[int] = set()
        self.functions: list[Function] = []
