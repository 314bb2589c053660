"""The canonical form of a call: every command it would run, named so that rules can match it.

`canonical` is the definition of "the same command" for learning, matching and pairing. A scanner
(`posix`, `powershell`, `cmd`) finds the commands, `reading` peels them by the `steps`, `keys` names
what is left.
"""

from hmd.kernel.shell.flow import settled
from hmd.kernel.shell.paths import join
from hmd.kernel.shell.reading import MAX_UNITS, Run
from hmd.kernel.shell.syntax import TOP
from hmd.kernel.shell.unit import Frame, Unit

__all__ = ["MAX_UNITS", "Form", "Unit", "canonical"]


class Form:
    """`units` in evaluation order; `partial`: something could not be read to its end; `opaque`:
    something runs whose text is wholly hidden (`bash -c "$X"`, `curl … | sh`)."""

    __slots__ = ("opaque", "partial", "units")

    def __init__(self, units: "list[Unit]", partial: bool, opaque: bool) -> None:
        self.units = units
        self.partial = partial
        self.opaque = opaque


def canonical(
    text: str, dialect: str = "posix", cwd: str = ".", root: str = "", home: str = ""
) -> Form:
    """The canonical form of `text`; never raises.

    `dialect` posix, powershell or cmd; `cwd` the directory in force, relative to the repository;
    `root` and `home` absolute directories, "" when unknown. At most 256 units, 8 texts inside one
    another, 24 wrappers around one command; beyond that the form is partial.
    """
    run = Run(dialect, root, home)
    try:
        run.read(text, dialect, Frame([], [], join(cwd or ".", ".", root, home), TOP), None)
    except Exception:  # a fault of ours must not cost the call, and must not pass unsaid either
        run.partial = run.opaque = True
    for unit in run.units:
        if unit.flow:
            unit.flow = settled(unit.flow, run.passed)
    return Form(run.units, run.partial, run.opaque)
