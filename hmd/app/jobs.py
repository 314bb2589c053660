"""What the worker process is asked, and what it gives back.

Use cases make these values, the worker does them (hmd/worker/jobs.py): everything here is slow pure
Python that must not run beside the daemon's loop. A job reads files of the home and changes none
but those of the worker's own (`past/`), so doing one twice is doing it once.
"""

from typing import Any, Protocol, TypeVar

from msgspec import Struct, field

from hmd.core.config import Settings
from hmd.core.learning import EpisodeRow, FixRow, ReceiptRow
from hmd.learn.reconcile import Plan, State
from hmd.learn.rows import Row

R = TypeVar("R", bound=Struct)


class Job(Struct, kw_only=True, tag_field="job"):
    """`home` is the path of the home, `machine` which machine's files are meant."""

    home: str
    machine: str


class ReadSession(Job, kw_only=True, tag="read_session"):
    """Fold what a session's ledger holds; `now` decides what has been idle for an hour."""

    session: str
    now: int


class SessionDigest(Struct, kw_only=True):
    """All closed episodes of a session, oldest first, and what follows from them without a model.
    `size` is how much of the ledger was read, `ended` its newest time, `open` whether a segment is
    not closed, `finished` whether the last one ended with the session; `guards` how many prompts
    made a guard. `fixes` and `failed` are by project."""

    size: int = 0
    ended: int = 0
    open: bool = False
    episodes: list[EpisodeRow] = field(default_factory=list)
    fixes: dict[str, list[FixRow]] = field(default_factory=dict)
    failed: dict[str, dict[str, int]] = field(default_factory=dict)
    receipts: list[ReceiptRow] = field(default_factory=list)
    guards: int = 0
    finished: bool = False
    calls: int = 0


class RenderEpisode(Job, kw_only=True, tag="render_episode"):
    """The prompt for an episode. `rows` are the memories of its project."""

    session: str
    episode: str
    rows: list[Row] = field(default_factory=list)


class Rendered(Struct, kw_only=True):
    """`prompt` "" where the ledger of the episode is gone."""

    prompt: str = ""
    schema: dict[str, Any] = field(default_factory=dict)
    version: str = ""


class Judge(Job, kw_only=True, tag="judge"):
    """Validate an answer about an episode and reconcile what passed with `state`. `forgotten` are
    the marks of texts that must not come back (hmd/store/tombstones.py)."""

    session: str
    episode: str
    answer: str
    state: State
    settings: Settings
    now: int
    run: str
    forgotten: list[str] = field(default_factory=list)


class Rejection(Struct, kw_only=True):
    """A fact that was not taken: the check's name, its reason, the fact's summary."""

    code: str = ""
    reason: str = ""
    summary: str = ""


class Judged(Struct, kw_only=True):
    """`suspect` is why all of it was skipped. `gone`: the ledger of the episode is not there."""

    plan: Plan = field(default_factory=Plan)
    rejected: list[Rejection] = field(default_factory=list)
    suspect: str = ""
    summary: str = ""
    facts: int = 0
    gone: bool = False


class Consolidate(Job, kw_only=True, tag="consolidate"):
    """What age, overrides and likeness change in a project's memories."""

    state: State
    settings: Settings
    now: int


class Planned(Struct, kw_only=True):
    """A plan that no answer of a model stands behind."""

    plan: Plan = field(default_factory=Plan)


class KeepGuards(Job, kw_only=True, tag="keep_guards"):
    """What becomes of a finished session's guards, in one project of it."""

    session: str
    project: str
    state: State
    settings: Settings
    now: int
    forgotten: list[str] = field(default_factory=list)


class ReadNotes(Job, kw_only=True, tag="read_notes"):
    """Split files of rules (CLAUDE.md and its kind) into bullets. `kinds`: which types of automatic
    notes are wanted, [] for all."""

    paths: list[str]
    root: str = ""
    kinds: list[str] = field(default_factory=list)


class Bullet(Struct, kw_only=True):
    """One rule as it stands in a file. `loaded` names the file where the host loads it by itself;
    `obliges`: it says must, never or the like; `problem` why it will not act by itself."""

    text: str = ""
    heading: str = ""
    file: str = ""
    line: int = 0
    loaded: str = ""
    obliges: bool = False
    problem: str = ""


class Notes(Struct, kw_only=True):
    bullets: list[Bullet] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


class DropPast(Job, kw_only=True, tag="drop_past"):
    """Delete calls older than `before`, and those of the named sessions."""

    before: int
    sessions: list[str] = field(default_factory=list)


class Dropped(Struct, kw_only=True):
    files: int = 0


AnyJob = ReadSession | RenderEpisode | Judge | Consolidate | KeepGuards | ReadNotes | DropPast


class Worker(Protocol):
    """Where jobs are done (hmd/worker/parent.py)."""

    async def run(self, job: AnyJob, result: type[R]) -> R:
        """Raises HmdError: `internal` where the job failed or its process died twice over it."""
        ...

    async def renew(self) -> None:
        """Gives up everything that was read, once the job at hand is done."""
        ...
