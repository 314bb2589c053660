"""Writes `docs/cli.md` from the commands themselves: `python -m hmd.cli.docs DIRECTORY`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer.main

from hmd.cli.main import PROGRAM, app

_HEAD = """\
# hmctl

Generated from the commands by `make docs`; do not edit by hand.

The answer goes to standard output, everything else to standard error. Every command takes `--json`,
whose keys only ever grow. `hmctl --home DIRECTORY …` or `HMD_HOME` names another home than the
platform's. Identifiers may be cut to any first digits (at least four) that are unique.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | an error, or the answer is no: not installed, not running, a check that failed |
| 2 | wrong usage |
| 75 | busy: try again |

Under a coding agent (`CLAUDECODE`, `AI_AGENT`, `GEMINI_CLI` and their kind in the environment)
changes become proposals that a person accepts with `hmctl proposal accept`.
"""


def document() -> str:
    """The whole page."""
    group = typer.main.get_command(app)
    context = group.make_context(PROGRAM, [], resilient_parsing=True)
    parts = [_HEAD, _options(group, context)]
    for path, command, inner in _commands(group, context, PROGRAM):
        parts.append(_command(path, command, inner))
    return "\n".join(parts)


def _commands(group: Any, context: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """(words, command, context) of every command, groups before their members."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        yield f"{path} {name}", command, inner
        if hasattr(command, "list_commands"):
            yield from _commands(command, inner, f"{path} {name}")


def _command(path: str, command: Any, context: Any) -> str:
    level = "##" if path.count(" ") == 1 else "###"
    help_text = " ".join((command.help or "").split())
    if hasattr(command, "list_commands"):
        return f"{level} {path}\n\n{help_text}\n"
    usage = " ".join([path, *_usage(command, context)])
    return f"{level} {path}\n\n    {usage}\n\n{help_text}\n\n{_options(command, context)}"


def _parameters(command: Any, context: Any) -> list[Any]:
    """What a person can give, without what every command has (help) and shells use."""
    return [
        one
        for one in command.get_params(context)
        if "--help" not in one.opts and not getattr(one, "hidden", False)
        if "completion" not in str(one.name)
    ]


def _usage(command: Any, context: Any) -> list[str]:
    out = []
    for one in _parameters(command, context):
        if one.param_type_name == "argument":
            out.append(_value(command, one) if one.required else f"[{_value(command, one)}]")
        elif one.required:
            out.append(f"{one.opts[0]} {_value(command, one)}")
    return [*out, "[OPTIONS]"]


def _options(command: Any, context: Any) -> str:
    rows = []
    for one in _parameters(command, context):
        name = _value(command, one)
        if one.param_type_name != "argument":
            names = " / ".join(filter(None, map(", ".join, (one.opts, one.secondary_opts))))
            name = names if one.is_flag else f"{names} {name}"
        text = _cell(one.help or "") + _default(one)
        rows.append(f"| `{_cell(name)}` | {text} |")
    return "\n".join(["| option | |", "|---|---|", *rows]) + "\n" if rows else ""


def _default(one: Any) -> str:
    """The default where it tells something: numbers, and words that are not empty."""
    value = getattr(one.default, "value", one.default)
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return f" Default: `{value}`." if plain and value != "" else ""


def _value(command: Any, one: Any) -> str:
    """How the value of a parameter is written: its own word, its choices, or its kind.

    The kind is read from the function, whose annotations are the same under every typer.
    """
    if one.metavar:
        return str(one.metavar)
    kinds = _kinds(inspect.signature(command.callback, eval_str=True).parameters[one.name])
    for kind in kinds:
        if issubclass(kind, Enum):
            return "|".join(str(each.value) for each in kind)
    return "N" if int in kinds else "X" if float in kinds else "TEXT"


def _kinds(parameter: inspect.Parameter) -> list[type]:
    """The classes in `Annotated[A | None, …]`."""
    annotation = parameter.annotation
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return [kind for kind in get_args(annotation) or [annotation] if isinstance(kind, type)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(argv: list[str]) -> int:
    target = Path(argv[0] if argv else "docs", "cli.md")
    target.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
