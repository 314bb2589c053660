"""What doctor says about facts."""

from types import SimpleNamespace
from typing import Any

import pytest

from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactTidy
from hmd.core.facts import FactRow
from hmd.setup import doctor


def told(answer: FactTidy | HmdError) -> list[tuple[str, str]]:
    def call(method: str, parameters: Any, kind: type[Any]) -> Any:
        assert method == "fact.tidy"
        if isinstance(answer, HmdError):
            raise answer
        return answer

    patient: Any = SimpleNamespace(call=call)
    return [(check.state, check.what) for check in doctor._facts(patient)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (FactTidy(), [(doctor.OK, "nothing to tidy")]),
        (
            FactTidy(fragmented=[["a", "A"]], long=[FactRow()], stale=[FactRow(), FactRow()]),
            [
                (doctor.WARN, "1 subjects are spelled apart"),
                (doctor.WARN, "1 describe code and are tied to none"),
                (doctor.WARN, "2 were left by the code"),
            ],
        ),
        (HmdError("busy", "the store is opening"), [(doctor.WARN, "the store is opening")]),
    ],
)
def test_facts(answer: FactTidy | HmdError, expected: list[tuple[str, str]]) -> None:
    """Guards the gardener's reports in doctor, and that no daemon's answer breaks it."""
    assert told(answer) == expected
