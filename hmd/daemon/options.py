"""The command line of `hmd` itself, and what it inherits from whoever started it."""

import argparse
import os
from collections.abc import Mapping, Sequence

from hmd.core.errors import HmdError
from hmd.daemon.succession import OWNER_SILENT_S
from hmd.kernel.address import default_home

RUN, START, SUCCEED, PROVE = COMMANDS = ("run", "start", "succeed", "prove")

# Exit code of a daemon that its manager is to start again (systemd/hmd.service, KeepAlive).
AGAIN = 10
LAUNCHD = "launchd"

_FIRST_PASSED = 3  # sd_listen_fds(3): SD_LISTEN_FDS_START


class Options:
    """How one process was asked to run."""

    __slots__ = ("command", "foreground", "home", "listen_fd", "manager", "patience", "ready_fd")

    def __init__(self) -> None:
        self.home = ""
        self.command = RUN
        self.foreground = False
        self.ready_fd = -1
        self.patience = 0.0
        self.manager = ""
        self.listen_fd = -1


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> Options:
    """The options of `argv`. Raises HmdError `usage`; exits for `--help`."""
    parser = argparse.ArgumentParser(
        prog="hmd",
        description="The daemon of one home. People use hmctl; hooks start this by themselves.",
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=COMMANDS,
        default=RUN,
        help="run: serve from this process (default); start: leave a daemon running and return; "
        "succeed: load everything, then serve once the daemon that is there has left; "
        "prove: load everything and return",
    )
    parser.add_argument("--home", default="", help="the home to serve (default: $HMD_HOME)")
    parser.add_argument(
        "--foreground", action="store_true", help="also write the daemon's log to stderr"
    )
    parser.add_argument("--ready-fd", type=int, default=-1, help="announce readiness here")
    parser.add_argument(
        "--manager", default="", help="the service manager that runs this (systemd, launchd)"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=OWNER_SILENT_S,
        metavar="SECONDS",
        help="how long a daemon that is there may answer nothing before it is ended (default: 30)",
    )
    given = parser.parse_args(argv)
    options = Options()
    options.home = given.home or default_home(dict(environ))
    if not options.home:
        raise HmdError("usage", "no home: neither --home nor HMD_HOME nor HOME is set")
    options.home = os.path.abspath(options.home)
    options.command = given.command
    options.foreground = given.foreground
    options.ready_fd = given.ready_fd
    options.manager = given.manager
    options.patience = max(0.0, given.patience)
    # sd_listen_fds(3): descriptors are ours only if LISTEN_PID names this process.
    if environ.get("LISTEN_PID") == str(os.getpid()) and environ.get("LISTEN_FDS", "0") != "0":
        options.listen_fd = _FIRST_PASSED
        options.manager = options.manager or "systemd"
    return options
