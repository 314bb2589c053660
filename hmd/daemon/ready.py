"""Tells whoever started this process how that went, over an inherited pipe."""

import contextlib
import json
import os

from hmd.core import machine
from hmd.core.errors import HmdError

READY, FAILED = b"ready\n", b"failed "


class Readiness:
    """The writing end of a readiness pipe, or nothing (`descriptor` below 0). Speaks once."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = -1
        if descriptor >= 0:
            with contextlib.suppress(OSError):
                self._descriptor = machine.take_pipe(descriptor)

    @property
    def awaited(self) -> bool:
        return self._descriptor >= 0

    def ready(self) -> None:
        """The home is served: by this process, or by one that was there."""
        self._say(READY)

    def failed(self, error: HmdError) -> None:
        words = {"code": error.code, "what": error.what, "where": error.where, "do": error.do}
        self._say(FAILED + json.dumps(words).encode("ascii") + b"\n")

    def _say(self, words: bytes) -> None:
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):
                os.write(self._descriptor, words)
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1


def understand(words: bytes) -> HmdError | None:
    """What a starter read from the pipe until its end: None when the home is served."""
    if words == READY:
        return None
    if words.startswith(FAILED):
        with contextlib.suppress(ValueError, KeyError, TypeError):
            told = json.loads(words[len(FAILED) :])
            return HmdError(told["code"], told["what"], told["where"], told["do"])
    return HmdError("internal", "the daemon ended before it served", do="see: hmctl doctor")
