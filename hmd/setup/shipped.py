"""Finds what travels with the package but runs outside of it: `client/`, `systemd/`, `launchd/`.

In a wheel they lie under `hmd/_shipped/`, in a checkout beside the package.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def shipped(name: str) -> Path:
    """The directory `name` of this installation."""
    inside = PACKAGE / "_shipped" / name
    return inside if inside.is_dir() else PACKAGE.parent / name


# Run by path: in a wheel, `client` is data of ours and no package that could be imported.
_NAME = "BOOT_WINDOWS" if sys.platform == "win32" else "BOOT"
BOOT: str = runpy.run_path(str(shipped("client") / "boot.py"))[_NAME]
