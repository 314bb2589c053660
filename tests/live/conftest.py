"""Fixtures for tests with a real daemon; its log is shown where a test fails."""

from collections.abc import Generator, Iterator
from typing import Any

import pytest

from tests.live.instance import Instance, short_directory

_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


@pytest.fixture
def instance(request: pytest.FixtureRequest) -> Iterator[Instance]:
    """A home of its own in which daemons and hooks can be run."""
    with short_directory() as directory:
        made = Instance(directory)
        try:
            yield made
        finally:
            made.close()
            node: Any = request.node
            if node.stash.get(_FAILED, False):
                print(f"\n--- {made.home.daemon_log}\n{made.log()}")  # noqa: T201
