"""Runners: `npx`, `uv run`, `bundle exec`… (§4.5): in the literal key, not in the effective one.

The step answers as those of `wrappers` do.
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.tables_programs import (
    CWD_OPTIONS,
    GLOBAL_VALUES,
    SUBCOMMAND_ALIASES,
    WORKSPACE_OPTIONS,
)
from hmd.kernel.shell.tables_wrappers import PACKAGE_RUNNERS, RUNNERS, words
from hmd.kernel.shell.wrappers import AGAIN, DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.options import Options
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

_CALL = words("-c --call")
_MODULE = words("-m --module")
_EMPTY: "frozenset[str]" = frozenset()


def runner(run: "Run", frame: "Frame", name: str) -> int:
    """Moves the runner's own words aside and goes on with the tool it runs."""
    argv = frame.words
    before = None
    key: tuple[str, ...] = (name,)
    start = 1
    if key not in RUNNERS:
        before = read_options(argv, 1, GLOBAL_VALUES.get(name, _EMPTY))
        start = before.end
        if start >= len(argv):
            return KEEP
        second = SUBCOMMAND_ALIASES.get(name, {}).get(argv[start], argv[start])
        key = (name, second)
        start += 1
        if key not in RUNNERS:
            key = (name, second, *argv[start : start + 1])
            start += 1
            if key not in RUNNERS:
                return KEEP
    values, kind = RUNNERS[key]
    after = read_options(argv, start, words(values))
    call = after.value(_CALL) if name in ("npx", "npm") else None
    if after.end >= len(argv) and not call:
        return KEEP
    for options in (before, after):
        if options is not None:
            change_directory(run, frame, name, options)
    if call:
        run.reparse(call, frame, name)
        return DONE
    _take_tool(frame, key, kind, after)
    return AGAIN


def _take_tool(frame: "Frame", key: "tuple[str, ...]", kind: str, options: "Options") -> None:
    frame.drop(options.end)
    tool = frame.words[0]
    if options.has(_MODULE):
        frame.words = ["python", "-m", *frame.words]
        frame.flags = [0, 0, *frame.flags]
    elif kind == "py" and tool.endswith(".py"):
        frame.words = ["python", *frame.words]
        frame.flags = [0, *frame.flags]
    elif key[0] in PACKAGE_RUNNERS and (kind == "bin" or key[0] != "uv"):
        frame.words = [unversioned(tool), *frame.words[1:]]
    if key[:2] == ("npm", "exec") and frame.words[1:2] == ["--"]:
        frame.words = [frame.words[0], *frame.words[2:]]
        frame.flags = [frame.flags[0], *frame.flags[2:]]
    frame.runner = (*frame.runner, *key)
    frame.place = None


def unversioned(package: str) -> str:
    """`vitest@latest` -> `vitest`, `@scope/x@1` -> `@scope/x`."""
    at = package.rfind("@")
    return package[:at] if at > 0 else package


def change_directory(run: "Run", frame: "Frame", name: str, options: "Options") -> None:
    """Applies the directory and workspace options of a program to its frame."""
    for names, workspace in ((CWD_OPTIONS.get(name), False), (WORKSPACE_OPTIONS.get(name), True)):
        if not names:
            continue
        for option, value in options.found:
            if option in names and value:
                frame.cwd = "@" + value if workspace else run.resolve(frame, value)
