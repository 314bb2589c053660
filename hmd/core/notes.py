"""What `notes.read` and `notes.import` take and give."""

from msgspec import Struct, field


class NotesWanted(Struct, kw_only=True):
    """`notes.read`, `notes.import`: files or directories (absolute). `kinds`: types of automatic
    notes, [] for all. `chosen`: lines to take ("file:line"), null for all; `confirmed`: a person
    went through them; `sync`: what came from these files before and is gone there is retired."""

    paths: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    chosen: list[str] | None = None
    confirmed: bool = False
    sync: bool = False
    user_wide: bool = False


class NoteRow(Struct, kw_only=True):
    """A bullet found. `state`: new, known (imported before), changed, forgotten; `obliges`: taken
    as a hard policy when confirmed; `problem` keeps it from acting by itself."""

    ref: str = ""
    text: str = ""
    heading: str = ""
    loaded: str = ""
    obliges: bool = False
    problem: str = ""
    state: str = "new"


class NoteList(Struct, kw_only=True):
    rows: list[NoteRow] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


class Imported(Struct, kw_only=True):
    added: int = 0
    known: int = 0
    retired: int = 0
    refused: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
