"""`hmctl doctor`: looks everything over and says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.setup.doctor import Check, Patient
    from hmd.setup.service import Report


def doctor(
    ctx: typer.Context,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended.")] = False,
    self_test: Annotated[
        bool, typer.Option("--self-test", help="Run a hook the way the host does.")
    ] = False,
    canary: Annotated[
        bool,
        typer.Option("--canary", help="Prove that a marked call is really stopped, here."),
    ] = False,
    report: Annotated[
        bool,
        typer.Option("--report", help="Print a report to paste into an issue; nothing private."),
    ] = False,
    json: Json = False,
) -> None:
    """Look everything over and say what to do. Exit 1 for a FAIL."""
    from hmd.setup import doctor as setup  # late

    session = session_of(ctx)
    patient = _patient(session, self_test, canary)
    checks = setup.examine(patient)
    if fix and any(one.state != setup.OK for one in checks):
        session.refuse_agents("repairs are made by people")
        for line in setup.repair(patient, checks, lambda: _stop(session)):
            show.note("fixed: " + line)
        checks = setup.examine(patient)
    if report:
        from hmd.setup import bug_report  # late

        show.answer(bug_report.report(session.home, session.cwd, session.env, checks))
    else:
        _tell(checks, json)
    if any(one.state == setup.FAIL for one in checks):
        raise typer.Exit(1)


def _patient(session: Session, self_test: bool, canary: bool) -> Patient:
    from hmd import link  # late
    from hmd.setup.doctor import Patient  # late

    return Patient(
        session.home.path,
        session.cwd,
        session.env,
        session.call,
        lambda: link.probe(session.home),
        self_test,
        canary,
        lambda: _service(session),
    )


def _service(session: Session) -> Report | None:
    from hmd.setup import service  # late

    try:
        return service.status(session.home, service.manager_for(session.env))
    except HmdError:
        return None  # this platform has none


def _stop(session: Session) -> bool:
    from hmd.setup.stop import stop_daemon  # late

    return stop_daemon(session.home, session.env)


def _tell(checks: list[Check], json: bool) -> None:
    if json:
        show.json_answer({"checks": checks})
        return
    rows = [
        [one.state, one.name, show.line(one.what + (f"; {one.do}" if one.do else ""))]
        for one in checks
    ]
    show.answer(show.table(rows))
