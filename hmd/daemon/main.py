"""The daemon process: all wiring, nothing else.

What a losing candidate needs is imported first; the loop, the store and the rest follow once this
process owns the home.
"""

import contextlib
import os
import resource
import signal
import sys
from collections.abc import Sequence

from hmd import __version__ as VERSION
from hmd.core.errors import HmdError
from hmd.daemon import succession
from hmd.daemon.build import order
from hmd.daemon.lifecycle import Lock, OwnerRecord, Ownership, prepare
from hmd.daemon.log import Log
from hmd.daemon.options import Options, parse
from hmd.daemon.ready import Readiness
from hmd.kernel.address import Home

DESCRIPTORS = 4096  # wanted; a default of 256 would be used up by one burst of hooks


def run() -> None:
    """The entry point of `hmd`."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    try:
        options = parse(argv, os.environ)
        if options.start:
            return _start(options)
        return _own_and_serve(options)
    except HmdError as error:
        print(f"hmd: {error}", file=sys.stderr)  # noqa: T201 (stderr is for the person who typed)
        return error.exit_code


def _start(options: Options) -> int:
    from hmd.daemon.start import command, start_and_wait  # late: not needed to serve

    start_and_wait(command(options.home), os.environ)
    return 0


def _own_and_serve(options: Options) -> int:
    os.umask(0o077)
    os.chdir("/")
    home = Home(options.home)
    ready = Readiness(options.ready_fd)
    try:
        prepare(home)
        log = Log(home.daemon_log, echo=options.foreground)
        lock = Lock(home.lock)
        result = succession.become_owner(
            home,
            lock,
            VERSION,
            log.line,
            patience=options.patience,
            wait=ready.awaited,
            replace=options.listen_fd >= 0,
        )
        if result == succession.BLOCKED:
            raise HmdError(
                "busy", "the daemon of this home answers nothing and could not be ended", home.lock
            )
    except HmdError as error:
        ready.failed(error)
        raise
    if result == succession.SERVED:
        ready.ready()
        return 0
    record = OwnerRecord.of_this_process(home, _refresh_copy(home, log), options.manager)
    ownership = Ownership(home, lock, record)
    try:
        _serve(ownership, options, ready, log)
    finally:
        ownership.release()
    return 0


def _refresh_copy(home: Home, log: Log) -> str:
    """The build of this package; where hooks run from another one of no higher version, from now
    on they run from this one, so that hook and daemon decide by the same code."""
    from hmd.setup import copies, receipt  # late: a candidate that loses needs none of it

    build, installed = copies.package_build().name, copies.current(home)
    if installed and installed != build and order(installed) <= order(build):
        try:
            interpreter = receipt.load_if_whole(home).interpreter or sys.executable
            copies.refresh(home, interpreter)
            log.line(f"hooks run from {build} now, no longer from {installed}")
        except HmdError as error:
            log.line(f"hooks still run from {installed}: {error}")
    return build


def _serve(ownership: Ownership, options: Options, ready: Readiness, log: Log) -> None:
    import trio  # late, with all that follows: only the owner needs it

    from hmd.daemon.loop import Daemon

    _raise_descriptor_limit()
    if not options.foreground:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        trio.run(Daemon(ownership, options.listen_fd, ready, log).live)
    except BaseException as error:
        log.trouble("the daemon fails", error)
        raise


def _raise_descriptor_limit() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    run()
