"""Commands that run elsewhere: containers, other machines, other roots (specification §4.4).

The outer command stays a unit; what runs inside is listed too, marked, so that only a signature
that asks for it matches. The step answers as those of `wrappers` do.
"""

from hmd.kernel.shell.options import Options, read_options
from hmd.kernel.shell.shells import input_text
from hmd.kernel.shell.tables_programs import GLOBAL_VALUES, NESTED_VALUES
from hmd.kernel.shell.tables_wrappers import (
    BOUNDARIES,
    BOUNDARY_COMMAND_OPTIONS,
    BOUNDARY_JOINED,
    words,
)
from hmd.kernel.shell.unit import BOUNDARY, UNKNOWN_CWD
from hmd.kernel.shell.wrappers import DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame, Unit

_EMPTY: "frozenset[str]" = frozenset()
# Their own options may follow the target, up to `--`.
_INTERSPERSED = ("kubectl", "oc")


def boundary(run: "Run", frame: "Frame", name: str) -> int:
    """Lists the outer command, then what it runs on the other side."""
    key, start = _find(frame.words, name)
    if not key:
        return KEEP
    outer = run.emit(frame)
    if outer is None:
        return DONE
    first = len(run.units)
    values, skip = BOUNDARIES[key]
    options = read_options(frame.words, start, words(values))
    _enter(run, frame, key, options, options.end + skip)
    target = frame.words[options.end : options.end + skip]
    _also_named_by_inner(outer, key, target, run.units[first : first + 4])
    return DONE


def _find(argv: "list[str]", name: str) -> "tuple[tuple[str, ...], int]":
    """The boundary these words open, and where its options start; () when they open none."""
    if (name,) in BOUNDARIES:
        return (name,), 1
    end = read_options(argv, 1, GLOBAL_VALUES.get(name, _EMPTY)).end
    key = (name, *argv[end : end + 1])
    if key in BOUNDARIES:
        return key, end + 1
    nested = read_options(argv, end + 1, NESTED_VALUES.get(" ".join(key), _EMPTY)).end
    key = (*key, *argv[nested : nested + 1])
    return (key, nested + 1) if key in BOUNDARIES else ((), 0)


def _enter(
    run: "Run", frame: "Frame", key: "tuple[str, ...]", options: Options, start: int
) -> None:
    inner = frame.inner([], [], " ".join(key))
    inner.ctx, inner.cwd, inner.boundary, inner.env = BOUNDARY, UNKNOWN_CWD, True, ()
    inner.redirs, inner.feed, inner.piped = frame.redirs, frame.feed, frame.piped
    command = options.value(BOUNDARY_COMMAND_OPTIONS.get(key, _EMPTY))
    if command:
        run.reparse(command, inner, "")
        return
    if key == ("wsl",) and start > 1 and frame.words[start - 1] in ("-e", "--exec"):
        pass
    elif frame.words[start : start + 1] == ["--"]:
        start += 1
    elif key[0] in _INTERSPERSED and "--" in frame.words[start:]:
        start = frame.words.index("--", start) + 1
    rest = frame.words[start:]
    if not rest:
        text = input_text(frame) if key[0] in BOUNDARY_JOINED else None
        if text is not None:
            run.reparse(text, inner, "")
        return
    if rest[0].startswith("-"):
        return  # arguments of the image's own entry point
    if key[0] in BOUNDARY_JOINED or (len(rest) == 1 and " " in rest[0]):
        run.reparse(" ".join(rest), inner, "")
        return
    inner.words, inner.flags = rest, frame.flags[start:]
    run.simple(inner)


def _also_named_by_inner(
    outer: "Unit", key: "tuple[str, ...]", target: "list[str]", inside: "list[Unit]"
) -> None:
    """Lets `docker compose exec web npm test` be written however the inner command is wrapped."""
    for unit in inside:
        if not unit.query and unit.keys:
            named = (*key, *target, *unit.keys[0])
            if named not in outer.keys:
                outer.keys.append(named)
