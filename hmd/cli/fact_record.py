"""`hmctl fact remember` and `revise`: what comes into the store from a terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import outcomes
from hmd.cli.fact_options import (
    Basis,
    Commit,
    Confidence,
    Details,
    Id,
    Importance,
    Kind,
    Path,
    Predicate,
    Session,
    Since,
    Source,
    Subject,
)
from hmd.cli.session import Json, session_of


def remember(
    ctx: typer.Context,
    subject: Subject,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="One thing that is so.")],
    predicate: Predicate = None,
    details: Details = "",
    confidence: Confidence = None,
    basis: Basis = None,
    importance: Importance = None,
    kind: Kind = None,
    source: Source = "",
    commit: Commit = "",
    path: Path = "",
    since: Since = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="No longer true from then on.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; may be repeated.")] = None,
    link: Annotated[
        list[str] | None, typer.Option("--link", metavar="ID", help="A fact it belongs to.")
    ] = None,
    sensitive: Annotated[
        bool, typer.Option("--sensitive", help="Found only when asked for, never injected.")
    ] = False,
    here: Annotated[bool, typer.Option("--here", help="In this project only.")] = False,
    session: Session = "",
    json: Json = False,
) -> None:
    """Remember a fact. What it replaces is revised instead, so that its history stays."""
    from hmd.core.facts import FactDraft, FactOutcome  # late: help needs no types of the wire

    draft = FactDraft(
        subject=subject,
        fact=fact,
        predicate=predicate or "",
        details=details,
        confidence=confidence,
        basis=basis.value if basis else None,
        importance=importance or 5,
        kind=kind.value if kind else "semantic",
        source_ref=source,
        commit=commit,
        path=path,
        valid_from=since,
        valid_to=until,
        tags=tag or [],
        links=link or [],
        sensitive=sensitive,
        user_wide=not here,
        session=session,
    )
    done = session_of(ctx).call("fact.remember", draft, FactOutcome)
    outcomes.tell_fact(done, "remembered", json)


def revise(
    ctx: typer.Context,
    id_: Id,
    fact: Annotated[str, typer.Argument(metavar="FACT", help="What is so instead.")],
    subject: Annotated[
        str | None, typer.Option("--subject", help="Another subject, where it was misfiled.")
    ] = None,
    predicate: Predicate = None,
    details: Details = "",
    confidence: Confidence = None,
    basis: Basis = None,
    importance: Importance = None,
    kind: Kind = None,
    source: Source = "",
    commit: Commit = "",
    path: Path = "",
    since: Since = None,
    session: Session = "",
    json: Json = False,
) -> None:
    """Replace a fact by what is so now; the old one stays in the past."""
    from msgspec import UNSET

    from hmd.core.facts import FactOutcome, FactRevision  # late

    wanted = FactRevision(
        id=id_,
        fact=fact,
        subject=UNSET if subject is None else subject,
        predicate=UNSET if predicate is None else predicate,
        details=details,
        confidence=confidence,
        basis=basis.value if basis else None,
        importance=UNSET if importance is None else importance,
        kind=UNSET if kind is None else kind.value,
        source_ref=source,
        commit=commit,
        path=path,
        valid_from=since,
        session=session,
    )
    done = session_of(ctx).call("fact.revise", wanted, FactOutcome)
    outcomes.tell_fact(done, "revised", json)
