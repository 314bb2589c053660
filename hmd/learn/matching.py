"""Holds signatures against recorded calls, with the very matcher that decides in a hook."""

import shlex

from hmd.core.memory import Signature
from hmd.kernel import event as ev
from hmd.kernel.shell import match
from hmd.kernel.shell.unit import Unit
from hmd.kernel.subject import MISS, Subject, unit_key
from hmd.learn.calls import Call
from hmd.learn.variants import form_of

# Shell plumbing: a rule about one of these fires on everything (POSIX 2.14 special built-ins, and
# the regular ones that say nothing by themselves).
PLUMBING = frozenset(
    ". : [ [[ alias bg break case cd command continue declare do done echo else eval exec exit"
    " export false fg fi for function getopts if jobs let local popd printf pushd pwd read readonly"
    " return set shift source test then time times trap true type typeset ulimit umask unalias"
    " unset until wait while".split()
)


class Rule:
    """A signature as the matcher takes it, its command parsed once. `problem` says why it cannot be
    held against anything, "" when it can."""

    __slots__ = ("problem", "record", "signature", "specific")

    def __init__(self, signature: Signature) -> None:
        self.signature = signature
        self.problem = ""
        self.specific = True
        plain = None
        if signature.kind == "cmd":
            parsed = match.parse_signature(signature.pattern)
            self.problem, self.specific = parsed.problem, parsed.specific
            plain = None if parsed.problem else match.to_plain(parsed)
        sig = {name: getattr(signature, name) for name in Signature.__struct_fields__}
        self.record = {"level": "soft_deny", "sig": {**sig, "plain": plain}}

    def meets(self, call: Call) -> bool:
        """Whether a rule with this signature, below `deny`, would take part in the call."""
        return subject_of(call).meet(self.record).how != MISS


def meets(signature: Signature, call: Call) -> bool:
    """`Rule(signature).meets(call)`, for a single call."""
    return Rule(signature).meets(call)


def subject_of(call: Call) -> Subject:
    """The call as rules look at it. The ledger holds no directory: the root is assumed."""
    happened = ev.Call(call.tool, call.tool, call.input)
    happened.dialect = call.dialect
    return Subject(happened, call.root or "/", call.root, "")


def same_call(one: Call, other: Call) -> bool:
    """Whether two calls are the same thing done: equal literal keys, directories included."""
    if one.tool != other.tool:
        return False
    if one.keys and other.keys:
        return one.keys == other.keys
    return one.input == other.input


def exact_command(call: Call, key: str) -> str:
    """The command signature that names exactly the part of a call with this literal key; "" where
    the part is not found."""
    for unit in form_of(call).units:
        if unit_key(unit) == key:
            return pattern_of(unit)
    return ""


def pattern_of(unit: Unit) -> str:
    """A unit written out so that, read again, it has the same literal key and directory."""
    words = " ".join(shlex.quote(word) for word in unit.keys[0])
    if unit.cwd in ("", ".", "?") or unit.cwd.startswith("@"):
        return words
    return f"cd {shlex.quote(unit.cwd)} && {words}"


def named_tokens(signature: Signature) -> str:
    """The text by which a person would name what a signature is about."""
    return f"{signature.pattern} {signature.tool.partition(':')[2]}"
