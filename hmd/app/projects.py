"""Projects: enabled or not, where they lie, which of them are the same."""

import os
from pathlib import Path, PurePath

import trio

from hmd.app import git, project_files
from hmd.app.context import App, Caller, only_people
from hmd.core import ids
from hmd.core.answers import Outcome
from hmd.core.changes import (
    AnyChange,
    CreateProject,
    DisableProject,
    EnableProject,
    ForgetProject,
    MergeProjects,
    MoveProject,
)
from hmd.core.errors import HmdError
from hmd.core.projects import ProjectList, ProjectMerge, ProjectMove, ProjectRef, ProjectRow
from hmd.kernel.project import Location, adopt, known_id, locate
from hmd.kernel.redact import redact

_GIT_TIMEOUT_S = 2.0


async def publish_all(app: App) -> None:
    """Brings the files that hooks read level with the store. Run at start."""
    for row in await app.store.list_projects():
        project_files.publish(app.store.home, row)


async def list_(app: App, caller: Caller) -> ProjectList:
    return ProjectList(rows=await app.store.list_projects())


async def enable(app: App, caller: Caller, ref: ProjectRef) -> Outcome:
    """Enables the project of a directory, which becomes one if it was none."""
    if ref.id:
        row = await _find(app, ref.id)
        return await _apply(
            app, caller, EnableProject(actor=caller.actor, at=app.now(), project=row.id)
        )
    only_people(caller, "enable a project")
    location = _location(caller, ref.path or caller.cwd)
    return await _enable_location(app, caller, location)


async def _enable_location(app: App, caller: Caller, location: Location) -> Outcome:
    home = app.store.home
    project = known_id(home, location.common) or adopt(home, location)
    if not project:
        raise HmdError("damaged", "the home cannot be written", home.projects, "check its owner")
    row = await app.store.get_project(project)
    if row is not None and row.merged_into is None and row.forgotten_at is None:
        return await _apply(
            app, caller, EnableProject(actor=caller.actor, at=app.now(), project=project)
        )
    if row is not None:  # the entry outlived its project
        project_files.withdraw(home, project, [location.common])
        project = adopt(home, location)
    remote, root_commit = await _hints(location)
    relatives = await _relatives(app, remote, root_commit)
    outcome = await _apply(
        app,
        caller,
        CreateProject(
            actor=caller.actor,
            at=app.now(),
            project=project,
            name=_name(location),
            location=location.common,
            enabled=True,
            remote=remote,
            root_commit=root_commit,
        ),
    )
    for other in relatives:
        outcome.notes.append(
            f"looks like '{other.name}' ({ids.short(other.id)}), last seen at "
            f"{other.locations[0] if other.locations else 'no place'}; if it moved or was cloned, "
            f"bring its memory here with hmctl project merge {ids.short(other.id)} "
            f"{ids.short(project)}"
        )
    return outcome


async def ensure(app: App, caller: Caller) -> str:
    """The id of the caller's project, recorded in the store if hooks alone have met it so far
    (`--everywhere`). Raises HmdError "usage" where there is no enabled project."""
    location = locate(caller.cwd, caller.never) if caller.cwd else None
    project = caller.project
    if location is not None and caller.enabled and not project:
        project = adopt(app.store.home, location)
    if project and await app.store.get_project(project) is not None:
        return project
    if not project or not caller.enabled or location is None:
        raise HmdError(
            "usage",
            "there is no project here",
            caller.cwd,
            "run hmctl project enable, or add it with --user-wide",
        )
    remote, root_commit = await _hints(location)
    outcome = await app.make(
        CreateProject(
            actor=caller.actor,
            at=app.now(),
            project=project,
            name=_name(location),
            location=location.common,
            enabled=True,
            remote=remote,
            root_commit=root_commit,
        )
    )
    if outcome.project is not None:
        await _publish(app, outcome.project.id)
    return project


async def disable(app: App, caller: Caller, ref: ProjectRef) -> Outcome:
    """Nothing is recorded or answered there any more; its memories stay."""
    row = await _of_ref(app, caller, ref)
    return await _apply(
        app, caller, DisableProject(actor=caller.actor, at=app.now(), project=row.id)
    )


async def move(app: App, caller: Caller, wanted: ProjectMove) -> Outcome:
    """The project lies at `path` now and nowhere else."""
    only_people(caller, "move a project")
    row = await _find(app, wanted.id)
    location = _location(caller, wanted.path or caller.cwd)
    change = MoveProject(actor=caller.actor, at=app.now(), project=row.id, location=location.common)
    outcome = await _apply(app, caller, change)
    gone = [place for place in row.locations if place != location.common]
    project_files.withdraw(app.store.home, row.id, gone)
    return outcome


async def merge(app: App, caller: Caller, wanted: ProjectMerge) -> Outcome:
    """All memories and locations of `source` become `into`'s."""
    only_people(caller, "merge projects")
    source, into = await _find(app, wanted.source), await _find(app, wanted.into)
    rows = await app.store.memories_of(source.id)
    change = MergeProjects(
        actor=caller.actor,
        at=app.now(),
        source=source.id,
        into=into.id,
        versions={row.id: ids.new_id() for row in rows},
    )
    outcome = await _apply(app, caller, change)
    await _publish(app, source.id)
    return outcome


async def forget(app: App, caller: Caller, ref: ProjectRef) -> Outcome:
    """Takes the project and its memories from every surface."""
    only_people(caller, "forget a project")
    row = await _of_ref(app, caller, ref)
    change = ForgetProject(actor=caller.actor, at=app.now(), project=row.id)
    outcome = await _apply(app, caller, change)
    project_files.withdraw(app.store.home, row.id, row.locations)
    return outcome


# -- parts ------------------------------------------------------------------------------------


async def _apply(app: App, caller: Caller, change: AnyChange) -> Outcome:
    only_people(caller, "change projects")
    outcome = await app.make(change)
    if outcome.project is not None:
        await _publish(app, outcome.project.id)
    return outcome


async def _publish(app: App, project: str) -> None:
    row = await app.store.get_project(project)
    if row is None:
        return
    try:
        project_files.publish(app.store.home, row)
    except OSError as error:
        raise HmdError(
            "busy",
            f"recorded, but hooks cannot be told: {error.strerror}",
            app.store.home.project(project),
            "free some space and restart hmd",
        ) from error


def _location(caller: Caller, path: str) -> Location:
    place = os.path.join(caller.cwd or "/", path)
    location = locate(place, caller.never)
    if location is None:
        raise HmdError(
            "refused",
            f"'{place}' cannot be a project",
            do="choose a directory other than your home, the root or a temp directory",
        )
    return location


async def _of_ref(app: App, caller: Caller, ref: ProjectRef) -> ProjectRow:
    if ref.id:
        return await _find(app, ref.id)
    location = _location(caller, ref.path or caller.cwd)
    project = known_id(app.store.home, location.common)
    row = await app.store.get_project(project) if project else None
    if row is None or row.merged_into is not None or row.forgotten_at is not None:
        raise HmdError("not_found", f"no project at '{location.root}'")
    return row


async def _find(app: App, text: str) -> ProjectRow:
    """By id, prefix of one, or name where only one project has it."""
    rows = await app.store.list_projects()
    named = [row for row in rows if row.name == text]
    if len(named) == 1:
        return named[0]
    wanted = ids.resolve(text, [row.id for row in rows], "project")
    return next(row for row in rows if row.id == wanted)


def _name(location: Location) -> str:
    common = PurePath(location.common)
    if common.name == ".git":
        return common.parent.name
    return common.name.removesuffix(".git") or PurePath(location.root).name


# -- hints by which a moved or cloned repository is recognised ---------------------------------


async def _hints(location: Location) -> tuple[str, str]:
    """(remote, root commit); "" where they cannot be told."""
    if not location.git:
        return "", ""
    remote = await _git(location, "config", "--get", "remote.origin.url")
    roots = await _git(location, "rev-list", "--max-parents=0", "HEAD")
    return redact(remote), min(roots.split(), default="")


async def _git(location: Location, *arguments: str) -> str:
    try:
        code, text = await git.ask([f"--git-dir={location.common}"], arguments, _GIT_TIMEOUT_S)
    except (OSError, trio.TooSlowError):
        return ""
    return text if code == 0 else ""


async def _relatives(app: App, remote: str, root_commit: str) -> list[ProjectRow]:
    """Projects with memories and the same origin: offered when a new one is made."""
    found = []
    for row in await app.store.list_projects():
        same = (remote and row.remote == remote) or (root_commit and row.root_commit == root_commit)
        if same and row.memories:
            found.append(row)
    return sorted(found, key=lambda row: any(Path(place).exists() for place in row.locations))
