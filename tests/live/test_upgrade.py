"""`pip install --upgrade` alone, in the middle of a session with attached clients."""

import contextlib
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hmd.daemon.lifecycle import read_owner
from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Answer, Host
from tests.live.instance import PATIENCE_S, wait_until_gone
from tests.live.test_service import put_on_path
from tests.live.wheels import Environment, build, copy_of_the_tree

pytestmark = [pytest.mark.live, pytest.mark.long]

SESSION = "upgraded"


class Wheels(NamedTuple):
    first: Path
    higher: Path
    rebuilt: Path  # the version of the first, with another kernel
    broken: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    directory = tmp_path_factory.mktemp("wheels")
    first = build(copy_of_the_tree(directory, "50.0.1"))
    higher = build(copy_of_the_tree(directory, "50.0.2"))
    again = directory / "again"
    again.mkdir()
    rebuilt = build(copy_of_the_tree(again, "50.0.1", extra="# another build\n"))
    source = copy_of_the_tree(directory, "50.0.3")
    (source / "hmd" / "daemon" / "serve.py").write_text("import no_such_module\n")
    return Wheels(first, higher, rebuilt, build(source))


class Upgraded(Host):
    """A host whose hmd is the one installed in an environment of its own."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.environment = Environment(directory / "venv")

    def hmctl(
        self, *words: str, cwd: Path | None = None, code: int | None = 0, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [self.environment.python, "-I", "-m", "hmd.cli.main", *words],
            cwd=cwd or self.directory,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if code is not None:
            assert done.returncode == code, done.stdout + done.stderr + self.instance.log()
        return done

    def call(self, use: int, event: str = "PreToolUse", command: str = "git push") -> Answer:
        payload: dict[str, Any] = {
            "session_id": SESSION, "transcript_path": "", "cwd": str(self.directory / "app"),
            "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": f"toolu_{use:05d}",
        }  # fmt: skip
        if event == "PostToolUse":
            payload["tool_response"] = {"stdout": "ok", "stderr": "", "interrupted": False}
        return self.hook(event, payload)


@pytest.fixture
def upgraded(host: Host, wheels: Wheels) -> Iterator[Upgraded]:
    made = Upgraded(host.directory)
    made.environment.upgrade(wheels.first)
    app = made.repository()
    made.install(app)
    made.rule(app, "bash:command:cmd:git push", "deny")
    yield made


class Person:
    """A client that stays attached: one process of the first build that makes one change after
    another, whatever happens to the daemon and to the files it was loaded from."""

    _SCRIPT = """
import itertools, sys
from hmd import link
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
home, cwd = Home(sys.argv[1]), sys.argv[2]
print("attached", flush=True)
for number in itertools.count():
    draft = {"summary": f"fact number {number}", "type": "decision", "triggers": ["before_model"]}
    try:
        link.call(home, "memory.add", draft, dict, cwd=cwd)
        print("done", number, flush=True)
    except HmdError as error:
        print("refused", error.code, error.what, flush=True)
"""

    def __init__(self, host: Upgraded) -> None:
        command = [host.environment.python, "-I", "-c", self._SCRIPT]
        self.process = subprocess.Popen(
            [*command, host.home.path, str(host.directory / "app")],
            stdout=subprocess.PIPE,
            env=host.env,
            text=True,
        )

    def end(self) -> list[str]:
        """What became of its calls. It is ended between two of them, or in one."""
        self.process.terminate()
        said, _ = self.process.communicate(timeout=PATIENCE_S)
        return said.splitlines()[1:]


class Sessions:
    """A host session whose hooks are called without a pause, in a thread."""

    def __init__(self, host: Upgraded) -> None:
        self.host = host
        self.answers: list[tuple[str, str, Answer, float]] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        use = 0
        while not self._ended.is_set():
            use += 1
            for event, command in (
                ("PreToolUse", "git push"),
                ("PreToolUse", "ls"),
                ("PostToolUse", "ls"),
            ):
                began = time.monotonic()
                answer = self.host.call(2 * use + (command == "ls"), event, command)
                self.answers.append((event, command, answer, time.monotonic() - began))

    def wait_for(self, more: int) -> None:
        wanted = len(self.answers) + more
        end = time.monotonic() + PATIENCE_S
        while len(self.answers) < wanted:
            assert self._thread.is_alive() and time.monotonic() < end
            time.sleep(0.01)

    def end(self) -> list[tuple[str, str, Answer, float]]:
        self._ended.set()
        self._thread.join(PATIENCE_S)
        return self.answers


def upgrade(host: Upgraded, wheel: Path, *more: str) -> tuple[int, int]:
    """Installs the wheel over the running daemon; (its process id, that of who serves then)."""
    old = host.start()
    host.environment.upgrade(wheel, *more)
    with contextlib.suppress(ProcessLookupError):
        assert wait_until_gone(old, PATIENCE_S)
    end = time.monotonic() + PATIENCE_S
    while not (new := host.instance.serving_pid()):
        assert time.monotonic() < end, host.instance.log()
        time.sleep(0.02)
    return old, new


@pytest.mark.parametrize("which", ["higher", "rebuilt"])
def test_an_upgrade_in_the_middle_of_a_session(
    upgraded: Upgraded, wheels: Wheels, which: str, figure: Figure
) -> None:
    """Guards upgrades under running sessions: no call unanswered, no event lost or written twice,
    no change lost, and one daemon, of the new build, at the end."""
    host = upgraded
    host.start()
    before = Path(host.home.app_current).read_text().strip()
    person, session = Person(host), Sessions(host)
    try:
        session.wait_for(30)
        more = ["--force-reinstall"] if which == "rebuilt" else []
        old, new = upgrade(host, getattr(wheels, which), *more)
        session.wait_for(60)
    finally:
        answers, said = session.end(), person.end()
    installed = Path(host.home.app_current).read_text().strip()
    version = {"higher": "50.0.2", "rebuilt": "50.0.1"}[which]
    owner = read_owner(host.home)
    assert old != new and owner is not None and (owner.pid, owner.build) == (new, installed)
    assert installed.startswith(version + "-") and installed != before
    assert host.daemons_left(new) == [new], host.instance.log()
    for event, command, answer, _ in answers:
        assert contract.problem(event, *answer) == ""
        assert answer.held == (command == "git push")
    written = Counter(record["e"] for record in host.ledger(SESSION) if record.get("e"))
    assert len(written) == len(answers) and set(written.values()) == {1}
    refused = [line for line in said if not line.startswith("done")]
    assert not refused and len(said) > 5
    rows = host.instance.call("memory.list", {"limit": 100_000}, cwd=str(host.directory / "app"))
    kept = {row["summary"] for row in rows["rows"]}
    assert {f"fact number {line.split()[1]}" for line in said} <= kept
    slowest = max(seconds for *_, seconds in answers)
    figure(
        f"{len(answers)} hook calls and {len(said)} changes around the upgrade,"
        f" slowest hook process {slowest * 1000:.0f} ms"
    )


def test_a_new_build_that_cannot_serve_is_not_made_room_for(
    upgraded: Upgraded, wheels: Wheels
) -> None:
    """Guards a broken release: who is there stays, says why, and follows the next good one."""
    host = upgraded
    old = host.start()
    host.environment.upgrade(wheels.broken)
    end = time.monotonic() + PATIENCE_S
    while "no_such_module" not in host.instance.log():
        assert time.monotonic() < end, host.instance.log()
        time.sleep(0.05)
    assert host.instance.serving_pid() == old and host.daemons_left(old) == [old]
    assert host.call(1).held
    host.environment.pip("install", "--no-deps", "--no-index", str(wheels.higher))
    assert wait_until_gone(old, PATIENCE_S)
    while host.daemons() in ([], [old]):
        assert time.monotonic() < end + PATIENCE_S, host.instance.log()
        time.sleep(0.05)
    assert host.call(2).held


def test_an_older_release_takes_over_when_it_is_what_was_installed(
    upgraded: Upgraded, wheels: Wheels
) -> None:
    """Guards going back: hooks and daemon follow the package, whichever direction it went."""
    host = upgraded
    _, new = upgrade(host, wheels.higher)
    assert Path(host.home.app_current).read_text().startswith("50.0.2-")
    host.environment.pip("install", "--no-deps", "--no-index", str(wheels.first))
    assert wait_until_gone(new, PATIENCE_S)
    end = time.monotonic() + PATIENCE_S
    while not host.instance.serving_pid():
        assert time.monotonic() < end, host.instance.log()
        time.sleep(0.05)
    assert Path(host.home.app_current).read_text().startswith("50.0.1-")
    assert host.call(1).held
    serving = host.instance.serving_pid()
    assert host.daemons_left(serving) == [serving]


def test_an_upgrade_under_a_service_manager(upgraded: Upgraded, wheels: Wheels) -> None:
    """Guards the same where a manager owns the socket: the daemon ends with the code that asks for
    a new start, the manager's next one is of the new build, and calls meanwhile are answered."""
    host = upgraded
    put_on_path(host)
    host.hmctl("service", "install")
    try:
        session = Sessions(host)
        try:
            session.wait_for(30)
            _, new = upgrade(host, wheels.higher)
            session.wait_for(30)
        finally:
            answers = session.end()
        owner = read_owner(host.home)
        assert owner is not None and owner.manager == "systemd"
        assert owner.build.startswith("50.0.2-") and host.daemons_left(new) == [new]
        for event, command, answer, _ in answers:
            assert contract.problem(event, *answer) == ""
            assert answer.held == (command == "git push")
        written = Counter(record["e"] for record in host.ledger(SESSION) if record.get("e"))
        assert len(written) == len(answers) and set(written.values()) == {1}
    finally:
        host.hmctl("service", "uninstall", code=None)
