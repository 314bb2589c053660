"""Whether a call is what a signature describes, and why not (specification §5, Match)."""

from hmd.kernel.shell.flow import reaches
from hmd.kernel.shell.reading import Run
from hmd.kernel.shell.signature import Part, Signature, from_plain, parse_signature, to_plain
from hmd.kernel.shell.syntax import DYNAMIC, GLOB
from hmd.kernel.shell.tables_programs import (
    ABBREVIATING_PROGRAMS,
    COMMAND_LONG_TO_LETTER,
    GLOBAL_VALUES,
    GOAL_PROGRAMS,
    LETTER_EXPANSIONS,
    LONG_TO_LETTER,
    SINGLE_DASH_PROGRAMS,
)
from hmd.kernel.shell.tables_wrappers import BOUNDARIES
from hmd.kernel.shell.unit import CODE_RUNNER, Frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.canonical import Form
    from hmd.kernel.shell.unit import Unit

__all__ = [
    "Part",
    "Signature",
    "from_plain",
    "heads",
    "hidden",
    "hidden_heads",
    "matches",
    "parse_signature",
    "to_plain",
    "why_not",
]

_Key = tuple[str, ...]
_EMPTY: "frozenset[str]" = frozenset()


def matches(sig: Signature, form: "Form") -> "Unit | None":
    """The unit of `form` that the (last part of the) signature describes, None if there is none."""
    parts = sig.parts
    if len(parts) != 1:
        return _pipeline(parts, form, hidden=False) if parts else None
    part = parts[0]
    if not _may_match(part, form):
        return None
    for unit in form.units:
        if _is_part(part, unit):
            return unit
    return None


def _may_match(part: Part, form: "Form") -> bool:
    """Whether all words of a part are there at all: most of many rules end here."""
    words = form.words
    return part.words <= words or part.runs_code or (form.folds and part.folded <= words)


def hidden(sig: Signature, form: "Form") -> "Unit | None":
    """The unit that would be what the signature describes if its program word, which is only known
    when it runs, were the signature's: `$GIT push`, `$SUDO git push`, `sudo --new x git push`.

    For `deny` only. A signature of one word is never hidden.
    """
    if not form.hiding or sum(len(part.key) for part in sig.parts) < 2:
        return None
    if len(sig.parts) > 1:
        return _pipeline(sig.parts, form, hidden=True)
    for place, unit in form.hiding:
        if _may_be(sig.parts[0], unit, place, form):
            return unit
    return None


def _pipeline(parts: "list[Part]", form: "Form", hidden: bool) -> "Unit | None":
    """The unit of the last part, where each part is a unit whose output comes to the next one,
    straight or by way of others.

    With `hidden` a part may be a unit whose program is not known, as long as another is known.
    """
    before: list[tuple[Unit, bool]] = []  # what can be the part before, and whether one is known
    for index, part in enumerate(parts):
        found = []
        if _may_match(part, form):
            found = [(unit, True) for unit in form.units if _is_part(part, unit)]
        if hidden:
            known = [unit for unit, _ in found]
            found += [
                (unit, False)
                for place, unit in form.hiding
                if unit not in known and _may_be(part, unit, place, form)
            ]
        if index:
            found = [
                (unit, known or any(sources))
                for unit, known in found
                if (sources := [seen for one, seen in before if reaches(one.flow, unit.flow)])
            ]
        if not found:
            return None
        before = found
    return next((unit for unit, known in before if known), None)


def _may_be(part: Part, unit: "Unit", place: int, form: "Form") -> bool:
    """Whether another reading of the program word of a unit, the one at `place` in its form, makes
    it the part's command."""
    presumed = ""
    if unit.flags[0] & (DYNAMIC | GLOB):
        if part.runs_code and len(unit.argv) == 1:
            return True
        presumed = part.key[0]
    found = form.readings.get((place, presumed))
    if found is None:
        found = form.readings[place, presumed] = _read_otherwise(unit, presumed)
    return any(_is_part(part, other) for other in found)


def _read_otherwise(unit: "Unit", presumed: str) -> "list[Unit]":
    """What a unit runs if its program word is `presumed` ("": it is known), or nothing, or the name
    of a wrapper."""
    readings = []
    if presumed:
        readings.append(([presumed, *unit.argv[1:]], [0, *unit.flags[1:]]))
    if len(unit.argv) > 1:
        readings.append((unit.argv[1:], unit.flags[1:]))
    found: list[Unit] = []
    for argv, flags in readings:
        run = Run(unit.dialect, unit.root, unit.home)
        frame = Frame(argv, flags, unit.cwd, unit.ctx)
        frame.wrap, frame.env, frame.dialect = unit.wrap, unit.env, unit.dialect
        try:
            run.simple(frame)
        except Exception:  # one reading of several; canonical() has said what it could not read
            continue
        found += run.units
    return found


def _is_part(part: Part, unit: "Unit") -> bool:
    if unit.boundary or unit.query != part.query:
        return False
    if not any(key_matches(part, key, unit.fold) for key in unit.keys) and not (
        part.runs_code and (CODE_RUNNER,) in unit.keys
    ):
        return False
    return _requirements(part, unit)


def _requirements(part: Part, unit: "Unit") -> bool:
    if part.cwd and part.cwd != unit.cwd:
        return False
    return all(name in unit.wrap for name in part.wrap) and all(
        name in unit.env for name in part.env
    )


# --- one key ----------------------------------------------------------------------------------


def key_matches(part: Part, key: _Key, fold: bool = False) -> bool:
    """Whether `key` is what `part` describes: its head first, its operands in order, its options
    anywhere. `fold`: compare without case (PowerShell, cmd)."""
    if not _head_matches(part.head, key, fold):
        return False
    if not part.rest and not part.options:
        return True
    operands, options = _split(key, len(part.head), part)
    return not _missing_operand(part, operands, fold) and not _missing_option(
        part, key, options, fold, operands
    )


def _head_matches(head: _Key, key: _Key, fold: bool) -> bool:
    start = key[: len(head)]
    if start == head:
        return True
    return fold and [word.lower() for word in start] == [word.lower() for word in head]


def _split(key: _Key, start: int, part: Part) -> "tuple[list[str], list[str]]":
    """(operands, options) of a key behind its head. The value in `--name=value` is an operand too
    where the signature names that option; goals have no option's value among them."""
    operands: list[str] = []
    options: list[str] = []
    values = GLOBAL_VALUES.get(key[0], _EMPTY) if key[0] in GOAL_PROGRAMS else _EMPTY
    skip = False
    for index in range(start, len(key)):
        token = key[index]
        if skip:
            skip = False
        elif token == "--":
            options.append(token)
            operands += key[index + 1 :]
            break
        elif token[:1] == "-" and len(token) > 1:
            options.append(token)
            skip = token in values
            name, sign, value = token.partition("=")
            if sign and name in part.options:
                operands.append(value)
        else:
            operands.append(token)
    return operands, options


def _missing_operand(part: Part, operands: "list[str]", fold: bool) -> str:
    """The first operand of the signature that does not follow in order, "" when all do."""
    rest = iter([word.lower() for word in operands] if fold else operands)
    for wanted in part.rest:
        target = wanted.lower() if fold else wanted
        if target not in rest:  # consumes up to the hit, which keeps the order
            return wanted
    return ""


def _missing_option(
    part: Part, key: _Key, options: "list[str]", fold: bool, operands: "list[str]"
) -> str:
    """The first option of the signature that the key lacks, "" when it has all."""
    if not part.options:
        return ""
    names = {option.partition("=")[0] for option in options}
    if fold:
        names = {name.partition(":")[0].lower() for name in names}
    command = " ".join(part.head[:2])
    letters = _letters(key[0], command, options)
    for option in part.options:
        if not _has_option(option, key[0], command, names, letters, fold):
            if command == "git push" and option in ("--force", "-f") and _forced_refspec(operands):
                continue
            return option
    return ""


def _forced_refspec(operands: "list[str]") -> bool:
    """`git push origin +main` forces as `--force` does (git-push, refspec)."""
    return any(word[:1] == "+" and len(word) > 1 for word in operands)


def _letters(program: str, command: str, options: "list[str]") -> "set[str]":
    """The one-letter options among `options`: clusters taken apart, long spellings translated."""
    letters: set[str] = set()
    clusters = program not in SINGLE_DASH_PROGRAMS
    for option in options:
        name = option.partition("=")[0]
        if name.startswith("--"):
            letter = _letter_of(program, command, name)
            if letter:
                letters.add(letter)
        elif clusters:
            letters.update(name[1:] if name[1:].isalpha() else name[1:2])
    for letter, several in _expansions(program, command).items():
        if letter in letters:
            letters.update(several)
    return letters


def _expansions(program: str, command: str) -> "dict[str, str]":
    return LETTER_EXPANSIONS.get(command) or LETTER_EXPANSIONS.get(program) or {}


def _letter_of(program: str, command: str, name: str) -> str:
    """The letter a long option stands for, also when it is cut short; "" when there is none."""
    own = COMMAND_LONG_TO_LETTER.get(command) or COMMAND_LONG_TO_LETTER.get(program) or {}
    letter = own.get(name, LONG_TO_LETTER.get(name))
    if letter is None and len(name) > 3 and program in ABBREVIATING_PROGRAMS:
        for long in (*own, *LONG_TO_LETTER):
            if long.startswith(name):
                return own.get(long, LONG_TO_LETTER.get(long, ""))
    return letter or ""


def _has_option(
    option: str,
    program: str,
    command: str,
    names: "set[str]",
    letters: "set[str]",
    fold: bool,
) -> bool:
    name = option.partition("=")[0]
    if fold:
        name = name.lower()
        if any(len(other) > 1 and name.startswith(other) for other in names):
            return True  # PowerShell takes any unambiguous beginning of a parameter
    if name in names:
        return True
    if name.startswith("--"):
        letter = _letter_of(program, command, name)
        if letter and program not in SINGLE_DASH_PROGRAMS and letter in letters:
            return True
        return program in ABBREVIATING_PROGRAMS and any(
            len(other) > 3 and name.startswith(other) for other in names
        )
    if name == "--" or program in SINGLE_DASH_PROGRAMS:
        return False
    wanted = _letters(program, command, [name]) - _expansions(program, command).keys()
    return bool(wanted) and name[1:].isalpha() and wanted <= letters


# --- explanations and index heads ---------------------------------------------------------------


def why_not(sig: Signature, form: "Form") -> str:
    """One line on what keeps the signature from matching, "" when it matches."""
    if sig.problem:
        return sig.problem
    if matches(sig, form) is not None:
        return ""
    if len(sig.parts) > 1:
        for part in sig.parts:
            if not any(_is_part(part, unit) for unit in form.units):
                return _why_no_part(part, form)
        return f"no single pipeline runs {sig.literal}"
    return _why_no_part(sig.parts[0], form)


def _why_no_part(part: Part, form: "Form") -> str:
    closest, line = 0, f"no unit runs {' '.join(part.head)}"
    for unit in form.units:
        for key in unit.keys:
            rank, reason = _reason(part, unit, key)
            if rank > closest:
                closest, line = rank, reason
    return line


def _reason(part: Part, unit: "Unit", key: _Key) -> "tuple[int, str]":
    """(how close the unit is, what is missing); 0 when it is another command altogether."""
    if not _head_matches(part.head, key, unit.fold):
        return 0, ""
    operands, options = _split(key, len(part.head), part)
    operand = _missing_operand(part, operands, unit.fold)
    if operand:
        return 1, f"word {operand} missing"
    option = _missing_option(part, key, options, unit.fold, operands)
    if option:
        return 2, f"option {option} missing"
    if unit.boundary:
        return 3, f"inside {_boundary_of(unit)}"
    if unit.query != part.query:
        return (
            4,
            f"only asks about {unit.argv[-1] if unit.program != part.key[0] else unit.program}",
        )
    for name in part.wrap:
        if name not in unit.wrap:
            return 5, f"not under {name}"
    for name in part.env:
        if name not in unit.env:
            return 6, f"{name} is not set before it"
    return 7, f"runs in {unit.cwd}, not in {part.cwd}"


def _boundary_of(unit: "Unit") -> str:
    for name in unit.wrap:
        if tuple(name.split()) in BOUNDARIES:
            return name
    return "a container or another machine"


def heads(form: "Form") -> "list[str]":
    """Every bucket (`Signature.head`) a signature that matches `form` can be filed under."""
    found: dict[str, None] = {}
    for unit in form.units:
        for key in unit.keys:
            first = key[0].lower()
            found[first] = None
            if len(key) > 1:
                found[f"{first} {key[1].lower()}"] = None
    return list(found)


def hidden_heads(form: "Form") -> "list[str]":
    """Every bucket (`Signature.hidden_head`) a signature hidden in `form` can be filed under: any
    word after a dynamic program, "-" for an option, "|" for a pipeline."""
    found: dict[str, None] = {}
    for unit in form.units:
        if unit.dynamic and not unit.boundary:
            for word in unit.argv[1:]:
                found["-" if word[:1] == "-" else word.lower()] = None
            if unit.flow:
                found["|"] = None
    return list(found)
