"""What a failure says: its signature, by which it is recognised again, and whether it blames the
command as it was written.

Kernel rules hold here (cheap standard library only), so that a hook could compute a signature.
"""

from hmd.kernel.pattern import compile_pattern

SIGNATURE_LIMIT = 200
_IGNORE_CASE = 2
_LOOK_AT = 4000
_LINES = 60

# Lines that come before what went wrong.
_PREFACE = (
    r"^(?:Exit code \d+|Traceback \(most recent|> .*|\$ .*|npm (?:ERR!|error) (?:code|errno)\b.*)"
)
_TELLING = (
    r"error|fail|fatal|not found|no such|cannot|can't|could not|unknown|unrecogni[sz]ed|invalid"
    r"|missing|denied|refused|rejected|undefined|usage|panicked|exception|unexpected|오류|실패|없"
)
# Masks, in this order: times, hexadecimal names, paths, numbers.
_TIME = r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?)?|\b\d\d?:\d\d(?::\d\d)?\b"
_TIME += r"|\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds|minutes|m)\b"
_HEX = r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"
_PATH = r"(?:[A-Za-z]:)?(?:~|\.{1,2})?(?:[\\/][\w.@+-]+)+[\\/]?|\b[\w.@+-]+(?:[\\/][\w.@+-]+)+"
_NUMBER = r"\d+"

# The command itself was wrong: what it names does not exist, or it is not written this way. A test
# that is red, a lint finding or a rejected push are none of these.
_USAGE = (
    r"command not found|not recognized as|is not recogni[sz]ed|(?:unknown|unrecogni[sz]ed|invalid"
    r"|unsupported|illegal|no such)\s+(?:sub-?command|command|option|flag|argument|switch|script"
    r"|target|task)|unrecogni[sz]ed arguments|unexpected argument|is not a \w+ command"
    r"|missing script|script not found|no rule to make target|did not match any file"
    r"|no such file or directory|cannot find (?:the )?(?:file|path)|can't open file"
    r"|^usage:|\btry '[^']+ --help'|(?:missing|requires?)\s+(?:an?\s+|the\s+)?(?:required\s+)?"
    r"(?:argument|operand|option|value)|following arguments are required|has no upstream branch"
    r"|no configured push destination|command \S+ not found|could not (?:find|read) package\.json"
    r"|enoent[^\n]*package\.json|no package\.json|unknown command|permission denied"
)
# Programs whose exit status 1 is an answer and no failure (POSIX grep, diff, cmp, test; which).
_ANSWERS = frozenset(
    "grep egrep fgrep rg ag ack zgrep diff cmp colordiff test [ [[ pgrep which type command false"
    " comm ls".split()
)


def signature(error: str) -> str:
    """The first line that says what went wrong, with times, numbers, paths and hexadecimal names
    masked: two runs of one mistake have one signature. "" where there is nothing to read."""
    line = error_line(error)
    for pattern, mask in ((_TIME, "<time>"), (_HEX, "<hex>"), (_PATH, "<path>"), (_NUMBER, "#")):
        line = compile_pattern(pattern).sub(mask, line)
    return " ".join(line.split())[:SIGNATURE_LIMIT]


def error_line(error: str) -> str:
    """The first line that tells of an error, else the first that is no preface."""
    first = ""
    for line in error[:_LOOK_AT].split("\n")[:_LINES]:
        stripped = line.strip()
        if not stripped or compile_pattern(_PREFACE).match(stripped):
            continue
        if compile_pattern(_TELLING, _IGNORE_CASE).search(stripped):
            return stripped
        first = first or stripped
    return first


def blames_command(error: str) -> bool:
    """Whether the failure is about how the command was written."""
    return compile_pattern(_USAGE, _IGNORE_CASE | 8).search(error[:_LOOK_AT]) is not None


def is_answer(programs: list[str], failure: str, error: str) -> bool:
    """Whether a status of 1 only said "no": a search without a hit, a comparison that differs."""
    if failure != "exit_1" or not programs:
        return False
    return programs[-1] in _ANSWERS and not compile_pattern(_TELLING, _IGNORE_CASE).search(
        error_line(error)
    )
