"""The reading of one call: from the commands a scanner found to the units that would run."""

from hmd.kernel.shell.braces import expand_braces
from hmd.kernel.shell.definitions import Definitions
from hmd.kernel.shell.feeding import Feeding, passes_on
from hmd.kernel.shell.flow import shifted
from hmd.kernel.shell.keys import command_keys, level_of
from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.paths import join
from hmd.kernel.shell.program import FILE, program_name
from hmd.kernel.shell.runners import change_directory
from hmd.kernel.shell.steps import STEPS
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, PROCSUB, QUOTED, SUBST, TOP
from hmd.kernel.shell.tables_programs import (
    CWD_OPTIONS,
    GLOBAL_VALUES,
    POWERSHELL_ALIASES,
    QUERY_PROGRAMS,
    WORKSPACE_OPTIONS,
)
from hmd.kernel.shell.tables_wrappers import words
from hmd.kernel.shell.texts import SUBSTITUTION, has_known_base, known_output, scan_text
from hmd.kernel.shell.tokens import token_of
from hmd.kernel.shell.unit import CODE_RUNNER, UNKNOWN_CWD, Frame, Place, Unit
from hmd.kernel.shell.wrappers import AGAIN, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.syntax import Command, Function

MAX_UNITS = 256
MAX_DEPTH = 8
MAX_WRAPPERS = 24
MAX_INNER_TEXT = 131_072  # characters, over all the texts inside a call
MAX_EXPANDED = 512

_CD = words("cd pushd chdir set-location sl push-location")
_POP = words("popd pop-location")
_SHOW_ROOT = ["git", "rev-parse", "--show-toplevel"]
# They take their directory option behind the subcommand too.
_OPTIONS_ANYWHERE = ("npm", "make")
_OPTION_HELP = ("--help", "--version")


class Run:
    """One reading of a call: its units so far and what the steps share."""

    __slots__ = (
        "definitions",
        "depth",
        "dialect",
        "git_aliases",
        "home",
        "inner_text",
        "last_output",
        "last_pipe",
        "last_words",
        "next_pipe",
        "opaque",
        "partial",
        "passed",
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
        self.inner_text = 0
        self.next_pipe = 1
        self.git_aliases: dict[str, str] = {}
        self.definitions = Definitions()
        self.passed: set[int] = set()  # substitutions whose output goes on
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
        self.inner_text += len(text)
        if self.depth >= MAX_DEPTH or self.inner_text > MAX_INNER_TEXT:
            self.partial = self.opaque = True
            self.emit(frame)
            return
        outer = frame.inner([], [], wrap) if wrap else frame
        if outer is frame and frame.runner:
            outer = frame.inner([], [], "")
            outer.wrap = frame.wrap
        outer.piped, outer.feed = frame.piped, frame.feed
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
        self.passed.update(number + self.next_pipe for number in scan.passed)
        defined: dict[int, list[Function]] = {}
        for function in scan.functions:
            defined.setdefault(id(function.commands[0]), []).append(function)
        self._list(scan.commands, scan.last, dialect, outer, place or Place(outer.cwd), defined)

    def _list(
        self,
        commands: "list[Command]",
        last: int,
        dialect: str,
        outer: Frame,
        place: Place,
        defined: "dict[int, list[Function]]",
    ) -> None:
        """Lists the units of commands that `outer` starts; `last` is the highest number in them.
        `defined`: functions, by the first command of their body."""
        places: dict[tuple[int, ...], Place] = {(): place}
        one_pipeline = outer.pipe and len({command.pipe for command in commands}) == 1
        base = self.next_pipe
        self.next_pipe += last + 1
        feeding = Feeding(commands, dialect)
        for command in commands:
            if not command.words:
                continue
            for function in defined.get(id(command), ()) if defined else ():
                self.definitions.functions[function.name] = function
            frame = Frame(command.words, command.flags, "", outer.ctx)
            if command.ctx != TOP or outer.ctx == TOP:
                frame.ctx = command.ctx
            frame.place = _place(places, command)
            frame.cwd = frame.place.cwd
            frame.dialect = dialect
            frame.pipe = outer.pipe if one_pipeline else base + command.pipe
            self._inherit(frame, command, outer)
            frame.piped, frame.feed = feeding.of(command) or (outer.piped, outer.feed)
            frame.flow = outer.flow
            if command.flow:
                frame.flow += shifted(command.flow, base)
                frame.named = tuple(number + base for number in command.named)
            self.simple(frame)
            if command.ctx in (SUBST, PROCSUB):
                self.last_words = command.words
                self.last_pipe = frame.pipe
                self.last_output = known_output(command)

    def _follow(self, frame: Frame) -> None:
        """Lists what a call of a function or an alias runs that the same text defines."""
        definitions = self.definitions
        words = frame.pairs(0)
        name = frame.words[0]
        function = definitions.called(words)
        text = "" if function else definitions.expansion(words)
        if function is None and not text:
            return
        if self.depth >= MAX_DEPTH:
            self.partial = True
            return
        definitions.calling.add(name)
        place = frame.place or Place(frame.cwd)
        if function is not None:
            outer = frame.inner([], [], "")
            outer.wrap, outer.piped, outer.feed = frame.wrap, frame.piped, frame.feed
            self.inner_text += sum(len(word) for one in function.commands for word in one.words)
            if self.inner_text > MAX_INNER_TEXT:
                self.partial = True
            else:
                self.depth += 1
                self._list(function.commands, function.last, frame.dialect, outer, place, {})
                self.depth -= 1
        else:
            self.reparse(text, frame, "", ctx=frame.ctx, place=place)
        definitions.calling.discard(name)

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
        if frame.words and self.definitions.known:
            self._follow(frame)
        for _ in range(MAX_WRAPPERS):
            if not frame.words:
                return
            word = frame.words[0]
            if frame.flags[0] & (DYNAMIC | GLOB) and not has_known_base(word):
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
        dynamic = bool(frame.flags[0] & (DYNAMIC | GLOB)) and not has_known_base(frame.words[0])
        if dynamic:
            unit.keys = [(*frame.runner, *frame.words)]
            unit.program = frame.words[0]
            if all(flag & DYNAMIC for flag in frame.flags):
                self.opaque = True
        else:
            self._name(unit, frame)
        unit.dynamic = dynamic or frame.uncertain
        unit.wrap, unit.env, unit.ctx, unit.cwd = frame.wrap, frame.env, frame.ctx, frame.cwd
        unit.boundary, unit.redirs, unit.pipe = frame.boundary, frame.redirs, frame.pipe
        unit.flow = frame.flow
        if unit.program == "alias" and frame.dialect == "posix":
            self.definitions.alias(frame.pairs(1))
        if frame.named and passes_on(unit.program, frame.pairs(1)):
            self.passed.update(frame.named)
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
        if frame.dialect == "powershell" and program in POWERSHELL_ALIASES:
            unit.keys.append((POWERSHELL_ALIASES[program], *argv[1:]))
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
            elif program in _OPTIONS_ANYWHERE:
                while options.end < len(argv) and argv[options.end - 1] != "--":
                    options = read_options(argv, options.end + 1, GLOBAL_VALUES[program])
                    change_directory(self, frame, program, options)

    def emit_code_runner(self, frame: Frame) -> None:
        """Lists a command that runs text from a pipe or a substitution, and files it as that."""
        self.passed.update(frame.named)
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
        whole = flag & QUOTED or "{" not in word or len(new_words) > MAX_EXPANDED
        parts = [word] if whole else expand_braces(word)
        new_words += parts
        new_flags += [flag] * len(parts)
    frame.words, frame.flags = new_words, new_flags


def _asks_for_help(argv: "list[str]", key: "tuple[str, ...]") -> bool:
    """`git push --help`: the option stands right behind the words that name the operation."""
    if key[0] == "git" and (argv[1:2] in (["--help"], ["-h"]) or argv[2:] == ["-h"]):
        return True  # git --help and a lone -h print usage
    for option in _OPTION_HELP:
        if option in argv:
            place = argv.index(option)
            level = level_of(key[0], key[1] if len(key) > 1 else "")
            if place == len(argv) - 1 and place <= level:
                return all(word[:1] != "-" for word in argv[1:place])
    return False
