"""The copy that hooks run from: stub, kernel and hosts in `app/<build>/`, named by `app/current`.

Hooks never import from the installed package, so that an upgrade cannot pull the ground from
under one. A build is named after the version and the content of its files; the same files always
give the same name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hmd import __version__
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.setup.files import make_directories, read_text, write_through
from hmd.setup.shipped import PACKAGE, shipped

PATTERNS = "patterns"
_ABANDONED_S = 3600
# Imports everything that a hook could, compiles and bundles it and freezes its patterns, as the
# interpreter that will run the hooks. The copy never changes, so its compiled files need no check
# either.
_COMPILE = """
import compileall, importlib, os, py_compile, sys
root = sys.argv[1]
unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
sys.exit(1) if not compileall.compile_dir(root, quiet=1, invalidation_mode=unchecked) else None
sys.path.insert(0, root)
posix = ["client.hook", "client.spawn"]
windows = ["client.hook_windows", "hmd.kernel.windows", "hmd.kernel.system_windows"]
foreign = posix if sys.platform == "win32" else windows
for folder, _, names in sorted(os.walk(root)):
    for name in sorted(names):
        if name.endswith(".py"):
            module = os.path.relpath(os.path.join(folder, name), root)[:-3].replace(os.sep, ".")
            if module not in foreign:
                importlib.import_module(module.removesuffix(".__init__"))
from client.bundle import pack
from hmd.kernel.pattern import cache_key, freeze
pack(root, cache_key())
freeze(sys.argv[2])
"""


@dataclass(frozen=True, slots=True)
class Build:
    """What belongs into a copy: its name and the bytes of its files by relative path."""

    name: str
    files: dict[str, bytes]


def package_build() -> Build:
    """The build that the installed package gives."""
    files = {"hmd/__init__.py": (PACKAGE / "__init__.py").read_bytes()}
    for root, prefix in (
        (shipped("client"), "client"),
        (PACKAGE / "kernel", "hmd/kernel"),
        (PACKAGE / "hosts", "hmd/hosts"),
    ):
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                files[f"{prefix}/{path.relative_to(root).as_posix()}"] = path.read_bytes()
    digest = sha256()
    for name in sorted(files):
        digest.update(b"%s\0%d\0" % (name.encode(), len(files[name])) + files[name])
    return Build(f"{__version__}-{digest.hexdigest()[:12]}", files)


def kernel_hash() -> str:
    """The digest in the build's name; snapshots say with which one they were filed."""
    return package_build().name.rpartition("-")[2]


def daemon_command(home: Home) -> list[str]:
    """How a hook starts the daemon of this installation: isolated, and in UTF-8 mode."""
    flags = ["-I", "-X", "utf8", "-m", "hmd.daemon.main", "--home", home.path]
    return [sys.executable, *flags]


def current(home: Home) -> str:
    """The name of the build that hooks run from, or ""."""
    try:
        return (read_text(home.app_current) or "").strip()
    except OSError:
        return ""


def damage(home: Home, build: Build) -> list[str]:
    """The files of the copy of `build` that are missing or differ, by relative path."""
    root = Path(home.app, build.name)
    bad = []
    for name, content in build.files.items():
        try:
            same = (root / name).read_bytes() == content
        except OSError:
            same = False
        if not same:
            bad.append(name)
    return bad


def refresh(home: Home, interpreter: str) -> Build:
    """Makes hooks run from a whole copy of the package's build; keeps the one before it.

    A running hook may still be reading the old copy. Raises HmdError when the copy cannot be
    made; `app/current` then still names what it named.
    """
    build, before = package_build(), current(home)
    try:
        make_directories(home.app)
        if damage(home, build) or not os.path.exists(f"{home.app}/{build.name}/{PATTERNS}"):
            _place(home, build, interpreter)
        write_through(home.daemon_command, "\n".join(daemon_command(home)) + "\n")
        if before != build.name:
            write_through(home.app_current, build.name + "\n")
        _drop_others(home, {build.name, before})
    except OSError as error:
        where = error.filename or home.app
        raise HmdError("internal", f"copying the hook failed: {error.strerror}", where) from error
    return build


def _place(home: Home, build: Build, interpreter: str) -> None:
    """Writes the copy beside its place, then moves it there. Like all of a home it is its owner's
    alone, whatever mask hmctl was started with."""
    mask = os.umask(0o077)
    temporary = Path(home.app, f".new-{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        for name, content in build.files.items():
            path = temporary / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.write_bytes(content)
        _compile(temporary, interpreter)
        final = Path(home.app, build.name)
        if final.exists():
            final.rename(Path(home.app, f".old-{os.getpid()}"))
        temporary.rename(final)
    except OSError:
        # A daemon and an install may do this at once: the same files, whoever was first.
        if damage(home, build):
            raise
    finally:
        os.umask(mask)
        shutil.rmtree(temporary, ignore_errors=True)


def _compile(root: Path, interpreter: str) -> None:
    command = [interpreter, "-I", "-S", "-B", "-c", _COMPILE, str(root), str(root / PATTERNS)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if done.returncode:
        said = (done.stdout + b"\n" + done.stderr).decode("utf-8", "replace")
        last = " ".join(said.split())[-300:]
        raise HmdError(
            "internal",
            f"the interpreter cannot load the hook: {last}",
            interpreter,
            "run hmctl with another Python >= 3.11",
        )


def _drop_others(home: Home, keep: set[str]) -> None:
    """Removes other builds, and what an interrupted copy left an hour ago."""
    for entry in os.scandir(home.app):
        if not entry.is_dir() or entry.name in keep:
            continue
        fresh = abs(time.time() - entry.stat().st_mtime) < _ABANDONED_S
        if not (entry.name.startswith(".new-") and fresh):
            shutil.rmtree(entry.path, ignore_errors=True)
