"""A real daemon through everything that befalls daemons."""

import contextlib
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hmd.daemon.lifecycle import read_owner
from hmd.daemon.ready import READY, understand
from hmd.daemon.start import command, start_and_wait
from hmd.kernel import frame
from tests.live.instance import PATIENCE_S, Instance, wait_for_end, wait_until_gone

pytestmark = pytest.mark.live


def connect(instance: Instance) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.connect(instance.home.socket)  # blocking: waits where the queue is full
    sock.settimeout(PATIENCE_S)
    return sock


def read_all(sock: socket.socket) -> bytes:
    data = b""
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionResetError:
        pass
    return data


def test_ready_means_serving_and_private(instance: Instance) -> None:
    """Guards the meaning of readiness, and that nobody else can enter what was created."""
    process = instance.start()
    assert instance.serving_pid() == process.pid
    owner = read_owner(instance.home)
    assert owner is not None and owner.pid == process.pid
    for path in (instance.home.path, instance.home.run, instance.home.logs):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o700
    for path in (instance.home.lock, instance.home.daemon, instance.home.daemon_log):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_sigterm_drains_and_leaves_nothing_behind(instance: Instance) -> None:
    """Guards the orderly end: exit 0, no socket, no record, a free lock."""
    process = instance.start()
    process.terminate()
    assert wait_for_end(process) == 0
    assert not os.path.exists(instance.home.socket)
    assert not os.path.exists(instance.home.daemon)
    assert instance.start().pid != process.pid


def test_a_request_that_has_begun_is_answered_while_draining(instance: Instance) -> None:
    """Guards "answer what is in flight": half a frame before the signal, half after."""
    process = instance.start()
    request = frame.request(frame.CALL, {"method": "ping"}, b"{}")
    with connect(instance) as sock:
        sock.sendall(request[:20])
        assert instance.serving_pid() == process.pid  # the half has been read by now
        process.terminate()
        while os.path.exists(instance.home.socket):  # withdrawn first
            os.sched_yield()
        sock.sendall(request[20:])
        answer = frame.parse_answer(read_all(sock))
    assert answer is not None and answer[0] == frame.OK
    assert wait_for_end(process) == 0


def test_stop_withdraws_before_it_answers(instance: Instance) -> None:
    """Guards restarts: whoever has the answer to "stop" finds no old address."""
    process = instance.start()
    assert instance.ask("stop") == {"pid": process.pid}
    assert not os.path.exists(instance.home.socket)
    assert wait_for_end(process) == 0


def test_killed_hard_the_next_one_serves(instance: Instance) -> None:
    """Guards case "killed hard": the socket and the record stay behind and stop nobody."""
    first = instance.start()
    first.kill()
    wait_for_end(first)
    assert os.path.exists(instance.home.socket)
    second = instance.start()
    assert instance.serving_pid() == second.pid


def test_the_socket_deleted_under_it_comes_back(instance: Instance) -> None:
    """Guards case "alive but not serving": the same process is reachable again by itself."""
    process = instance.start()
    os.unlink(instance.home.socket)
    while not instance.serving_pid():
        assert process.poll() is None
    assert instance.serving_pid() == process.pid


def test_a_home_that_is_gone_is_not_made_again(instance: Instance) -> None:
    """Guards `rm -rf` of a home: the daemon leaves and creates nothing."""
    process = instance.start()
    instance.call("project.list")  # the store is open
    os.rename(instance.home.path, instance.home.path + ".gone")
    assert wait_for_end(process) == 0
    assert not os.path.exists(instance.home.path)


def test_ten_candidates_make_one_daemon(instance: Instance) -> None:
    """Guards the race of many hooks: one owner, and for the others losing is success."""
    race = [instance.candidate() for _ in range(10)]
    assert [instance.words(reading) for _, reading in race] == [READY] * 10
    owner = instance.serving_pid()
    losers = [process for process, _ in race if process.pid != owner]
    assert len(losers) == 9
    assert [wait_for_end(process) for process in losers] == [0] * 9
    assert instance.serving_pid() == owner


def test_a_candidate_nobody_waits_for_goes_quietly(instance: Instance) -> None:
    """Guards stubs that start a daemon too many: exit 0, not a word."""
    owner = instance.start()
    process, _ = instance.candidate(wait=False)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert instance.serving_pid() == owner.pid


def test_a_stopped_owner_is_woken(instance: Instance) -> None:
    """Guards the SIGSTOP variant: health is an answer, and waking comes before ending."""
    owner = instance.start()
    owner.send_signal(signal.SIGSTOP)
    candidate, reading = instance.candidate("--patience", "0.3")
    assert instance.words(reading) == READY
    assert wait_for_end(candidate) == 0
    assert instance.serving_pid() == owner.pid
    assert "waking the daemon" in instance.log()


def test_a_lock_that_the_record_does_not_explain_is_left_alone(instance: Instance) -> None:
    """Guards strangers: a process is ended only if id and start time prove it is the owner."""
    import fcntl

    owner = instance.start()
    owner.terminate()
    wait_for_end(owner)
    with open(instance.home.lock, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        pid = os.getpid()
        Path(instance.home.daemon).write_text(f'{{"pid": {pid}, "start": "another time"}}')
        candidate, reading = instance.candidate("--patience", "0.1")
        error = understand(instance.words(reading))
    assert error is not None and error.code == "busy"
    assert wait_for_end(candidate) == 75


def test_a_newer_build_takes_over(instance: Instance) -> None:
    """Guards upgrades: the older daemon says `leave`, withdraws, and the lock passes."""
    old = instance.start()
    assert instance.status_of("ping", build="999.0.0") == frame.LEAVE
    assert not os.path.exists(instance.home.socket)
    new = instance.start()
    assert wait_for_end(old) == 0
    assert instance.serving_pid() == new.pid


def test_loose_permissions_are_refused_with_the_fix(instance: Instance) -> None:
    """Guards privacy: a home that others can enter is not served, and not silently changed."""
    os.mkdir(instance.home.path, 0o755)
    os.chmod(instance.home.path, 0o755)
    process, reading = instance.candidate()
    error = understand(instance.words(reading))
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert error is not None and error.code == "refused"
    assert f"chmod 700 '{instance.home.path}'" in error.do
    assert error.do.encode() in said
    assert stat.S_IMODE(os.stat(instance.home.path).st_mode) == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_home_of_another_user_is_refused(instance: Instance) -> None:
    """Guards against serving somebody else's memory."""
    os.mkdir(instance.home.path, 0o700)
    os.chown(instance.home.path, 65534, 65534)
    _, reading = instance.candidate()
    error = understand(instance.words(reading))
    assert error is not None and error.code == "refused" and "belongs to user 65534" in error.what


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_gets_no_answer(instance: Instance) -> None:
    """Guards the peer check, for the day the directory's permissions fail us."""
    instance.start()
    for path in (instance.directory, instance.home.path, instance.home.path + "/run"):
        os.chmod(path, 0o755)
    os.chmod(instance.home.run, 0o755)
    os.chmod(instance.home.socket, 0o777)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(65534)
            os.setuid(65534)
            with connect(instance) as sock:
                with contextlib.suppress(OSError):  # it may have hung up already
                    sock.sendall(frame.request(frame.CALL, {"method": "ping"}, b"{}"))
                os.write(writing, b"got:" + read_all(sock))
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    assert instance.words(reading) == b"got:"
    assert "refused a client of user 65534" in instance.log()


def test_few_descriptors_are_waited_out(instance: Instance) -> None:
    """Guards EMFILE: with every descriptor taken by idle clients, a new client is answered."""
    process = instance.start()
    # Fewer than the limit on connections, so that it is the descriptors that run out.
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (40, 40))
    idle = [connect(instance) for _ in range(60)]
    try:
        assert instance.serving_pid() == process.pid
        assert "cannot accept a connection" in instance.log()
    finally:
        for sock in idle:
            sock.close()


@pytest.mark.long
def test_thousands_of_idle_connections_stop_nobody(instance: Instance) -> None:
    """Guards the limit on connections: those that say nothing make room for those that do."""
    process = instance.start()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(6000, hard), hard))
    idle: list[socket.socket] = []
    try:
        for _ in range(5000):
            idle.append(connect(instance))
        with connect(instance) as sock:
            sock.sendall(frame.request(frame.CALL, {"method": "ping"}, b"{}"))
            answer = frame.parse_answer(read_all(sock))
        assert answer is not None and answer[0] == frame.OK
        assert process.poll() is None
    finally:
        for sock in idle:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_what_is_not_a_frame_is_told_so(instance: Instance) -> None:
    """Guards against strangers on the socket: an error, a closed connection, a living daemon."""
    process = instance.start()
    for noise in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"hmd1 hook x y\n",
        b"x" * 100,
        b"hmd1 call 9 999999999\n",
    ):
        with connect(instance) as sock:
            sock.sendall(noise)
            answer = frame.parse_answer(read_all(sock))
        assert answer is not None and answer[0] == frame.ERROR
    assert instance.serving_pid() == process.pid


def test_many_clients_at_once_are_all_answered(instance: Instance) -> None:
    """Guards bursts: parallel tool calls of several agents."""
    process = instance.start()
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(instance.serving_pid())) for _ in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [process.pid] * 40


def test_started_in_the_background_it_belongs_to_nobody(instance: Instance) -> None:
    """Guards the double fork: no parent, no terminal, no directory held, a named environment."""
    environ = {**instance.environ, "HMD_SEEN": "yes", "SECRET_TOKEN": "no"}
    start_and_wait(command(instance.home.path), environ)
    pid = instance.serving_pid()
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = {entry.partition(b"=")[0] for entry in file.read().split(b"\0")}
        assert b"HMD_SEEN" in names and b"SECRET_TOKEN" not in names
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()
        assert int(state[1]) != os.getpid()
        assert int(state[3]) not in (os.getsid(0), pid)
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert {os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)} == {"/dev/null"}
    finally:
        instance.ask("stop")
        assert wait_until_gone(pid, PATIENCE_S)


@pytest.mark.parametrize("locale", ["C", "POSIX", "en_US.ISO-8859-1"])
def test_any_locale_serves_any_home(instance: Instance, locale: str) -> None:
    """Guards homes and logs with letters beyond ASCII where the locale is not UTF-8."""
    from hmd.kernel.address import Home

    instance.home = Home(str(instance.directory / "hömé-🛑"))
    environ = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    process = instance.start(environ=environ)
    assert instance.serving_pid() == process.pid
    assert "hömé-🛑" in instance.log()


def test_a_managers_socket_is_served_and_stays(instance: Instance) -> None:
    """Guards socket activation: a running owner is asked to go, the socket is the manager's."""
    on_demand = instance.start()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    fresh = instance.home.socket + "2"
    manager.bind(fresh)
    manager.listen()
    os.rename(fresh, instance.home.socket)  # what systemd does at "start hmd.socket"
    with connect(instance) as sock:  # nobody has accepted this client yet
        sock.sendall(frame.request(frame.CALL, {"method": "ping"}, b"{}"))
        managed = start_managed(instance, manager)
        answer = frame.parse_answer(read_all(sock))
    assert answer is not None and str(managed.pid).encode() in answer[1]
    assert instance.ask("status")["owner"] == "systemd"
    assert wait_for_end(on_demand) == 0
    managed.terminate()
    assert wait_for_end(managed) == 0
    assert os.path.exists(instance.home.socket)
    manager.close()


def start_managed(instance: Instance, passed: socket.socket) -> "subprocess.Popen[bytes]":
    """A daemon started as systemd starts one: descriptor 3, LISTEN_PID, LISTEN_FDS."""
    code = (
        "import os, sys\n"
        f"os.dup2({passed.fileno()}, 3)\n"
        "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')\n"
        "os.execve(sys.argv[1], sys.argv[1:], os.environ)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", code, *command(instance.home.path)],
        env=instance.environ,
        pass_fds=[passed.fileno()],
        stderr=subprocess.PIPE,
    )
    instance.processes.append(process)
    return process


def test_hooks_that_ran_from_an_older_build_run_from_this_one(instance: Instance) -> None:
    """Guards "a daemon refreshes the copy before it serves"; a newer copy is left as it is."""
    from hmd.setup import copies

    ours = copies.package_build().name
    instance.install()
    current = Path(instance.home.app_current)
    (Path(instance.home.app) / ours).rename(Path(instance.home.app) / "0.0.1-old")
    current.write_text("0.0.1-old\n")
    process = instance.start()
    assert copies.current(instance.home) == ours
    process.terminate()
    wait_for_end(process)
    current.write_text("999.0.0-new\n")
    instance.start()
    assert copies.current(instance.home) == "999.0.0-new"


def test_help_is_there(instance: Instance) -> None:
    """Guards the command line that people see first."""
    done = subprocess.run([*command(instance.home.path), "--help"], capture_output=True, check=True)
    assert b"--home" in done.stdout
