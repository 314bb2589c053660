"""Whether the daemon is to stay: binds again when its address is gone, leaves when the home is or
when nobody has asked anything for as long as the user set."""

from collections.abc import Callable

import trio

from hmd.daemon.lifecycle import Lock
from hmd.daemon.log import Log
from hmd.daemon.serve import Server
from hmd.daemon.services import Services
from hmd.transport.base import Listener

# How often the address is looked at: a serving address is back within a second of being lost.
EVERY_S = 0.5
IDLE_EVERY_S = 5.0


async def keep_address(
    server: Server,
    lock: Lock,
    bind: Callable[[], Listener],
    poke: Callable[[str], bool],
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
            if poke(listener.address):
                # We hold the lock, so this is no daemon of ours: a service manager has bound it.
                server.leave("another process listens at the address now")
                return
            log.line("the socket was removed or replaced; binding again")
            try:
                listener = bind()
            except OSError as error:
                log.once_a_minute("bind", f"cannot bind: {error}")
            else:
                nursery.start_soon(server.listen, listener, nursery)
        with trio.move_on_after(EVERY_S):
            await server.leaving.wait()


async def leave_when_idle(services: Services) -> None:
    """Leaves after `daemon.idle_exit_minutes` without a request; 0 stays for ever."""
    while True:
        await trio.sleep(IDLE_EVERY_S)
        minutes = services.config.current.user.daemon.idle_exit_minutes
        if minutes and services.monotonic() - services.last_request >= minutes * 60:
            services.leave(f"idle for {minutes} minutes")
            return
