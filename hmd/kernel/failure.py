"""Recognises a failure again: the signature of what it said, the same in hooks and in learning."""

from hmd.kernel.pattern import compile_pattern

SIGNATURE_LIMIT = 200
LOOK_AT = 4000
_IGNORE_CASE = 2
_LINES = 60

# Lines that come before what went wrong.
_PREFACE = (
    r"^(?:Exit code \d+|Traceback \(most recent|> .*|\$ .*|npm (?:ERR!|error) (?:code|errno)\b.*)"
)
TELLING = (
    r"error|fail|fatal|not found|no such|cannot|can't|could not|unknown|unrecogni[sz]ed|invalid"
    r"|missing|denied|refused|rejected|undefined|usage|panicked|exception|unexpected|오류|실패|없"
)
# Masks, in this order: times, hexadecimal names, paths, numbers.
_TIME = r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?)?|\b\d\d?:\d\d(?::\d\d)?\b"
_TIME += r"|\b\d+(?:\.\d+)?\s?(?:ms|s|secs?|seconds|minutes|m)\b"
_HEX = r"\b0x[0-9a-fA-F]+\b|\b(?=[a-f]*\d)[0-9a-f]{7,64}\b"
_PATH = r"(?:[A-Za-z]:)?(?:~|\.{1,2})?(?:[\\/][\w.@+-]+)+[\\/]?|\b[\w.@+-]+(?:[\\/][\w.@+-]+)+"
_NUMBER = r"\d+"


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
    for line in error[:LOOK_AT].split("\n")[:_LINES]:
        stripped = line.strip()
        if not stripped or compile_pattern(_PREFACE).match(stripped):
            continue
        if compile_pattern(TELLING, _IGNORE_CASE).search(stripped):
            return stripped
        first = first or stripped
    return first
