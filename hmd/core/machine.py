"""The operating system as the daemon side needs it: one file per family behind the same names.

Whoever needs another thing of the system adds it to both files; `mypy --platform win32` and a test
that compares them say what is missing.
"""

import sys

if sys.platform == "win32":
    from hmd.core.machine_windows import (
        END,
        KILL,
        NOT_INHERITED,
        WAKE,
        block_signals,
        connect,
        descriptors,
        keep_owner,
        outlive_terminal,
        own_user,
        read_to_end,
        resident_bytes,
        spawn,
        start_child,
        start_time,
        take_pipe,
        try_lock,
    )
else:
    from hmd.core.machine_posix import (
        END,
        KILL,
        NOT_INHERITED,
        WAKE,
        block_signals,
        connect,
        descriptors,
        keep_owner,
        outlive_terminal,
        own_user,
        read_to_end,
        resident_bytes,
        spawn,
        start_child,
        start_time,
        take_pipe,
        try_lock,
    )

__all__ = [
    "END",
    "KILL",
    "NOT_INHERITED",
    "WAKE",
    "block_signals",
    "connect",
    "descriptors",
    "keep_owner",
    "outlive_terminal",
    "own_user",
    "read_to_end",
    "resident_bytes",
    "spawn",
    "start_child",
    "start_time",
    "take_pipe",
    "try_lock",
]
