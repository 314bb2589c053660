"""Forgetting: what `fact.forget`, `.restore` and `.trash` take and give."""

from msgspec import Struct, field

TRASH_DAYS = 30


class ForgetQuery(Struct, kw_only=True):
    """`fact.forget`: exactly one of `id` (facts and memories), `source`, `session`, `file`, `text`.

    `follow` also takes every revision that a fact came from or became; `hard` erases at once and
    follows unless it is told not to. `dry_run` only says what would go.
    """

    id: str | None = None
    source: str | None = None
    session: str | None = None
    file: str | None = None
    text: str | None = None
    hard: bool = False
    follow: bool | None = None
    dry_run: bool = False


class Forgotten(Struct, kw_only=True):
    """`fact.forget`, `.restore`: what was hidden, brought back or erased, by full id.

    `scrubbed` names each file that was overwritten. `erase_at` is when the text goes for good.
    """

    seq: int = 0
    facts: list[str] = field(default_factory=list)
    memories: list[str] = field(default_factory=list)
    erase_at: int | None = None
    scrubbed: list[str] = field(default_factory=list)
    proposal: str = ""
    notes: list[str] = field(default_factory=list)


class TrashRow(Struct, kw_only=True):
    """One forgotten thing that can still be brought back. `kind` is fact or memory."""

    id: str = ""
    kind: str = ""
    text: str = ""
    forgotten_at: int = 0
    erase_at: int = 0


class TrashList(Struct, kw_only=True):
    rows: list[TrashRow] = field(default_factory=list)


class RestoreQuery(Struct, kw_only=True):
    """`fact.restore`: a forgotten fact or memory, by id."""

    id: str = ""
