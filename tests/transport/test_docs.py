"""The page about the wire is what the code says."""

from pathlib import Path

from hmd.transport.docs import document
from hmd.transport.methods import METHODS

PAGE = Path(__file__).parents[2] / "docs/wire.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == document(), "run make docs"


def test_every_method_and_a_required_field_are_there() -> None:
    text = document()
    for name in METHODS:
        assert f"`{name}`" in text
    assert "| `summary` | text |" in text
