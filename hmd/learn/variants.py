"""Whether a command that worked is a variant of one that failed: the same thing, spelled so that it
works. Most commands that follow a failure are not; each rule here keeps out a kind of those.
"""

from functools import lru_cache
from posixpath import basename

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.canonical import Form, canonical
from hmd.kernel.shell.tables_programs import FILTERS
from hmd.kernel.shell.unit import Unit
from hmd.kernel.subject import unit_key
from hmd.learn.calls import Call
from hmd.learn.failures import blames_command

# Commands that change nothing that a later command could succeed by.
LOOKING_PROGRAMS = FILTERS | frozenset(
    "ls cat head tail grep egrep rg find pwd which type stat file wc tree less more du df ps env"
    " printenv date whoami echo printf true false test [ id uname jq diff cd pushd popd sed awk"
    " sleep wait history man help tldr hexdump xxd md5sum sha256sum realpath readlink".split()
)
LOOKING_GIT = frozenset(
    "status log diff show branch blame remote rev-parse ls-files describe shortlog".split()
)
# Words that make a failure go away instead of doing the thing right. Never offered as a fix.
_EVADING_WORDS = frozenset("-f --hard --insecure --exit-zero --passWithNoTests true".split())
_EVADING_STARTS = tuple(
    "--force --no- --skip --ignore --allow --disable --break- --without --dangerously"
    " --legacy-".split()
)
_EVADING_ENV = compile_pattern(
    r"SKIP|HUSKY|IGNORE|DISABLE|NO_VERIFY|FORCE|INSECURE|REJECT|UPDATE|SNAPSHOT|BLESS|QUICK"
)
_EVADING_WRAPPERS = frozenset(["sudo", "doas", "su", "pkexec", "runas"])

# The status of the whole says nothing about a part: `a; b`, `a || b`, `a &`.
_UNSURE = r";|\|\||\n|(?<![&>])&(?![&>])"
_WANTS_MORE = (
    r"requires?|required|missing|upstream|must (?:be|specify|provide)|no configured|usage:"
)
_IGNORE_CASE = 2


class Variant:
    """A unit that failed (`key`: literal key with directory) and what worked in its place."""

    __slots__ = ("fix", "fix_key", "key")

    def __init__(self, key: str, fix: str, fix_key: str) -> None:
        self.key = key
        self.fix = fix
        self.fix_key = fix_key


def full_key(unit: Unit) -> str:
    """The literal key with directory and the names of the variables set for it alone."""
    return " ".join([*(name + "=" for name in sorted(unit.env)), unit_key(unit)])


def failed_key(call: Call) -> str:
    """The full key of the part of a failed call that most likely failed: its last command."""
    units = [unit for unit in form_of(call).units if _usable(unit)]
    return full_key(units[-1]) if units else call.input


def form_of(call: Call) -> Form:
    """The canonical form of a shell call; the ledger holds no directory, so the root is assumed."""
    return _form(call.input, call.dialect or "posix", call.root)


@lru_cache(maxsize=512)
def _form(text: str, dialect: str, root: str) -> Form:
    return canonical(text, dialect, ".", root, "")


def changes_something(call: Call) -> bool:
    """Whether a later success could be owed to this call instead of to another spelling."""
    if call.tool != "bash":
        return not call.looks and call.tool != "fetch"
    return any(not _looks(unit) for unit in form_of(call).units)


def variant(failed: Call, worked: Call, clean: bool) -> Variant | None:
    """The variant by which `worked` did what `failed` could not, None where it is something else.

    `clean`: nothing between the two changed anything. A failure that does not blame the command
    (a red test) needs that, and the same operands.
    """
    before, after = form_of(failed), form_of(worked)
    blames = blames_command(failed.error)
    for old in reversed(_may_have_failed(failed, before)):
        for new in reversed(_surely_worked(worked, after)):
            others = [unit for unit in after.units if unit is not new and not _looks(unit)]
            undisturbed = clean and not any(not _in(unit, before) for unit in others)
            if _is_variant(old, new, failed.error, blames, undisturbed):
                return Variant(unit_key(old), _shown(worked, new), full_key(new))
    return None


def _looks(unit: Unit) -> bool:
    if unit.query or unit.program in LOOKING_PROGRAMS:
        return True
    words = [word for word in unit.keys[0] if word[:1] != "-"]
    return unit.program == "git" and len(words) > 1 and words[1] in LOOKING_GIT


def _usable(unit: Unit) -> bool:
    return not (unit.boundary or unit.dynamic or _looks(unit))


def _in(unit: Unit, form: Form) -> bool:
    return any(one.keys[0] == unit.keys[0] for one in form.units)


def _ends_pipeline(unit: Unit, form: Form) -> bool:
    """Only the last command of a pipeline gives it its status (POSIX 2.9.2)."""
    return [one for one in form.units if one.pipe == unit.pipe][-1] is unit


def _may_have_failed(call: Call, form: Form) -> list[Unit]:
    return [unit for unit in form.units if _usable(unit) and _ends_pipeline(unit, form)]


def _surely_worked(call: Call, form: Form) -> list[Unit]:
    unsure = compile_pattern(_UNSURE).search(call.input) is not None
    units = form.units[-1:] if unsure and "||" not in call.input else form.units
    if unsure and "||" in call.input:
        return []
    return [unit for unit in units if _usable(unit) and _ends_pipeline(unit, form)]


def _is_variant(old: Unit, new: Unit, error: str, blames: bool, clean: bool) -> bool:
    if _evades(old, new):
        return False
    if old.keys[0] == new.keys[0]:
        if old.cwd == new.cwd:
            return clean and set(new.env) > set(old.env)
        return blames and _is_nested(old.cwd, new.cwd)
    was, now = _effective(old), _effective(new)
    if old.token and old.token == new.token:
        if was == now or _family(old) & _family(new):
            return blames or clean
        return blames and _repairs(was, now, error)
    return blames and _is_typo(was, now, len(old.token.split()) or 1, error)


def _is_nested(one: str, other: str) -> bool:
    """Whether one directory lies in the other; a sibling is another target."""
    if "?" in (one, other):
        return False
    outer, inner = sorted((one, other), key=lambda cwd: 0 if cwd == "." else len(cwd))
    return outer == "." or inner.startswith(outer + "/")


def _effective(unit: Unit) -> tuple[str, ...]:
    """The words without what launches them: `npx jest a` and `jest a` are `jest a`."""
    plain = [key for key in unit.keys if key[0] not in ("pm", "pypm", "bin")]
    return plain[-1]


def _family(unit: Unit) -> set[tuple[str, ...]]:
    return {key for key in unit.keys if key[0] in ("pm", "pypm", "bin")}


def _evades(old: Unit, new: Unit) -> bool:
    added = set(new.argv) - set(old.argv)
    if any(word in _EVADING_WORDS or word.startswith(_EVADING_STARTS) for word in added):
        return True
    if _EVADING_WRAPPERS & (set(new.wrap) - set(old.wrap)):
        return True
    return any(_EVADING_ENV.search(name) for name in set(new.env) - set(old.env))


def _repairs(was: tuple[str, ...], now: tuple[str, ...], error: str) -> bool:
    """The words that went were named by the failure, and what came takes their place or was asked
    for; another target is another command."""
    gone = [word for word in was if word not in now]
    come = [word for word in now if word not in was]
    if not all(_is_named(word, error) for word in gone):
        return False
    operands_gone = [word for word in gone if word[:1] != "-"]
    operands_come = [word for word in come if word[:1] != "-"]
    if not gone:
        return compile_pattern(_WANTS_MORE, _IGNORE_CASE).search(error) is not None
    if not operands_gone:
        return not operands_come
    if len(operands_gone) != len(operands_come):
        return False
    pairs = zip(operands_gone, operands_come, strict=True)
    return all(basename(old) == basename(new) or _is_close(old, new) for old, new in pairs)


def _is_typo(was: tuple[str, ...], now: tuple[str, ...], named: int, error: str) -> bool:
    """One leading word differs, by little, and the failure names it."""
    if len(was) != len(now):
        return False
    differing = [place for place in range(len(was)) if was[place] != now[place]]
    if len(differing) != 1 or differing[0] > named:
        return False
    old, new = was[differing[0]], now[differing[0]]
    return _is_named(old, error) and _is_close(old, new)


def _is_named(word: str, error: str) -> bool:
    bare = word.partition("=")[0]
    return bool(bare) and (bare in error or bare.lstrip("-") in error.split())


def _is_close(old: str, new: str) -> bool:
    """Whether one is a misspelling of the other: at most two edits (a swap of neighbours is one),
    not merely another number or last letter."""
    if min(len(old), len(new)) < 3 or old[:-1] == new[:-1] or old.strip("0123456789") == "":
        return False
    if compile_pattern(r"\d+").sub("#", old) == compile_pattern(r"\d+").sub("#", new):
        return False
    short = max(len(old), len(new)) < 5 and sorted(old) != sorted(new)
    return _distance(old, new) <= (1 if short else 2)


def _distance(old: str, new: str) -> int:
    """Optimal string alignment distance; words here are short."""
    if abs(len(old) - len(new)) > 2 or len(old) > 40:
        return 99
    before: list[int] = []
    row = list(range(len(new) + 1))
    for i, left in enumerate(old, 1):
        older, before, row = before, row, [i]
        for j, right in enumerate(new, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (left != right))
            if i > 1 and j > 1 and left == new[j - 2] and old[i - 2] == right:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]


def _shown(call: Call, unit: Unit) -> str:
    text = " ".join(call.input.split())
    return text if len(text) <= 200 else unit_key(unit)
