"""What flows into what: which command's output another one of the same text reads.

A command's `flow` says where it stands, outermost first: entries (number, part, gate). What prints
into a pipe, a substitution or a here-document has a lower part under its number than what reads it.
A gate is the number of a substitution whose output goes on only where its command passes it on
(`sh -c "$(…)"`, `echo "$(…)"`); 0 for none. Two entries stand for redirections: from there on
outwards nothing gets out (`> file`) or in (`< file`).
"""

from hmd.kernel.shell.syntax import DYNAMIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hmd.kernel.shell.syntax import Command, Redirection

    Entry = tuple[int, int, int]
    Flow = tuple[Entry, ...]

NO_OUTPUT = (0, 0, 0)
NO_INPUT = (-1, 0, 0)

# Parts under the number of a substitution or of a here-document: what is read, who reads, and what
# reads who (`>(…)`). Whoever reads `< <(…)` stands where the second part of a pipeline does.
SOURCE, OWNER, SINK = -1, 0, 1

_INPUTS = frozenset(("<", "<<", "<<-", "<<<", "<>"))
_OUTPUTS = frozenset((">", ">>", ">|", ">&", "&>", "&>>"))
_STREAMS = ("/dev/fd/", "/dev/std", "/dev/tty", "/proc/", "<(", ">(")


def reaches(source: "Flow", target: "Flow") -> bool:
    """Whether what a command at `source` prints may come to one at `target`, straight or by way of
    commands in between. Gates must be settled (`settled`)."""
    if not source or not target:
        return False
    places = {entry[0]: (index, entry[1]) for index, entry in enumerate(target)}
    closed = places.get(NO_INPUT[0], (-1, 0))[0]
    for entry in reversed(source):
        if entry == NO_OUTPUT:
            return False
        number, part, _ = entry
        index, other = places.get(number, (0, part))
        if number > 0 and part != other:
            return part < other and closed < index
    return False


def settled(flow: "Flow", passed: "set[int]") -> "Flow":
    """`flow` with closed gates where the number is not among `passed`, open ones elsewhere."""
    if not any(entry[2] for entry in flow):
        return flow
    return tuple(
        entry if not entry[2] else (*entry[:2], 0) if entry[2] in passed else NO_OUTPUT
        for entry in flow
    )


def shifted(flow: "Flow", base: int) -> "Flow":
    """`flow` with every number raised by `base`, so that two texts share none."""
    return tuple(
        (number + base, part, gate and gate + base) if number > 0 else (number, part, gate)
        for number, part, gate in flow
    )


def fed_by(flow: "Flow") -> "Entry | None":
    """The entry under which a command reads what others print; NO_INPUT where it reads a file or a
    here-document, None where it reads what is read around the text."""
    for entry in reversed(flow):
        if entry[1] > 0 or entry == NO_INPUT:
            return entry
    return None


def own_flow(
    redirections: "Iterable[Redirection]", fed: "Iterable[int]", named: "Iterable[int]"
) -> "Flow":
    """The entries of a command for its redirections (`fed`: numbers of the substitutions and
    here-documents in them) and for the substitutions that its words name."""
    flow: Flow = tuple((number, OWNER, 0) for number in named)
    closed_in = closed_out = streams = False
    for one in redirections:
        if one.op in _INPUTS and one.descriptor in ("", "0"):
            streams = one.op == "<" and one.target[:2] == "<("
            closed_in = streams or not _is_stream(one) or one.body is not None or one.op[:2] == "<<"
        elif one.op in _OUTPUTS and (one.descriptor in ("", "1") or one.op[0] == "&"):
            closed_out = one.op != ">&" and not _is_stream(one)
    part = SINK if streams else OWNER
    flow = (*((number, part, 0) for number in fed), *flow)
    if closed_in:
        flow = (NO_INPUT, *flow)
    return (NO_OUTPUT, *flow) if closed_out else flow


def _is_stream(redirection: "Redirection") -> bool:
    """Whether the target may be an open file rather than one of the file system."""
    return bool(redirection.flags & DYNAMIC) or redirection.target.startswith(_STREAMS)


def enclose(commands: "Iterable[Command]", entries: "Flow") -> None:
    """Puts `entries` around commands that have been read."""
    if entries:
        for command in commands:
            command.flow = (*entries, *command.flow)
