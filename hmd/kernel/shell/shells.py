"""Shells: `bash -c text`, a script, text on standard input, `eval`, inline code (§4.2, §2.5).

The steps answer as those of `wrappers` do. Text that is not known before it runs is reported as
opaque and never guessed.
"""

from hmd.kernel.shell.syntax import DYNAMIC
from hmd.kernel.shell.tables_wrappers import INTERPRETERS
from hmd.kernel.shell.texts import SUBSTITUTION, is_hidden, quote
from hmd.kernel.shell.wrappers import AGAIN, DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

_LONGEST_FILLED_IN = 100_000
_STDIN_FILES = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


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
        return shell_input(run, frame, name)
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
        text = _with_arguments(text, arguments)
    run.reparse(text, frame, name)
    return DONE


def _forwards_arguments(text: str, arguments: "list[str]") -> bool:
    """`sh -c '"$@"' _ git push`: the arguments are the command."""
    return bool(arguments) and any(mark in text for mark in ("$@", "$*", "$0", "$1"))


def _with_arguments(text: str, arguments: "list[tuple[str, int]]") -> str:
    """`text` with its positional parameters filled in (POSIX sh: the first argument is `$0`)."""
    quoted = [quote(word, flag) for word, flag in arguments]
    everything = " ".join(quoted[1:])
    if text.count("$") * (len(everything) + 1) > _LONGEST_FILLED_IN:
        return text
    for mark in ('"$@"', '"${@}"', "$@", "${@}", '"$*"', "$*"):
        text = text.replace(mark, everything)
    for number, word in enumerate(quoted[:10]):
        for mark in (f'"${number}"', f'"${{{number}}}"', f"${number}", f"${{{number}}}"):
            text = text.replace(mark, word)
    return text


def shell_input(run: "Run", frame: "Frame", name: str) -> int:
    """A shell that reads its commands from standard input."""
    text = input_text(frame)
    if text is not None:
        if frame.piped:
            run.emit_code_runner(frame)
        frame.piped, frame.feed = False, None  # what it feeds its own commands is not the text
        run.reparse(text, frame, name)
        return DONE
    if frame.piped or any(redirection.body is not None for redirection in frame.redirs):
        run.opaque = True
        run.emit_code_runner(frame)
        return DONE
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
    first = 0
    while first < len(parts) - 1 and parts[first][0] in ("eval", "--"):
        first += 1  # `eval eval words` is one more reading of the same words
    parts = parts[first:]
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
            return shell_input(run, frame, name)
        if frame.flags[1] & DYNAMIC and frame.words[1][:2] == "<(":
            run.opaque = True
            run.emit_code_runner(frame)
            return DONE
    return KEEP


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
                run.passed.update(frame.named)
            return KEEP
        if word[:1] != "-" or word == "-m":
            if word[:2] == "<(":
                run.opaque = True
                run.passed.update(frame.named)
            return KEEP
    if frame.piped and len(frame.words) == 1:
        run.opaque = True
    return KEEP
