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
    something runs whose text is wholly hidden (`bash -c "$X"`, `curl … | sh`).

    What many rules ask of the same call is worked out once: `words`, `hiding`, `readings`.
    """

    __slots__ = ("_hiding", "_words", "folds", "opaque", "partial", "readings", "units")

    def __init__(self, units: "list[Unit]", partial: bool, opaque: bool) -> None:
        self.units = units
        self.partial = partial
        self.opaque = opaque
        self.folds = any(unit.fold for unit in units)  # some compare without case
        # The units that a dynamic one may be, by its place and its presumed program (`match`).
        self.readings: dict[tuple[int, str], list[Unit]] = {}
        self._words: frozenset[str] | None = None
        self._hiding: list[tuple[int, Unit]] | None = None

    @property
    def words(self) -> "frozenset[str]":
        """Every word that can be an operand or name an operation in a unit; in lower case for units
        that compare without case."""
        if self._words is None:
            found = set()
            for unit in self.units:
                for key in unit.keys:
                    for token in key:
                        found.add(token.lower() if unit.fold else token)
                        if token[:1] == "-" and "=" in token:
                            value = token.partition("=")[2]
                            found.add(value.lower() if unit.fold else value)
            self._words = frozenset(found)
        return self._words

    @property
    def hiding(self) -> "list[tuple[int, Unit]]":
        """(place, unit) of those whose program is not known before they run."""
        if self._hiding is None:
            self._hiding = [
                (place, unit)
                for place, unit in enumerate(self.units)
                if unit.dynamic and not unit.boundary
            ]
        return self._hiding


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
