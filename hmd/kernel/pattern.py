"""Compiles the kernel's regular expressions, from a cache where this interpreter has one.

Compiling a pattern costs 0.1 to 0.4 ms in a fresh process, importing `re` some 10 ms, and a hook
that decides alone needs dozens of patterns. `freeze` writes the compiled form of every pattern the
kernel uses beside the installed copy; `thaw` reads it back. Patterns of the user's own rules are
met later: `keep` adds those that a process had to compile to a second file. The compiled form is
private to one interpreter version, so the files are keyed by it and anything unexpected falls back
to `re.compile`.
"""

import sys

from hmd.kernel import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any

_frozen: "dict[tuple[str, int], tuple[Any, ...]]" = {}
_used: "dict[tuple[str, int], re.Pattern[str]]" = {}
_missed: "list[tuple[str, int]]" = []  # compiled here, since no cache had them

KEPT = 256  # patterns of a user's rules; beyond that the file begins anew


def cache_key() -> str:
    """Names the interpreter a frozen cache is valid for."""
    import _sre

    return f"{sys.implementation.cache_tag}-{sys.hexversion:x}-{_sre.MAGIC}-{_sre.CODESIZE}"


def compile_pattern(pattern: str, flags: int = 0) -> "re.Pattern[str]":
    """Like `re.compile`; raises `re.error` for a bad pattern."""
    key = (pattern, flags)
    done = _used.get(key)
    if done is None:
        done = _used[key] = _from_cache(key) or _compile(key)
    return done


def _compile(key: "tuple[str, int]") -> "re.Pattern[str]":
    import re  # late: a process whose patterns are all frozen never pays for it

    compiled = re.compile(*key)
    _missed.append(key)
    return compiled


def _from_cache(key: "tuple[str, int]") -> "re.Pattern[str] | None":
    frozen = _frozen.get(key)
    if frozen is None:
        return None
    import _sre

    try:
        compiled: re.Pattern[str] = _sre.compile(key[0], *frozen)
    except Exception:
        return None
    return compiled


def thaw(path: str) -> bool:
    """Loads the cache at `path`; False (and no harm) when it is absent, foreign or damaged."""
    table = _read(path)
    if table is None:
        return False
    _frozen.update(table)
    return True


def freeze(path: str) -> int:
    """Writes every pattern compiled so far in this process to `path`; returns how many. Raises
    OSError."""
    table = {(key[0], int(key[1])): _form(key, compiled) for key, compiled in _used.items()}
    _write(path, table)
    return len(table)


def keep(path: str) -> int:
    """Adds the patterns that this process had to compile to the file at `path`; returns how many.
    For a process that lives for one decision; where they cannot be kept the next one compiles."""
    if not _missed:
        return 0
    table = {(key[0], int(key[1])): _form(key, _used[key]) for key in _missed[:KEPT]}
    known = _read(path) or {}
    if len(known) + len(table) <= KEPT:
        table = known | table
    temporary = f"{path}.{system.getpid()}"
    try:
        system.make_directories(system.dirname(path))
        _write(temporary, table)
        system.replace(temporary, path)
    except OSError:
        return 0
    return len(_missed)


def _form(key: "tuple[str, int]", compiled: "re.Pattern[str]") -> "tuple[Any, ...]":
    """What `_sre.compile` needs beside the pattern itself."""
    from re import _compiler, _parser  # type: ignore[attr-defined]

    tree = _parser.parse(*key)
    by_index: list[str | None] = [None] * (compiled.groups + 1)
    for name, index in compiled.groupindex.items():
        by_index[index] = name
    code = _compiler._code(tree, key[1])
    return (
        int(key[1] | tree.state.flags),
        [int(word) for word in code],  # the compiler's own integers do not marshal
        compiled.groups,
        dict(compiled.groupindex),
        tuple(by_index),
    )


def _write(path: str, table: "dict[tuple[str, int], tuple[Any, ...]]") -> None:
    import marshal

    with open(path, "wb") as file:
        file.write(marshal.dumps((cache_key(), table)))


def _read(path: str) -> "dict[tuple[str, int], tuple[Any, ...]] | None":
    import marshal

    try:
        with open(path, "rb") as file:
            head, table = marshal.loads(file.read())
    except Exception:  # absent, foreign or damaged: patterns are compiled instead
        return None
    return table if head == cache_key() and isinstance(table, dict) else None
