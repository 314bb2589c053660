"""Reads and changes single settings of `config.toml`, keeping the rest of the file as it is."""

from __future__ import annotations

import json
import os
import tomllib
from typing import Any

import msgspec

from hmd.core.config import Settings, load, parse
from hmd.core.errors import HmdError
from hmd.setup.files import make_directories, read_text, write_through


def values(path: str, project: str = "") -> tuple[dict[str, Any], list[str]]:
    """Every setting by its dotted key, as it holds for a project ("" for the user), and what is
    wrong with the file."""
    config, problems = load(path)
    settings = msgspec.to_builtins(config.at(project) if project else config.user)
    said = [str(one) for one in problems]
    return flatten(settings), said


def flatten(table: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys of nested tables."""
    out: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            out |= flatten(value, f"{prefix}{key}.")
        else:
            out[prefix + key] = value
    return out


def value(path: str, key: str, project: str = "") -> Any:
    """One setting. Raises HmdError `usage` for a key that is none."""
    found, _ = values(path, project)
    if key not in found:
        raise _unknown(key)
    return found[key]


def _unknown(key: str) -> HmdError:
    import difflib  # late

    near = difflib.get_close_matches(key, flatten(msgspec.to_builtins(Settings())), 1)
    do = f"did you mean {near[0]}?" if near else "see hmctl config list"
    return HmdError("usage", "no such setting", key, do)


def change(path: str, key: str, typed: str, project: str = "") -> Any:
    """Sets one key and returns its value as read back. Raises HmdError; then nothing changed."""
    value(path, key, project)
    try:
        text = read_text(path) or ""
        before = tomllib.loads(text.removeprefix("\ufeff"))
    except (OSError, ValueError) as error:
        raise HmdError("damaged", f"the settings cannot be read: {error}", path) from error
    wanted = typed_value(typed)
    keys = [*(["project", project] if project else []), *key.split(".")]
    new = replaced(text, keys[:-1], keys[-1], as_toml(wanted))
    _check(path, before, new, keys, wanted, typed)
    make_directories(os.path.dirname(path))
    write_through(path, new)
    return value(path, key, project)


def _check(
    path: str, before: dict[str, Any], new: str, keys: list[str], wanted: Any, typed: str
) -> None:
    """Refuses a value that does not fit, and an edit that would touch anything else."""
    expected = before
    for key in keys[:-1]:
        expected = expected.setdefault(key, {})
    expected[keys[-1]] = wanted
    try:
        raw = tomllib.loads(new.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        raw = {}
    if raw != before:
        raise HmdError("refused", "this file is laid out in a way that hmctl cannot edit", path)
    where = ".".join(keys if keys[0] != "project" else [f'project."{keys[1]}"', *keys[2:]])
    for problem in parse(raw)[1]:
        if problem.where == where:
            raise HmdError("usage", f"'{typed}' does not fit: {problem.what}", where)


def typed_value(typed: str) -> Any:
    """What was typed, read as TOML where it is a number or a truth value, else as text."""
    try:
        found = tomllib.loads("v = " + typed)["v"]
    except (tomllib.TOMLDecodeError, KeyError):
        return typed
    return found if isinstance(found, bool | int | float | str) else typed


def as_toml(value: Any) -> str:
    """A value as TOML writes it; what is not set as `null` (for people only)."""
    # TOML's strings are JSON's but for DEL, which TOML 1.0 wants escaped.
    text = json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return "null" if value is None else text


def replaced(text: str, table: list[str], name: str, rendered: str) -> str:
    """`text` with `name = rendered` in a table: in place of the line that sets it, else as the
    first line of the table, else in a new table at the end. A dotted line above (`a.b = 1`)
    counts too."""
    lines = text.splitlines(keepends=True)
    here: list[str] = []
    start = 0 if not table else -1
    for number, line in enumerate(lines):
        head = _header(line)
        if head is not None:
            here = head
            start = number + 1 if here == table else start
            continue
        key = _key(line)
        if key is not None and here + key == [*table, name]:
            lines[number] = _with_value(line, rendered)
            return "".join(lines)
    if start >= 0:
        if start and not lines[start - 1].endswith("\n"):
            lines[start - 1] += "\n"
        lines.insert(start, f"{_dotted([name])} = {rendered}\n")
        return "".join(lines)
    if text and not text.endswith("\n"):
        text += "\n"
    return text + ("\n" if text else "") + f"[{_dotted(table)}]\n{_dotted([name])} = {rendered}\n"


def _header(line: str) -> list[str] | None:
    """The keys of a `[table]` line."""
    found = line.strip()
    if not found.startswith("[") or found.startswith("[["):
        return None
    return _path_of(found + "\nx = 1")


def _key(line: str) -> list[str] | None:
    """The keys of a `key = value` line that is whole on its line."""
    if "=" not in line:
        return None
    return _path_of(line)


def _path_of(text: str) -> list[str] | None:
    """Where a text of one assignment puts its value; a header's `x` is left out."""
    try:
        table: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    path = []
    while isinstance(table, dict) and len(table) == 1:
        key, table = next(iter(table.items()))
        path.append(key)
    return path[:-1] if text.endswith("\nx = 1") else path or None


def _with_value(line: str, rendered: str) -> str:
    """A `key = value # comment` line with another value; blanks and comment stay."""
    equals = [offset for offset, char in enumerate(line) if char == "="]
    start = next(at + 1 for at in equals if _path_of(line[:at] + "= 1"))  # a key may hold one
    value = line[start:]
    ends = [offset for offset, char in enumerate(value) if char == "#"]
    end = next((at for at in ends if _path_of("v = " + value[:at])), len(value))
    found = value[:end]
    before = found[: len(found) - len(found.lstrip())] or " "
    return line[:start] + before + rendered + found[len(found.rstrip()) :] + value[end:]


def _dotted(keys: list[str]) -> str:
    plain = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    return ".".join(key if key and set(key) <= plain else as_toml(key) for key in keys)
