"""What a failure says: whether it blames the command as it was written, or was only an answer.

Its signature, by which it is recognised again, is the kernel's (hooks need it, too).
"""

from functools import lru_cache

from hmd.kernel.failure import LOOK_AT, TELLING, error_line, signature
from hmd.kernel.pattern import compile_pattern

__all__ = ["blames_command", "error_line", "is_answer", "signature"]

_IGNORE_CASE = 2

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


@lru_cache(maxsize=64)
def blames_command(error: str) -> bool:
    """Whether the failure is about how the command was written."""
    return compile_pattern(_USAGE, _IGNORE_CASE | 8).search(error[:LOOK_AT]) is not None


def is_answer(programs: list[str], failure: str, error: str) -> bool:
    """Whether a status of 1 only said "no": a search without a hit, a comparison that differs."""
    if failure != "exit_1" or not programs:
        return False
    return programs[-1] in _ANSWERS and not compile_pattern(TELLING, _IGNORE_CASE).search(
        error_line(error)
    )
