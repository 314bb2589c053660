"""PowerShell and cmd as programs, and the commands of theirs that run text (§4.2).

The steps answer as those of `wrappers` do.
"""

from hmd.kernel.shell.tables_wrappers import words
from hmd.kernel.shell.texts import is_hidden
from hmd.kernel.shell.wrappers import AGAIN, DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

_POWERSHELL_VALUES = words(
    "ex exec executionpolicy ep w windowstyle o of outputformat if inputformat v version config"
    " configurationname configurationfile psconsolefile settingsfile wd workingdirectory"
    " custompipename"
)


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
