"""Words of learning that store, worker and use cases share: episodes, runs, receipts, fixes.

Times are ms since the epoch. `session` is always a session key (hmd/kernel/address.py), never the
host's own name of a session.
"""

from typing import Literal, get_args

from msgspec import Struct, field

EpisodeState = Literal["queued", "leased", "waiting", "done", "no_signal", "dead", "dropped"]
EPISODE_STATES: tuple[str, ...] = get_args(EpisodeState)
RunKind = Literal["extraction", "probe"]


class EpisodeRow(Struct, kw_only=True):
    """One closed segment of a turn, as the queue knows it. `reason` says why it waits or died;
    `summary` is the extractor's where `told` is "extracted", else worked out ("derived")."""

    id: str = ""
    session: str = ""
    project: str = ""
    turn: int = 0
    segment: int = 0
    started: int = 0
    ended: int = 0
    closed: str = ""
    weight: int = 0
    correction: bool = False
    remember: bool = False
    decision: bool = False
    state: EpisodeState = "queued"
    attempts: int = 0
    not_before: int = 0
    leased_until: int = 0
    reason: str = ""
    summary: str = ""
    told: Literal["", "extracted", "derived"] = ""
    run: str = ""


class SupportRow(Struct, kw_only=True, frozen=True):
    """One episode that a memory rests on; the lines it cites are `Evidence` rows."""

    episode: str
    session: str
    at: int
    weight: int
    confidence: float
    human: bool = False
    observed: bool = False


class LearnedRow(Struct, kw_only=True):
    """What learning keeps of a memory beside its content. `key` is its semantic key, `replay` why
    it failed the replay, `lowered_at` when overrides lowered it, `replaces` the memory whose open
    proposal it would take the place of."""

    memory: str = ""
    key: str = ""
    supports: list[SupportRow] = field(default_factory=list)
    revalidate_at: int | None = None
    replay: str = ""
    replaces: str = ""
    lowered_at: int | None = None


class ClaimRow(Struct, kw_only=True, frozen=True):
    """One session's voice for a proposal."""

    session: str
    at: int
    human: bool = False
    observed: bool = False


class FixRow(Struct, kw_only=True):
    """A command that worked where another had failed. `seen`: sighting → (session, time)."""

    id: str = ""
    tool: str = ""
    key: str = ""
    failure: str = ""
    signature: str = ""
    fix: str = ""
    fix_key: str = ""
    seen: dict[str, tuple[str, int]] = field(default_factory=dict)


class RunRow(Struct, kw_only=True):
    """One call of a provider, with what it cost as the CLI reports it (`cost_usd` null: it does not
    say). `exempt`: it did not count towards the daily cap. `counts` is what became of the facts."""

    id: str = ""
    kind: RunKind = "extraction"
    episode: str = ""
    project: str = ""
    provider: str = ""
    model: str = ""
    status: str = ""
    message: str = ""
    started: int = 0
    duration_ms: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    exempt: bool = False
    counts: dict[str, int] = field(default_factory=dict)


class ReceiptRow(Struct, kw_only=True):
    """What one rule did in one session in the week that began at `week` (Monday, UTC).

    `fired`: it was given, asked, held or denied. `heeded`: held, and the call was not repeated;
    `avoided`: heeded, and another call did the work. `overridden`: the hold was passed;
    `false_alarm`: passed, and the call went well.
    """

    memory: str = ""
    session: str = ""
    week: int = 0
    fired: int = 0
    heeded: int = 0
    avoided: int = 0
    overridden: int = 0
    false_alarm: int = 0
    last: int = 0


class SessionRead(Struct, kw_only=True):
    """How far a session's ledger was read: `size` in bytes, `ended` the newest record's time;
    `open` while a segment is not closed yet."""

    session: str = ""
    size: int = 0
    ended: int = 0
    open: bool = False
