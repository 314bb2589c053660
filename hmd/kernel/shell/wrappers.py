"""Peels transparent wrappers off a command (specification §4.1).

A step gets the command as a `Frame` and answers DONE (its units are listed), AGAIN (the frame now
holds the inner command) or KEEP (it is no wrapper here; the command itself is the unit).
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.syntax import DYNAMIC
from hmd.kernel.shell.tables_wrappers import (
    NEUTRAL_WRAPPERS,
    VERSIONED_PAIRS,
    WRAPPER_PAIRS,
    WRAPPERS,
    words,
)
from hmd.kernel.shell.texts import quote
from hmd.kernel.shell.unit import XARGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.options import Options
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

KEEP, AGAIN, DONE = 0, 1, 2

_COMMAND_QUERIES = words("-v -V")
_SPLIT_STRING = words("-S --split-string")
_REPLACE = words("-I -i --replace -J")
PAIR_HEADS = frozenset(pair[0] for pair in WRAPPER_PAIRS)


def transparent(run: "Run", frame: "Frame", name: str) -> int:
    """`sudo -u x command`, `timeout 5 command`, `xargs command`…"""
    spec = WRAPPERS[name]
    argv = frame.words
    if name == "command" and any(word in _COMMAND_QUERIES for word in argv[1:2]):
        return KEEP
    if name == "env" and _env_string(run, frame):
        return DONE
    options = read_options(argv, 1, spec.values, spec.flags, spec.assigns)
    start = options.end + spec.skip
    if start >= len(argv) or options.has(spec.idle):
        return KEEP
    if spec.cwd:
        target = options.value(spec.cwd)
        if target is not None:
            frame.cwd = run.resolve(frame, target)
    _take_assignments(frame, options)
    if name in ("xargs", "entr"):
        frame.ctx = XARGS
        if name == "xargs":
            _xargs(frame, options, start)
    elif options.unknown:
        frame.uncertain = True
    frame.drop(start)
    frame.wrap = (*frame.wrap, name)
    if name not in NEUTRAL_WRAPPERS:
        frame.place = None  # a `cd` behind it changes no directory here
    return AGAIN


def _take_assignments(frame: "Frame", options: "Options") -> None:
    if options.assigns:
        pairs = [word.partition("=")[::2] for word in options.assigns]
        frame.env = (*frame.env, *(name for name, _ in pairs))
        frame.values = {**frame.values, **dict(pairs)}


def _env_string(run: "Run", frame: "Frame") -> bool:
    """`env -S 'A=1 command'` splits the string and goes on with the words after it."""
    spec = WRAPPERS["env"]
    argv = frame.words
    options = read_options(argv, 1, spec.values | _SPLIT_STRING, spec.flags, assigns=True)
    text = options.value(_SPLIT_STRING)
    if text is None:
        return False
    target = options.value(spec.cwd)
    if target is not None:
        frame.cwd = run.resolve(frame, target)
    _take_assignments(frame, options)
    rest = [quote(word, flag) for word, flag in frame.pairs(options.end)]
    run.reparse(" ".join([text, *rest]), frame, "env")
    return True


def _xargs(frame: "Frame", options: "Options", start: int) -> None:
    """The operands that standard input supplies are not known: words that hold them are dynamic.

    Without a replacement string they follow the given words; text that is known is appended.
    """
    mark = None
    for option, value in options.found:
        if option in _REPLACE:
            mark = value or "{}"
    if mark is not None:
        for index in range(start, len(frame.words)):
            if mark in frame.words[index]:
                frame.flags[index] |= DYNAMIC
    elif frame.feed is not None:
        added = frame.feed.split()[:64]
        frame.words = frame.words + added
        frame.flags = frame.flags + [0] * len(added)
    frame.piped = False
    frame.feed = None


def pair(run: "Run", frame: "Frame", name: str) -> int:
    """Wrappers of two words: `mise exec node@20 -- command`."""
    argv = frame.words
    if len(argv) < 3:
        return KEEP
    second = 1
    while second < len(argv) - 1 and argv[second].startswith("-") and argv[second] != "--host":
        second += 1
    entry = WRAPPER_PAIRS.get((name, argv[second]))
    if entry is None:
        return KEEP
    values, skip = entry
    options = read_options(argv, second + 1, words(values))
    start = options.end + skip
    if (name, argv[second]) in VERSIONED_PAIRS:
        while start < len(argv) and "@" in argv[start][1:]:
            start += 1
    if argv[start : start + 1] == ["--"]:
        start += 1
    if start >= len(argv):
        return KEEP
    target = options.value(frozenset(("-C", "--cd", "--cwd", "--working-directory")))
    if target is not None and "-C" in values:
        frame.cwd = run.resolve(frame, target)
    frame.wrap = (*frame.wrap, f"{name} {argv[second]}")
    frame.place = None
    frame.drop(start)
    return AGAIN
