"""`hmctl fact pin` and its like: what is kept beside a fact and is no part of what it says."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import outcomes
from hmd.cli.fact_options import Id
from hmd.cli.session import Json, session_of


def pin(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="Take the pin out.")] = False,
    json: Json = False,
) -> None:
    """Pin a fact."""
    _mark(ctx, id_, "unpinned" if off else "pinned", json, pinned=not off)


def archive(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="Bring it back.")] = False,
    json: Json = False,
) -> None:
    """Put a fact away: it is true, and given only when asked for."""
    _mark(ctx, id_, "unarchived" if off else "archived", json, archived=not off)


def tag(
    ctx: typer.Context,
    id_: Id,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...", help="Tags to add.")],
    off: Annotated[bool, typer.Option("--off", help="Take them off instead.")] = False,
    json: Json = False,
) -> None:
    """Add tags to a fact, or take them off."""
    _mark(ctx, id_, "tagged", json, **{"remove_tags" if off else "add_tags": tags})


def link(
    ctx: typer.Context,
    id_: Id,
    others: Annotated[list[str], typer.Argument(metavar="ID...", help="Facts it belongs to.")],
    off: Annotated[bool, typer.Option("--off", help="Take the links off instead.")] = False,
    json: Json = False,
) -> None:
    """Link a fact to others; they show it as well."""
    _mark(ctx, id_, "linked", json, **{"remove_links" if off else "add_links": others})


def weigh(
    ctx: typer.Context,
    id_: Id,
    importance: Annotated[
        int, typer.Argument(metavar="1..10", min=1, max=10, help="How important it is.")
    ],
    json: Json = False,
) -> None:
    """Say how important a fact is."""
    _mark(ctx, id_, "weighed", json, importance=importance)


def hide(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="It is sensitive no longer.")] = False,
    json: Json = False,
) -> None:
    """Mark a fact as sensitive: found only when asked for, never injected."""
    _mark(ctx, id_, "no longer sensitive" if off else "sensitive", json, sensitive=not off)


def _mark(ctx: typer.Context, id_: str, word: str, json: bool, **fields: object) -> None:
    from hmd.core.facts import FactMark, FactOutcome  # late

    wanted = FactMark(id=id_, **fields)  # type: ignore[arg-type]
    outcomes.tell_fact(session_of(ctx).call("fact.mark", wanted, FactOutcome), word, json)
