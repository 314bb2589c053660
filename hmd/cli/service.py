"""`hmctl service`: lets systemd or launchd run the daemon; hooks start it themselves otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of

if TYPE_CHECKING:
    from hmd.setup.service import Report

app = typer.Typer(no_args_is_help=True, help="Let a service manager run the daemon.")


@app.command("install")
def install(ctx: typer.Context, json: Json = False) -> None:
    """Hand the daemon to systemd or launchd of this user."""
    from hmd import link  # late
    from hmd.setup import service  # late
    from hmd.setup.stop import stop_daemon  # late

    session = session_of(ctx)
    session.refuse_agents("a service is installed by people")
    report = service.install(
        session.home,
        service.manager_for(session.env),
        lambda: stop_daemon(session.home, session.env),
        # The first answer is that of a daemon which has yet to be started.
        lambda: link.probe(session.home, timeout=service.ANSWER_S) == link.READY,
    )
    _tell(report, json)


@app.command("uninstall")
def uninstall(ctx: typer.Context, json: Json = False) -> None:
    """Take the daemon back; the next hook starts it."""
    from hmd.setup import service  # late

    session = session_of(ctx)
    session.refuse_agents("a service is removed by people")
    report = service.uninstall(session.home, service.manager_for(session.env))
    report.done = report.done or ["no service was installed"]
    _tell(report, json)


@app.command("status")
def status(ctx: typer.Context, json: Json = False) -> None:
    """Say who runs the daemon; exit 1 when a service is there and does not work."""
    from hmd.setup import service  # late

    session = session_of(ctx)
    report = service.status(session.home, service.manager_for(session.env))
    if not json:
        show.answer(_state(session, report))
    _tell(report, json)
    if report.state == "broken":
        raise typer.Exit(1)


def _state(session: Session, report: Report) -> str:
    from hmd import link  # late
    from hmd.setup.stop import is_owned  # late

    who = {
        "installed": f"{report.manager} runs the daemon, as {report.unit}",
        "broken": f"{report.manager} should run the daemon, as {report.unit}, and does not",
        "absent": "no service: hooks start the daemon",
    }[report.state]
    running = is_owned(session.home) and link.probe(session.home) == link.READY
    return f"{who}; it {'runs' if running else 'does not run now'}"


def _tell(report: Report, json: bool) -> None:
    if json:
        show.json_answer(report)
        return
    for line in report.done:
        show.answer(line)
    for line in report.problems:
        show.note("problem: " + line + "; run hmctl service install again")
