"""How long the one who asked for a change still waits for it.

A change that waits behind others (the database may be locked by another process) must not be made
after its caller was told that it was not done. Once the first change of a request has been made,
the rest of it follows, however late.
"""

import time
from contextvars import ContextVar

from hmd.core.errors import HmdError


class Patience:
    """Of one request, from now on."""

    __slots__ = ("_begun", "_until")

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._begun = False

    def check(self) -> None:
        """Raises HmdError "busy" where nothing was begun in time; from any thread."""
        if not self._begun and time.monotonic() > self._until:
            raise HmdError(
                "busy", "others kept the database for too long, nothing was changed", do="try again"
            )

    def begin(self) -> None:
        """The same, and from now on nothing is too late."""
        self.check()
        self._begun = True


# Of the request that is served; None where nobody waits (learning, the sweep of the trash).
PATIENCE: "ContextVar[Patience | None]" = ContextVar("patience", default=None)
