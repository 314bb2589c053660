"""Homes and environments that are out of the ordinary: installed, a rule holds, the daemon serves.

Each is a whole day through real processes: install, a rule by hand, the hook with the daemon and
without it, doctor. What cannot work says so, and what to do.
"""

import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hmd.kernel.address import SOCKET_PATH_LIMIT, Home
from tests.live.host import Host, Session
from tests.live.instance import Instance

pytestmark = pytest.mark.live

COMMAND = "npm test"


def moved(host: Host, home: Path) -> None:
    """Makes another directory the home."""
    host.home = Home(str(home))
    host.instance.home = host.home
    host.env["HMD_HOME"] = str(home)


def prepared(host: Host, **env: str) -> Path:
    """A project with one rule, everything done in the environment given."""
    host.env.update(env)
    project = host.repository()
    host.install(project)
    host.rule(project, f"bash:command:cmd:{COMMAND}", "deny", "use pnpm")
    return project


def holds(host: Host, project: Path, name: str = "s1") -> None:
    """The rule holds with the daemon and without it, other calls pass, and all is recorded."""
    session = Session(host, project, name)
    pid = host.start()
    assert pid and session.pre(COMMAND).decision == "deny" and not session.pre("ls").held
    assert "decisions" in host.hmctl("status", "--json", cwd=project).stdout
    host.stop()
    assert session.pre(COMMAND).decision == "deny" and not session.pre("ls").held
    assert len(host.ledger(name)) == 4
    host.release()


def test_a_home_deep_in_the_tree(host: Host) -> None:
    """Guards paths that no socket's name has room for: another place is found by both."""
    home = host.directory / ("d" * 60) / ("e" * 60) / "hmd"
    moved(host, home)
    project = prepared(host)
    assert len(str(home)) > SOCKET_PATH_LIMIT > len(host.home.socket)
    holds(host, project)
    short = Path(host.home.socket).parent
    assert stat.S_IMODE(short.stat().st_mode) == 0o700
    host.hmctl("uninstall", "--purge", cwd=project)
    assert not Path(host.home.socket).exists() and not home.exists()


NAMES = [
    "한글 é's",
    *(pytest.param(one, marks=pytest.mark.long) for one in ("a b", '"two"', "-a", "a$b`c;d")),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_home_of_any_name(host: Host, name: str) -> None:
    """Guards quoting, from the settings file to the daemon's command."""
    moved(host, host.directory / name / "hmd")
    holds(host, prepared(host))


def test_two_homes_at_once(host: Host) -> None:
    """Guards one user with two homes (work and private): two daemons, and neither knows what the
    other has been told."""
    project = prepared(host)
    first = host.start()
    (host.directory / "other").mkdir()
    other = Host(host.directory / "other")
    try:
        other.env["HOME"] = str(host.directory)
        other.install(project)
        other.rule(project, "bash:command:cmd:cargo build", "deny")
        second = other.start()
        assert first and second and first != second
        work, private = Session(host, project, "a"), Session(other, project, "b")
        assert work.pre(COMMAND).decision == "deny" and not private.pre(COMMAND).held
        assert private.pre("cargo build").decision == "deny" and not work.pre("cargo build").held
        other.hmctl("uninstall", "--purge", cwd=project)
        assert host.instance.serving_pid() == first
        assert work.pre(COMMAND).decision == "deny"
    finally:
        other.close()


@pytest.mark.parametrize("umask", [0o000, pytest.param(0o277, marks=pytest.mark.long)])
def test_any_umask(host: Host, umask: int) -> None:
    """Guards what hooks and hmctl create: for the user alone, whatever the shell's mask says."""
    before = os.umask(umask & 0o077)
    try:
        project = host.repository()
        os.umask(umask)
        host.install(project)
        host.rule(project, f"bash:command:cmd:{COMMAND}", "deny", "use pnpm")
        session = Session(host, project)
        assert session.pre(COMMAND).decision == "deny"
        host.stop()
        assert session.pre(COMMAND).decision == "deny"
    finally:
        os.umask(before)
    host.release()
    for folder, directories, files in os.walk(host.home.path):
        for name in [*directories, *files]:
            status = os.lstat(os.path.join(folder, name))
            private = stat.S_ISLNK(status.st_mode) or not status.st_mode & 0o077
            assert private, f"{folder}/{name} {stat.S_IMODE(status.st_mode):o}"


ENVIRONMENTS = {
    "no TMPDIR": {"TMPDIR": "/no/such/directory"},
    "C, not UTF-8": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"},
    "POSIX, coerced": {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
    "UTF-8 mode": {"PYTHONUTF8": "1", "LC_ALL": "C"},
    "another Python's": {
        "PYTHONHOME": "/no/python",
        "PYTHONPATH": "/no/path",
    },
    "no bytecode": {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONOPTIMIZE": "2"},
    "odd encodings": {"PYTHONIOENCODING": "latin-1", "LC_ALL": "en_US.ISO-8859-1"},
}


@pytest.mark.parametrize(
    "which",
    [
        pytest.param(one, marks=[] if "C, not" in one or "another" in one else pytest.mark.long)
        for one in sorted(ENVIRONMENTS)
    ],
)
def test_any_environment(host: Host, which: str) -> None:
    """Guards hook, daemon and hmctl against what a shell or an agent has in its environment. What
    keeps any Python from starting (PYTHONHOME) is kept from hmctl alone: its user sees that."""
    env = ENVIRONMENTS[which]
    project = prepared(host, **({} if "PYTHONHOME" in env else env))
    host.start()
    answer = Session(host, project, "s1", **env).pre(COMMAND)
    assert answer.decision == "deny" and "use pnpm" in answer.reason
    host.stop()
    assert Session(host, project, "s1", **env).pre(COMMAND).decision == "deny"


def few_descriptors() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))


def closed_errors() -> None:
    os.close(2)


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))


@pytest.mark.parametrize("served", [True, False])
@pytest.mark.parametrize(
    "limit",
    [
        few_descriptors,
        *(pytest.param(one, marks=pytest.mark.long) for one in (closed_errors, small_files)),
    ],
)
def test_a_hook_under_limits(host: Host, limit: Callable[[], None], served: bool) -> None:
    """Guards a hook process that its host starts with little."""
    project = prepared(host)
    host.start() if served else host.stop()
    session = Session(host, project)
    payload = session.payload("PreToolUse", **session.call(command=COMMAND))
    answer = host.hook("PreToolUse", payload, before=limit)
    assert (answer.code, answer.decision) == (0, "deny")


@pytest.mark.parametrize("served", [True, False])
def test_a_hook_whose_input_is_closed(host: Host, served: bool) -> None:
    """Guards a host that closes a hook's input: nothing to decide, nothing to complain about."""
    project = prepared(host)
    host.start() if served else host.stop()
    done = subprocess.run(
        ["/bin/sh", "-c", '"$@" <&-', "sh", *host.entry("PreToolUse")],
        cwd=project, env=host.env, capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert Session(host, project).pre(COMMAND).decision == "deny"


def test_a_daemon_started_with_few_descriptors(host: Host) -> None:
    """Guards `ulimit -n 64` in a shell profile: the daemon serves all the same."""
    project = prepared(host)
    host.stop()
    host.release()
    words = [sys.executable, "-m", "hmd.cli.main", "daemon", "start"]
    subprocess.run(
        ["/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *words],
        cwd=project, env=host.env, check=True, timeout=60, capture_output=True,
    )  # fmt: skip
    sessions = [Session(host, project, f"s{number}") for number in range(40)]
    assert all(one.pre(COMMAND).decision == "deny" for one in sessions)
    status = host.hmctl("status", "--json", cwd=project).stdout
    assert '"state": "ready"' in status or '"state":"ready"' in status, host.instance.log()


def test_without_a_home_directory(host: Host) -> None:
    """Guards cron jobs and containers that set no HOME: HMD_HOME is enough for the hook, and hmctl
    says what it lacks."""
    project = prepared(host)
    env = {name: value for name, value in host.env.items() if name != "HOME"}
    session = Session(host, project)
    body = session.payload("PreToolUse", **session.call(command=COMMAND))
    host.env = env
    assert host.hook("PreToolUse", body).decision == "deny"
    host.stop()
    body = session.payload("PreToolUse", **session.call(command=COMMAND))
    assert host.hook("PreToolUse", body).decision == "deny"
    host.release()
    assert host.start()
    del host.env["HMD_HOME"]
    done = host.hmctl("status", cwd=project, code=2)
    assert "HOME" in done.stderr and "Traceback" not in done.stderr


ON_THE_NETWORK = """
from hmd.store import db
db.file_system_of = lambda path, mounts=None: "nfs4"
"""


def test_a_home_on_the_network(host: Host) -> None:
    """Guards homes whose file system shares no memory between machines: a rollback journal, no
    file beside the database that needs shared memory, nothing lost by a kill, and doctor tells."""
    instance = host.instance
    daemon = instance.start(before=ON_THE_NETWORK)
    project = prepared(host)
    session = Session(host, project)
    assert session.pre(COMMAND).decision == "deny"
    draft = {"subject": "build box", "fact": "it runs Debian 12"}
    instance.call("fact.remember", draft, cwd=str(project))
    folder = Path(host.home.database).parent
    assert not [path for path in folder.iterdir() if path.name.endswith(("-wal", "-shm"))]
    found = host.hmctl("doctor", cwd=project, code=None).stdout
    assert "network file system" in found, found
    daemon.kill()
    daemon.wait()
    host.hold()
    assert session.pre(COMMAND).decision == "deny"
    host.release()
    instance.start(before=ON_THE_NETWORK)
    host.hmctl("memory", "list", cwd=project)
    listed = host.hmctl("fact", "recall", cwd=project).stdout
    assert "Debian 12" in listed
    assert session.pre(COMMAND).decision == "deny"
    assert not [path for path in folder.iterdir() if path.name.endswith(("-wal", "-shm"))]


def mounted(host: Host, place: str, options: str) -> list[str]:
    """A command prefix that gives its process another file system at a place."""
    script = f'mount -t tmpfs -o {options} tmpfs {place} && exec "$@"'
    prefix = ["unshare", "--mount", "/bin/sh", "-c", script, "sh"]
    tried = subprocess.run([*prefix, "true"], capture_output=True)
    if tried.returncode:
        pytest.skip("mounts of one's own cannot be made here")
    return prefix


@pytest.mark.parametrize(
    ("place", "options"), [("/dev/shm", "mode=0000,size=4k"), ("/var/tmp", "noexec,mode=1777")]
)
def test_without_shared_memory_or_programs_in_tmp(
    instance: Instance, place: str, options: str
) -> None:
    """Guards containers without /dev/shm, and places from which nothing may be run: the store
    opens (its shared memory is a file beside it)."""
    (instance.directory / "user").mkdir()
    host = Host(instance.directory / "user")
    prefix = mounted(host, place, options)
    try:
        project = host.repository()
        host.env["TMPDIR"] = place
        for words in (
            ["install", "--skip-self-test"],
            ["memory", "add", "--summary", "use pnpm", "--signature",
             f"bash:command:cmd:{COMMAND}", "--enforce", "deny", "--active"],
            ["doctor", "--canary"],
        ):  # fmt: skip
            done = subprocess.run(
                [*prefix, sys.executable, "-m", "hmd.cli.main", *words],
                cwd=project, env=host.env, capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            assert done.returncode == 0, (words, done.stdout, done.stderr)
        session = Session(host, project)
        body = session.payload("PreToolUse", **session.call(command=COMMAND))
        assert host.hook("PreToolUse", body, words=[*prefix, *host.entry("PreToolUse")]).held
    finally:
        host.close()


def test_a_sandbox_that_refuses_sockets_is_named(host: Host) -> None:
    """Guards hmctl inside an agent's sandbox: not "no daemon is running", but who refuses, and the
    one thing to change. The hook decides alone there."""
    project = prepared(host)
    host.start()
    socket = Path(host.home.socket)
    if os.geteuid() == 0:
        prefix = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    else:
        prefix = []
    socket.chmod(0)
    words = [*prefix, sys.executable, "-m", "hmd.cli.main", "doctor"]
    for env, expected in (
        ({"SANDBOX_RUNTIME": "1"}, "sandbox.network.allowUnixSockets"),
        ({"CODEX_SANDBOX": "seatbelt"}, "network_access = true"),
        ({}, "run hmctl outside of it"),
    ):
        done = subprocess.run(
            words, cwd=project, env={**host.env, **env}, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 1 and expected in done.stdout, done.stdout
    session = Session(host, project)
    body = session.payload("PreToolUse", **session.call(command=COMMAND))
    assert host.hook("PreToolUse", body, ordinary=True).decision == "deny"
