"""Imports go one way. Each rule says why; a new folder needs a line here before it needs code."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# folder → (folders of ours it may import besides itself, why)
MAY_IMPORT = {
    "kernel": (set(), "it runs in every hook process and decides verdicts: it depends on nothing"),
    "hosts": ({"kernel"}, "pure translation, also in every hook process"),
    "core": ({"kernel"}, "the words of the daemon side"),
    "learn": ({"core", "kernel"}, "pure: no store, no process, no clock"),
    "recall": ({"core", "kernel"}, "pure: no store, no process, no clock"),
    "store": ({"core", "kernel"}, "the database knows nothing of learning or of processes"),
    "providers": ({"core", "kernel"}, "one extraction CLI per file"),
    "encoder": (
        {"core", "kernel", "recall"},
        "parent and child of the embedding process; the child holds the vectors, as it has numpy",
    ),
    "transport": ({"core", "kernel"}, "moves opaque bytes"),
    "app": (
        {"core", "kernel", "hosts", "learn", "recall", "store", "providers", "encoder"},
        "use cases: the only place that joins store, learn and recall",
    ),
    "daemon": (
        {"core", "kernel", "hosts", "store", "transport", "app", "learn", "recall", "encoder"},
        "the process; its main wires everything",
    ),
    "worker": ({"core", "kernel", "hosts", "store", "app", "learn", "recall"}, "CPU-bound work"),
    "setup": ({"core", "kernel", "hosts", "link"}, "never the store: the daemon owns it"),
    "cli": ({"core", "kernel", "hosts", "link", "setup"}, "never the store: the daemon owns it"),
    "link": ({"core", "kernel", "transport", "daemon"}, "the wire client; it starts the daemon"),
    "memory": ({"core", "kernel", "link"}, "the library, over the socket"),
}
# module → (folders it may import in addition, why)
EXCEPTIONS: dict[str, tuple[set[str], str]] = {
    "hmd.daemon.main": (set(MAY_IMPORT), "wiring"),
    "hmd.worker.main": (set(MAY_IMPORT), "wiring"),
    "hmd.cli.db": ({"store", "daemon"}, "works while no daemon runs, under the home's lock"),
}
# What a hook process may import from the standard library: the cheap part of it.
CHEAP = {
    "_frozen_importlib", "_json", "_sha1", "_socket", "_sre", "base64", "binascii", "errno",
    "fcntl", "json", "marshal", "math", "nt", "os", "posix", "posixpath", "re", "stat", "sys",
    "time", "unicodedata", "zlib",
}  # fmt: skip


# module → (what it may import in addition, why)
PLATFORM = {
    "hmd.kernel.system_windows": ({"ntpath"}, "what `os` has loaded there"),
    "hmd.kernel.windows": ({"ctypes", "msvcrt", "subprocess"}, "the Windows API, loaded when used"),
}


def modules(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def imports(path: Path, *, run_time: bool = False) -> set[str]:
    """Imported module names; with `run_time` those under `if TYPE_CHECKING` are left out."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[int] = set()
    if run_time:
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
                skipped |= {id(inner) for part in node.body for inner in ast.walk(part)}
    found = set()
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("folder", sorted(MAY_IMPORT))
def test_folder_imports_only_what_its_layer_may(folder: str) -> None:
    allowed, why = MAY_IMPORT[folder]
    paths = modules(f"hmd/{folder}") or [ROOT / f"hmd/{folder}.py"]
    for path in filter(Path.exists, paths):
        extra, _ = EXCEPTIONS.get(name_of(path), (set(), ""))
        ours = {part.split(".")[1] for part in imports(path) if part.startswith("hmd.")} - {
            folder,
            "__version__",
        }
        wrong = ours - allowed - extra
        assert not wrong, f"{name_of(path)} imports {sorted(wrong)}; {folder} must not: {why}"


def test_every_folder_has_a_rule() -> None:
    folders = {path.parent.name for path in (ROOT / "hmd").glob("*/__init__.py")}
    assert folders <= set(MAY_IMPORT), "say in MAY_IMPORT what the new folder may import"


@pytest.mark.parametrize(
    "path", [*modules("hmd/kernel"), *modules("hmd/hosts"), *modules("client")]
)
def test_hook_processes_import_cheap_modules_only(path: Path) -> None:
    """A stub that decides alone loads all of this: typing or dataclasses cost it 9 to 13 ms."""
    for name in imports(path, run_time=True):
        top = name.split(".")[0]
        extra, _ = PLATFORM.get(name_of(path), (set(), ""))
        assert top in CHEAP | {"hmd", "client"} | extra, (
            f"{name_of(path)} imports {name} at run time"
        )
        if top == "hmd":
            assert name.split(".")[1:2] in (["kernel"], ["hosts"], []) or name == "hmd.__version__"


def loaded(code: str) -> set[str]:
    """Modules that a fresh bare interpreter has loaded after `code`."""
    script = f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_the_hot_path_of_the_stub_loads_built_in_modules_only() -> None:
    ours = loaded("import client.hook, _socket") - loaded("pass")
    files = {name for name in ours if name.split(".")[0] not in ("client", "hmd")}
    assert files <= {"_socket", "_sha1", "posix", "time"}, files


def test_a_stub_alone_loads_nothing_expensive() -> None:
    names = loaded("import hmd.kernel.answer, hmd.kernel.files, hmd.kernel.hooklog")
    expensive = {"typing", "dataclasses", "logging", "pathlib", "tomllib", "inspect", "ast",
                 "subprocess", "asyncio", "datetime", "hashlib", "trio", "msgspec",
                 "json", "os", "posixpath"}  # fmt: skip
    assert not names & expensive
