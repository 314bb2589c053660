"""Takes over the sockets that launchd has bound for this job (launch_activate_socket(3)).

launchd passes them by a call of its own, not by number and environment as systemd does.
"""

import ctypes
import errno
import os
from typing import Any

from hmd.core.errors import HmdError

NAME = "hmd"  # the key under `Sockets` in the job's property list


def activate(name: str = NAME, library: Any = None) -> int:
    """The descriptor of the listening socket. Raises HmdError where launchd has none for us.

    `library` stands for the system's, which is `libSystem` and always loaded.
    """
    system = ctypes.CDLL(None, use_errno=True) if library is None else library
    try:
        call = system.launch_activate_socket
    except AttributeError as error:
        raise HmdError("usage", "'--manager launchd' is for macOS") from error
    descriptors = ctypes.POINTER(ctypes.c_int)()
    count = ctypes.c_size_t(0)
    failed = call(name.encode(), ctypes.byref(descriptors), ctypes.byref(count))
    if failed or not count.value:
        why = os.strerror(failed or errno.ENOENT)
        raise HmdError("refused", f"launchd has no socket '{name}' for this process: {why}")
    first, *others = [descriptors[index] for index in range(count.value)]
    system.free(descriptors)
    for descriptor in others:  # one path is asked for: more than one cannot be served
        os.close(descriptor)
    return int(first)
