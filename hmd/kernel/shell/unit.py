"""One command that would run, as rules, pairing and scope matching see it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.flow import Flow
    from hmd.kernel.shell.syntax import Redirection

SHELLC, XARGS, BOUNDARY = "shellc", "xargs", "boundary"
UNKNOWN_CWD = "?"

# The family under which a command is filed that runs whatever text it is fed: `… | sh`.
CODE_RUNNER = "|sh"


class Unit:
    """A simple command of a call, its wrappers removed.

    `argv`, `flags`  the words and, for each, DYNAMIC | QUOTED | GLOB (`syntax`).
    `keys`     canonical token lists; the first is the literal key, then the effective key and the
               families (`pm`, `pypm`, `bin`).
    `program`  the name that runs; `token` what pairs a failure with its resolution ("" = none).
    `wrap`     names of the wrappers removed; `env` names of prefix assignments, never values.
    `cwd`      directory in force: relative to the repository, absolute outside it, "@W" for a
               workspace known by name only, "?" unknown.
    `ctx`      top, subshell, subst, procsub, function, shellc, xargs or boundary.
    `boundary` it runs in a container or on another machine.
    `query`    it asks about the program (`command -v git`, `git push --help`) and runs nothing.
    `dynamic`  which program runs is not known before it does.
    `pipe`     number of its pipeline, unique in the form; `flow` what it reads and what reads it,
               also through compound commands and substitutions (`flow`).
    `fold`     names and options compare without case (PowerShell, cmd).
    `root`, `home`, `dialect`  what paths are made relative to and how they are written.
    """

    __slots__ = (
        "_paths",
        "argv",
        "boundary",
        "ctx",
        "cwd",
        "dialect",
        "dynamic",
        "env",
        "flags",
        "flow",
        "fold",
        "home",
        "keys",
        "pipe",
        "program",
        "query",
        "redirs",
        "root",
        "token",
        "wrap",
    )

    def __init__(self, argv: "list[str]", flags: "list[int]") -> None:
        self.argv = argv
        self.flags = flags
        self.keys: list[tuple[str, ...]] = []
        self.program = ""
        self.token = ""
        self.wrap: tuple[str, ...] = ()
        self.env: tuple[str, ...] = ()
        self.cwd = "."
        self.ctx = "top"
        self.boundary = False
        self.query = False
        self.redirs: list[Redirection] = []
        self.dynamic = False
        self.pipe = 0
        self.flow: Flow = ()
        self.fold = False
        self.root = ""
        self.home = ""
        self.dialect = "posix"
        self._paths: list[str] | None = None

    @property
    def paths(self) -> "list[str]":
        """Its path tokens (§7), worked out when first asked for: most calls are never scoped."""
        if self._paths is None:
            from hmd.kernel.shell.paths import path_tokens

            self._paths = path_tokens(self)
        return self._paths

    def __repr__(self) -> str:
        marks = "".join(
            f" {name}" for name in ("boundary", "query", "dynamic") if getattr(self, name)
        )
        return f"<{' '.join(self.keys[0] if self.keys else self.argv)} @{self.cwd}{marks}>"


class Place:
    """The working directory of one shell environment, and what `popd` returns to."""

    __slots__ = ("cwd", "stack")

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.stack: list[str] = []


class Frame:
    """A command on its way to becoming a unit: what has been peeled off it so far.

    `values`     prefix assignments and their text.
    `runner`     runner words kept for the literal key.
    `piped`      something feeds its standard input; `feed` is that text where it is known.
    `named`      numbers of the substitutions in its words.
    `place`      the directory a `cd` would change; None in a process of its own.
    `uncertain`  a wrapper's option was not known, so the program may stand further right.
    """

    __slots__ = (
        "boundary",
        "ctx",
        "cwd",
        "dialect",
        "env",
        "feed",
        "flags",
        "flow",
        "named",
        "pipe",
        "piped",
        "place",
        "redirs",
        "runner",
        "uncertain",
        "values",
        "words",
        "wrap",
    )

    def __init__(self, words: "list[str]", flags: "list[int]", cwd: str, ctx: str) -> None:
        self.words = words
        self.flags = flags
        self.cwd = cwd
        self.ctx = ctx
        self.dialect = "posix"
        self.wrap: tuple[str, ...] = ()
        self.env: tuple[str, ...] = ()
        self.values: dict[str, str] = {}
        self.boundary = False
        self.redirs: list[Redirection] = []
        self.pipe = 0
        self.flow: Flow = ()
        self.named: tuple[int, ...] = ()
        self.piped = False
        self.feed: str | None = None
        self.runner: tuple[str, ...] = ()
        self.place: Place | None = None
        self.uncertain = False

    def pairs(self, start: int) -> "list[tuple[str, int]]":
        """(word, flags) from `start` on."""
        return list(zip(self.words[start:], self.flags[start:], strict=True))

    def inner(self, words: "list[str]", flags: "list[int]", wrap: str) -> "Frame":
        """A command that this one starts, in the same place, under one more wrapper."""
        frame = Frame(words, flags, self.cwd, self.ctx)
        frame.dialect = self.dialect
        frame.wrap = (*self.wrap, wrap)
        frame.env = self.env
        frame.values = self.values
        frame.boundary = self.boundary
        frame.pipe, frame.flow, frame.named = self.pipe, self.flow, self.named
        return frame

    def drop(self, count: int) -> None:
        """Removes the first `count` words."""
        self.words = self.words[count:]
        self.flags = self.flags[count:]
