"""Scans POSIX shell and bash text (zsh leniently) for the simple commands it would run."""

from hmd.kernel.shell.posix_expansions import NOTHING
from hmd.kernel.shell.posix_lists import Reader
from hmd.kernel.shell.posix_text import Findings, Incomplete
from hmd.kernel.shell.syntax import TOP, Scan

LIMIT = 65536


def scan(text: str, limit: int = LIMIT) -> Scan:
    """The simple commands of `text`, in evaluation order; never raises.

    `limit`: characters of code that are read; the bodies of here-documents do not count. Beyond
    it, beyond 256 commands, 40 nested lists or 8 nested backquotes, and where the text cannot be
    read to its end, the scan is partial. Time is linear in the length of the text.
    """
    found = Findings()
    try:
        Reader(text, min(len(text), limit), found).read(TOP, (), NOTHING)
    except (Incomplete, RecursionError):
        found.partial = True
    result = Scan(found.in_order(), found.partial, found.pipes)
    result.passed, result.functions = found.passed, found.functions
    for function in result.functions:
        function.last = found.pipes
    return result
