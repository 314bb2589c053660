"""Commands that run another one per file or argument (specification §4.3).

The steps answer as those of `wrappers` do.
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.syntax import DYNAMIC
from hmd.kernel.shell.tables_wrappers import SHELLS, words
from hmd.kernel.shell.unit import XARGS
from hmd.kernel.shell.wrappers import DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

_FIND_ACTIONS = words("-exec -execdir -ok -okdir")
_FD_ACTIONS = words("-x --exec -X --exec-batch")
_PARALLEL_VALUES = words(
    "-j --jobs -P --max-procs -I -n --max-args -N --max-replace-args -L -l --colsep -C -a"
    " --arg-file --delay --timeout --joblog --results --tmpdir --tmux --retries --halt"
    " -S --sshlogin --workdir --wd -d --delimiter --load --memfree --nice --env --tagstring --block"
)
_PARALLEL_SOURCES = (":::", "::::", ":::+", "::::+")


def find(run: "Run", frame: "Frame", name: str) -> int:
    """`find … -exec command {} ;` is the search and the command."""
    run.emit(frame)
    argv = frame.words
    index = 1
    while index < len(argv):
        if argv[index] in _FIND_ACTIONS:
            end = index + 1
            while end < len(argv) and argv[end] != ";" and argv[end - 1 : end + 1] != ["{}", "+"]:
                end += 1
            _each(run, frame, index + 1, end, "find")
            index = end
        index += 1
    return DONE


def fd(run: "Run", frame: "Frame", name: str) -> int:
    """`fd pattern -x command`."""
    for index, word in enumerate(frame.words):
        if word in _FD_ACTIONS:
            inner = frame.inner(frame.words, frame.flags, "")
            inner.wrap = frame.wrap
            inner.words, inner.flags = frame.words[:index], frame.flags[:index]
            run.emit(inner)
            _each(run, frame, index + 1, len(frame.words), "fd")
            return DONE
    return KEEP


def _each(run: "Run", frame: "Frame", start: int, end: int, wrap: str) -> None:
    """The words from `start` to `end` are a command in which `{}` stands for a file."""
    if start >= end:
        return
    flags = [
        flag | DYNAMIC if word in ("{}", "{/}", "{.}", "{//}", "{/.}") else flag
        for word, flag in frame.pairs(0)[start:end]
    ]
    inner = frame.inner(frame.words[start:end], flags, wrap)
    inner.ctx = XARGS
    run.simple(inner)


def parallel(run: "Run", frame: "Frame", name: str) -> int:
    """`parallel command ::: values`, `parallel ::: 'command' 'command'`."""
    argv = frame.words
    start = read_options(argv, 1, _PARALLEL_VALUES).end
    end = start
    while end < len(argv) and argv[end] not in _PARALLEL_SOURCES:
        end += 1
    if start < end:
        _template(run, frame, start, end)
        return DONE
    if end < len(argv) and argv[end] == ":::":
        for text in argv[end + 1 : end + 17]:
            run.reparse(text, frame, "parallel", ctx=XARGS)
        return DONE
    if frame.feed is not None:
        for line in frame.feed.splitlines()[:16]:
            run.reparse(line, frame, "parallel", ctx=XARGS)
        return DONE
    run.opaque = run.opaque or frame.piped
    return KEEP


def _template(run: "Run", frame: "Frame", start: int, end: int) -> None:
    """The command of `parallel`: joined with blanks and read by a shell, so that quotes are lost,
    except that a shell's own `-c text` is one operand in practice."""
    words_given = frame.words[start:end]
    if words_given[0] in SHELLS:
        _each(run, frame, start, end, "parallel")
        return
    run.reparse(" ".join(words_given), frame, "parallel", ctx=XARGS)
