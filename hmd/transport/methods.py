"""The `call` methods: what each takes and gives, and what a client must know before it sends one.

`deadline_ms` bounds the daemon's answer; the client waits a little longer. A method that is
`retry_safe` may be sent again when the connection broke before an answer came: it changes nothing,
or doing it twice is doing it once. A call that `mutates` waits for the store, and then for its
place in the journal.
"""

from msgspec import Struct

from hmd.core import (
    answers,
    costs,
    database,
    fact_checks,
    fact_queries,
    facts,
    forgetting,
    memory_calls,
    notes,
    projects,
    proposals,
    queue,
    recall,
    receipts,
    review,
    snapshots,
    status,
    traces,
)


class Nothing(Struct):
    """No parameters."""


class Stopping(Struct, kw_only=True):
    """`stop`: the process that is leaving; its address is withdrawn already."""

    pid: int = 0


class Method:
    """The contract of one method; its function is in `hmd/daemon/handlers.py`."""

    __slots__ = ("deadline_ms", "mutates", "name", "parameters", "result", "retry_safe")

    def __init__(
        self,
        name: str,
        parameters: type[Struct],
        result: type[Struct],
        *,
        mutates: bool,
        deadline_ms: int,
        retry_safe: bool,
    ) -> None:
        self.name = name
        self.parameters = parameters
        self.result = result
        self.mutates = mutates
        self.deadline_ms = deadline_ms
        self.retry_safe = retry_safe


def _read(
    name: str, parameters: type[Struct], result: type[Struct], deadline_ms: int = 5_000
) -> Method:
    return Method(name, parameters, result, mutates=False, deadline_ms=deadline_ms, retry_safe=True)


def _change(
    name: str,
    parameters: type[Struct],
    result: type[Struct] = answers.Outcome,
    *,
    deadline_ms: int = 10_000,
    retry_safe: bool = False,
) -> Method:
    return Method(
        name, parameters, result, mutates=True, deadline_ms=deadline_ms, retry_safe=retry_safe
    )


_ALL = (
    _read("ping", Nothing, answers.Pong, 1_000),
    _read("status", Nothing, status.Status, 2_000),
    # Waits for no store. Sent twice it could end the daemon that came after.
    Method("stop", Nothing, Stopping, mutates=False, deadline_ms=2_000, retry_safe=False),
    _change("memory.add", memory_calls.MemoryDraft),
    _read("memory.list", memory_calls.MemoryFilter, memory_calls.MemoryList),
    _read("memory.show", memory_calls.MemoryRef, memory_calls.MemoryView),
    _read("memory.history", memory_calls.MemoryRef, memory_calls.MemoryHistory),
    _change("memory.edit", memory_calls.MemoryEdit),
    _change("memory.reject", memory_calls.MemoryRef),
    _change("memory.enforce", memory_calls.MemoryEnforce),
    _change("memory.promote", memory_calls.MemoryRef),
    _change("memory.demote", memory_calls.MemoryRef),
    _change("memory.restore", memory_calls.MemoryRef),
    _read("project.list", Nothing, projects.ProjectList),
    _change("project.enable", projects.ProjectRef, retry_safe=True),
    _change("project.disable", projects.ProjectRef, retry_safe=True),
    _change("project.move", projects.ProjectMove),
    _change("project.merge", projects.ProjectMerge),
    _change("project.forget", projects.ProjectRef),
    _read("proposal.list", proposals.ProposalFilter, proposals.ProposalList),
    _change("proposal.accept", proposals.ProposalRef),
    _change("proposal.reject", proposals.ProposalRef),
    _change(
        "snapshot.rebuild",
        snapshots.SnapshotRef,
        snapshots.SnapshotList,
        deadline_ms=60_000,
        retry_safe=True,
    ),
)
_FACTS = (
    _change("fact.remember", facts.FactDraft, facts.FactOutcome),
    _change("fact.revise", facts.FactRevision, facts.FactOutcome),
    _change("fact.mark", facts.FactMark, facts.FactOutcome, retry_safe=True),
    # Overwrites every file that may hold a copy; a second one finds nothing left to do.
    _change(
        "fact.forget",
        forgetting.ForgetQuery,
        forgetting.Forgotten,
        deadline_ms=120_000,
        retry_safe=True,
    ),
    _change("fact.restore", forgetting.RestoreQuery, forgetting.Forgotten),
    _change(
        "fact.check",
        fact_checks.StaleQuery,
        fact_checks.StaleList,
        deadline_ms=120_000,
        retry_safe=True,
    ),
    _read("fact.recall", fact_queries.FactQuery, fact_queries.FactList),
    _read("fact.diff", fact_queries.FactSpan, fact_queries.FactDiff),
    _read("fact.why", fact_queries.FactRef, fact_queries.FactWhy),
    _read("fact.stats", Nothing, fact_queries.FactStats),
    _read("fact.near", fact_queries.NearQuery, fact_queries.NearList),
    _read("fact.tidy", Nothing, fact_queries.FactTidy),
    _read("fact.trash", Nothing, forgetting.TrashList),
    _read("rules.at", fact_queries.RulesAt, fact_queries.RulesList),
    _change("db.backup", Nothing, database.BackupReport, deadline_ms=120_000, retry_safe=True),
    _change(
        "db.import",
        database.ImportQuery,
        database.ImportReport,
        deadline_ms=600_000,
        retry_safe=True,
    ),
    _read("db.check", Nothing, database.CheckReport, 120_000),
    _read("db.export", database.ExportQuery, database.ExportReport, 120_000),
)
_LEARNING = (
    _read("queue.list", queue.QueueFilter, queue.QueueList),
    _read("queue.show", queue.QueueRef, queue.QueueView),
    _change("queue.retry", queue.QueueRef, queue.QueueView, retry_safe=True),
    _change("queue.drop", queue.QueueRef, queue.QueueView),
    _read("costs", costs.CostsWanted, costs.Costs),
    _read("learning.status", Nothing, status.LearningStatus),
    # Not shielded from the daemon's end: what is begun is taken up again after it.
    Method(
        "extract",
        queue.ExtractWanted,
        queue.Extracted,
        mutates=False,
        deadline_ms=4 * 3_600_000,
        retry_safe=False,
    ),
    Method(
        "consolidate",
        Nothing,
        queue.Consolidation,
        mutates=False,
        deadline_ms=600_000,
        retry_safe=True,
    ),
    _read("trace.session", traces.TraceWanted, traces.SessionTrace),
    _read("trace.memory", traces.TraceWanted, traces.MemoryTrace),
    _read("memory.stats", receipts.StatsWanted, receipts.MemoryStats),
    _read("receipts", receipts.ReceiptsWanted, receipts.ReceiptList),
    _read("review", proposals.ProposalFilter, review.ReviewList),
    _read("notes.read", notes.NotesWanted, notes.NoteList, 60_000),
    _change("notes.import", notes.NotesWanted, notes.Imported, deadline_ms=300_000),
)
_RECALL = (
    _read("recall", recall.RecallWanted, recall.RecallList, 15_000),
    _read("hot", Nothing, recall.HotBlock, 15_000),
    _read("embeddings.status", Nothing, recall.EmbeddingsStatus),
    _read("embeddings.backfill", Nothing, recall.EmbeddingsStatus, 30_000),
)
METHODS: dict[str, Method] = {
    method.name: method for method in (*_ALL, *_FACTS, *_LEARNING, *_RECALL)
}
