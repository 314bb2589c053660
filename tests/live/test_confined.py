"""What the process has in its hands: files and their modes, sockets, its environment."""

import os
import stat
from pathlib import Path

import pytest

from hmd.daemon.start import ENVIRONMENT
from tests.live.figures import Figure
from tests.live.host import Host, Session

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="read from /proc"),
]
SECRETS = {"ANTHROPIC_API_KEY": "sk-ant-x", "GITHUB_TOKEN": "ghp_x", "LD_PRELOAD_X": "x"}


@pytest.fixture
def used(host: Host) -> tuple[Host, int]:
    """A home in which everything has been written that daily life writes, and its daemon, which a
    hook of a host with secrets in its environment has started."""
    app = host.repository()
    host.install(app)
    host.rule(app, "bash:command:cmd:git push", "deny")
    session = Session(host, app, **SECRETS)
    session.start()
    session.prompt("go on")
    session.pre("git push")
    session.ran("ls")
    host.hmctl("daemon", "stop")
    Path(host.home.start).unlink(missing_ok=True)
    session.pre("git push --tags")  # alone, and it starts the daemon
    host.hmctl("status", cwd=app)
    (pid,) = host.daemons()
    return host, pid


def test_nothing_in_the_home_is_for_others(used: tuple[Host, int], figure: Figure) -> None:
    """Guards every file and directory, whoever made it: daemon, hook, installer."""
    host, _ = used
    found = [Path(host.home.path), *Path(host.home.path).rglob("*")]
    wide = {
        str(path): oct(path.lstat().st_mode)
        for path in found
        if not path.is_symlink() and stat.S_IMODE(path.lstat().st_mode) & 0o077
    }
    # The copies that hooks run from hold nothing of the user's, and stand behind closed doors.
    closed = {path: mode for path, mode in wide.items() if not path.startswith(host.home.app + "/")}
    assert not closed, closed
    assert stat.S_IMODE(os.stat(host.home.path).st_mode) == 0o700
    figure(f"{len(found)} files and directories of a home in use, none for others")


def test_the_daemon_listens_at_its_address_and_nowhere_else(used: tuple[Host, int]) -> None:
    """Guards "no listening network port": neither TCP nor UDP, and one Unix socket with a name."""
    host, pid = used
    sockets = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        target = os.readlink(entry)
        if target.startswith("socket:["):
            sockets.add(target[8:-1])
    assert sockets
    for table in ("tcp", "tcp6", "udp", "udp6"):
        lines = Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
        assert not sockets & {line.split()[9] for line in lines}, table
    named = [
        line.split()[-1]
        for line in Path(f"/proc/{pid}/net/unix").read_text().splitlines()[1:]
        if line.split()[6] in sockets and len(line.split()) == 8
    ]
    assert set(named) <= {host.home.socket, host.home.socket.removesuffix(".sock") + ".new"}


def test_no_secret_of_the_host_s_reaches_the_daemon(used: tuple[Host, int]) -> None:
    """Guards the allow-list: a daemon lives for months in the environment it was started with."""
    _, pid = used
    raw = Path(f"/proc/{pid}/environ").read_bytes().decode()
    names = {entry.partition("=")[0] for entry in raw.split("\0") if entry}
    strange = {
        name
        for name in names
        if not any(name.startswith(k) if k.endswith("_") else name == k for k in ENVIRONMENT)
    }
    assert not strange
    assert not any(value in raw for value in ("sk-ant-x", "ghp_x"))


def test_the_daemon_keeps_nothing_of_the_host_open(used: tuple[Host, int]) -> None:
    """Guards inherited descriptors: whatever the host had open is the host's alone."""
    host, pid = used
    held = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    paths = [path for path in held if path.startswith("/") and path != "/dev/null"]
    assert all(path.startswith((host.home.path, "/dev/")) for path in paths), paths
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
