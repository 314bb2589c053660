"""A hook whose own files are missing: no error, no wrong answer, no blocked host."""

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Host, Session, a_host, drained

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def denying() -> Iterator[tuple[Host, Session, bytes]]:
    """A host with one rule, and the bytes that a call against it gets."""
    with a_host() as host:
        project = host.repository()
        host.install(project)
        host.rule(project, "bash:command:cmd:git push", "deny", "CI pushes")
        host.start()
        session = Session(host, project)
        right = session.pre("git push").out
        assert right
        yield host, session, right


def held_call(session: Session) -> bytes:
    """A call that must be denied, too long for a small pipe and short enough for the socket."""
    payload = session.payload("PreToolUse", **session.call(command="git push", note="x" * 20_000))
    return json.dumps(payload).encode()


def needed(host: Host) -> list[Path]:
    """Every file and directory that an installed hook could read to decide."""
    app = Path(host.home.app)
    copy = app / Path(host.home.app_current).read_text(encoding="utf-8").strip()
    assert (copy / "patterns").exists() and (copy / "client" / "hook.py").exists()
    inside = sorted(copy.rglob("*"))
    return [Path(host.home.app_current), app, copy, *inside]


@pytest.mark.parametrize("served", [True, False])
def test_without_any_one_file_of_its_own(
    denying: tuple[Host, Session, bytes], served: bool, figure: Figure
) -> None:
    """Guards the bootstrap: each needed file away in turn; exit 0, all of stdin taken, and either
    the right answer or none."""
    host, session, right = denying
    if served:
        host.release()
        host.start()
    else:
        host.stop()
    environ = {**host.env, "CLAUDECODE": "1"}
    silent = []
    words = host.entry("PreToolUse")
    paths = needed(host)
    for path in paths:
        away = path.with_name(path.name + ".away")
        os.rename(path, away)
        try:
            answer, taken = drained(words, held_call(session), environ, session.project)
        finally:
            if path.is_dir():  # a hook wrote compiled files anew
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
            os.rename(away, path)
        assert (answer.code, answer.err) == (0, b""), (path, answer)
        assert answer.out in (right, b""), (path, answer)
        assert taken, path
        if not answer.out:
            silent.append(path.name)
    # Behind a daemon a stub needs four files of its own; alone it needs the kernel as well.
    assert "current" in silent and ("alone.py" in silent or served)
    assert session.pre("git push").out == right
    state = "up" if served else "down"
    figure(
        f"{len(paths)} files away one at a time, daemon {state}: {len(silent)} silent, else right"
    )


def test_without_the_home(host: Host) -> None:
    """Guards `rm -rf` of the home: every entry ends well and creates nothing."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    session = Session(host, project)
    assert session.pre("git push").decision == "deny"
    host.stop()
    shutil.rmtree(host.home.path)
    registered = json.loads(host.settings.read_text(encoding="utf-8"))["hooks"]
    environ = {**host.env, "CLAUDECODE": "1"}
    for event in registered:
        answer, taken = drained(host.entry(event), held_call(session), environ, project)
        assert answer == (0, b"", b"") and taken, (event, answer)
    assert not os.path.exists(host.home.path)


def test_without_the_interpreter(host: Host) -> None:
    """Guards the entry's form: what is missing gives the host an error that it lets pass (ENOENT,
    or 127 of a shell), never 2, which means "block"."""
    project = host.repository()
    host.install(project)
    words = host.entry("PreToolUse")
    gone = str(host.directory / "no" / "python3")
    with pytest.raises(FileNotFoundError):
        host.hook("PreToolUse", b"{}", words=[gone, *words[1:]])
    shell = subprocess.run(
        ["sh", "-c", shlex.join([gone, *words[1:]])], input=b"{}", capture_output=True, check=False
    )
    assert shell.returncode == 127 and shell.stdout == b""


@pytest.mark.parametrize(
    "damage", [b"", b"\0" * 200, b"raise SystemExit(2)\n", b"import nothing\n"]
)
def test_with_damaged_files(denying: tuple[Host, Session, bytes], damage: bytes) -> None:
    """Guards the same for files that are there and say nonsense, whatever they would do."""
    host, session, right = denying
    host.stop()
    app = Path(host.home.app)
    copy = app / Path(host.home.app_current).read_text(encoding="utf-8").strip()
    names = ["patterns", "client/hook.py", "client/alone.py", "hmd/kernel/decide.py"]
    compiled = sorted(
        path for path in copy.rglob("*.pyc") if path.name.startswith(("hook.", "alone.", "decide."))
    )
    for path in [Path(host.home.app_current), *(copy / name for name in names), *compiled]:
        whole = path.read_bytes()
        path.write_bytes(damage)
        try:
            answer = host.hook("PreToolUse", held_call(session), cwd=session.project)
        finally:
            path.write_bytes(whole)
        assert not contract.problem("PreToolUse", *answer), (path, answer)
        assert answer.out in (right, b""), (path, answer)
    host.release()
