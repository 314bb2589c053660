"""Runs the live suite, the long part included, and prints the figures that its tests measured:
`python -m tests.live.figures [pytest options]`."""

import sys
from collections.abc import Callable

import pytest

KEY = "figure"

# What a test gives its figures to (fixture `figure`): one line of text.
Figure = Callable[[str], None]


def lines(reports: list[pytest.TestReport]) -> list[str]:
    return [
        f"{report.nodeid.rpartition('/')[2]}: {value}"
        for report in reports
        for name, value in report.user_properties
        if name == KEY
    ]


if __name__ == "__main__":
    sys.exit(pytest.main(["tests/live", "-p", "no:xdist", "--timeout=3600", *sys.argv[1:]]))
