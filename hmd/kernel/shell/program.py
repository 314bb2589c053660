"""From the program word of a command to the name rules know it by (specification §3)."""

from hmd.kernel.shell.tables_programs import PROGRAM_ALIASES, WINDOWS_SUFFIXES
from hmd.kernel.system import normal

# How the name was reached: through PATH, from a project's own bin directory, or a file.
PATH, BIN, FILE = "", "bin", "file"

_PYTHON_BIN_PARENTS = frozenset({".venv", "venv", "env", ".env"})
_DOT_RELATIVE = ("./", "../")


def program_name(word: str, cwd: str = ".", fold: bool = False) -> "tuple[str, str]":
    """(name, how it was reached). `word` is the program word after quote removal, `cwd` the
    directory relative to the repository, `fold` that the dialect compares names without case.
    """
    if word.isalpha():
        if fold:
            word = word.lower()
        return PROGRAM_ALIASES.get(word, word), PATH
    path = _forward(word, fold)
    if "/" not in path:
        return plain_name(path, fold), PATH
    parts = path.split("/")
    if _in_project_bin(parts):
        return plain_name(parts[-1], fold), BIN
    base = plain_name(parts[-1], fold)
    if base in ("gradle", "mvn") and parts[-1] not in ("gradle", "mvn"):
        return base, PATH  # the wrapper script of the build tool
    if path[0] in "/~" or path[1:2] == ":" or _expands_before_base(path):
        return base, PATH
    return _relative(path, cwd, base, fold)


def _forward(word: str, fold: bool) -> str:
    """`word` with `\\` as `/` where that is a separator: drive, UNC or dot-relative, or Windows."""
    if "\\" in word and (
        fold or word[1:3] == ":\\" or word.startswith(("\\\\", ".\\", "..\\")) or "/" not in word
    ):
        return word.replace("\\", "/")
    return word


def plain_name(name: str, fold: bool = False) -> str:
    """The name of a program without directory, Windows suffix and version."""
    lower = name.lower()
    for suffix in WINDOWS_SUFFIXES:
        if lower.endswith(suffix) and len(name) > len(suffix):
            name = lower[: -len(suffix)]
            break
    else:
        if fold:
            name = lower
    return PROGRAM_ALIASES.get(name) or _unversioned(name)


def _unversioned(name: str) -> str:
    """python3.12 -> python, pip3 -> pip, pypy3 -> python; other names keep their digits."""
    for stem, plain in (
        ("pythonw", "python"),
        ("python", "python"),
        ("pypy", "python"),
        ("pip", "pip"),
    ):
        if name.startswith(stem):
            rest = name[len(stem) :]
            if rest and rest.replace(".", "").isdigit() and rest[0] != ".":
                return plain
    return name


def _in_project_bin(parts: "list[str]") -> bool:
    """Whether the path ends in a bin directory that belongs to a project, not to the system."""
    if len(parts) < 3:
        return False
    above, folder = parts[-3].lower(), parts[-2].lower()
    return (
        (folder == ".bin" and above == "node_modules")
        or (
            folder in ("bin", "scripts")
            and (above in _PYTHON_BIN_PARENTS or parts[-4:-3] == [".tox"])
        )
        or (folder == "bin" and above == "vendor")
        or (folder in ("debug", "release") and above == "target")
    )


def _expands_before_base(path: str) -> bool:
    """`$HOME/bin/git`: where it lies is unknown, its name is not."""
    return "$" in path and not any(mark in path.rpartition("/")[2] for mark in "$`}(){")


def _relative(path: str, cwd: str, base: str, fold: bool) -> "tuple[str, str]":
    joined = path if cwd[:1] in "?@/~" or cwd[1:2] == ":" else f"{cwd}/{path}"
    full = normal(joined)
    if full.startswith("../") and "." not in base:
        return base, PATH  # leads out of the repository, to an installed program
    folder = full.rpartition("/")[0]
    if full.lower().endswith(WINDOWS_SUFFIXES) or fold:
        full = f"{folder}/{base}" if folder else base
    return full, FILE
