"""`hmctl logs`: the last lines of the hook log or the daemon's own."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of
from hmd.setup.logs import last_lines


def logs(
    ctx: typer.Context,
    daemon: Annotated[bool, typer.Option("--daemon", help="The daemon's own log.")] = False,
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="How many.")] = 20,
    json: Json = False,
) -> None:
    """Print the last lines of the hook log. One line for each call of a hook."""
    home = session_of(ctx).home
    path = home.daemon_log if daemon else home.hook_log
    found = last_lines(path, lines)
    if json:
        show.json_answer({"file": path, "lines": found})
    elif found:
        show.answer("\n".join(found))
    else:
        show.note(f"{path} is empty")
