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


def signatures(name: str) -> dict[str, tuple[object, ...]]:
    """Public functions, classes and constants of a file, with their parameters and methods."""
    return members(ast.parse((FOLDER / name).read_text(encoding="utf-8")).body)


def members(body: list[ast.stmt]) -> dict[str, tuple[object, ...]]:
    found: dict[str, tuple[object, ...]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.args, *node.args.kwonlyargs]
            found[node.name] = tuple(one.arg for one in given)
        elif isinstance(node, ast.ClassDef):
            found[node.name] = tuple(sorted(members(node.body).items()))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = ()
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


def test_a_group_ends_with_what_its_child_has_started() -> None:
    """Guards against extraction children that leave theirs behind: the child has gone, its own
    child has not."""
    niceness = max(15, os.getpriority(os.PRIO_PROCESS, 0))
    script = "read go; sleep 600 & echo $!"
    process = subprocess.Popen(
        ["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **machine.APART
    )
    group = machine.Group(process.pid, niceness)
    assert process.stdin and process.stdout
    process.stdin.write(b"go\n")
    process.stdin.close()
    left = int(process.stdout.readline())
    assert process.wait(20) == 0 and machine.start_time(left)
    assert os.getpriority(os.PRIO_PROCESS, left) == niceness
    group.kill()
    process.stdout.close()
    end = time.monotonic() + 10
    while machine.start_time(left):
        assert time.monotonic() < end
    group.kill()  # nobody is there any more


def test_places_in_a_file_are_read_and_written_whole(tmp_path: Path) -> None:
    """Guards overwriting in place, which two systems do by different calls."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    descriptor = os.open(path, os.O_RDWR | machine.NOT_INHERITED)
    machine.write_at(descriptor, b"abc", 4)
    assert machine.read_at(descriptor, 5, 3) == b"3abc7"
    assert machine.read_at(descriptor, 5, 8) == b"89" and machine.read_at(descriptor, 5, 50) == b""
    os.close(descriptor)
    machine.replace(path, tmp_path / "other")
    machine.sync_directory(tmp_path)
    assert (tmp_path / "other").read_bytes() == b"0123abc789" and not path.exists()


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


def calls_that_differ() -> list[str]:
    """Calls in the package that mean another thing on another system, by file and line."""
    found = []
    apart = {FOLDER / "machine_posix.py", FOLDER / "machine_windows.py"}
    apart |= {FOLDER.parent / "transport" / "unix.py"}
    apart |= {FOLDER.parent / "kernel" / name for name in ("windows.py", "system_windows.py")}
    for path in sorted(set(FOLDER.parent.rglob("*.py")) - apart):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            name, owner = node.func.attr, ast.unparse(node.func.value)
            wrong = (
                # What is opened so is inherited by children, and translates line ends on Windows.
                (owner == "os" and name == "open" and not opens_well(node, text))
                # Neither replaces a file that somebody reads there.
                or (owner == "os" and name in ("replace", "rename"))
                or (is_rename(node) and owner not in ("structs", "machine", "system"))
            )
            if wrong:
                where = path.relative_to(FOLDER.parent)
                found.append(f"{where}:{node.lineno}: {ast.unparse(node)}")
    return found


def is_rename(node: ast.Call) -> bool:
    """`path.replace(other)`; that of a text takes two arguments, that of a struct names fields."""
    called = isinstance(node.func, ast.Attribute) and node.func.attr == "replace"
    return called and len(node.args) == 1 and not node.keywords


def opens_well(node: ast.Call, text: str) -> bool:
    """An `os.open` whose flags say what they must, or were made by `open` for its opener."""
    flags = ast.unparse(node.args[1])
    if "devnull" in ast.unparse(node.args[0]):
        return True
    if flags != "flags":
        return "NOT_INHERITED" in flags
    return "flags: int" in text or any(
        "NOT_INHERITED" in line and line.lstrip().startswith("flags") for line in text.splitlines()
    )


def test_no_call_means_another_thing_elsewhere() -> None:
    """Guards Windows by what was wrong there before: text files that should be bytes, files that
    cannot be replaced while a hook reads them, descriptors that children inherit."""
    assert calls_that_differ() == []
