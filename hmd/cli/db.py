"""`hmctl db`: the database itself: copy, check, migrate, put back.

Check works beside a daemon and without one. What puts a file in the database's place works only
while none runs: it holds the home's lock, as the daemon would.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.core.database import CheckReport

app = typer.Typer(no_args_is_help=True, help="The database: copy, check, migrate, put back.")


@app.command("backup")
def backup(ctx: typer.Context, json: Json = False) -> None:
    """Copy the database now, beside the daily copies."""
    from hmd.core.database import BackupReport  # late

    done = session_of(ctx).call("db.backup", {}, BackupReport)
    if json:
        show.json_answer(done)
    else:
        show.answer(f"{done.path} ({done.bytes} bytes)")


@app.command("check")
def check(ctx: typer.Context, json: Json = False) -> None:
    """Check database, journal and copies; exit 1 where something is wrong."""
    asked = session_of(ctx)
    found = _check(asked)
    if json:
        show.json_answer(found)
    else:
        show.answer(
            f"schema {found.schema}, change {found.applied_seq}, {found.facts} facts, "
            f"{found.memories} rules, {len(found.backups)} copies"
        )
        for problem in found.problems:
            show.answer("  " + problem)
        if not found.problems:
            show.answer("all is sound")
    if found.problems:
        raise typer.Exit(1)


def _check(asked: Session) -> CheckReport:
    from hmd import link  # late
    from hmd.core.database import CheckReport  # late

    if link.probe(asked.home) == link.READY:
        return asked.call("db.check", {}, CheckReport, start=False)
    from hmd.store import offline  # late: the named exception, see tests/test_layers.py

    with _held(asked):
        return offline.check(asked.home)


@app.command("migrate")
def migrate(ctx: typer.Context, json: Json = False) -> None:
    """Bring the database to this version, after a copy. The daemon does the same when it starts."""
    from hmd.store import offline  # late

    asked = session_of(ctx)
    with _held(asked):
        said = offline.bring_up(asked.home, _now())
        found = offline.check(asked.home)
    _tell([f"schema {found.schema}", *said], json)


@app.command("rollback")
def rollback(ctx: typer.Context, json: Json = False) -> None:
    """Put the copy from before the last migration back, for an older hmd."""
    from hmd.store import offline  # late

    asked = session_of(ctx)
    asked.refuse_agents("an agent cannot put another database in place")
    with _held(asked):
        said = offline.rollback(asked.home, _now())
    _tell([*said, "start the older hmd now; this one would migrate again"], json)


@app.command("restore")
def restore(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="COPY", help="A file in backup/, or a path; default: newest.")
    ] = "",
    json: Json = False,
) -> None:
    """Put a copy in the damaged database's place, and the journal over it: nothing is lost."""
    from hmd.store import offline  # late

    asked = session_of(ctx)
    asked.refuse_agents("an agent cannot put another database in place")
    with _held(asked):
        said = offline.restore(asked.home, asked.absolute(name) if "/" in name else name, _now())
    _tell(said, json)


def _tell(said: list[str], json: bool) -> None:
    if json:
        show.json_answer({"said": said})
    else:
        show.answer("\n".join(said))


def _now() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _held(asked: Session) -> Iterator[None]:
    """The home's lock, while no daemon runs. Raises HmdError "busy" where one does."""
    from hmd.daemon.lifecycle import Lock, prepare  # late

    prepare(asked.home)
    lock = Lock(asked.home.lock)
    if not lock.take():
        raise HmdError(
            "busy", "the daemon owns this home", asked.home.lock, "run: hmctl daemon stop"
        )
    try:
        yield
    finally:
        lock.release()
