"""What `status` says of learning: the queue and why it waits, the provider, what it cost."""

from hmd.app import costs, queue
from hmd.app.context import DAY_MS, App
from hmd.app.extraction import Extraction
from hmd.core.model import LearningStatus
from hmd.providers.probe import HINTS
from hmd.store import learning


async def learning_status(app: App, extraction: Extraction) -> LearningStatus:
    now = app.now()
    counts = await app.store.read(learning.queue_counts)
    runs = await app.store.read(lambda connection: learning.runs(connection, now - DAY_MS))
    latest = await app.store.read(lambda connection: learning.latest_run(connection, ""))
    spent = [run.cost_usd for run in runs if run.cost_usd is not None]
    status = LearningStatus(
        enabled=app.config.user.extraction.enabled,
        queued=sum(counts.get(state, 0) for state in queue.OPEN),
        dead=counts.get("dead", 0),
        waiting=extraction.waiting,
        calls_today=sum(costs.is_call(run) for run in runs),
        cost_today_usd=round(sum(spent), 6) if spent else None,
    )
    if latest is not None:
        status.provider, status.probe = latest.provider, latest.status
        status.probe_at, status.probe_message = latest.started, latest.message
        if latest.kind == "extraction":
            status.last_run_at, status.last_run = latest.started, latest.status
        else:
            ran = next((run for run in runs if run.kind == "extraction"), None)
            status.last_run_at = ran.started if ran is not None else None
            status.last_run = ran.status if ran is not None else ""
    elif extraction.waiting == "missing":
        status.probe = "missing"
    status.probe_hint = HINTS.get(status.probe, "")
    return status
