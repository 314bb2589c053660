"""Projects: their row in the store, and what the `project.*` methods take."""

from msgspec import Struct, field


class ProjectRow(Struct, kw_only=True):
    """One project. `remote` and `root_commit` are hints by which a moved one is recognised."""

    id: str = ""
    name: str = ""
    enabled: bool = False
    locations: list[str] = field(default_factory=list)
    remote: str = ""
    root_commit: str = ""
    created: int = 0
    memories: int = 0
    merged_into: str | None = None
    forgotten_at: int | None = None


class ProjectList(Struct, kw_only=True):
    rows: list[ProjectRow] = field(default_factory=list)


class ProjectRef(Struct, kw_only=True):
    """`project.enable`, `.disable`, `.forget`: a directory, or an id or a prefix of one.
    Both empty: the directory of the caller."""

    path: str = ""
    id: str = ""


class ProjectMove(Struct, kw_only=True):
    """`project.move`: the project `id` now lives at `path`."""

    id: str = ""
    path: str = ""


class ProjectMerge(Struct, kw_only=True):
    """`project.merge`: everything of `source` becomes `into`'s."""

    source: str = ""
    into: str = ""
