"""`hmctl fact`: what is believed, was true and was known, and what a gardener looks at."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import fact_lines, show
from hmd.cli.fact_options import About, Id, Kind, Subject
from hmd.cli.session import Json, session_of


def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words that must be in it.")] = "",
    subject: About = "",
    kind: Kind = None,
    tag: Annotated[str, typer.Option("--tag", help="With this tag.")] = "",
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="As it was believed then.")
    ] = None,
    valid_at: Annotated[
        str | None, typer.Option("--valid-at", metavar="TIME", help="What was true then.")
    ] = None,
    known_at: Annotated[
        str | None, typer.Option("--known-at", metavar="TIME", help="By what was known then.")
    ] = None,
    pinned: Annotated[bool, typer.Option("--pinned", help="Only pinned ones.")] = False,
    archived: Annotated[bool, typer.Option("--archived", help="Archived ones too.")] = False,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Sensitive ones too.")] = False,
    stale: Annotated[bool, typer.Option("--stale", help="Only those the code has left.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most.")] = 20,
    json: Json = False,
) -> None:
    """Say what is believed now, or what was true and known at some time."""
    from hmd.core.fact_queries import FactList, FactQuery  # late

    wanted = FactQuery(
        query=query,
        subject=subject,
        kind=kind.value if kind else None,
        tag=tag,
        as_of=as_of,
        valid_at=valid_at,
        known_at=known_at,
        pinned=pinned,
        archived=archived,
        sensitive=sensitive,
        freshness="stale" if stale else "",
        limit=limit,
    )
    found = session_of(ctx).call("fact.recall", wanted, FactList)
    if json:
        show.json_answer(found)
        return
    past = found.valid_at is not None or found.known_at is not None
    for row in found.rows:
        show.answer(fact_lines.fact(row, times=past))
    if not found.rows:
        show.note("nothing is known")
    elif found.total > len(found.rows):
        show.note(f"{len(found.rows)} of {found.total}; more with --limit")


def why(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Show where a fact comes from, and everything it replaced and became."""
    from hmd.core.fact_queries import FactRef, FactWhy  # late

    found = session_of(ctx).call("fact.why", FactRef(id=id_), FactWhy)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.why(found)))


def diff(
    ctx: typer.Context,
    since: Annotated[str, typer.Argument(metavar="SINCE", help="A day or an instant.")],
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Up to then; default now.")
    ] = None,
    subject: About = "",
    json: Json = False,
) -> None:
    """Say what was learned, revised and forgotten since a time."""
    from hmd.core.fact_queries import FactDiff, FactSpan  # late

    span = FactSpan(since=since, until=until, subject=subject)
    found = session_of(ctx).call("fact.diff", span, FactDiff)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.diff(found)))


def stats(ctx: typer.Context, json: Json = False) -> None:
    """Count facts, and the subjects with most of them."""
    from hmd.core.fact_queries import FactStats  # late

    found = session_of(ctx).call("fact.stats", {}, FactStats)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.stats(found)))


def near(
    ctx: typer.Context,
    subject: Subject,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it would say.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most.")] = 5,
    similarity: Annotated[
        float, typer.Option("--similarity", min=0, max=1, help="At least, between 0 and 1.")
    ] = 0.5,
    json: Json = False,
) -> None:
    """Find facts that say nearly the same."""
    from hmd.core.fact_queries import NearList, NearQuery  # late

    wanted = NearQuery(subject=subject, text=text, limit=limit, min_similarity=similarity)
    found = session_of(ctx).call("fact.near", wanted, NearList)
    if json:
        show.json_answer(found)
        return
    for row in found.rows:
        show.answer(f"{row.similarity:.2f}  {show.short(row.id)}  {show.line(row.fact)}")
    if not found.rows:
        show.note("nothing similar")


def check(
    ctx: typer.Context,
    path: Annotated[
        str, typer.Option("--path", metavar="DIRECTORY", help="A repository; default: this one.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Record nothing.")] = False,
    json: Json = False,
) -> None:
    """Compare facts that name a commit or a file with the repository as it is now."""
    from hmd.core.fact_checks import StaleList, StaleQuery  # late

    asked = session_of(ctx)
    wanted = StaleQuery(path=asked.absolute(path) if path else "", dry_run=dry_run)
    found = asked.call("fact.check", wanted, StaleList)
    if json:
        show.json_answer(found)
        return
    show.answer(
        f"{found.checked} checked at {found.head[:12]}: {found.current} current, "
        f"{found.stale} stale, {found.unresolved} unresolved"
    )
    for verdict in found.changed:
        show.answer(f"  {show.short(verdict.fact)} is {verdict.freshness} now")


def tidy(ctx: typer.Context, json: Json = False) -> None:
    """Show what a gardener would look at: split subjects, long facts, facts the code has left."""
    from hmd.core.fact_queries import FactTidy  # late

    found = session_of(ctx).call("fact.tidy", {}, FactTidy)
    if json:
        show.json_answer(found)
        return
    for names in found.fragmented:
        show.answer("one subject, spelled apart: " + ", ".join(show.line(name) for name in names))
    for row in found.long:
        show.answer("long, and tied to no code: " + fact_lines.fact(row)[:200])
    for row in found.stale:
        show.answer("left by the code: " + fact_lines.fact(row))
    if not (found.fragmented or found.long or found.stale):
        show.note("nothing to tidy")
