"""The rules of a past instant, for `hmctl why --at`: answered by the hook's own function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hmd.kernel.rules import Rules

if TYPE_CHECKING:
    from hmd.cli.session import Session


class RulesThen:
    """Memories that were in force at an instant, as the kernel reads snapshots. Settings have no
    history: today's defaults count."""

    generation = 0
    settings: dict[str, Any] = {}

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self._records = records

    def records_for(self, buckets: list[str]) -> list[dict[str, Any]]:
        return self._records

    def all_records(self) -> list[dict[str, Any]]:
        return self._records


def rules_then(asked: Session, at: str, root: str) -> tuple[int, Rules]:
    """(the instant in ms, the rules in force then). Raises HmdError."""
    from hmd.core.fact_queries import RulesAt, RulesList  # late

    found = asked.call("rules.at", RulesAt(at=at), RulesList)
    return found.at, Rules([(RulesThen(list(found.records)), root)], asked.home.path)
