"""`status`: what the daemon knows about itself, the caller's project and the store."""

import os
from typing import Literal

from hmd import __version__ as VERSION
from hmd.core.status import Counts, Latency, LearningStatus, Status, StoreStatus
from hmd.daemon.metrics import Histogram
from hmd.daemon.services import Caller, Services
from hmd.kernel.project import resolve
from hmd.kernel.snapshot import USER, Snapshot
from hmd.transport.methods import Nothing

Freshness = Literal["fresh", "stale", "missing"]


async def status(services: Services, caller: Caller, _: Nothing) -> Status:
    """Never waits for the store: while it opens, its part says so."""
    record, metrics = services.record, services.metrics
    project = resolve(services.home, caller.cwd, caller.never) if caller.cwd else None
    name = project.id if project is not None else ""
    snapshot = services.resident.snapshot(name or USER)
    store, counts, newest = await _of_the_store(services, name or None)
    return Status(
        pid=os.getpid(),
        owner=record.manager or "on demand",
        version=VERSION,
        build=record.build,
        home=services.home.path,
        started_at=record.started_ms,
        uptime_ms=int((services.monotonic() - services.started) * 1000),
        project=name,
        enabled=project is not None and project.enabled,
        disabled=os.path.exists(services.home.disabled),
        generation=snapshot.generation if snapshot is not None else 0,
        snapshot=freshness(snapshot, services.resident.kernel_hash, newest),
        sessions=services.resident.sessions,
        store=store,
        counts=counts,
        latency={event: latency(found) for event, found in metrics.events.items()},
        decisions=dict(metrics.decisions),
        learning=await _of_learning(services, caller),
        config_problems=[
            f"{each.where}: {each.what} (used: {each.used})" for each in services.config.problems
        ],
    )


def latency(histogram: Histogram) -> Latency:
    """A histogram in the three numbers that people read."""
    return Latency(
        count=histogram.count,
        p50=histogram.percentile(0.50),
        p95=histogram.percentile(0.95),
        p99=histogram.percentile(0.99),
    )


async def _of_learning(services: Services, caller: Caller) -> LearningStatus:
    if not services.store.is_ready:
        return LearningStatus(enabled=services.config.current.user.extraction.enabled)
    found = await (await services.store.get()).run("learning.status", caller, Nothing())
    assert isinstance(found, LearningStatus)
    return found


async def _of_the_store(services: Services, project: str | None) -> tuple[StoreStatus, Counts, int]:
    """(its state, what it counts, number of the newest change that a snapshot must hold)."""
    if not services.store.is_ready:
        return services.store.status, Counts(), 0
    store = (await services.store.get()).app.store
    return await store.status(), await store.counts(), await store.newest_change(project)


def freshness(snapshot: Snapshot | None, kernel_hash: str, newest: int) -> Freshness:
    """Whether what decides is there, whole, filed by the kernel that reads it, and up to date."""
    if snapshot is None:
        return "missing"
    filed = snapshot.header.get("kernel", kernel_hash) == kernel_hash
    return "fresh" if filed and not snapshot.problem and snapshot.generation >= newest else "stale"
