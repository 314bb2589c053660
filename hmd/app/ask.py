"""What people and agents ask of recall: search with its reasons, the hot index, embeddings."""

from collections.abc import Sequence

from hmd.app.context import Caller
from hmd.app.recall import Recall
from hmd.app.snapshots import record_of
from hmd.core.errors import HmdError
from hmd.core.memory import MemoryRow
from hmd.core.recall import EmbeddingsStatus, HotBlock, RecallList, RecallRow, RecallWanted
from hmd.core.times import parse_time
from hmd.kernel.snapshot import USER
from hmd.recall import hot, inject
from hmd.recall.inject import Found
from hmd.recall.lexical import Index
from hmd.recall.shelf import Shelf
from hmd.recall.tokenize import tokens
from hmd.store import memories
from hmd.store import recall as rows

QUERY_LIMIT = 4000
# Facts looked at for a question about the past: their order is by words, which time does not move.
PAST_CANDIDATES = 400
ANSWER_S = 2.0  # a person waits longer for meaning than a prompt does


async def recall(service: Recall, caller: Caller, wanted: RecallWanted) -> RecallList:
    """Memories, facts and episodes that a question finds, best first. Raises HmdError."""
    query = wanted.query.strip()[:QUERY_LIMIT]
    if not query:
        raise HmdError("usage", "what shall be looked for?", "query", "give some words")
    settings = service.app.config.at(caller.common or caller.root)
    since = None if wanted.since is None else parse_time(wanted.since)
    as_of = None if wanted.as_of is None else parse_time(wanted.as_of)
    now = service.app.now()
    shelves: Sequence[Shelf] = await service.shelves(caller.project)
    if as_of is not None:
        shelves = [await _past_shelf(service, caller, shelves, query, as_of)]
    nearest: list[tuple[float, str]] | None = None
    if settings.embeddings.enabled and as_of is None:
        names = list(dict.fromkeys([caller.project or USER, USER]))
        nearest = await service.embedding.nearest(query, names, settings.embeddings, ANSWER_S)
    indices = _indices(shelves, wanted)
    found = inject.search(
        shelves,
        indices,
        query,
        nearest or (),
        settings.before_model.min_score,
        inject.least_cosine(settings.embeddings.model),
        _refusal(now if as_of is None else as_of, query),
    )
    found = [one for one in found if one.words or not one.why_not]
    if since is not None:
        found = [one for one in found if one.record["updated"] >= since]
    if wanted.prompt:
        found = [one for one in found if not one.why_not]
    elif not found:
        found = _containing(shelves, indices, query, since or 0)
    words = list(dict.fromkeys(tokens(query, asked=True)))
    return RecallList(
        rows=[_row(one, nearest is not None) for one in found[: wanted.limit]],
        words=words,
        unknown=[word for word in words if not any(index.count(word) for index in indices)],
        dense=nearest is not None,
        min_score=settings.before_model.min_score,
        searched=sum(len(index) for index in indices),
    )


def _refusal(at: int, query: str) -> "inject.Refusal":
    of_prompt = inject.for_prompt(at, query, "")
    return lambda record: "" if record["type"] == "episode" else of_prompt(record)


def _indices(shelves: Sequence[Shelf], wanted: RecallWanted) -> list[Index]:
    kinds = wanted.kinds or ["memory", "fact", "episode"]
    names = {"memory": "memories", "fact": "facts", "episode": "episodes"}
    found = [getattr(shelf, names[kind]) for shelf in shelves for kind in kinds]
    return [index for index in found if len(index)]


async def _past_shelf(
    service: Recall, caller: Caller, shelves: Sequence[Shelf], query: str, at: int
) -> Shelf:
    """What was in force and believed at an instant, as far as the question may find it."""
    past = Shelf()
    for project in dict.fromkeys([caller.project or None, None]):
        found = await _active_at(service, project, at)
        for row in found:
            past.put_memory(record_of(row))
    candidates = inject.names(
        [shelf.facts for shelf in shelves if len(shelf.facts)], query, PAST_CANDIDATES
    )
    facts = await service.app.store.read(lambda c: rows.believed(c, candidates, at, at))
    for fact in facts:
        fact.superseded_by, fact.retracted_at, fact.closed_at, fact.valid_to = "", None, None, None
        fact.archived = False
        past.put_fact(fact)
    return past


async def _active_at(service: Recall, project: str | None, at: int) -> list[MemoryRow]:
    return await service.app.store.read(lambda c: memories.active_at(c, project, at))


def _containing(
    shelves: Sequence[Shelf], indices: Sequence[Index], query: str, since: int
) -> list[Found]:
    """Rows that contain the whole question as it is written; else words spelled nearly so."""
    out = []
    for index in indices:
        for name in index.containing(query):
            record = next((one.records[name] for one in shelves if name in one.records), None)
            if record is not None and record["updated"] >= since:
                out.append(Found(record, 0.0, 0.0, 0.0, (), "no whole word of the question"))
    out.sort(key=lambda one: (-one.record["updated"], one.record["id"]))
    if out:
        return out
    spelled = inject.respell(indices, tokens(query, asked=True))
    if not spelled:
        return []
    near = inject.search(shelves, indices, " ".join(spelled))
    why = f"read as: {' '.join(spelled)}"
    return [one._replace(why_not=why) for one in near if one.record["updated"] >= since]


def _row(found: Found, dense: bool) -> RecallRow:
    record = found.record
    kind = record["type"] if record["type"] in ("fact", "episode") else "memory"
    details = f" — {record['details']}" if record["details"] else ""
    return RecallRow(
        id=record["id"],
        kind=kind,
        text=record["summary"] + details,
        label=record["label"],
        score=round(found.score, 6),
        relevance=round(found.relevance, 4),
        cosine=round(found.cosine, 4) if dense else None,
        words=list(found.words),
        at=record["updated"],
        why_not=found.why_not,
    )


async def show_hot(service: Recall, caller: Caller, _: object) -> HotBlock:
    """The block that SessionStart prints in this project, byte for byte."""
    ids, text = await service.write_hot(caller.project or USER)
    return HotBlock(text=text, ids=ids, tokens=hot.token_count(text))


async def embeddings(service: Recall, caller: Caller, _: object) -> EmbeddingsStatus:
    return await service.embedding.status()


async def backfill(service: Recall, caller: Caller, _: object) -> EmbeddingsStatus:
    """Has everything of this project embedded that is not yet; ask again for the progress."""
    settings = service.app.config.user.embeddings
    if not settings.enabled:
        raise HmdError("refused", "embeddings are off", do="hmctl embeddings enable")
    await service.shelves(caller.project)
    service.embedding.warm(settings)
    return await service.embedding.status()
