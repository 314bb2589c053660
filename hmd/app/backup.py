"""Copies and checks of the database while the daemon runs."""

import trio

from hmd.app.context import App, Caller
from hmd.core.database import BackupReport, CheckReport
from hmd.store import offline


async def backup(app: App, caller: Caller, _: object) -> BackupReport:
    """Makes a copy at once, beside the daily ones. Raises HmdError."""
    path = await app.store.backup()
    return BackupReport(path=str(path), bytes=path.stat().st_size)


async def check(app: App, caller: Caller, _: object) -> CheckReport:
    """Goes through database, journal and backups in a thread; nothing waits for it."""
    report = await trio.to_thread.run_sync(offline.check, app.store.home)
    report.problems += [line for line in app.store.problems if line not in report.problems]
    return report
