"""hmd as a library: facts in time, asked of the daemon over its socket.

    from hmd.memory import Memory

    memory = Memory()
    box = memory.remember("build box", "runs Debian 11").fact
    memory.revise(box.id, "runs Debian 12", valid_from="2026-03-01")
    [row.fact for row in memory.recall("build box")]                        # now
    [row.fact for row in memory.recall("build box", as_of="2026-02-01")]    # then

Every method raises `hmd.core.errors.HmdError`. Times are text as people write them
(`2026-03-01`, `2026-03-01T14:30+09:00`); rows hold milliseconds since the epoch. A daemon is
started where none runs. Calls block and may come from any thread.
"""

import os
from typing import TYPE_CHECKING, Any, TypeVar

from hmd import link
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactDiff, FactList, FactStats, FactWhy, NearList
from hmd.core.facts import FactOutcome, FactRow, Similar
from hmd.core.forgetting import Forgotten
from hmd.kernel.address import Home, default_home

if TYPE_CHECKING:
    from hmd.core.memory import Actor

__all__ = ["HmdError", "Memory"]

T = TypeVar("T")


class Memory:
    """The memory of one home. `actor` says who is asking: what a `terminal` says is a person's
    word, the facts of an `mcp` or `agent_cli` are an agent's. `cwd` is the project asked about."""

    def __init__(self, home: str = "", actor: "Actor" = "agent_cli", cwd: str = "") -> None:
        found = home or default_home(dict(os.environ))
        if not found:
            raise HmdError("usage", "no home: neither HMD_HOME nor HOME is set")
        self.home = Home(os.path.abspath(found))
        self.actor = actor
        self.cwd = cwd

    def remember(self, subject: str, fact: str, **fields: Any) -> FactOutcome:
        """Records a fact; `fields` as in `hmd.core.facts.FactDraft`."""
        draft = {"subject": subject, "fact": fact, **fields}
        return self._call("fact.remember", draft, FactOutcome)

    def revise(self, id: str, fact: str, **fields: Any) -> FactOutcome:
        """Replaces a fact by another; `fields` as in `FactRevision`."""
        return self._call("fact.revise", {"id": id, "fact": fact, **fields}, FactOutcome)

    def recall(self, query: str = "", **fields: Any) -> list[FactRow]:
        """What is believed now, or at `as_of`, `valid_at`, `known_at`; see `FactQuery`."""
        return self._call("fact.recall", {"query": query, **fields}, FactList).rows

    def why(self, id: str) -> FactWhy:
        """A fact with everything it replaced and became."""
        return self._call("fact.why", {"id": id}, FactWhy)

    def diff(self, since: str, until: str | None = None, subject: str = "") -> FactDiff:
        """What was learned, revised and forgotten in a span of time."""
        span = {"since": since, "until": until, "subject": subject}
        return self._call("fact.diff", span, FactDiff)

    def near(self, subject: str, text: str, **fields: Any) -> list[Similar]:
        """Facts about `subject` that say nearly the same."""
        wanted = {"subject": subject, "text": text, **fields}
        return self._call("fact.near", wanted, NearList).rows

    def forget(self, id: str | None = None, **how: Any) -> Forgotten:
        """Forgets by id, `source`, `session`, `file` or `text`; see `ForgetQuery`."""
        wanted = how if id is None else {"id": id, **how}
        return self._call("fact.forget", wanted, Forgotten)

    def restore(self, id: str) -> Forgotten:
        """Brings back what was forgotten within 30 days."""
        return self._call("fact.restore", {"id": id}, Forgotten)

    def mark(self, id: str, **fields: Any) -> FactOutcome:
        """Pins, archives, tags, links or weighs a fact; see `FactMark`."""
        return self._call("fact.mark", {"id": id, **fields}, FactOutcome)

    def stats(self) -> FactStats:
        """Counts."""
        return self._call("fact.stats", {}, FactStats)

    def _call(self, method: str, body: dict[str, Any], answer: type[T]) -> T:
        return link.call(self.home, method, body, answer, actor=self.actor, cwd=self.cwd)
