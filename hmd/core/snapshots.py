"""What `snapshot.rebuild` takes and gives."""

from msgspec import Struct, field


class SnapshotRef(Struct, kw_only=True):
    """`snapshot.rebuild`. `project` "" is every snapshot, `user` the user-wide one, else an id."""

    project: str = ""


class SnapshotRow(Struct, kw_only=True):
    project: str = ""
    generation: int = 0
    records: int = 0
    bytes: int = 0


class SnapshotList(Struct, kw_only=True):
    rows: list[SnapshotRow] = field(default_factory=list)
