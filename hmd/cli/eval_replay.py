"""`hmctl eval replay`: whether it does what it promises, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json


def replay(
    scenario: Annotated[
        str, typer.Option("--scenario", metavar="NAME", help="One of them; default: all.")
    ] = "",
    fixtures: Annotated[
        str, typer.Option("--fixtures", metavar="DIRECTORY", help="Scenarios of your own.")
    ] = "",
    restless: Annotated[
        bool, typer.Option("--restless", help="Kill the daemon between any two events.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the temporary homes.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every answer.")] = False,
    json: Json = False,
) -> None:
    """Play recorded sessions through hooks, daemon and worker of a temporary user."""
    from hmd.cli import replay as player  # late: only this needs it

    directory = Path(fixtures) if fixtures else player.SHIPPED
    scenarios = player.load(directory, scenario)
    results: dict[str, list[str]] = {}
    with player.stage(keep) as stage:
        for name, content in scenarios:
            play = player.Play(stage, name, content, restless=restless)
            results[name] = play.run()
            if not json:
                show.answer(f"{'fail' if results[name] else 'pass'}  {name}: {content['about']}")
                for line in results[name]:
                    show.answer("      " + line)
                for line in play.printed if verbose else ():
                    show.note("      " + line)
        if keep:
            show.note(f"kept in {stage.root}")
    failed = [name for name, problems in results.items() if problems]
    if json:
        show.json_answer({"passed": len(results) - len(failed), "failed": failed, "all": results})
    else:
        show.answer(f"{len(results) - len(failed)} of {len(results)} passed")
    if failed:
        raise typer.Exit(1)
