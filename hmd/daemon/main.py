"""The daemon process: all wiring, nothing else.

What a losing candidate needs is imported first; the loop, the store and the rest follow once this
process owns the home.
"""

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hmd import __version__ as VERSION
from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.daemon import launchd, succession
from hmd.daemon.build import order
from hmd.daemon.lifecycle import Lock, OwnerRecord, Ownership, prepare, read_owner
from hmd.daemon.log import Log
from hmd.daemon.options import AGAIN, LAUNCHD, PROVE, RUN, START, SUCCEED, Options, parse
from hmd.daemon.package import Package
from hmd.daemon.ready import Readiness
from hmd.kernel.address import Home

if TYPE_CHECKING:
    from hmd.worker.parent import WorkerProcess

# What a daemon loads one after another while it serves; a successor loads it before.
EVERYTHING = ("trio", "hmd.daemon.loop", "hmd.daemon.calls")
DESCRIPTORS = 4096  # wanted; a default of 256 would be used up by one burst of hooks


def run() -> None:
    """The entry point of `hmd`."""
    sys.exit(main(sys.argv[1:]))


def main(argv: Sequence[str]) -> int:
    try:
        package = Package()
        options = parse(argv, os.environ)
        if options.command == START:
            return _start(options)
        return _own_and_serve(options, package)
    except HmdError as error:
        print(f"hmd: {error}", file=sys.stderr)  # noqa: T201 (stderr is for the person who typed)
        return error.exit_code


def _start(options: Options) -> int:
    from hmd.daemon.start import command, start_and_wait  # late: not needed to serve

    start_and_wait(command(options.home), os.environ)
    return 0


def _own_and_serve(options: Options, package: Package) -> int:
    os.umask(0o077)
    os.chdir("/")
    home = Home(options.home)
    ready = Readiness(options.ready_fd)
    try:
        if options.manager == LAUNCHD and options.listen_fd < 0 and options.command == RUN:
            options.listen_fd = launchd.activate()
        prepare(home)
        log = Log(home.daemon_log, echo=options.foreground)
        lock = Lock(home.lock)
        if options.command in (SUCCEED, PROVE):
            result = _follow(home, lock, log, ready, options.command)
        else:
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
        again = _serve(ownership, options, ready, log, package)
    finally:
        ownership.release()
    return AGAIN if again else 0


def _follow(home: Home, lock: Lock, log: Log, ready: Readiness, command: str) -> str:
    """For the process that the owner has started from a package that replaced its own: loads
    everything and switches the hooks, says so, then (unless only that was asked) inherits."""
    predecessor = read_owner(home)
    try:
        for module in EVERYTHING:
            importlib.import_module(module)
    except Exception as error:  # whatever is wrong with the package, the owner has to hear it
        words = f"{type(error).__name__}: {error}"
        raise HmdError("internal", words, do="install hmd again") from error
    _refresh_copy(home, log, replaced=True)
    ready.ready()
    if command == PROVE:
        return succession.SERVED
    return succession.inherit(home, lock, VERSION, predecessor, log.line)


def _refresh_copy(home: Home, log: Log, *, replaced: bool = False) -> str:
    """The build of this package; where hooks run from another one of no higher version, from now
    on they run from this one, so that hook and daemon decide by the same code.

    `replaced`: this package took the place of the one that hooks run from, so a lower version is
    what its user wants.
    """
    from hmd.setup import copies, receipt  # late: a candidate that loses needs none of it

    build, installed = copies.package_build().name, copies.current(home)
    wanted = replaced or order(installed) <= order(build)
    if installed and installed != build and wanted:
        try:
            interpreter = receipt.load_if_whole(home).interpreter or sys.executable
            copies.refresh(home, interpreter)
            log.line(f"hooks run from {build} now, no longer from {installed}")
        except HmdError as error:
            log.line(f"hooks still run from {installed}: {error}")
    return build


def _serve(
    ownership: Ownership, options: Options, ready: Readiness, log: Log, package: Package
) -> bool:
    """Whether a service manager is to start the daemon again."""
    import trio  # late, with all that follows: only the owner needs it

    from hmd.daemon.loop import Daemon

    machine.descriptors(DESCRIPTORS)
    if not options.foreground:
        machine.outlive_terminal()
    try:
        daemon = Daemon(ownership, options.listen_fd, ready, log, package, _start_worker)
        trio.run(daemon.live)
    except BaseException as error:
        log.trouble("the daemon fails", error)
        raise
    return daemon.again


def _start_worker(say: Callable[[str], object]) -> "WorkerProcess":
    from hmd.worker.parent import WorkerProcess  # late: loaded with the store, behind the socket

    return WorkerProcess(say)


if __name__ == "__main__":
    run()
