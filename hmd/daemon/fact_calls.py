"""The calls about facts and about the database, and what is done for them in the background."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import trio

from hmd.app import backup, exports, facts, forget, imports, rules_at, staleness, tidy
from hmd.app.context import App
from hmd.app.context import Caller as Asking
from hmd.core.errors import HmdError

UseCase = Callable[[App, Asking, Any], Awaitable[Any]]

SWEEP_S = 3600.0

FACT_CASES: dict[str, UseCase] = {
    "fact.remember": facts.remember,
    "fact.revise": facts.revise,
    "fact.mark": facts.mark,
    "fact.forget": forget.forget,
    "fact.restore": forget.restore,
    "fact.check": staleness.check,
    "fact.diff": facts.diff,
    "fact.why": facts.why,
    "fact.stats": facts.stats,
    "fact.near": facts.near,
    "fact.tidy": tidy.tidy,
    "fact.trash": forget.trash,
    "rules.at": rules_at.rules_at,
    "db.backup": backup.backup,
    "db.import": imports.import_store,
    "db.check": backup.check,
    "db.export": exports.export,
}


@asynccontextmanager
async def look_after(app: App) -> AsyncIterator[None]:
    """Ends erasings that a kill interrupted, and empties the trash of what is 30 days old."""
    failure: Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_sweep, app)
        try:
            yield
        except Exception as error:
            failure = error  # raised below: the nursery would wrap it into a group
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _sweep(app: App) -> None:
    while True:
        try:
            await forget.resume(app)
            await forget.sweep(app)
        except HmdError as error:
            line = f"what was forgotten could not be erased: {error}"
            if line not in app.store.problems:
                app.store.problems.append(line)
        await trio.sleep(SWEEP_S)
