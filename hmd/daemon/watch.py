"""Keeps the daemon reachable: binds again when its address is gone, leaves when the home is."""

from collections.abc import Callable

import trio

from hmd.daemon.lifecycle import Lock
from hmd.daemon.log import Log
from hmd.daemon.serve import Server
from hmd.transport.base import Listener

# How often the address is looked at: a serving address is back within a second of being lost.
EVERY_S = 0.5


async def keep_address(
    server: Server,
    lock: Lock,
    bind: Callable[[], Listener],
    listener: Listener,
    nursery: trio.Nursery,
    log: Log,
) -> None:
    """Looks after the address until the server leaves; accepts in `nursery`."""
    while not server.leaving.is_set():
        if not lock.held():
            server.leave("the lock file is gone or another's: this home has no need of us")
            return
        if listener.lost():
            log.line("the socket was removed or replaced; binding again")
            try:
                listener = bind()
            except OSError as error:
                log.once_a_minute("bind", f"cannot bind: {error}")
            else:
                nursery.start_soon(server.listen, listener, nursery)
        with trio.move_on_after(EVERY_S):
            await server.leaving.wait()
