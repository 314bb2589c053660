"""A service manager that binds the socket: real units, real activation, real hooks."""

import contextlib
import os
import shutil
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from hmd.daemon.lifecycle import read_owner
from hmd.daemon.start import command
from tests.live import manager
from tests.live.host import Host, Session
from tests.live.instance import PATIENCE_S, ROOT, Instance, wait_for_end, wait_until_gone

pytestmark = pytest.mark.live


def put_on_path(host: Host) -> None:
    """From now on `systemctl` is a small manager of one socket."""
    bin_, state = host.directory / "bin", host.directory / "state"
    bin_.mkdir()
    state.mkdir()
    run = f'exec "{sys.executable}" -m tests.live.manager systemctl "$@"'
    script = bin_ / "systemctl"
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" {run}\n')
    script.chmod(0o755)
    host.env = {**host.env, "PATH": f"{bin_}:{host.env['PATH']}", manager.STATE: str(state)}


@pytest.fixture
def managed(host: Host) -> Iterator[Host]:
    """A host whose user has a service manager."""
    put_on_path(host)
    try:
        yield host
    finally:
        host.hmctl("service", "uninstall", code=None)


def gone(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has been reaped by its manager
        assert wait_until_gone(pid, PATIENCE_S)


def owner_pid(host: Host) -> int:
    owner = read_owner(host.home)
    assert owner is not None
    return owner.pid


def test_a_service_from_install_to_uninstall(managed: Host) -> None:
    """Guards all three starts agreeing on one owner: the daemon that hooks started gives way, the
    manager's answers, comes back by itself when it ends, and nothing is left afterwards."""
    host, app = managed, managed.repository()
    host.install(app)
    before = host.start()
    said = host.hmctl("service", "install", cwd=app).stdout
    assert "ended the daemon" in said and "systemd runs the daemon now" in said
    gone(before)
    assert stat.S_IMODE(os.stat(host.home.socket).st_mode) == 0o600
    first = owner_pid(host)
    owner = read_owner(host.home)
    assert owner is not None and owner.manager == "systemd" and first != before
    host.rule(app, "bash:command:cmd:git push", "deny")
    session = Session(host, app)
    assert session.pre("git push").held
    assert host.daemons_left(first) == [first]
    assert "it runs" in host.hmctl("service", "status").stdout

    inode = os.stat(host.home.socket).st_ino
    host.hmctl("daemon", "stop")
    gone(first)
    assert os.stat(host.home.socket).st_ino == inode  # the manager's socket is never unlinked
    assert session.pre("git push --tags").held
    host.hmctl("daemon", "status")  # an answer: the manager has started the next
    second = owner_pid(host)
    assert second != first and host.daemons_left(second) == [second]

    said = host.hmctl("uninstall", cwd=app).stdout
    assert "hmd-" in said and ".socket" in said
    gone(second)
    assert not os.path.exists(host.home.socket) and not os.path.exists(host.home.service)
    assert not list(host.directory.rglob("*.socket")) and host.daemons_left() == []


def test_after_the_service_hooks_start_the_daemon_again(managed: Host) -> None:
    """Guards `service uninstall`: the stub's own start is back."""
    host, app = managed, managed.repository()
    host.install(app)
    host.hmctl("service", "install")
    served = owner_pid(host)
    host.hmctl("service", "uninstall")
    gone(served)
    Session(host, app).start()
    end = time.monotonic() + PATIENCE_S
    while not host.instance.serving_pid():
        assert time.monotonic() < end
        time.sleep(0.02)
    owner = read_owner(host.home)
    assert owner is not None and owner.manager == ""


def test_a_candidate_beside_a_service_changes_nothing(managed: Host) -> None:
    """Guards against two owners: one who types `hmd` beside a service finds the home served."""
    host = managed
    host.install(host.repository())
    host.hmctl("service", "install")
    served = owner_pid(host)
    host.instance.environ["PATH"] = host.env["PATH"]
    other = host.instance.start()
    assert wait_for_end(other) == 0
    assert owner_pid(host) == served and host.daemons_left(served) == [served]


@pytest.mark.skipif(not shutil.which("systemd-socket-activate"), reason="no systemd here")
def test_systemd_s_own_activation(instance: Instance) -> None:
    """Guards the protocol by systemd's own program: descriptor, LISTEN_PID, and READY=1."""
    os.makedirs(instance.home.run, 0o700)
    for path in (instance.home.path, instance.home.path + "/run"):
        os.chmod(path, 0o700)
    notify = str(instance.directory / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(notify)
        told.settimeout(PATIENCE_S)
        process = subprocess.Popen(
            [
                *("systemd-socket-activate", "-l", instance.home.socket),
                *("-E", f"NOTIFY_SOCKET={notify}", "-E", f"HOME={instance.directory}"),
                *command(instance.home.path),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        instance.processes.append(process)
        end = time.monotonic() + PATIENCE_S
        while not os.path.exists(instance.home.socket):
            assert time.monotonic() < end
            time.sleep(0.01)
        # The first call waits in the queue while the daemon starts.
        assert instance.ask("ping")["pid"] == process.pid
        assert told.recv(4096).decode().startswith(f"READY=1\nMAINPID={process.pid}\n")
        owner = read_owner(instance.home)
        assert owner is not None and owner.manager == "systemd"
        process.terminate()
        assert told.recv(4096).startswith(b"STOPPING=1")
        assert wait_for_end(process) == 0
    assert os.path.exists(instance.home.socket)
