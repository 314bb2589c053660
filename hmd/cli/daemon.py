"""`hmctl daemon`: the process behind the hooks, which starts by itself when one is called."""

from __future__ import annotations

from typing import Any

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of

app = typer.Typer(no_args_is_help=True, help="The process behind the hooks.")


@app.command("start")
def start(ctx: typer.Context, json: Json = False) -> None:
    """Start the daemon where none runs."""
    _tell(_start(session_of(ctx)), "running", json)


@app.command("stop")
def stop(ctx: typer.Context, json: Json = False) -> None:
    """End the daemon; the next hook starts it again."""
    stopped = _stop(session_of(ctx))
    if json:
        show.json_answer({"stopped": stopped})
    else:
        show.answer("stopped" if stopped else "it was not running")


@app.command("restart")
def restart(ctx: typer.Context, json: Json = False) -> None:
    """End the daemon and start it again."""
    session = session_of(ctx)
    _stop(session)
    _tell(_start(session), "restarted", json)


@app.command("status")
def status(ctx: typer.Context, json: Json = False) -> None:
    """Say whether a daemon answers; exit 1 when none does. Starts nothing."""
    from hmd import link  # late
    from hmd.setup.stop import is_owned  # late

    session = session_of(ctx)
    state = link.probe(session.home)
    pong: dict[str, Any] = {}
    if state == link.READY:
        pong = session.call("ping", {}, dict[str, Any], start=False)
    if json:
        show.json_answer({"state": state, **pong})
    elif state == link.READY:
        show.answer(_line(pong, "running"))
    elif state == link.ABSENT and not is_owned(session.home):
        show.answer("not running")
    else:
        show.answer("a daemon owns this home and does not answer: hmctl daemon restart")
    if state != link.READY:
        raise typer.Exit(1)


def _start(session: Session) -> dict[str, Any]:
    return session.call("ping", {}, dict[str, Any])


def _stop(session: Session) -> bool:
    from hmd.setup.stop import stop_daemon  # late

    return stop_daemon(session.home, session.env)


def _tell(pong: dict[str, Any], word: str, json: bool) -> None:
    if json:
        show.json_answer(pong)
    else:
        show.answer(_line(pong, word))


def _line(pong: dict[str, Any], word: str) -> str:
    return f"{word}: process {pong.get('pid')}, build {pong.get('build')}"
