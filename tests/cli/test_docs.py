"""Guards that the documentation of commands is the commands' own, and that all have help."""

from __future__ import annotations

from pathlib import Path

import typer.main

from hmd.cli import choices, docs
from hmd.cli.main import PROGRAM, app
from hmd.core.memory import LEVELS, MEMORY_TYPES, STATUSES

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    """Guards docs/cli.md: `make docs` was run after the last change of a command."""
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == docs.document()


def test_every_command_and_option_has_help_and_json() -> None:
    """Guards against a command that nobody can find out about, or that no script can read."""
    group = typer.main.get_command(app)
    context = group.make_context(PROGRAM, [], resilient_parsing=True)
    for path, command, inner in docs._commands(group, context, PROGRAM):
        assert command.help, path
        if hasattr(command, "list_commands"):
            continue
        parameters = docs._parameters(command, inner)
        names = {name for one in parameters for name in one.opts}
        assert "--json" in names, path
        assert [one.name for one in parameters if not one.help] == [], path


def test_choices_are_the_words_of_the_model() -> None:
    """Guards the vocabularies that options repeat."""
    assert tuple(choices.MemoryType) == MEMORY_TYPES
    assert tuple(choices.Level) == LEVELS
    assert tuple(choices.Status) == (*STATUSES, "all")
