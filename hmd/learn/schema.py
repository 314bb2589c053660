"""The answer that an extraction model must give: its JSON schema, and how one is read.

Every property is required and none beside them is allowed, which both hosts' schema modes need; a
value that does not apply is null or empty.
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from hmd.core.memory import MEMORY_TYPES, TRIGGERS, MemoryType, Trigger
from hmd.learn.rows import Knowledge

VERSION = 1
MOST_FACTS = 8
MOST_ALIASES = 8
SUMMARY_MIN, SUMMARY_MAX = 12, 160
DETAILS_MAX = 1000
MOST_BAD_CITATIONS = 0.5

Action = Literal["create", "reinforce", "propose_supersede", "propose_stale"]
ACTIONS = ("create", "reinforce", "propose_supersede", "propose_stale")
KINDS = ("cmd", "glob", "regex", "substring")
KNOWLEDGE = ("correction", "failure_resolution", "convention", "design")


class TriggerSignature(Struct, kw_only=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(min_length=1, max_length=120)]
    target: Annotated[str, Meta(max_length=80)] = ""
    pattern_kind: Literal["cmd", "glob", "regex", "substring"]
    pattern: Annotated[str, Meta(min_length=1, max_length=500)]


class Fact(Struct, kw_only=True, forbid_unknown_fields=True):
    """One fact, as the model gives it. `target` is the memory that a fact which is not a `create`
    speaks of; `evidence_refs` are lines, `e<seq>`."""

    action: Action
    target: Annotated[str, Meta(max_length=64)] = ""
    type: MemoryType
    summary: Annotated[str, Meta(min_length=SUMMARY_MIN, max_length=SUMMARY_MAX)]
    details: Annotated[str, Meta(max_length=DETAILS_MAX)] = ""
    scope_glob: Annotated[str, Meta(min_length=1, max_length=200)] = "**"
    relevant_tools: Annotated[list[str], Meta(max_length=12)] | None = None
    trigger_signature: TriggerSignature | None = None
    lifecycle_triggers: Annotated[list[Trigger], Meta(max_length=4)] = field(default_factory=list)
    confidence: Annotated[float, Meta(ge=0, le=1)]
    evidence_refs: Annotated[list[str], Meta(min_length=1, max_length=12)]
    knowledge_kind: Knowledge
    rationale: Annotated[str, Meta(max_length=600)] = ""
    aliases: Annotated[list[str], Meta(max_length=MOST_ALIASES)] = field(default_factory=list)


class Answer(Struct, kw_only=True):
    """A run's answer. `facts` are raw: each is judged by itself (V1). `suspect` says why the run is
    skipped whole, "" when it is not."""

    episode_summary: str = ""
    nothing_to_learn: bool = False
    facts: list[Any] = field(default_factory=list)
    suspect: str = ""


def json_schema() -> dict[str, Any]:
    """The schema to hand to the model's own command."""
    text: dict[str, Any] = {"type": "string"}
    signature = _object(
        {
            "tool": text,
            "target": text,
            "pattern_kind": {"type": "string", "enum": list(KINDS)},
            "pattern": text,
        }
    )
    fact = _object(
        {
            "action": {"type": "string", "enum": list(ACTIONS)},
            "target": text,
            "type": {"type": "string", "enum": list(MEMORY_TYPES)},
            "summary": {"type": "string", "minLength": SUMMARY_MIN, "maxLength": SUMMARY_MAX},
            "details": {"type": "string", "maxLength": DETAILS_MAX},
            "scope_glob": text,
            "relevant_tools": {"anyOf": [_list(text), {"type": "null"}]},
            "trigger_signature": {"anyOf": [signature, {"type": "null"}]},
            "lifecycle_triggers": _list({"type": "string", "enum": list(TRIGGERS)}),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "evidence_refs": _list({"type": "string", "pattern": "^e[0-9]+$"}),
            "knowledge_kind": {"type": "string", "enum": list(KNOWLEDGE)},
            "rationale": text,
            "aliases": {**_list(text), "maxItems": MOST_ALIASES},
        }
    )
    return _object(
        {
            "episode_summary": text,
            "nothing_to_learn": {"type": "boolean"},
            "facts": {**_list(fact), "maxItems": MOST_FACTS},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def read_answer(data: bytes | str, lines: int) -> Answer:
    """Reads an answer about an episode of `lines` ledger lines.

    Suspect, and to be skipped whole: what is no JSON object of this shape, more than eight facts,
    more than half of the citations naming no line.
    """
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return Answer(suspect="the answer is not JSON")
    if not isinstance(raw, dict) or not isinstance(raw.get("facts"), list):
        return Answer(suspect="the answer has no list of facts")
    answer = Answer(
        episode_summary=str(raw.get("episode_summary") or "")[:1000],
        nothing_to_learn=raw.get("nothing_to_learn") is True,
        facts=raw["facts"],
    )
    if len(answer.facts) > MOST_FACTS:
        answer.suspect = f"{len(answer.facts)} facts, at most {MOST_FACTS} are allowed"
        return answer
    cited = [ref for fact in answer.facts for ref in _refs(fact)]
    bad = [ref for ref in cited if not 1 <= line_number(ref) <= lines]
    if len(bad) > MOST_BAD_CITATIONS * len(cited):
        answer.suspect = f"{len(bad)} of {len(cited)} citations name no line of the episode"
    return answer


def read_fact(raw: object) -> tuple[Fact | None, str]:
    """(the fact, "") or (None, what is wrong with its shape)."""
    try:
        return msgspec.convert(raw, Fact), ""
    except msgspec.ValidationError as error:
        return None, str(error)[:200]


def line_number(ref: object) -> int:
    """The number in `e12`; 0 for anything else."""
    if not isinstance(ref, str) or ref[:1] != "e" or not ref[1:].isascii():
        return 0
    return int(ref[1:]) if ref[1:].isdigit() and len(ref) < 10 else 0


def _refs(fact: object) -> list[object]:
    refs = fact.get("evidence_refs") if isinstance(fact, dict) else None
    return refs if isinstance(refs, list) else []
