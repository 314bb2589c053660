"""Ends the daemon of a home, also one that hangs, and waits until it is gone."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping

from hmd import link
from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.kernel.address import Home

_STEP_S = 0.02
GONE_S = 5.0  # a daemon drains within a second
REBIND_S = 2.0  # a daemon whose socket was deleted has a new one within a second
TAKEOVER_S = 15.0


def stop_daemon(home: Home, env: Mapping[str, str]) -> bool:
    """Ends it; False when none was running. Raises HmdError `busy` when it cannot be ended.

    Nobody is ended by process id from here: a daemon that answers nothing is replaced by a new
    one, which checks whom it ends, and that one is asked to leave.
    """
    if not is_owned(home):
        return False
    _wait(lambda: link.probe(home) != link.ABSENT or not is_owned(home), REBIND_S)
    if is_owned(home) and link.probe(home) != link.READY:
        _take_over(home, env)
    try:
        link.call(home, "stop", {}, dict[str, object], start_daemon=False, environ=env)
    except HmdError:
        if is_owned(home):
            raise
    if not _wait(lambda: not is_owned(home), GONE_S):
        raise HmdError("busy", f"the daemon has not ended within {GONE_S:g} s", home.daemon_log)
    return True


def is_owned(home: Home) -> bool:
    """Whether a process holds the home's lock: alive, answering or not."""
    try:
        descriptor = os.open(home.lock, os.O_RDWR | machine.NOT_INHERITED)
    except OSError:
        return False
    try:
        return not machine.try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def _take_over(home: Home, env: Mapping[str, str]) -> None:
    """A new daemon ends the silent owner (after checking that it is the recorded process)."""
    subprocess.Popen(
        [*link.command(home.path), "--patience", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env=dict(env),
        start_new_session=True,
    )
    if not _wait(lambda: link.probe(home) == link.READY, TAKEOVER_S):
        raise HmdError("busy", "the daemon answers nothing and was not ended", home.daemon_log)


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    """Looks again and again until it is so; False when it is not so in time."""
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(_STEP_S)
    return True
