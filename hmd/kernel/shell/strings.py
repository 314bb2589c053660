"""Commands that are handed as text: `bash -c S`, `eval S`, `su -c S`, `trap S SIG`… (§4.2).

The steps answer as those of `wrappers` do. Text that is not known before it runs is reported as
opaque and never guessed.
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.syntax import DYNAMIC
from hmd.kernel.shell.tables_wrappers import INTERPRETERS, words
from hmd.kernel.shell.wrappers import AGAIN, DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.canonical import Run
    from hmd.kernel.shell.unit import Frame

SUBSTITUTION = "$(…)"
_STDIN_FILES = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def is_hidden(word: str, flag: int) -> bool:
    """Whether the whole word is one or more expansions, so that nothing of its text is known."""
    if not flag & DYNAMIC or word[:1] not in "$`<":
        return False
    bare = word.replace(SUBSTITUTION, "$_")
    return not any(mark in bare for mark in " \t\n;&|")


def shell(run: "Run", frame: "Frame", name: str) -> int:
    """`bash [options] -c text [name args]`, `bash [options] script`, `bash` on standard input."""
    argv = frame.words
    index, has_text, from_input = 1, False, False
    while index < len(argv):
        word = argv[index]
        if word == "--":
            index += 1
            break
        if word[:1] not in "-+" or len(word) < 2:
            break
        if word.startswith("--"):
            index += word in ("--rcfile", "--init-file")
        else:
            has_text = has_text or (word[0] == "-" and "c" in word)
            from_input = from_input or (word[0] == "-" and "s" in word)
            index += word[-1] in "oO"  # `-o pipefail`, also at the end of a cluster
        index += 1
    if has_text:
        return _shell_text(run, frame, name, index)
    if from_input or index >= len(argv) or argv[index] in _STDIN_FILES:
        return _shell_input(run, frame, name)
    if frame.flags[index] & DYNAMIC and argv[index][:2] in ("<(", "$("):
        run.opaque = True
        run.emit_code_runner(frame)
        return DONE
    script = argv[index] if "/" in argv[index] else "./" + argv[index]
    frame.drop(index)
    frame.words = [script, *frame.words[1:]]
    return AGAIN


def _shell_text(run: "Run", frame: "Frame", name: str, index: int) -> int:
    argv = frame.words
    if index >= len(argv):
        return KEEP
    text, flag = argv[index], frame.flags[index]
    if is_hidden(text, flag) and not _forwards_arguments(text, argv[index + 1 :]):
        known = run.last_output if SUBSTITUTION in text else None
        if known is None:
            run.opaque = True
            run.emit_code_runner(frame)
            return DONE
        text = known
    arguments = frame.pairs(index + 1)
    if arguments and "$" in text:
        text = _with_arguments(run, text, arguments)
    run.reparse(text, frame, name)
    return DONE


def _forwards_arguments(text: str, arguments: "list[str]") -> bool:
    """`sh -c '"$@"' _ git push`: the arguments are the command."""
    return bool(arguments) and any(mark in text for mark in ("$@", "$*", "$0", "$1"))


def _with_arguments(run: "Run", text: str, arguments: "list[tuple[str, int]]") -> str:
    """`text` with its positional parameters filled in (POSIX sh: the first argument is `$0`)."""
    quoted = [run.quote(word, flag) for word, flag in arguments]
    everything = " ".join(quoted[1:])
    for mark in ('"$@"', '"${@}"', "$@", "${@}", '"$*"', "$*"):
        text = text.replace(mark, everything)
    for number, word in enumerate(quoted[:10]):
        for mark in (f'"${number}"', f'"${{{number}}}"', f"${number}", f"${{{number}}}"):
            text = text.replace(mark, word)
    return text


def _shell_input(run: "Run", frame: "Frame", name: str) -> int:
    """A shell that reads its commands from standard input."""
    text = input_text(frame)
    if text is not None:
        if frame.piped:
            run.emit_code_runner(frame)
        run.reparse(text, frame, name)
        return DONE
    if frame.piped:
        run.opaque = True
        run.emit_code_runner(frame)
        return DONE
    if any(redirection.body is not None for redirection in frame.redirs):
        run.opaque = True
    return KEEP


def input_text(frame: "Frame") -> "str | None":
    """The text on a command's standard input where it is known: here-document, here-string, or
    what an `echo` or `cat` before it in the pipeline prints."""
    for redirection in reversed(frame.redirs):
        if redirection.body is not None:
            if redirection.op == "<<<" and is_hidden(redirection.body, redirection.flags):
                return None
            return redirection.body
    return frame.feed


def evaluate(run: "Run", frame: "Frame", name: str) -> int:
    """`eval words…` joins them with blanks and reads the result in this very shell."""
    if len(frame.words) < 2:
        return KEEP
    parts = frame.pairs(1)
    if any(word == "--" for word, _ in parts[:1]):
        parts = parts[1:]
    if parts and all(is_hidden(word, flag) for word, flag in parts):
        known = run.last_output if len(parts) == 1 and SUBSTITUTION in parts[0][0] else None
        if known is None:
            run.opaque = True
            run.emit_code_runner(frame)
            return DONE
        parts = [(known, 0)]
    run.reparse(" ".join(word for word, _ in parts), frame, "", place=frame.place)
    return DONE


def source(run: "Run", frame: "Frame", name: str) -> int:
    """`. file`; `source <(command)` and `. /dev/stdin` read what is not a file of anyone's."""
    if len(frame.words) > 1:
        if frame.words[1] in _STDIN_FILES:
            return _shell_input(run, frame, name)
        if frame.flags[1] & DYNAMIC and frame.words[1][:2] == "<(":
            run.opaque = True
            run.emit_code_runner(frame)
            return DONE
    return KEEP


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
    return _shell_input(run, frame, name) if frame.feed or frame.redirs else KEEP


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


def powershell(run: "Run", frame: "Frame", name: str) -> int:
    """`pwsh -Command text`, `-File script`, `-EncodedCommand …` (about_pwsh; names may be cut)."""
    argv, index = frame.words, 1
    while index < len(argv):
        option = argv[index].lower()
        if option[:1] not in "-/" or len(option) < 2:
            break
        option = option.lstrip("-/")
        if "command".startswith(option) or option == "commandwithargs":
            return _powershell_text(run, frame, index + 1, name)
        if "file".startswith(option):
            if index + 1 < len(argv):
                frame.drop(index + 1)
                frame.dialect = "powershell"
                return AGAIN
            return KEEP
        if option == "ec" or "encodedcommand".startswith(option):
            run.opaque = run.partial = True
            return KEEP
        index += 2 if option in _POWERSHELL_VALUES else 1
    if index < len(argv):
        return _powershell_text(run, frame, index, name)
    return _powershell_input(run, frame)


def _powershell_text(run: "Run", frame: "Frame", index: int, name: str) -> int:
    parts = frame.pairs(index)
    if not parts:
        return KEEP
    if parts[0][0] == "-" or all(is_hidden(word, flag) for word, flag in parts):
        run.opaque = True
        return KEEP
    run.reparse(" ".join(word for word, _ in parts), frame, name, dialect="powershell")
    return DONE


def _powershell_input(run: "Run", frame: "Frame") -> int:
    if frame.piped:
        run.opaque = True
        run.emit_code_runner(frame)
        return DONE
    return KEEP


_POWERSHELL_VALUES = words(
    "ex exec executionpolicy ep w windowstyle o of outputformat if inputformat v version config"
    " configurationname configurationfile psconsolefile settingsfile wd workingdirectory"
    " custompipename"
)


def cmd(run: "Run", frame: "Frame", name: str) -> int:
    """`cmd /c text`."""
    for index, word in enumerate(frame.words[1:], 1):
        lower = word.lower()
        if lower[:2] in ("/c", "/k", "/r"):
            rest = [word[2:]] * (len(word) > 2) + frame.words[index + 1 :]
            if not rest:
                return KEEP
            run.reparse(" ".join(rest), frame, name, dialect="cmd")
            return DONE
        if not lower.startswith("/"):
            break
    return KEEP


def cmd_start(run: "Run", frame: "Frame", name: str) -> int:
    """`call command`, `start "title" /wait command` of cmd."""
    if frame.dialect != "cmd":
        return KEEP
    index = 1
    argv = frame.words
    while index < len(argv) and (
        argv[index].startswith("/")
        or (name == "start" and index == 1 and " " in argv[1] + " " and not argv[1])
    ):
        index += 1
    if index >= len(argv):
        return KEEP
    frame.drop(index)
    frame.wrap = (*frame.wrap, name)
    return AGAIN


def invoke_expression(run: "Run", frame: "Frame", name: str) -> int:
    """`Invoke-Expression text`."""
    parts = [pair for pair in frame.pairs(1) if pair[0].lower() not in ("-command", "-c")]
    if not parts or all(is_hidden(word, flag) for word, flag in parts):
        run.opaque = True
        run.emit_code_runner(frame)
        return DONE
    run.reparse(" ".join(word for word, _ in parts), frame, "", dialect="powershell")
    return DONE


def inline_code(run: "Run", frame: "Frame", name: str) -> int:
    """`python -c code`: what it runs is not read, so the form is not complete."""
    options = INTERPRETERS[name]
    for index, word in enumerate(frame.words[1:8], 1):
        if word in options or (word[:1] == "-" and word[1:2] != "-" and "-" + word[-1] in options):
            run.partial = True
            if index + 1 < len(frame.words) and is_hidden(
                frame.words[index + 1], frame.flags[index + 1]
            ):
                run.opaque = True
            return KEEP
        if word[:1] != "-" or word == "-m":
            return KEEP
    if frame.piped and len(frame.words) == 1:
        run.opaque = True
    return KEEP
