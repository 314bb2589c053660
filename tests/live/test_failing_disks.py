"""A home that cannot be written, a disk that is full: decisions go on, one-time holds do not."""

import contextlib
import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Host, Session
from tests.live.instance import PATIENCE_S

pytestmark = pytest.mark.live

RULES = {
    "deny": "git push",
    "confirm": "npm publish",
    "soft_deny": "npm install",
    "advise": "cargo build",
}


@pytest.fixture
def project(host: Host) -> Path:
    path = host.repository()
    host.install(path)
    for level, command in RULES.items():
        host.rule(path, f"bash:command:cmd:{command}", level, f"a rule at {level}")
    return path


@contextlib.contextmanager
def full_disk(host: Host) -> Iterator[None]:
    """Moves the home to a file system of its own and fills that to the last byte."""
    mounted = host.directory / "disk"
    mounted.mkdir()
    size = ["-o", "size=24m,mode=0700", "-t", "tmpfs", "tmpfs", str(mounted)]
    if os.geteuid() or subprocess.run(["mount", *size], capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    home = Path(host.home.path)
    try:
        subprocess.run(["cp", "-a", f"{home}/.", str(mounted)], check=True)
        subprocess.run(["mount", "--move", str(mounted), str(home)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(home)], capture_output=True)
        subprocess.run(["umount", "-l", str(mounted)], capture_output=True)


def fill(home: str) -> Path:
    filler = Path(home, "filler")
    with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            with contextlib.suppress(OSError):
                while True:
                    file.write(b"\0" * size)
    return filler


def decisions(host: Host, project: Path, name: str, ordinary: bool = False) -> dict[str, str]:
    """What each level's call is answered, twice in a row (a hold would let the second pass)."""
    session = Session(host, project, name)
    found = {}
    for level, command in RULES.items():
        answers = []
        for _ in range(2):
            payload = session.payload("PreToolUse", **session.call(command=command))
            answer = host.hook("PreToolUse", payload, ordinary=ordinary)
            assert not contract.problem("PreToolUse", *answer), answer
            answers.append(answer.decision or ("context" if answer.context else "silent"))
        found[level] = " ".join(answers)
    return found


STANDS = {"deny": "deny deny", "confirm": "ask ask", "advise": "context context"}


@pytest.mark.parametrize("served", [True, False])
def test_a_full_disk_keeps_deciding(
    host: Host, project: Path, served: bool, figure: Figure
) -> None:
    """Guards DESIGN "Failing": deny and confirm stand; a hold that no line could ever lift becomes
    advice; the host sees nothing of it; with room again everything is as before."""
    host.stop()
    with full_disk(host):
        host.release()
        if served:
            host.start()
        else:
            host.hold()
        filler = fill(host.home.path)
        found = decisions(host, project, "full")
        change = host.hmctl(
            "memory", "add", "--summary", "one more", "--active", cwd=project, code=None
        )
        filler.unlink()
        after = decisions(host, project, "room")
        host.release()
        # A store that could not be opened is tried again every few seconds.
        add = ["memory", "add", "--summary", "one more", "--active"]
        end = time.monotonic() + PATIENCE_S
        while host.hmctl(*add, cwd=project, code=None).returncode and time.monotonic() < end:
            time.sleep(0.2)
        assert "one more" in host.hmctl("memory", "list", cwd=project).stdout
        host.hmctl("daemon", "stop")
    assert found == {**STANDS, "soft_deny": "context context"}
    assert change.returncode in (1, 75) and change.stdout == ""
    assert after["deny"] == "deny deny" and after["soft_deny"] == "deny deny"
    figure(f"full disk, daemon {'up' if served else 'down'}: {found}")


def test_a_file_size_limit_is_a_full_disk(host: Host, project: Path) -> None:
    """Guards the same for a limit of the process (RLIMIT_FSIZE), which also cuts lines short."""
    host.stop()
    session = Session(host, project)
    session.start()
    (ledger,) = Path(host.home.ledgers).iterdir()
    for limit in (0, ledger.stat().st_size + 40):

        def limited(limit: int = limit) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        for level, command in RULES.items():
            payload = session.payload("PreToolUse", **session.call(command=command))
            answer = host.hook("PreToolUse", payload, before=limited)
            assert not contract.problem("PreToolUse", *answer), answer
            assert answer.decision == {"deny": "deny", "confirm": "ask"}.get(level, ""), level
    # A line that was cut short damages only itself.
    assert session.pre("npm install").decision == "deny"
    session.batch()
    assert session.pre("npm install").decision == ""


@pytest.mark.parametrize("served", [True, False])
def test_a_home_that_cannot_be_written(
    host: Host, project: Path, served: bool, figure: Figure
) -> None:
    """Guards DESIGN "Failing" for a home that lost its write permission."""
    host.start()
    if not served:
        host.stop()
    home = Path(host.home.path)
    closed = [home, *(path for path in home.rglob("*") if path.is_dir() and not path.is_symlink())]
    modes = {path: path.stat().st_mode & 0o777 for path in closed}
    files = {path: path.stat().st_mode & 0o777 for path in home.rglob("*") if path.is_file()}
    for path in [*files, *closed]:
        os.chmod(path, (files.get(path) or modes[path]) & 0o500)
    try:
        found = decisions(host, project, "closed", ordinary=True)
    finally:
        for path, mode in {**files, **modes}.items():
            os.chmod(path, mode)
    # A daemon that root started passes every permission check and goes on writing.
    wanted = {**STANDS, "soft_deny": "context context"}
    if served and os.geteuid() == 0:
        wanted = {**STANDS, "soft_deny": "deny deny", "advise": "context silent"}
    assert found == wanted
    figure(f"read-only home, daemon {'up' if served else 'down'}: {found}")


def test_a_read_only_file_system(host: Host, project: Path) -> None:
    """Guards the same where the disk itself was remounted read-only under a running daemon, and
    that no change is acknowledged that is not kept."""
    host.start()
    home = host.home.path
    if os.geteuid() or subprocess.run(["mount", "--bind", home, home]).returncode:
        pytest.skip("only root can mount")
    more = ["memory", "add", "--summary", "one more", "--active"]
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", home], check=True)
        found = decisions(host, project, "ro")
        change = host.hmctl(*more, cwd=project, code=None)
    finally:
        subprocess.run(["umount", "-l", home], check=True)
    assert found == {**STANDS, "soft_deny": "context context"}
    host.hmctl("daemon", "restart")
    rows = json.loads(host.hmctl("memory", "list", "--json", cwd=project).stdout)["rows"]
    kept = [row for row in rows if row["summary"] == "one more"]
    assert len(kept) == (change.returncode == 0)
