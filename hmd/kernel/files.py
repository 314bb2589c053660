"""The answer path's sources on disk: what a stub without a daemon, and `hmctl why`, decide from."""

from hmd.kernel import event as ev
from hmd.kernel import ledger, system, turn
from hmd.kernel.address import Home
from hmd.kernel.project import Project, adopt, resolve
from hmd.kernel.rules import Rules
from hmd.kernel.snapshot import Snapshot, open_snapshot
from hmd.kernel.turn import Turn


class FileSources:
    """Implements `hmd.kernel.answer.Sources`. `writes` is false for a reader that must leave no
    trace (`hmctl why`)."""

    __slots__ = ("_held", "home", "kernel_hash", "problem", "writes")

    def __init__(self, home: Home, kernel_hash: str, writes: bool = True) -> None:
        self.home = home
        self.kernel_hash = kernel_hash
        self.writes = writes
        self.problem = ""
        self._held: turn.Turn | None = None

    def project(self, cwd: str, never: "tuple[str, ...]") -> "Project | None":
        found = resolve(self.home, cwd, never)
        if found is not None and found.enabled and not found.id and self.writes:
            found.id = adopt(self.home, found.location)
        return found

    def rules(self, project: Project) -> Rules:
        wanted = [(project.id, project.root), ("user", project.root)]
        if project.parent:
            wanted.append((project.parent, project.parent_root))
        sources = []
        for name, root in wanted:
            snapshot = self._open(name)
            if snapshot is not None:
                sources.append((snapshot, root))
        return Rules(sources, self.home.path)  # type: ignore[arg-type]

    def _open(self, name: str) -> "Snapshot | None":
        if not name:
            return None
        snapshot = open_snapshot(self.home.snapshot(name), self.kernel_hash)
        if snapshot is not None and snapshot.problem:
            self.problem = snapshot.problem
        return snapshot

    def turn(self, key: str) -> turn.Turn:
        state = turn.load(_read(self.home.turn(key)))
        turn.catch_up(state, self.home.ledger(key))
        if self.writes and state.offset - state.saved > turn.CHECKPOINT_EVERY:
            turn.write_checkpoint(state, self.home.turn(key))
        self._held = state
        return state

    def recall(self, project: Project, turn: Turn, event: ev.Event) -> None:
        """The hot index as it was last written; nothing is searched without a daemon."""
        if event.kind == ev.SESSION_START:
            from hmd.kernel import hot  # late: once a session

            event.hot = hot.read(self.home, project.id)

    def append(self, key: str, record: ledger.Record, data: bytes) -> bool:
        """The turn then holds whatever came first: a host that registered us twice runs both hooks
        at once, and neither stub saw the other's line before it wrote its own."""
        if self._held is not None:
            before = self._held.offset
            turn.catch_up(self._held, self.home.ledger(key))
            if self._held.offset != before and self._held.has_line(record):
                return True  # a daemon that was late, or the other hook, has just written it
        written = self.writes and ledger.append(self.home.ledger(key), data)
        if written and self._held is not None:
            turn.catch_up(self._held, self.home.ledger(key))
        return written


def _read(path: str) -> bytes:
    try:
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return system.read(descriptor, system.fstat(descriptor).st_size)
    except OSError:
        return b""
    finally:
        system.close(descriptor)
