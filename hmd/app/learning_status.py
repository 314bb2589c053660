"""What `status` says of learning: the queue and why it waits, the provider, what it cost."""

from hmd.app import costs, queue, receipts
from hmd.app.context import DAY_MS, App
from hmd.app.extraction import Extraction
from hmd.core.status import LearningStatus
from hmd.providers.base import UNAVAILABLE
from hmd.providers.probe import HINTS
from hmd.store import episode_queue, provider_runs


async def learning_status(app: App, extraction: Extraction) -> LearningStatus:
    now = app.now()
    counts = await app.store.read(episode_queue.queue_counts)
    runs = await app.store.read(lambda connection: provider_runs.runs(connection, now - DAY_MS))
    latest = await app.store.read(lambda connection: provider_runs.latest_run(connection, ""))
    spent = [run.cost_usd for run in runs if run.cost_usd is not None]
    status = LearningStatus(
        enabled=app.config.user.extraction.enabled,
        queued=sum(counts.get(state, 0) for state in queue.OPEN),
        dead=counts.get("dead", 0),
        waiting=extraction.waiting,
        calls_today=sum(costs.is_call(run) for run in runs),
        cost_today_usd=round(sum(spent), 6) if spent else None,
        week=await receipts.this_week(app),
    )
    ran = await app.store.read(
        lambda connection: provider_runs.latest_run(connection, "", "extraction")
    )
    if ran is not None:
        status.last_run_at, status.last_run = ran.started, ran.status
    if latest is not None:
        # An answer that was no good says nothing against the provider: it does answer.
        usable = latest.kind == "extraction" and latest.status not in UNAVAILABLE
        status.provider, status.probe = latest.provider, "ok" if usable else latest.status
        status.probe_at, status.probe_message = latest.started, latest.message
    elif extraction.waiting == "missing":
        status.probe = "missing"
    status.probe_hint = HINTS.get(status.probe, "")
    return status
