"""A place for sockets."""

from collections.abc import Iterator

import pytest

from tests.live.instance import short_directory


@pytest.fixture
def address() -> Iterator[str]:
    """Where a socket may be bound."""
    with short_directory() as directory:
        yield str(directory / "hmd.sock")
