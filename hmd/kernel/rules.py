"""The rules in force for an event: snapshots, each with the root that its paths are relative to."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    Record = dict[str, Any]

    class RuleSource(Protocol):
        """What a snapshot offers (hmd/kernel/snapshot.py); tests use lists."""

        @property
        def generation(self) -> int: ...
        @property
        def settings(self) -> Record: ...
        def records_for(self, buckets: list[str]) -> list[Record]: ...
        def all_records(self) -> list[Record]: ...


# Used where a snapshot says nothing, so that a lost or foreign setting never changes a verdict's
# kind; hmd/core/config.py has the same defaults and a test holds them equal.
DEFAULTS: "dict[str, Any]" = {
    "before_tool": {"max_items": 3, "max_bytes": 2048, "max_holds_per_session": 5},
    "before_model": {"max_items": 5, "max_bytes": 3072},
    "session_start": {"max_items": 5, "max_bytes": 3072},
    "after_tool": {"max_items": 2, "max_bytes": 1024},
}


class Rules:
    """`sources` are (snapshot, absolute root its scopes are relative to), own project first;
    `home` is hmd's own directory, which the built-in rules protect."""

    __slots__ = ("home", "sources")

    def __init__(self, sources: "list[tuple[RuleSource, str]]", home: str = "") -> None:
        self.sources = sources
        self.home = home

    def limit(self, trigger: str, name: str) -> int:
        """A number of the settings; the own project's snapshot decides."""
        for source, _root in self.sources:
            section = source.settings.get(trigger)
            value = section.get(name) if isinstance(section, dict) else None
            if isinstance(value, int) and value >= 0:
                return value
        default: int = DEFAULTS[trigger][name]
        return default

    def generations(self) -> "list[int]":
        return [source.generation for source, _root in self.sources]

    def unreadable(self) -> "list[str]":
        """The files that hold rules and cannot be opened (lists of tests are never files)."""
        found = [source for source, _root in self.sources if getattr(source, "unreadable", False)]
        return [str(getattr(source, "path", "")) for source in found]
