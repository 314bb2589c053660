"""What every use case is given: the opened parts, and who is asking."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import msgspec

from hmd.app.snapshots import Snapshots
from hmd.core import ids
from hmd.core.answers import Outcome
from hmd.core.changes import AnyChange, OpenProposal
from hmd.core.config import Config
from hmd.core.errors import HmdError
from hmd.core.memory import AGENT_ACTORS, Actor
from hmd.kernel.address import Home
from hmd.kernel.project import resolve
from hmd.store.leftovers import Left
from hmd.store.store import Store

DAY_MS = 86_400_000
TakeOut = Callable[[Left], Awaitable[None]]


class Caller(msgspec.Struct, kw_only=True, frozen=True):
    """Who asks, and from where. `project` is the id of the project of `cwd`, "" for none; `root`
    its working tree; `common` what the project is known by (settings are looked up under it);
    `never` directories that are no projects (the user's home, see `hmd.kernel.project.locate`)."""

    actor: Actor = "terminal"
    cwd: str = ""
    project: str = ""
    enabled: bool = False
    root: str = ""
    common: str = ""
    session: str = ""
    host: str = ""
    never: tuple[str, ...] = ()

    @property
    def is_agent(self) -> bool:
        return self.actor in AGENT_ACTORS


def caller_at(home: Home, cwd: str, actor: Actor, never: tuple[str, ...] = ()) -> Caller:
    """A caller in directory `cwd`, which may be "" (nowhere)."""
    found = resolve(home, cwd, never) if cwd else None
    if found is None:
        return Caller(actor=actor, cwd=cwd, never=never)
    return Caller(
        actor=actor,
        cwd=cwd,
        project=found.id,
        enabled=found.enabled,
        root=found.root,
        common=found.location.common,
        never=never,
    )


class App:
    """The parts that use cases join. `config` may be replaced when the file changes."""

    def __init__(self, store: Store, snapshots: Snapshots, config: Config) -> None:
        self.store = store
        self.snapshots = snapshots
        self.config = config
        # Surrounds an erasing, from before it is chosen what goes: nothing is learned meanwhile.
        # What it gives is called once files are clean, and cleans what is held in memory.
        self.while_erasing: Callable[[], AbstractAsyncContextManager[TakeOut]] = _nobody

    def now(self) -> int:
        return self.store.clock.now_ms()

    async def make(self, change: AnyChange) -> Outcome:
        """Makes a change last and gives it to the snapshots."""
        applied = await self.snapshots.commit(change)
        project = None
        if applied.projects:
            project = await self.store.get_project(applied.projects[-1])
        return Outcome(
            seq=applied.seq, memory=applied.memory, project=project, proposal=applied.proposal
        )

    async def make_or_propose(
        self, caller: Caller, change: AnyChange, proposes: str, target: str = "", claim: str = ""
    ) -> Outcome:
        """Makes the change, or opens a proposal of it where an agent asks.

        This is a guard-rail and no boundary: an agent that may run any command can also pretend
        to be a terminal.
        """
        if not caller.is_agent:
            return await self.make(change)
        settings = self.config.at(caller.common or caller.root)
        proposal = OpenProposal(
            actor=caller.actor,
            at=change.at,
            proposal=ids.new_id(),
            proposes=proposes,
            target=target,
            claim=claim,
            project=caller.project or None,
            reason=f"asked for by {caller.actor}",
            changes=[change],
            expires_at=change.at + settings.retention.proposal_days * DAY_MS,
        )
        outcome = await self.make(proposal)
        outcome.notes.append("proposed only: a person accepts it with hmctl proposal accept")
        return outcome


async def _nothing(_: Left) -> None:
    """Nobody holds anything in memory."""


@asynccontextmanager
async def _nobody() -> AsyncIterator[TakeOut]:
    yield _nothing


def only_people(caller: Caller, what: str) -> None:
    """Raises HmdError "refused" where an agent asks for what it may not even propose."""
    if caller.is_agent:
        raise HmdError("refused", f"an agent cannot {what}", do="run it in a terminal of yours")
