"""Guards the copy that hooks run from: whole, compiled, switched in one step."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.setup import copies
from hmd.setup.surroundings import base_interpreter


def test_a_build_is_named_after_its_content() -> None:
    """Guards that the same files give the same name, and holds what a hook imports."""
    build = copies.package_build()
    assert build == copies.package_build()
    assert {"client/boot.py", "hmd/__init__.py", "hmd/kernel/address.py"} <= build.files.keys()
    assert not [name for name in build.files if "__pycache__" in name]


@pytest.mark.live
def test_the_copy_works_by_itself_and_is_repaired(tmp_path: Path) -> None:
    """Guards the real thing once: the base interpreter imports the kernel from the copy alone."""
    home, interpreter = Home(str(tmp_path)), base_interpreter().path
    build = copies.refresh(home, interpreter)
    assert copies.current(home) == build.name
    assert copies.damage(home, build) == []
    assert Path(home.daemon_command).read_text().splitlines() == copies.daemon_command(home)
    root = Path(home.app, build.name)
    assert list((root / "hmd" / "kernel" / "__pycache__").glob("address.*.pyc"))
    assert (root / copies.PATTERNS).stat().st_size > 0
    program = "import sys; sys.path.insert(0, sys.argv[1]); import hmd.kernel.address as a; "
    command = [interpreter, "-I", "-S", "-c", program + "print(a.__file__)", str(root)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert said == str(root / "hmd" / "kernel" / "address.py")

    os.makedirs(Path(home.app, "0.0.1-older"))
    (root / "hmd" / "kernel" / "address.py").unlink()
    assert copies.damage(home, build) == ["hmd/kernel/address.py"]
    copies.refresh(home, interpreter)
    assert copies.damage(home, build) == []
    assert sorted(os.listdir(home.app)) == sorted([build.name, "current", "daemon"])


def test_an_interpreter_that_cannot_load_it_changes_nothing(tmp_path: Path) -> None:
    """Guards the switch: `current` is only ever written for a copy that was seen to load."""
    home = Home(str(tmp_path))
    with pytest.raises(HmdError, match="cannot load the hook"):
        copies.refresh(home, "/bin/false")
    assert os.listdir(home.app) == []


def test_the_copy_before_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guards hooks that started just before the switch."""
    home = Home(str(tmp_path))
    build = copies.Build("2-new", {"hmd/__init__.py": b""})
    monkeypatch.setattr(copies, "package_build", lambda: build)
    monkeypatch.setattr(copies, "_compile", lambda root, _: (root / copies.PATTERNS).touch())
    for name in ("0-oldest", "1-old"):
        (tmp_path / "app" / name).mkdir(parents=True)
    Path(home.app_current).write_text("1-old\n")
    copies.refresh(home, "unused")
    assert sorted(os.listdir(home.app)) == ["1-old", "2-new", "current", "daemon"]
    (tmp_path / "app" / ".new-1").mkdir()  # of another process, being written now
    copies.refresh(home, "unused")
    assert sorted(os.listdir(home.app)) == [".new-1", "2-new", "current", "daemon"]
    os.utime(tmp_path / "app" / ".new-1", (0, 0))
    copies.refresh(home, "unused")
    assert sorted(os.listdir(home.app)) == ["2-new", "current", "daemon"]


def test_two_processes_may_place_the_same_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards an install beside a daemon that refreshes: the second one finds it done."""
    home = Home(str(tmp_path))
    build = copies.Build("2-new", {"hmd/__init__.py": b"x"})
    monkeypatch.setattr(copies, "package_build", lambda: build)

    def other_process_first(root: Path, _: str) -> None:
        (root / copies.PATTERNS).touch()
        final = tmp_path / "app" / "2-new" / "hmd"
        final.mkdir(parents=True)
        (final / "__init__.py").write_bytes(b"x")

        def full(_: Path, __: Path) -> None:
            raise OSError(39, "Directory not empty")

        monkeypatch.setattr(Path, "rename", full)

    monkeypatch.setattr(copies, "_compile", other_process_first)
    copies.refresh(home, "unused")
    assert copies.current(home) == "2-new"
    assert sorted(os.listdir(home.app)) == ["2-new", "current", "daemon"]
