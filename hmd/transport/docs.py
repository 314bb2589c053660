"""Writes `docs/wire.md` from the methods and their types: `python -m hmd.transport.docs DIR`."""

import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from hmd.kernel import frame
from hmd.transport.methods import METHODS, Method

_HEAD = f"""\
# The wire

Generated from the code by `make docs`; do not edit by hand. How frames look is in
[internals](internals.md#frames): protocol {frame.PROTOCOL}, one request, one answer, then the
connection is closed. A hook's body is at most {frame.HOOK_BODY_LIMIT} bytes, a call's
{frame.BODY_LIMIT}. An answer's status is one of {", ".join(f"`{one}`" for one in frame.STATUSES)}.

Bodies of calls are JSON. Every field has a default unless it is marked as required, unknown fields
are skipped, and fields only ever get added.

A call that *changes* something waits for the store and is acknowledged when it is durable. One that
is *safe to repeat* may be sent again after a broken connection.
"""


def document() -> str:
    """The whole page."""
    seen: dict[str, type] = {}
    parts = [_HEAD, "## Methods\n"]
    parts.append("| method | takes | gives | changes | safe to repeat | deadline |")
    parts.append("|---|---|---|---|---|---|")
    for method in _methods():
        for struct in (method.parameters, method.result):
            _collect(struct, seen)
        parts.append(_row(method))
    parts.append("\n## Types\n")
    for name in sorted(seen):
        parts += _type(seen[name])
    return "\n".join(parts)


def _methods() -> list[Method]:
    found = METHODS.values() if isinstance(METHODS, dict) else METHODS
    return sorted(found, key=lambda method: method.name)


def _row(method: Method) -> str:
    cells = [
        f"`{method.name}`",
        _link(method.parameters),
        _link(method.result),
        "yes" if method.mutates else "no",
        "yes" if method.retry_safe else "no",
        f"{method.deadline_ms / 1000:g} s",
    ]
    return f"| {' | '.join(cells)} |"


def _link(struct: type) -> str:
    return f"[{struct.__name__}](#{struct.__name__.lower()})"


def _type(struct: type) -> list[str]:
    """One section: the docstring, then a row for each field."""
    said = (struct.__doc__ or "").strip()
    lines = [f"### {struct.__name__}\n"]
    if said:
        lines.append(" ".join(said.split()) + "\n")
    fields = msgspec.structs.fields(struct)
    if fields:
        lines += ["| field | type | default |", "|---|---|---|"]
    for field in fields:
        cells = [f"`{field.encode_name}`", _spell(field.type), _default(field)]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _default(field: Any) -> str:
    if field.default is msgspec.UNSET:
        return "absent"
    if field.default is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default).decode()}`"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"`{msgspec.json.encode(field.default_factory()).decode()}`"
    return "required"


def _spell(kind: Any) -> str:
    """A type as a reader of JSON thinks of it."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_spell(one) for one in inner if one is not msgspec.UnsetType)
    if origin is typing.Literal:
        return ", ".join(f"`{one}`" for one in inner)
    if origin is typing.Annotated:
        return _spell(inner[0])
    if origin in (list, tuple):
        return f"list of {_spell(inner[0])}" if inner else "list"
    if origin is dict:
        return f"object of {_spell(inner[1])}"
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _link(kind)
    names = {str: "text", int: "integer", float: "number", bool: "true or false", Any: "any"}
    return names.get(kind, "null" if kind is type(None) else getattr(kind, "__name__", str(kind)))


def _collect(kind: Any, seen: dict[str, type]) -> None:
    """Adds a struct and every struct that its fields name."""
    for one in _structs(kind):
        if one.__name__ not in seen:
            seen[one.__name__] = one
            for field in msgspec.structs.fields(one):
                _collect(field.type, seen)


def _structs(kind: Any) -> Iterator[type]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for inner in typing.get_args(kind):
        yield from _structs(inner)


if __name__ == "__main__":
    Path(sys.argv[1], "wire.md").write_text(document(), encoding="utf-8")
