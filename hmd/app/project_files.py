"""The files by which hooks know projects: `projects/<id>.json` and `projects/by-path/<key>`.

Both are copies of what the store says, written after each change and again at start; hooks read
them through `hmd/kernel/project.py`.
"""

import json
from pathlib import Path

from hmd.core.projects import ProjectRow
from hmd.kernel.address import Home
from hmd.kernel.project import known_id
from hmd.store.snapshot_file import replace_file


def publish(home: Home, row: ProjectRow) -> None:
    """Writes the files of one project; removes its own where it is forgotten or merged away."""
    path = Path(home.project(row.id))
    if row.forgotten_at is not None or row.merged_into is not None:
        path.unlink(missing_ok=True)
        return
    for location in row.locations:
        if known_id(home, location) != row.id:
            _write(Path(home.by_path(location)), {"location": location, "project": row.id})
    entry = {
        "id": row.id,
        "name": row.name,
        "enabled": row.enabled,
        "locations": row.locations,
        "remote": row.remote,
        "root_commit": row.root_commit,
    }
    _write(path, entry)


def withdraw(home: Home, project: str, locations: list[str]) -> None:
    """Removes the location entries that lead to `project`."""
    for location in locations:
        if known_id(home, location) == project:
            Path(home.by_path(location)).unlink(missing_ok=True)


def _write(path: Path, entry: dict[str, object]) -> None:
    data = json.dumps(entry, ensure_ascii=False).encode("utf-8", "surrogateescape")
    try:
        if path.read_bytes() == data:
            return
    except OSError:
        pass
    replace_file(path, data)
