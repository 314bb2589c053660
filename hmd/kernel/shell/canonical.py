"""The canonical form of a call: every command it would run, named so that rules can match it.

`canonical` is the definition of "the same command" for learning, matching and pairing; what is
peeled off and how is in `wrappers`, `strings`, `fanout`, `runners`, `boundary` and `git`, the keys
are in `keys`.
"""

from hmd.kernel.shell.boundary import boundary
from hmd.kernel.shell.braces import expand_braces
from hmd.kernel.shell.fanout import fd, find, parallel
from hmd.kernel.shell.git import git
from hmd.kernel.shell.keys import command_keys, level_of
from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.paths import join
from hmd.kernel.shell.posix import scan as scan_posix
from hmd.kernel.shell.program import FILE, program_name
from hmd.kernel.shell.runners import change_directory, runner
from hmd.kernel.shell.strings import (
    SUBSTITUTION,
    cmd,
    cmd_start,
    evaluate,
    flock,
    group_shell,
    inline_code,
    invoke_expression,
    lines,
    nix,
    powershell,
    script,
    shell,
    source,
    tmux,
    trap,
    user_shell,
    watch,
)
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, PROCSUB, QUOTED, SUBST, TOP
from hmd.kernel.shell.tables_programs import (
    CWD_OPTIONS,
    GLOBAL_VALUES,
    QUERY_PROGRAMS,
    WORKSPACE_OPTIONS,
)
from hmd.kernel.shell.tables_wrappers import (
    BOUNDARY_HEADS,
    INTERPRETERS,
    POWERSHELLS,
    RUNNER_HEADS,
    SHELLS,
    WRAPPERS,
    words,
)
from hmd.kernel.shell.tokens import token_of
from hmd.kernel.shell.unit import UNKNOWN_CWD, Frame, Place, Unit
from hmd.kernel.shell.wrappers import AGAIN, KEEP, PAIR_HEADS, pair, transparent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hmd.kernel.shell.syntax import Command, Scan

    Step = Callable[["Run", Frame, str], int]

MAX_UNITS = 256
MAX_DEPTH = 8
MAX_WRAPPERS = 24

# The family under which a command is filed that runs whatever text it is fed: `… | sh`.
CODE_RUNNER = "|sh"

_CD = words("cd pushd chdir set-location sl push-location")
_POP = words("popd pop-location")
_SHOW_ROOT = ["git", "rev-parse", "--show-toplevel"]
_OPTION_HELP = ("--help", "--version")


class Form:
    """`units` in evaluation order; `partial`: something could not be read to its end; `opaque`:
    something runs whose text is wholly hidden (`bash -c "$X"`, `curl … | sh`)."""

    __slots__ = ("opaque", "partial", "units")

    def __init__(self, units: "list[Unit]", partial: bool, opaque: bool) -> None:
        self.units = units
        self.partial = partial
        self.opaque = opaque


def canonical(
    text: str, dialect: str = "posix", cwd: str = ".", root: str = "", home: str = ""
) -> Form:
    """The canonical form of `text`; never raises.

    `dialect` posix, powershell or cmd; `cwd` the directory in force, relative to the repository;
    `root` and `home` absolute directories, "" when unknown. At most 256 units, 8 texts inside one
    another, 24 wrappers around one command; beyond that the form is partial.
    """
    run = Run(dialect, root, home)
    try:
        run.read(text, dialect, Frame([], [], join(cwd or ".", ".", root, home), TOP), None)
    except Exception:
        run.partial = True
    return Form(run.units, run.partial, run.opaque)


class Run:
    """One reading of a call: its units so far and what the steps share."""

    __slots__ = (
        "depth",
        "dialect",
        "git_aliases",
        "home",
        "last_output",
        "last_pipe",
        "last_words",
        "next_pipe",
        "opaque",
        "partial",
        "root",
        "units",
    )

    def __init__(self, dialect: str, root: str, home: str) -> None:
        self.dialect = dialect
        self.root = root
        self.home = home
        self.units: list[Unit] = []
        self.partial = False
        self.opaque = False
        self.depth = 0
        self.next_pipe = 1
        self.git_aliases: dict[str, str] = {}
        # Of the last command substitution: its words, its pipeline, and what it prints if known.
        self.last_words: list[str] = []
        self.last_pipe = 0
        self.last_output: str | None = None

    # --- texts ------------------------------------------------------------------------------

    def reparse(
        self,
        text: str,
        frame: Frame,
        wrap: str,
        ctx: str = "shellc",
        dialect: str = "",
        place: "Place | None" = None,
    ) -> None:
        """Reads `text` as commands that `frame` starts, under one more wrapper (none if "")."""
        if self.depth >= MAX_DEPTH:
            self.partial = True
            return
        outer = frame.inner([], [], wrap) if wrap else frame
        if outer is frame and frame.runner:
            outer = frame.inner([], [], "")
            outer.wrap = frame.wrap
        outer_ctx, outer.ctx = outer.ctx, ctx
        self.depth += 1
        self.read(
            text.replace(SUBSTITUTION, "$__"), dialect or self._inner_dialect(frame), outer, place
        )
        self.depth -= 1
        outer.ctx = outer_ctx

    def _inner_dialect(self, frame: Frame) -> str:
        return frame.dialect if frame.dialect != "cmd" else "posix"

    def read(self, text: str, dialect: str, outer: Frame, place: "Place | None") -> None:
        """Scans `text` and lists the units of its commands. `place` is the directory that its
        top-level `cd` changes, a fresh one when None."""
        scan = scan_text(text, dialect)
        if scan.partial:
            self.partial = True
        places: dict[tuple[int, ...], Place] = {(): place or Place(outer.cwd)}
        commands = scan.commands
        numbers = {command.pipe for command in commands}
        one_pipeline = len(numbers) == 1 and outer.pipe
        base = self.next_pipe
        self.next_pipe += max(numbers, default=0) + 1
        before: dict[int, Command] = {}
        for command in commands:
            if not command.words:
                continue
            frame = Frame(command.words, command.flags, "", outer.ctx)
            if command.ctx != TOP or outer.ctx == TOP:
                frame.ctx = command.ctx
            frame.place = _place(places, command)
            frame.cwd = frame.place.cwd
            frame.dialect = dialect
            frame.pipe = outer.pipe if one_pipeline else base + command.pipe
            self._inherit(frame, command, outer)
            previous = before.get(command.pipe)
            if previous is not None:
                frame.piped = True
                frame.feed = known_output(previous)
            elif outer.piped and one_pipeline:
                frame.piped, frame.feed = True, outer.feed
            before[command.pipe] = command
            self.simple(frame)
            if command.ctx in (SUBST, PROCSUB):
                self.last_words = command.words
                self.last_pipe = frame.pipe
                self.last_output = known_output(command)

    def _inherit(self, frame: Frame, command: "Command", outer: Frame) -> None:
        frame.boundary = outer.boundary
        frame.redirs = command.redirs
        frame.wrap = (*outer.wrap, *command.prefix) if command.prefix else outer.wrap
        frame.env = outer.env
        frame.values = outer.values
        if command.assigns:
            frame.env = (*outer.env, *(name for name, _ in command.assigns))
            frame.values = {**outer.values, **dict(command.assigns)}

    # --- one command --------------------------------------------------------------------------

    def simple(self, frame: Frame) -> None:
        """Peels a command and lists its unit and what it runs."""
        if len(self.units) >= MAX_UNITS:
            self.partial = True
            return
        _expand(frame)
        for _ in range(MAX_WRAPPERS):
            if not frame.words:
                return
            word = frame.words[0]
            if frame.flags[0] & (DYNAMIC | GLOB) and not _known_base(word):
                break
            name = program_name(word, frame.cwd, frame.dialect != "posix")[0]
            if name == "docker-compose":
                frame.words = ["docker", "compose", *frame.words[1:]]
                frame.flags = [0, 0, *frame.flags[1:]]
                name = "docker"
            elif name in _CD or name in _POP:
                self._change_directory(frame, name)
                break
            step = STEPS.get(name)
            outcome = KEEP if step is None else step(self, frame, name)
            if outcome == KEEP:
                break
            if outcome != AGAIN:
                return
            if len(self.units) >= MAX_UNITS:
                self.partial = True
                return
        else:
            self.partial = True
        self.emit(frame)

    def emit(self, frame: Frame) -> "Unit | None":
        """Lists `frame` as it stands as a unit; None when there are too many."""
        if len(self.units) >= MAX_UNITS or not frame.words:
            self.partial = True
            return None
        unit = Unit(frame.words, frame.flags)
        unit.fold = frame.dialect != "posix"
        dynamic = bool(frame.flags[0] & (DYNAMIC | GLOB)) and not _known_base(frame.words[0])
        if dynamic:
            unit.keys = [(*frame.runner, *frame.words)]
            unit.program = frame.words[0]
            if len(frame.words) == 1 or all(flag & DYNAMIC for flag in frame.flags):
                self.opaque = True
        else:
            self._name(unit, frame)
        unit.dynamic = dynamic or frame.uncertain
        unit.wrap, unit.env, unit.ctx, unit.cwd = frame.wrap, frame.env, frame.ctx, frame.cwd
        unit.boundary, unit.redirs, unit.pipe = frame.boundary, frame.redirs, frame.pipe
        unit.root, unit.home, unit.dialect = self.root, self.home, frame.dialect
        self.units.append(unit)
        return unit

    def _name(self, unit: Unit, frame: Frame) -> None:
        """Fills in program, keys, token, query and the directory options of the command."""
        argv = frame.words
        program, via = program_name(argv[0], frame.cwd, unit.fold)
        if program in CWD_OPTIONS or program in WORKSPACE_OPTIONS:
            self._own_directory(frame, program)
        unit.keys = command_keys(program, via, argv, frame.runner)
        unit.program = program
        unit.token = token_of(unit.keys)
        if program in QUERY_PROGRAMS or program == "command":
            unit.query = True
        elif via != FILE:
            unit.query = _asks_for_help(argv, unit.keys[0])

    def _own_directory(self, frame: Frame, program: str) -> None:
        """`git -C dir`, `npm -w workspace`: where the command itself goes."""
        argv = frame.words
        if len(argv) > 2 or any("=" in word for word in argv[1:]):
            options = read_options(argv, 1, GLOBAL_VALUES.get(program, frozenset()))
            change_directory(self, frame, program, options)
            if program == "yarn" and argv[options.end : options.end + 1] == ["workspace"]:
                frame.cwd = "@" + "".join(argv[options.end + 1 : options.end + 2])
            elif program == "make" or argv[options.end : options.end + 1] == ["run"]:
                rest = read_options(argv, options.end + 1, GLOBAL_VALUES[program])
                change_directory(self, frame, program, rest)

    def emit_code_runner(self, frame: Frame) -> None:
        """Lists a command that runs text from a pipe or a substitution, and files it as that."""
        if not frame.piped and SUBSTITUTION[1:] in "".join(frame.words):
            frame.pipe = self.last_pipe or frame.pipe
        unit = self.emit(frame)
        if unit is not None:
            unit.keys.append((CODE_RUNNER,))

    # --- what the steps ask for ---------------------------------------------------------------

    def resolve(self, frame: Frame, target: str) -> str:
        """The directory `target` names from where `frame` runs."""
        if target.startswith(SUBSTITUTION) and self.last_words == _SHOW_ROOT:
            return join(".", "./" + target[len(SUBSTITUTION) :], self.root, self.home)
        return join(frame.cwd, target, self.root, self.home)

    def _change_directory(self, frame: Frame, name: str) -> None:
        place = frame.place
        if place is None:
            return
        if name in _POP:
            place.cwd = place.stack.pop() if place.stack else UNKNOWN_CWD
            return
        operands = [
            word
            for word in frame.words[1:]
            if word == "-" or (word[:1] != "-" and word.lower() != "/d")
        ]
        if name in ("pushd", "push-location"):
            place.stack.append(place.cwd)
            if not operands:
                place.cwd = UNKNOWN_CWD
                return
        place.cwd = self.resolve(frame, operands[0] if operands else "~")

    def quote(self, word: str, flag: int) -> str:
        """`word` as text that reads back as that word; expansions stay expansions."""
        if flag & DYNAMIC:
            return word
        if word.isalnum():
            return word
        return "'" + word.replace("'", "'\\''") + "'"

    def split(self, text: str) -> "list[str]":
        """The words of `text` after quote removal, as far as its first command."""
        commands = scan_posix(text).commands
        return list(commands[0].words) if commands else []


def scan_text(text: str, dialect: str) -> "Scan":
    """The commands of `text` by the scanner of its dialect."""
    if dialect == "powershell":
        from hmd.kernel.shell.powershell import scan as scan_powershell

        return scan_powershell(text)
    if dialect == "cmd":
        from hmd.kernel.shell.cmd import scan as scan_cmd

        return scan_cmd(text)
    return scan_posix(text)


def known_output(command: "Command") -> "str | None":
    """What a command prints where its words say so: `echo text`, `printf text`, `cat <<E`."""
    words_ = command.words
    if not words_:
        return None
    name = words_[0].rpartition("/")[2]
    if name == "cat" and len(words_) == 1:
        for redirection in reversed(command.redirs):
            if redirection.body is not None:
                return redirection.body
        return None
    if name not in ("echo", "printf") or any(flag & DYNAMIC for flag in command.flags):
        return None
    rest = words_[1:]
    while rest and rest[0] in ("-n", "-e", "-E", "-ne", "-en", "--"):
        rest = rest[1:]
    if name == "printf" and rest and "%" in rest[0]:
        return "\n".join(rest[1:]) if rest[0] in ("%s", "%s\\n", "%s\n", "%b") else None
    return " ".join(rest).replace("\\n", "\n")


def _place(places: "dict[tuple[int, ...], Place]", command: "Command") -> Place:
    """The directory of the environment a command runs in: a subshell starts where its parent is."""
    shells = command.shells
    found = places.get(shells)
    if found is None:
        parent = shells
        while parent not in places:
            parent = parent[:-1]
        found = places[shells] = Place(places[parent].cwd)
    return found


def _expand(frame: Frame) -> None:
    """Expands the brace lists of unquoted words."""
    if frame.dialect != "posix" or not any("{" in word and "," in word for word in frame.words):
        return
    new_words: list[str] = []
    new_flags: list[int] = []
    for word, flag in frame.pairs(0):
        parts = [word] if flag & QUOTED or "{" not in word else expand_braces(word)
        new_words += parts
        new_flags += [flag] * len(parts)
    frame.words, frame.flags = new_words, new_flags


def _known_base(word: str) -> bool:
    """`$HOME/bin/git`: the program's name is known though its directory is not."""
    base = word.rpartition("/")[2]
    return base != word and base != "" and not any(mark in base for mark in "$`*?[{}()…")


def _asks_for_help(argv: "list[str]", key: "tuple[str, ...]") -> bool:
    """`git push --help`: the option stands right behind the words that name the operation."""
    for option in _OPTION_HELP:
        if option in argv:
            place = argv.index(option)
            level = level_of(key[0], key[1] if len(key) > 1 else "")
            if place == len(argv) - 1 and place <= level:
                return all(word[:1] != "-" for word in argv[1:place])
    return False


STEPS: "dict[str, Step]" = {
    **dict.fromkeys(INTERPRETERS, inline_code),
    **dict.fromkeys(WRAPPERS, transparent),
    **dict.fromkeys(PAIR_HEADS, pair),
    **dict.fromkeys(BOUNDARY_HEADS, boundary),
    **dict.fromkeys(RUNNER_HEADS, runner),
    **dict.fromkeys(SHELLS, shell),
    **dict.fromkeys(POWERSHELLS, powershell),
    **dict.fromkeys(("hyperfine", "concurrently", "nodemon", "chokidar"), lines),
    **dict.fromkeys((".", "source"), source),
    **dict.fromkeys(("su", "runuser"), user_shell),
    **dict.fromkeys(("nix", "nix-shell"), nix),
    **dict.fromkeys(("call", "start"), cmd_start),
    **dict.fromkeys(("invoke-expression", "iex"), invoke_expression),
    **dict.fromkeys(("fd", "fdfind"), fd),
    **dict.fromkeys(("find", "bfs"), find),
    "cmd": cmd,
    "eval": evaluate,
    "flock": flock,
    "git": git,
    "parallel": parallel,
    "script": script,
    "sg": group_shell,
    "tmux": tmux,
    "trap": trap,
    "watch": watch,
}
