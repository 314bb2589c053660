"""What another user of the machine can do with a home: nothing. And a home that others can enter
is refused, with the command that closes it."""

import os
import socket
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from client.hook import DEADLINE
from hmd.kernel import frame
from hmd.kernel.address import session_key
from tests.live.figures import Figure
from tests.live.host import Host, Session

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users"),
]

NOBODY = 65534
OTHER = 54_321  # an id that belongs to nobody


@pytest.fixture
def shared(host: Host) -> tuple[Host, Session]:
    """A home whose parent directories anybody can enter: only its own mode protects it."""
    os.chmod(host.directory, 0o755)
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny", "secret words of a rule")
    host.start()
    session = Session(host, project)
    assert session.pre("git push").decision == "deny"
    return host, session


def as_user(user: int, act: Callable[[], object]) -> str:
    """What another user gets from `act`: its result as text, or the name of the error."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
            said = str(act())
        except OSError as error:
            said = type(error).__name__
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        return pipe.read()


def connect(path: str) -> int:
    """Sends a request and gives the length of the answer."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(10)
        sock.connect(path)
        header = {"proto": "1", "build": "0", "method": "status"}
        try:
            sock.sendall(frame.request(frame.CALL, header, b"{}"))
            return len(sock.recv(65536))
        except ConnectionError:
            return 0


def test_another_user_can_do_nothing(shared: tuple[Host, Session], figure: Figure) -> None:
    """Guards privacy and integrity: read, list, plant, remove and connect, one by one, on all that
    is there."""
    host, session = shared
    home = Path(host.home.path)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    for found in home.rglob("*"):
        mode = found.lstat().st_mode
        if not stat.S_ISLNK(mode) and not found.is_relative_to(host.home.app):  # code is no secret
            assert not mode & 0o077, (oct(mode), found)
    attempts = 0
    for path in (
        str(home),
        host.home.ledgers,
        host.home.ledger(session_key("claude-code", session.name)),
        host.home.app_current,
        host.home.database,
        host.home.socket,
    ):
        acts: list[Callable[[str], object]] = [
            os.listdir, os.remove, connect, lambda name: Path(name).read_bytes(),
            lambda name: Path(name).write_text("x"), lambda name: os.rename(name, name + ".x"),
        ]  # fmt: skip
        for act in acts:
            said = as_user(NOBODY, lambda act=act, path=path: act(path))  # type: ignore[misc]
            assert said in ("PermissionError", "NotADirectoryError", "IsADirectoryError"), (
                path,
                said,
            )
            attempts += 1
    assert as_user(NOBODY, lambda: Path(home, "app", "evil").touch()) == "PermissionError"
    assert session.pre("git push").decision == "deny"
    figure(f"another user: {attempts + 1} attempts on home, ledger, code, database and socket fail")


def test_a_peer_of_another_user_gets_no_answer(shared: tuple[Host, Session]) -> None:
    """Guards the second line of defence: the daemon asks the kernel who is there, even where every
    directory stands open."""
    host, _ = shared
    opened = [Path(host.home.path), Path(host.home.path, "run"), Path(host.home.run)]
    for path in opened:
        os.chmod(path, 0o755)
    os.chmod(host.home.socket, 0o777)
    try:
        foreign = as_user(NOBODY, lambda: connect(host.home.socket))
        own = as_user(0, lambda: connect(host.home.socket))
    finally:
        os.chmod(host.home.socket, 0o600)
        for path in opened:
            os.chmod(path, 0o700)
    assert foreign == "0" and int(own) > 0


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701])
def test_a_home_that_others_can_enter_is_refused_with_the_fix(
    shared: tuple[Host, Session], mode: int
) -> None:
    """Guards the refusal: daemon and install decline, say which command closes the home, and that
    command is all it takes. Hooks go on deciding."""
    host, session = shared
    host.hmctl("daemon", "stop")
    os.chmod(host.home.path, mode)
    for words in (["daemon", "start"], ["install"]):
        done = host.hmctl(*words, cwd=session.project, code=None)
        assert done.returncode != 0
        assert f"chmod 700 '{host.home.path}'" in done.stderr + done.stdout, done
    assert stat.S_IMODE(os.stat(host.home.path).st_mode) == mode
    assert session.pre("git push").decision == "deny"
    subprocess.run(["chmod", "700", host.home.path], check=True)
    host.start()
    assert session.pre("git push").decision == "deny"


def test_the_home_of_another_user_is_refused(shared: tuple[Host, Session]) -> None:
    """Guards a wrong HMD_HOME: nothing is made, started or changed in a home that is not ours."""
    host, session = shared
    foreign = host.directory / "foreign"
    foreign.mkdir(mode=0o700)
    os.chown(foreign, OTHER, OTHER)
    done = host.hmctl("install", cwd=session.project, code=None, HMD_HOME=str(foreign))
    assert done.returncode == 1 and "another user" in done.stderr
    assert list(foreign.iterdir()) == []


def test_a_planted_socket_directory_is_not_trusted(host: Host) -> None:
    """Guards long homes, whose socket lies in /tmp: a directory that somebody else made there
    first is neither used by stubs nor by the daemon."""
    from hmd.kernel.address import Home

    deep = host.directory / ("d" * 60) / ("e" * 60)
    deep.mkdir(parents=True)
    host.instance.home = host.home = Home(str(deep / "home"))
    host.env["HMD_HOME"] = host.home.path
    short = Path(host.home.short_run)
    assert host.home.socket.startswith(str(short))
    if short.exists():
        try:
            short.rmdir()
        except OSError:
            pytest.skip(f"{short} is in use")
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    host.hmctl("daemon", "stop")
    for entry in short.iterdir():
        entry.unlink()
    os.chown(short, NOBODY, NOBODY)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(host.home.socket)
    listener.listen()
    listener.settimeout(10 * DEADLINE)
    try:
        assert Session(host, project).pre("git push").decision == "deny"
        assert "by=stub" in host.log_lines()[-1]
        with pytest.raises(TimeoutError):
            listener.accept()  # the stub did not even knock
        assert host.hmctl("daemon", "start", code=None).returncode != 0
    finally:
        listener.close()
        Path(host.home.socket).unlink(missing_ok=True)
        os.chown(short, 0, 0)
        short.rmdir()
