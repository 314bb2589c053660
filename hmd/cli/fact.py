"""`hmctl fact`: what is believed about the world, since when, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import choices, fact_lines, show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.facts import FactOutcome, Forgotten

app = typer.Typer(no_args_is_help=True, help="Facts in time: remember, ask, correct, forget.")

Id = Annotated[str, typer.Argument(metavar="ID", help="Identifier, its first digits, or #NUMBER.")]
Predicate = Annotated[str | None, typer.Option("--predicate", help="The relation, such as uses.")]
Details = Annotated[str, typer.Option("--details", help="What belongs to it and is not searched.")]
Confidence = Annotated[
    float | None, typer.Option("--confidence", min=0, max=1, help="Between 0 and 1.")
]
Basis = Annotated[
    choices.Basis | None, typer.Option("--basis", help="What it rests on; sets the confidence.")
]
Importance = Annotated[
    int | None, typer.Option("--importance", min=1, max=10, help="From 1 to 10.")
]
Kind = Annotated[choices.FactKind | None, typer.Option("--kind", help="What sort of fact it is.")]
Source = Annotated[str, typer.Option("--source", help="Where it is from; it can be forgotten by.")]
Commit = Annotated[str, typer.Option("--commit", help="The commit at which it was seen.")]
Path = Annotated[str, typer.Option("--path", help="The file that it is about, from the root.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="True in the world from then on.")
]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="The session it is from.")]


@app.command("remember")
def remember(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")],
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
    from hmd.core import facts  # late: help needs no types of the wire

    draft = facts.FactDraft(
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
    done = session_of(ctx).call("fact.remember", draft, facts.FactOutcome)
    _tell(done, "remembered", json)


@app.command("revise")
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

    from hmd.core import facts  # late

    wanted = facts.FactRevision(
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
    done = session_of(ctx).call("fact.revise", wanted, facts.FactOutcome)
    _tell(done, "revised", json)


@app.command("recall")
def recall(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words that must be in it.")] = "",
    subject: Annotated[str, typer.Option("--subject", help="About exactly this.")] = "",
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
    from hmd.core import facts  # late

    wanted = facts.FactQuery(
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
    found = session_of(ctx).call("fact.recall", wanted, facts.FactList)
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


@app.command("why")
def why(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Show where a fact comes from, and everything it replaced and became."""
    from hmd.core import facts  # late

    found = session_of(ctx).call("fact.why", facts.FactRef(id=id_), facts.FactWhy)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.why(found)))


@app.command("diff")
def diff(
    ctx: typer.Context,
    since: Annotated[str, typer.Argument(metavar="SINCE", help="A day or an instant.")],
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="Up to then; default now.")
    ] = None,
    subject: Annotated[str, typer.Option("--subject", help="About exactly this.")] = "",
    json: Json = False,
) -> None:
    """Say what was learned, revised and forgotten since a time."""
    from hmd.core import facts  # late

    span = facts.FactSpan(since=since, until=until, subject=subject)
    found = session_of(ctx).call("fact.diff", span, facts.FactDiff)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.diff(found)))


@app.command("stats")
def stats(ctx: typer.Context, json: Json = False) -> None:
    """Count facts, and the subjects with most of them."""
    from hmd.core import facts  # late

    found = session_of(ctx).call("fact.stats", {}, facts.FactStats)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(fact_lines.stats(found)))


@app.command("near")
def near(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it would say.")],
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most.")] = 5,
    similarity: Annotated[
        float, typer.Option("--similarity", min=0, max=1, help="At least, between 0 and 1.")
    ] = 0.5,
    json: Json = False,
) -> None:
    """Find facts that say nearly the same."""
    from hmd.core import facts  # late

    wanted = facts.NearQuery(subject=subject, text=text, limit=limit, min_similarity=similarity)
    found = session_of(ctx).call("fact.near", wanted, facts.NearList)
    if json:
        show.json_answer(found)
        return
    for row in found.rows:
        show.answer(f"{row.similarity:.2f}  {show.short(row.id)}  {show.line(row.fact)}")
    if not found.rows:
        show.note("nothing similar")


# -- what is kept beside a fact ---------------------------------------------------------------


@app.command("pin")
def pin(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="Take the pin out.")] = False,
    json: Json = False,
) -> None:
    """Pin a fact."""
    _mark(ctx, id_, "unpinned" if off else "pinned", json, pinned=not off)


@app.command("archive")
def archive(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="Bring it back.")] = False,
    json: Json = False,
) -> None:
    """Put a fact away: it is true, and given only when asked for."""
    _mark(ctx, id_, "unarchived" if off else "archived", json, archived=not off)


@app.command("tag")
def tag(
    ctx: typer.Context,
    id_: Id,
    tags: Annotated[list[str], typer.Argument(metavar="TAG...", help="Tags to add.")],
    off: Annotated[bool, typer.Option("--off", help="Take them off instead.")] = False,
    json: Json = False,
) -> None:
    """Add tags to a fact, or take them off."""
    _mark(ctx, id_, "tagged", json, **{"remove_tags" if off else "add_tags": tags})


@app.command("link")
def link(
    ctx: typer.Context,
    id_: Id,
    others: Annotated[list[str], typer.Argument(metavar="ID...", help="Facts it belongs to.")],
    off: Annotated[bool, typer.Option("--off", help="Take the links off instead.")] = False,
    json: Json = False,
) -> None:
    """Link a fact to others; they show it as well."""
    _mark(ctx, id_, "linked", json, **{"remove_links" if off else "add_links": others})


@app.command("weigh")
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


@app.command("hide")
def hide(
    ctx: typer.Context,
    id_: Id,
    off: Annotated[bool, typer.Option("--off", help="It is sensitive no longer.")] = False,
    json: Json = False,
) -> None:
    """Mark a fact as sensitive: found only when asked for, never injected."""
    _mark(ctx, id_, "no longer sensitive" if off else "sensitive", json, sensitive=not off)


def _mark(ctx: typer.Context, id_: str, word: str, json: bool, **fields: object) -> None:
    from hmd.core import facts  # late

    wanted = facts.FactMark(id=id_, **fields)  # type: ignore[arg-type]
    _tell(session_of(ctx).call("fact.mark", wanted, facts.FactOutcome), word, json)


# -- forgetting -------------------------------------------------------------------------------


@app.command("forget")
def forget(
    ctx: typer.Context,
    id_: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A fact or a rule, by its identifier.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", help="All from this source.")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="All from this session.")
    ] = None,
    file: Annotated[
        str | None, typer.Option("--file", metavar="PATH", help="All from or about this file.")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", help="All that say this.")] = None,
    hard: Annotated[
        bool, typer.Option("--hard", help="Erase at once from every copy; nothing brings it back.")
    ] = False,
    follow: Annotated[
        bool | None,
        typer.Option(
            "--follow/--no-follow",
            help="Also what it replaced and became; by default only with --hard.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    json: Json = False,
) -> None:
    """Forget facts and rules: gone from every answer at once, and erased after 30 days."""
    from hmd.core import facts  # late

    asked = session_of(ctx)
    if hard:
        asked.refuse_agents("an agent cannot erase for good")
    wanted = facts.ForgetQuery(
        id=id_, source=source, session=session, file=file, text=text, hard=hard, follow=follow,
        dry_run=dry_run,
    )  # fmt: skip
    done = asked.call("fact.forget", wanted, facts.Forgotten)
    word = "erased" if hard else "forgotten"
    _tell_forgotten(done, f"would be {word}" if dry_run else word, json)


@app.command("restore")
def restore(ctx: typer.Context, id_: Id, json: Json = False) -> None:
    """Bring back what was forgotten, within 30 days."""
    from hmd.core import facts  # late

    done = session_of(ctx).call("fact.restore", facts.RestoreQuery(id=id_), facts.Forgotten)
    _tell_forgotten(done, "brought back", json)


@app.command("trash")
def trash(ctx: typer.Context, json: Json = False) -> None:
    """List what was forgotten and can still be brought back."""
    from hmd.core import facts  # late

    found = session_of(ctx).call("fact.trash", {}, facts.TrashList)
    if json:
        show.json_answer(found)
        return
    rows = [
        [show.short(row.id), row.kind, "until " + show.moment(row.erase_at), show.line(row.text)]
        for row in found.rows
    ]
    if rows:
        show.answer(show.table(rows))
    else:
        show.note("the trash is empty")


@app.command("check")
def check(
    ctx: typer.Context,
    path: Annotated[
        str, typer.Option("--path", metavar="DIRECTORY", help="A repository; default: this one.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Record nothing.")] = False,
    json: Json = False,
) -> None:
    """Compare facts that name a commit or a file with the repository as it is now."""
    from hmd.core import facts  # late

    asked = session_of(ctx)
    wanted = facts.StaleQuery(path=asked.absolute(path) if path else "", dry_run=dry_run)
    found = asked.call("fact.check", wanted, facts.StaleList)
    if json:
        show.json_answer(found)
        return
    show.answer(
        f"{found.checked} checked at {found.head[:12]}: {found.current} current, "
        f"{found.stale} stale, {found.unresolved} unresolved"
    )
    for verdict in found.changed:
        show.answer(f"  {show.short(verdict.fact)} is {verdict.freshness} now")


@app.command("tidy")
def tidy(ctx: typer.Context, json: Json = False) -> None:
    """Show what a gardener would look at: split subjects, long facts, facts the code has left."""
    from hmd.core import facts  # late

    found = session_of(ctx).call("fact.tidy", {}, facts.FactTidy)
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


# -- words ------------------------------------------------------------------------------------


def _tell(done: FactOutcome, word: str, json: bool) -> None:
    if json:
        show.json_answer(done)
        return
    if done.proposal:
        show.answer(f"proposed {show.short(done.proposal)}")
    elif done.fact is not None:
        show.answer(f"{word} {fact_lines.fact(done.fact)}")
    for note in done.notes:
        show.note(note)


def _tell_forgotten(done: Forgotten, word: str, json: bool) -> None:
    if json:
        show.json_answer(done)
        return
    if done.proposal:
        show.answer(f"proposed {show.short(done.proposal)}")
    else:
        show.answer(f"{word}: {len(done.facts)} facts, {len(done.memories)} rules")
        for identifier in (*done.facts, *done.memories):
            show.answer("  " + show.short(identifier))
        if done.erase_at is not None and (done.facts or done.memories):
            show.note(f"erased for good at {show.moment(done.erase_at)} UTC")
        for path in done.scrubbed:
            show.note(f"overwritten in {path}")
    for note in done.notes:
        show.note(note)
