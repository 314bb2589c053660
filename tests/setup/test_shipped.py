"""Guards where the parts outside the package are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hmd.setup import shipped


def test_a_wheel_carries_them_inside_and_a_checkout_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards both layouts: `hmd/_shipped/client` of a wheel wins over a `client` next to it."""
    monkeypatch.setattr(shipped, "PACKAGE", tmp_path / "hmd")
    assert shipped.shipped("client") == tmp_path / "client"
    inside = tmp_path / "hmd" / "_shipped" / "client"
    inside.mkdir(parents=True)
    assert shipped.shipped("client") == inside


def test_the_bootstrap_is_the_stubs_own() -> None:
    """Guards that entries and stub agree: the text is read from `client/boot.py`, not repeated."""
    text = (shipped.shipped("client") / "boot.py").read_text(encoding="utf-8")
    assert "client.hook" in shipped.BOOT and "/app/current" in shipped.BOOT
    namespace: dict[str, str] = {}
    exec(text, namespace)  # noqa: S102
    assert namespace["BOOT"] == shipped.BOOT
