"""Makes the programs of tests/providers/cli.py in a directory."""

import json
import sys
from pathlib import Path
from typing import Any

from hmd.providers.base import Place

_CLI = Path(__file__).with_name("cli.py")


class FakeCli:
    """One program that behaves as it is told."""

    def __init__(self, directory: Path, name: str = "claude") -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / name
        source = _CLI.read_text(encoding="utf-8")
        self.path.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
        self.path.chmod(0o700)
        self.plan(does="answers", answer={})

    def plan(self, **plan: Any) -> None:
        Path(f"{self.path}.plan").write_text(json.dumps(plan), encoding="utf-8")

    @property
    def seen(self) -> dict[str, Any]:
        """What the last run was given; {} where there was none."""
        try:
            found: dict[str, Any] = json.loads(Path(f"{self.path}.seen").read_text("utf-8"))
        except FileNotFoundError:
            return {}
        return found

    def place(self, directory: Path, environ: dict[str, str] | None = None) -> Place:
        folder = directory / "neutral"
        folder.mkdir(exist_ok=True)
        return Place(program=str(self.path), folder=folder, environ=environ or {})
