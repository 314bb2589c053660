"""Tools that are handed command lines as text: `su -c`, `watch`, `trap`, `tmux`… (§4.2).

The steps answer as those of `wrappers` do.
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.shells import shell_input
from hmd.kernel.shell.tables_wrappers import words
from hmd.kernel.shell.texts import is_hidden
from hmd.kernel.shell.wrappers import AGAIN, DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame


def user_shell(run: "Run", frame: "Frame", name: str) -> int:
    """`su [user] -c text`, `runuser -u user command`."""
    argv = frame.words
    for index, word in enumerate(argv[1:], 1):
        if word in ("-c", "--command", "--session-command") or (
            word[0:1] == "-" and word[1:2] != "-" and word.endswith("c")
        ):
            return _text_at(run, frame, index + 1, name)
        if word.startswith("--command="):
            run.reparse(word.partition("=")[2], frame, name)
            return DONE
    if name == "runuser" and "-u" in argv[1:]:
        options = read_options(argv, 1, words("-u --user -g --group -G --supp-group"))
        if options.end < len(argv):
            frame.drop(options.end)
            frame.wrap = (*frame.wrap, name)
            return AGAIN
    return shell_input(run, frame, name) if frame.feed or frame.redirs else KEEP


def _text_at(run: "Run", frame: "Frame", index: int, wrap: str) -> int:
    """The word at `index` is shell text."""
    if index >= len(frame.words):
        return KEEP
    text = frame.words[index]
    if is_hidden(text, frame.flags[index]):
        run.opaque = True
        return KEEP
    run.reparse(text, frame, wrap)
    return DONE


def script(run: "Run", frame: "Frame", name: str) -> int:
    """`script -c text file` (util-linux), `script file command` (BSD)."""
    values = words("-c --command -E --echo -I --log-in -O --log-out -B --log-io -m -o -T -t")
    options = read_options(frame.words, 1, values)
    text = options.value(words("-c --command"))
    if text is not None:
        run.reparse(text, frame, name)
        return DONE
    if options.end + 1 >= len(frame.words):
        return KEEP
    frame.drop(options.end + 1)
    frame.wrap = (*frame.wrap, name)
    return AGAIN


def watch(run: "Run", frame: "Frame", name: str) -> int:
    """`watch -n 5 words…` hands the joined words to a shell."""
    options = read_options(frame.words, 1, words("-n --interval -q --equexit -s --shotsdir"))
    rest = frame.words[options.end :]
    if not rest:
        return KEEP
    run.reparse(" ".join(rest), frame, name)
    return DONE


def flock(run: "Run", frame: "Frame", name: str) -> int:
    """`flock file command`, `flock file -c text`."""
    options = read_options(frame.words, 1, words("-w --wait --timeout -E --conflict-exit-code"))
    rest = frame.words[options.end + 1 :]
    if not rest:
        return KEEP
    if rest[0] in ("-c", "--command"):
        return _text_at(run, frame, options.end + 2, name)
    frame.drop(options.end + 1)
    frame.wrap = (*frame.wrap, name)
    return AGAIN


def group_shell(run: "Run", frame: "Frame", name: str) -> int:
    """`sg group -c text`, `sg group text`."""
    rest = [index for index, word in enumerate(frame.words) if index and word not in ("-", "-c")]
    return _text_at(run, frame, rest[1], name) if len(rest) > 1 else KEEP


def nix(run: "Run", frame: "Frame", name: str) -> int:
    """`nix-shell --run text`, `nix develop -c command`, `nix shell pkg --command command`."""
    argv = frame.words
    for index, word in enumerate(argv[1:], 1):
        if word == "--run" or (word == "--command" and name == "nix-shell"):
            return _text_at(run, frame, index + 1, name)
        if word in ("-c", "--command") and name == "nix" and index + 1 < len(argv):
            frame.drop(index + 1)
            frame.wrap = (*frame.wrap, name)
            return AGAIN
    return KEEP


def trap(run: "Run", frame: "Frame", name: str) -> int:
    """`trap text SIGNAL…`: the text runs later, in this shell."""
    rest = 2 if frame.words[1:2] == ["--"] else 1
    if len(frame.words) < rest + 2 or frame.words[rest] in ("", "-", "-l", "-p"):
        return KEEP
    return _text_at(run, frame, rest, name)


# Tools whose operands, or the values of some options, are each a command line of its own.
_LINE_OPERANDS = {
    "hyperfine": words(
        "-w --warmup -m --min-runs -M --max-runs -r --runs -n --command-name -N -S"
        " --shell -i --export-json --export-markdown --export-csv -L -P -D -s"
    ),
    "concurrently": words("-n --names -c --prefix-colors -p --prefix -m --max-processes -l -t -s"),
}
_LINE_OPTIONS = {
    "hyperfine": words("-p --prepare -c --cleanup -C --conclude --setup"),
    "nodemon": words("-x --exec"),
    "chokidar": words("-c --command"),
}


def lines(run: "Run", frame: "Frame", name: str) -> int:
    """`hyperfine 'command' 'command'`, `concurrently "command"…`, `nodemon --exec 'command'`."""
    commands = _LINE_OPTIONS.get(name, frozenset())
    values = _LINE_OPERANDS.get(name, frozenset())
    options = read_options(frame.words, 1, values | commands)
    texts = [value for option, value in options.found if option in commands]
    if name in _LINE_OPERANDS:
        texts += frame.words[options.end :]
    if not texts:
        return KEEP
    run.emit(frame)
    for text in texts[:16]:
        run.reparse(text, frame, name)
    return DONE


_TMUX_STARTS = words(
    "new-session new new-window neww split-window splitw respawn-pane respawn-window respawnp"
    " respawnw run-shell run popup display-popup"
)
_TMUX_VALUES = words("-c -e -F -f -n -s -t -x -y -l -p -b -d -h -w")
_TMUX_FLAGS_WITH_D = words("new-session new new-window neww split-window splitw")


def tmux(run: "Run", frame: "Frame", name: str) -> int:
    """`tmux new -d 'text'` starts it; `tmux send-keys 'text' Enter` types it at a prompt."""
    argv = frame.words
    start = read_options(argv, 1, words("-L -S -c -f -T")).end
    if start >= len(argv):
        return KEEP
    verb = argv[start]
    values = _TMUX_VALUES - words("-d -h -b") if verb in _TMUX_FLAGS_WITH_D else _TMUX_VALUES
    rest = argv[read_options(argv, start + 1, values).end :]
    if verb in ("send-keys", "send"):
        if not rest or rest[-1] not in ("Enter", "C-m", "C-j", "KPEnter"):
            return KEEP
        rest = [word for word in rest if word not in ("Enter", "C-m", "C-j", "KPEnter")]
    elif verb not in _TMUX_STARTS:
        return KEEP
    if not rest:
        return KEEP
    run.emit(frame)
    run.reparse(" ".join(rest), frame, name)
    return DONE
