"""Following the package on disk: what an installer does while the daemon runs, step by step."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from hmd.daemon.lifecycle import OwnerRecord
from hmd.daemon.package import Package
from hmd.daemon.succession import OWN, SERVED, wait_for_lock
from hmd.daemon.upgrade import REMOVED_S, keep_up
from tests.daemon.test_succession import World

NAME = "harness_memory_daemon-1.0.dist-info"


class Installed:
    """A package of one module and its list of files, as an installer leaves them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "hmd"
        self.path.mkdir()
        self.serial = 0
        self.files()
        self.list()

    def files(self) -> None:
        """As pip does: the files are new ones, whatever they hold."""
        for name in ("__init__.py", "more.py"):
            self.serial += 1
            fresh = self.path / (name + ".new")
            fresh.write_text(f"# {self.serial}\n" * 3)
            os.utime(fresh, ns=(self.serial, self.serial))
            os.replace(fresh, self.path / name)

    def list(self) -> None:
        info = self.root / NAME
        info.mkdir(exist_ok=True)
        rows = [f"hmd/{name},sha256=x,{(self.path / name).stat().st_size}" for name in
                ("__init__.py", "more.py")]  # fmt: skip
        rows += ["hmd/__pycache__/more.pyc,,", f"{NAME}/RECORD,,", "../../bin/hmd,sha256=y,200"]
        (info / "RECORD").write_text("\n".join(rows) + "\n")

    def unlist(self) -> None:
        (self.root / NAME / "RECORD").unlink()


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    return Installed(tmp_path)


def test_a_package_is_whole_when_all_that_is_listed_is_there(installed: Installed) -> None:
    """Guards the moment of the hand-over: never from half an installation."""
    package = Package(str(installed.path))
    assert package.is_whole()
    (installed.path / "more.py").write_text("cut")
    assert not package.is_whole()
    installed.list()
    assert package.is_whole()
    (installed.path / "more.py").unlink()
    assert not package.is_whole()
    installed.unlist()
    assert not package.is_whole()


def test_a_checkout_has_no_list_and_is_always_whole(tmp_path: Path) -> None:
    """Guards development: a tree without an installer's list is followed as well."""
    (tmp_path / "hmd").mkdir()
    (tmp_path / "hmd" / "__init__.py").touch()
    assert Package(str(tmp_path / "hmd")).is_whole()


class Following:
    """`keep_up` over a package, with a clock of its own; what is done to the package when."""

    def __init__(self, package: Package, answers: list[bool]) -> None:
        self.package = package
        self.answers: Iterator[bool] = iter(answers)
        self.proofs: list[float] = []
        self.left: list[str] = []

    async def renew(self, reason: str) -> bool:
        self.proofs.append(trio.current_time() - self.began)
        self.left += [reason] if (can := next(self.answers)) else []
        return can

    async def run(self, *steps: tuple[float, Callable[[], object]], until: float) -> None:
        self.began = trio.current_time()
        with trio.move_on_at(self.began + until):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keep_up, self.package, self.renew, self.left.append)
                for at, step in steps:
                    await trio.sleep_until(self.began + at)
                    step()
                await trio.sleep_forever()


async def test_the_successor_is_started_once_the_installer_is_through(
    installed: Installed, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards an installer that takes its time: removed, copied, listed, each seconds apart."""
    following = Following(Package(str(installed.path)), [True])
    await following.run(
        (3.5, installed.unlist),
        (8.5, installed.files),
        (20.5, installed.list),
        until=60,
    )
    assert following.proofs == [21]
    assert len(following.left) == 1


async def test_a_build_that_cannot_serve_is_tried_once(
    installed: Installed, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards against a loop around a broken release, and for the good one that follows."""
    following = Following(Package(str(installed.path)), [False, True])
    await following.run((3.5, installed.files), (30.5, installed.files), until=60)
    assert len(following.proofs) == 2
    assert following.proofs[0] < 10 and following.proofs[1] > 30
    assert len(following.left) == 1


async def test_a_package_that_is_gone_for_good_takes_the_daemon_with_it(
    installed: Installed, autojump_clock: trio.testing.MockClock
) -> None:
    """Guards `pip uninstall`: what cannot load its own files any more does not stay for months."""
    following = Following(Package(str(installed.path)), [])
    moved = installed.root / "away"

    def away() -> None:
        installed.path.rename(moved)

    def back() -> None:
        moved.rename(installed.path)

    await following.run((1.5, away), (10.5, back), until=REMOVED_S + 20)
    assert not following.left
    away()
    await following.run(until=REMOVED_S + 5)
    assert following.left == ["the package was removed"]


class Changing(World):
    """A home whose record names another process from a moment on."""

    taken_at = 1.0

    def owner(self) -> OwnerRecord | None:
        pid = 78 if self.time >= self.taken_at else 77
        return OwnerRecord(pid, "start", "", 0, "", "")


def test_the_successor_waits_for_its_predecessor_only() -> None:
    """Guards "one daemon": the lock decides, and where another was faster the successor goes."""
    predecessor = OwnerRecord(77, "start", "", 0, "", "")
    free = World(free_at=2.0)
    assert wait_for_lock(free, predecessor, 30) == OWN and free.time < 2.1
    assert wait_for_lock(Changing(), predecessor, 30) == SERVED
    stays = World()
    assert wait_for_lock(stays, predecessor, 30) == SERVED
    assert 30 <= stays.time < 31 and stays.signals == [] and len(stays.said) == 1
