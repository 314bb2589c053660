"""A fact of a model's answer beside the episode it was drawn from: in our own vocabulary, with the
lines that it cites and the calls that it is about.
"""

from collections.abc import Sequence

from msgspec import Struct, field, structs

from hmd.core.memory import EvidenceClass, Signature, Trigger
from hmd.kernel import event as ev
from hmd.learn.calls import Call, Record, text_of
from hmd.learn.episodes import Episode, Failure
from hmd.learn.evidence import classify, without_ours
from hmd.learn.matching import Rule, named_tokens
from hmd.learn.rows import Citation, Row
from hmd.learn.schema import Fact, TriggerSignature, line_number
from hmd.learn.words import semantic_key, tokens

EXCERPT = 500

# The host's names for tools that have another in our vocabulary.
_TOOL_NAMES = {
    "powershell": "bash",
    "shell": "bash",
    "multiedit": "edit",
    "notebookedit": "edit",
    "webfetch": "fetch",
}
TARGETS = {"bash": "command", "edit": "path", "write": "path", "read": "path", "fetch": "url"}


class Learned(Struct, kw_only=True):
    """A fact that passed: in our own vocabulary, with what it rests on."""

    fact: Fact
    key: str
    scope: str
    triggers: list[Trigger]
    tools: list[str] | None
    sig: Signature | None
    evidence: EvidenceClass
    cites: tuple[Citation, ...]
    asked: bool = False
    origins: list[Call] = field(default_factory=list)
    fixes: list[Call] = field(default_factory=list)


class Case:
    """A fact with all that the checks look at."""

    def __init__(self, fact: Fact, episode: Episode, rows: dict[str, Row], seen: set[str]) -> None:
        self.fact = fact
        self.episode = episode
        self.rows = rows
        self.seen = seen
        self.lines: list[tuple[int, Record]] = []
        for ref in dict.fromkeys(fact.evidence_refs):
            record = episode.line(line_number(ref))
            if record is not None:
                self.lines.append((line_number(ref), record))
        self.sig = _signature(fact.trigger_signature)
        self.rule = Rule(self.sig) if self.sig is not None else None
        self.triggers = list(dict.fromkeys(fact.lifecycle_triggers))
        named = [canonical_tool(tool) for tool in fact.relevant_tools or []]
        self.tools = list(dict.fromkeys(named)) or None

    @property
    def cited(self) -> list[Record]:
        return [record for _seq, record in self.lines]

    @property
    def key(self) -> str:
        spec = self.sig.spec if self.sig is not None else ""
        return semantic_key(self.fact.type, self.fact.scope_glob, spec, self.fact.summary)

    @property
    def failures(self) -> list[Failure]:
        """The failures that the fact cites by either end, else all of the episode."""
        lines = {line_number(ref) for ref in self.fact.evidence_refs}
        cited = [
            one
            for one in self.episode.failures
            if (not one.inherited and {one.call.seq, one.call.done} & lines)
            or (one.resolved_by is not None
                and {one.resolved_by.seq, one.resolved_by.done} & lines)
        ]  # fmt: skip
        return cited or self.episode.failures


def canonical_tool(name: str) -> str:
    """A tool's name in our vocabulary, also where the model used the host's."""
    if name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
        return f"mcp:{server}/{tool}"
    if name.startswith("mcp:"):
        return name
    lowered = name.strip().lower()
    return _TOOL_NAMES.get(lowered, lowered)


def _signature(raw: TriggerSignature | None) -> Signature | None:
    if raw is None:
        return None
    tool = canonical_tool(raw.tool)
    target = TARGETS.get(tool) or raw.target or "input"
    return Signature(tool=tool, target=target, kind=raw.pattern_kind, pattern=raw.pattern.strip())


def learned(case: Case) -> Learned:
    fact, episode = case.fact, case.episode
    summaries = [row.summary for row in case.rows.values()]
    about = named_tokens(case.sig) if case.sig is not None else fact.summary
    failures = case.failures
    origins = [one.call for one in failures]
    rule = case.rule
    if rule is not None and not any(rule.meets(call) for call in origins):
        # A correction may be about a call that worked: one before the prompt, never one after it.
        origins = [call for call in episode.context if rule.meets(call)]
    return Learned(
        fact=structs.replace(fact, lifecycle_triggers=case.triggers),
        key=case.key,
        scope=fact.scope_glob,
        triggers=case.triggers,
        tools=case.tools,
        sig=case.sig,
        evidence=classify(case.cited, tokens(about), summaries),
        cites=tuple(_citation(seq, record, summaries) for seq, record in case.lines),
        asked=_is_asked(episode, case.cited),
        origins=origins,
        fixes=[one.resolved_by for one in failures if one.resolved_by is not None],
    )


def _is_asked(episode: Episode, cited: Sequence[Record]) -> bool:
    """Whether the fact cites the prompt that explicitly asks to remember."""
    return bool(episode.requests) and any(
        record.get("k") == ev.PROMPT and not record.get("background") for record in cited
    )


def _citation(seq: int, record: Record, summaries: list[str]) -> Citation:
    parts = [text_of(record, name) for name in ("text", "input", "error", "output")]
    text = without_ours("\n".join(part for part in parts if part), summaries)
    return Citation(seq=seq, kind=str(record.get("k", "")), excerpt=text[:EXCERPT])
