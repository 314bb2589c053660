"""The operating system behind one set of names."""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hmd.core import machine

FOLDER = Path(machine.__file__).parent


def signatures(name: str) -> dict[str, tuple[str, ...]]:
    """Public functions and constants of a file, with their parameters."""
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.parse((FOLDER / name).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.args, *node.args.kwonlyargs]
            found[node.name] = tuple(one.arg for one in given)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                found |= {one.id: () for one in names if isinstance(one, ast.Name)}
    return {name: given for name, given in found.items() if not name.startswith("_")}


def test_both_families_offer_the_same() -> None:
    """Guards against a call that works on one of them only."""
    posix, windows = signatures("machine_posix.py"), signatures("machine_windows.py")
    assert {name: posix.get(name) for name in machine.__all__} == {
        name: windows.get(name) for name in machine.__all__
    }
    assert None not in [posix.get(name) for name in machine.__all__]


def test_a_pipe_is_read_to_its_end_or_until_the_time_is_over() -> None:
    """Guards readiness: words in pieces, an end without a word, and a process that hangs."""
    reading, writing = os.pipe()
    os.write(writing, b"rea")
    with pytest.raises(TimeoutError):
        machine.read_to_end(reading, 0.05)
    os.write(writing, b"dy\n")
    os.close(writing)
    assert machine.read_to_end(reading, 5) == b"dy\n"
    assert machine.read_to_end(reading, 5) == b""
    os.close(reading)


def test_a_child_speaks_through_its_pipe_and_nothing_else_is_passed_on() -> None:
    """Guards successors: the pipe arrives, descriptors of ours do not."""
    kept = os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(kept, True)
    script = (
        "import os, sys; number = int(sys.argv[sys.argv.index('--ready-fd') + 1]);"
        f" os.write(number, str(os.path.exists('/proc/self/fd/{kept}')).encode())"
    )
    process, reading = machine.start_child([sys.executable, "-c", script], {})
    assert machine.read_to_end(reading, 20) == b"False"
    os.close(reading)
    os.close(kept)
    assert process.wait(20) == 0


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    """Guards "one daemon": exclusive, and seen by those who only look."""
    first = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT | machine.NOT_INHERITED)
    second = os.open(tmp_path / "lock", os.O_RDWR | machine.NOT_INHERITED)
    assert machine.try_lock(first)
    assert not machine.try_lock(second) and not machine.try_lock(second, shared=True)
    os.close(first)
    assert machine.try_lock(second, shared=True)
    os.close(second)


def test_a_process_is_known_by_when_it_started() -> None:
    """Guards against ending a stranger that was given the same number."""
    began = machine.start_time(os.getpid())
    assert began and began == machine.start_time(os.getpid())
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert machine.start_time(process.pid) not in ("", began)
    process.communicate(b"\n")
    end = time.monotonic() + 10
    while machine.start_time(process.pid):
        assert time.monotonic() < end
