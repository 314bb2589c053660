"""Fixtures for tests with a real daemon; its log is shown where a test fails."""

from collections.abc import Callable, Generator, Iterator
from typing import Any

import pytest

from tests.live import figures
from tests.live.host import Host, Town, a_host
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


@pytest.fixture
def host() -> Iterator[Host]:
    """A user of Claude Code with a home of its own; nothing is installed yet."""
    with a_host() as made:
        yield made


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    """One installation for the cases of a module, each in a repository of its own."""
    with a_host() as made:
        yield Town(made)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> figures.Figure:
    """Takes a line with what the test measured; all are printed at the end."""
    return lambda text: record_property(figures.KEY, text)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    passed = terminalreporter.stats.get("passed", [])
    found = figures.lines([report for report in passed if report.when == "call"])
    if found:
        terminalreporter.section("figures")
        for line in found:
            terminalreporter.write_line(line)
