"""The shipped scenarios, each in a home of its own: real hooks, daemon, worker; scripted model."""

from collections.abc import Iterator
from typing import Any

import pytest

from hmd.cli import replay
from hmd.cli.replay import SHIPPED, Play, Stage, load

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with replay.stage() as made:
        yield made


@pytest.mark.parametrize(("name", "scenario"), load(SHIPPED), ids=lambda value: str(value)[:30])
def test_scenario(stage: Stage, name: str, scenario: dict[str, Any]) -> None:
    """Guards what each scenario tells, as `hmctl eval replay` plays it."""
    assert Play(stage, name, scenario, restless=False).run() == []


@pytest.mark.long
@pytest.mark.parametrize(("name", "scenario"), load(SHIPPED), ids=lambda value: str(value)[:30])
def test_scenario_without_rest(stage: Stage, name: str, scenario: dict[str, Any]) -> None:
    """Guards the same with the daemon killed between any two events."""
    assert Play(stage, name, scenario, restless=True).run() == []


def test_a_scenario_that_does_not_hold_says_what_differed(stage: Stage) -> None:
    """Guards the player itself: it can fail."""
    wrong = {
        "about": "wrong on purpose",
        "steps": [
            {"prompt": "hello"},
            {"bash": "git status", "expect": {"decision": "deny", "reason": "because"}},
            {"rows": [{"summary": "never told"}]},
        ],
    }
    problems = Play(stage, "wrong", wrong, restless=False).run()
    assert len(problems) == 3
    assert all(problem.startswith("step ") for problem in problems)
