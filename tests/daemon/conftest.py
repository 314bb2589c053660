"""Homes and places for sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hmd.kernel.address import Home
from tests.live.instance import short_directory


@pytest.fixture
def address() -> Iterator[str]:
    """Where a socket may be bound."""
    with short_directory() as directory:
        yield str(directory / "hmd.sock")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose directory exists and is private."""
    path = tmp_path / "home"
    path.mkdir(mode=0o700)
    return Home(str(path))
