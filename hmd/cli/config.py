"""`hmctl config`: the settings in `config.toml` under the home."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of

app = typer.Typer(no_args_is_help=True, help="Settings: config.toml under the home.")

Key = Annotated[str, typer.Argument(metavar="KEY", help="Such as before_tool.max_items.")]
Project = Annotated[
    str, typer.Option("--project", metavar="DIRECTORY", help="As it holds for one project.")
]


@app.command("path")
def path(ctx: typer.Context, json: Json = False) -> None:
    """Print where the settings are kept."""
    place = session_of(ctx).home.config
    if json:
        show.json_answer({"path": place})
    else:
        show.answer(place)


@app.command("list")
def list_(ctx: typer.Context, project: Project = "", json: Json = False) -> None:
    """List every setting with its value."""
    from hmd.setup import settings  # late

    session = session_of(ctx)
    place = session.absolute(project) if project else ""
    found, problems = settings.values(session.home.config, place)
    if json:
        show.json_answer(found)
    else:
        show.answer("\n".join(f"{key} = {settings.as_toml(found[key])}" for key in sorted(found)))
    for problem in problems:
        show.note("warning: " + problem)


@app.command("get")
def get(ctx: typer.Context, key: Key, project: Project = "", json: Json = False) -> None:
    """Print the value of one setting."""
    from hmd.setup import settings  # late

    session = session_of(ctx)
    place = session.absolute(project) if project else ""
    value = settings.value(session.home.config, key, place)
    if json:
        show.json_answer({key: value})
    else:
        show.answer(value if isinstance(value, str) else settings.as_toml(value))


@app.command("set")
def set_(
    ctx: typer.Context,
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="A number, true, false or text.")],
    project: Project = "",
    json: Json = False,
) -> None:
    """Change one setting; everything else in the file stays as it is."""
    from hmd.setup import settings  # late

    session = session_of(ctx)
    session.refuse_agents("settings are changed by people")
    place = session.absolute(project) if project else ""
    new = settings.change(session.home.config, key, value, place)
    if json:
        show.json_answer({key: new})
    else:
        show.answer(f"{key} = {settings.as_toml(new)}")


@app.command("off")
def off(ctx: typer.Context, json: Json = False) -> None:
    """Silence every hook until hmctl config on."""
    from hmd.setup.files import make_directories, write_through  # late

    session = session_of(ctx)
    session.refuse_agents("hooks are switched off by people")
    make_directories(session.home.path)
    write_through(session.home.disabled, "")
    _tell(session, json)


@app.command("on")
def on(ctx: typer.Context, json: Json = False) -> None:
    """Let the hooks speak again."""
    session = session_of(ctx)
    session.refuse_agents("hooks are switched on by people")
    try:
        os.unlink(session.home.disabled)
    except FileNotFoundError:
        pass
    _tell(session, json)


def _tell(session: Session, json: bool) -> None:
    silent = os.path.exists(session.home.disabled)
    if json:
        show.json_answer({"hooks": "off" if silent else "on"})
    else:
        show.answer("hooks are off" if silent else "hooks are on")
