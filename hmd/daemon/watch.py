"""Whether the daemon is to stay: binds again when its address is gone, leaves when the home is,
when nobody has asked anything for as long as the user set, or when it has grown too large."""

from collections.abc import Awaitable, Callable

import trio

from hmd.daemon.lifecycle import Lock
from hmd.daemon.log import Log
from hmd.daemon.notify import Notifier
from hmd.daemon.process import resident_mb
from hmd.daemon.serve import Server
from hmd.daemon.services import Services
from hmd.transport.base import Listener

# How often the address is looked at: a serving address is back within a second of being lost.
EVERY_S = 0.5
IDLE_EVERY_S = 5.0
MEMORY_EVERY_S = 30.0
# What a daemon needs from the start is no leak: one that is young is not replaced.
MEMORY_SETTLED_S = 600.0


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


async def leave_when_large(
    services: Services,
    renew: Callable[[str], Awaitable[bool]],
    measure: Callable[[], int] = resident_mb,
) -> None:
    """Makes room for a fresh process once more than `daemon.memory_limit_mb` are in use twice in
    succession; 0 sets no limit. A daemon of less than ten minutes only says so."""
    above = False
    while True:
        await trio.sleep(MEMORY_EVERY_S)
        limit = services.config.current.user.daemon.memory_limit_mb
        used = measure() if limit else 0
        before, above = above, used > limit
        if not (above and before):
            continue
        reason = f"{used} MB are in use, more than the {limit} MB of daemon.memory_limit_mb"
        if services.monotonic() - services.started < MEMORY_SETTLED_S:
            services.log.once_a_minute("memory", reason)
        elif await renew(reason):
            return


async def say_alive(notifier: Notifier) -> None:
    """Tells a service manager that watches, as long as the loop turns."""
    while notifier.watchdog_s:
        notifier.alive()
        await trio.sleep(notifier.watchdog_s)
