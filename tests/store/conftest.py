"""A temporary home and stores over it."""

from pathlib import Path

import pytest

from hmd.kernel.address import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path / "home"), machine="test")
