"""The database and what goes in and out of it: what the `db.*` methods take and give."""

from typing import Literal

from msgspec import Struct, field


class ImportQuery(Struct, kw_only=True):
    """`db.import`: another program's store at the absolute path `path`."""

    kind: Literal["", "harness-memory", "memharness", "harnmem"] = ""
    path: str = ""
    user_wide: bool = False
    dry_run: bool = False


class ImportReport(Struct, kw_only=True):
    """`counted` is what the source holds; every row of it is in exactly one of the other counts."""

    kind: str = ""
    version: str = ""
    counted: dict[str, int] = field(default_factory=dict)
    added: int = 0
    known: int = 0
    forgotten: int = 0
    skipped: list[str] = field(default_factory=list)
    not_understood: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class ExportQuery(Struct, kw_only=True):
    """`db.export`: `sql` to a file (or as text, with `path` ""), the others into a directory."""

    kind: Literal["sql", "markdown", "skills"] = "sql"
    path: str = ""
    id: str = ""


class ExportReport(Struct, kw_only=True):
    files: list[str] = field(default_factory=list)
    rows: int = 0
    text: str = ""


class BackupReport(Struct, kw_only=True):
    path: str = ""
    bytes: int = 0


class CheckReport(Struct, kw_only=True):
    """`db.check`: `problems` is empty where all is sound."""

    schema: int = 0
    applied_seq: int = 0
    journal_seq: int = 0
    facts: int = 0
    memories: int = 0
    backups: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
