"""What extraction has cost, and whether the daily caps leave room for another call."""

from hmd.app.context import App, Caller
from hmd.core.config import Extraction
from hmd.core.costs import Costs, CostsWanted, DayCost
from hmd.core.learning import RunRow
from hmd.providers.base import UNAVAILABLE
from hmd.store import provider_runs

DAY_MS = 86_400_000


def is_call(run: RunRow) -> bool:
    """Whether a run reached a model: one that was refused before costs nothing and counts not."""
    return run.status not in UNAVAILABLE


def room(runs: list[RunRow], settings: Extraction) -> str:
    """What the caps allow next, by the runs of the last 24 hours: "any" episode, "corrections"
    alone, or "none"."""
    calls = [run for run in runs if run.kind == "extraction" and is_call(run)]
    if len(calls) >= settings.hard_max_runs_per_day:
        return "none"
    counted = [run for run in calls if not run.exempt]
    return "any" if len(counted) < settings.max_runs_per_day else "corrections"


async def costs(app: App, caller: Caller, wanted: CostsWanted) -> Costs:
    """The cost ledger, by day (UTC), newest first; probes included."""
    now = app.now()
    since = now - wanted.days * DAY_MS
    runs = await app.store.read(lambda connection: provider_runs.runs(connection, since, 100_000))
    days: dict[int, DayCost] = {}
    total = DayCost()
    for run in runs:
        day = days.setdefault(run.started // DAY_MS, DayCost(day=run.started // DAY_MS * DAY_MS))
        for one in (day, total):
            _add(one, run)
    settings = app.config.user.extraction
    return Costs(
        days=list(days.values()),
        total=total,
        last_day_calls=sum(is_call(run) and now - run.started < DAY_MS for run in runs),
        cap=settings.max_runs_per_day,
        hard_cap=settings.hard_max_runs_per_day,
    )


def _add(day: DayCost, run: RunRow) -> None:
    day.calls += is_call(run)
    day.failed += run.status != "ok"
    day.input_tokens += run.input_tokens
    day.output_tokens += run.output_tokens
    day.cached_tokens += run.cached_tokens
    if run.cost_usd is not None:
        day.cost_usd = round((day.cost_usd or 0.0) + run.cost_usd, 6)
