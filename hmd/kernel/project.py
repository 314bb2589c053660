"""Which project a directory belongs to. One resolver for reading and writing, without a subprocess.

All worktrees and subdirectories of a repository are one project: its location is the git common
directory. A submodule is its own project and also a path of its parent. Outside a repository the
directory itself (or the nearest known one above it) is the project; the user's home, `/` and the
temp directory never are.
"""

from hmd.kernel import jsontext, system
from hmd.kernel.address import Home

# No repository is nested deeper than this; it bounds the walk on odd file systems.
_MAX_DEPTH = 64
_POINTER_LIMIT = 4096


class Location:
    """Where a directory lies. `root` is the working tree's top (or the directory itself),
    `common` what identifies the project, `parent` the location of a submodule's superproject."""

    __slots__ = ("common", "git", "parent", "root")

    def __init__(self, root: str, common: str, git: bool, parent: "Location | None" = None) -> None:
        self.root = root
        self.common = common
        self.git = git
        self.parent = parent


class Project:
    """A project as the hook path needs it. `id` is "" for one that nobody has recorded yet."""

    __slots__ = ("enabled", "id", "location", "parent", "parent_root", "root")

    def __init__(self, project_id: str, location: Location, enabled: bool) -> None:
        self.id = project_id
        self.location = location
        self.root = location.root
        self.enabled = enabled
        self.parent = ""
        self.parent_root = ""


def locate(cwd: str, never: "tuple[str, ...]" = ()) -> "Location | None":
    """The location of an absolute directory, which need not exist any more.

    `never` names directories that are no project themselves: the user's home and temp directory
    as the host's environment names them (the daemon's own may differ).
    """
    if not cwd.startswith("/") and not (len(cwd) > 2 and cwd[1] == ":"):
        return None
    here = _real(cwd)
    excluded = _excluded(never)
    found = _repository(here, excluded)
    if found is not None:
        return found
    return None if here in excluded else Location(here, here, git=False)


def resolve(home: Home, cwd: str, never: "tuple[str, ...]" = ()) -> "Project | None":
    """The project of `cwd`, or None where there is none to have (home, root, temp directory)."""
    location = locate(cwd, never)
    if location is None:
        return None
    project_id = known_id(home, location.common)
    if not project_id and not location.git:
        above = _known_above(home, location.common, _excluded(never))
        if above is not None:
            location, project_id = above
    project = Project(project_id, location, _enabled(home, project_id))
    if location.parent is not None:
        project.parent = known_id(home, location.parent.common)
        project.parent_root = location.parent.root
    return project


def known_id(home: Home, common: str) -> str:
    """The id recorded for a location, or ""."""
    entry = _read_json(home.by_path(common))
    found = entry.get("project") if entry.get("location") == common else None
    return found if isinstance(found, str) and found.isalnum() else ""


def adopt(home: Home, location: Location) -> str:
    """Records a random id for a location never seen before; the first to write it wins.

    Returns the id in force, "" where the home cannot be written.
    """
    path = home.by_path(location.common)
    entry = {"location": location.common, "project": system.urandom(16).hex()}
    temporary = f"{path}.{system.getpid()}.{entry['project'][:8]}"
    try:
        system.make_directories(system.dirname(path))
        descriptor = system.open(temporary, system.O_WRONLY | system.O_CREAT | system.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(jsontext.dumps(entry))
        try:
            system.link(temporary, path)  # atomic, and fails where another process was first
        except FileExistsError:
            pass
        finally:
            system.unlink(temporary)
    except OSError:
        return ""
    return known_id(home, location.common)


def _enabled(home: Home, project_id: str) -> bool:
    if project_id:
        said = _read_json(home.project(project_id)).get("enabled")
        if isinstance(said, bool):
            return said
    return system.exists(home.everywhere)


def _known_above(
    home: Home, common: str, excluded: "frozenset[str]"
) -> "tuple[Location, str] | None":
    """The nearest directory above that was made a project (one enabled outside a repository)."""
    here = system.dirname(common)
    for _ in range(_MAX_DEPTH):
        if here in excluded:
            return None
        project_id = known_id(home, here)
        if project_id:
            return Location(here, here, git=False), project_id
        if here == system.dirname(here):
            return None
        here = system.dirname(here)
    return None


def _repository(here: str, excluded: "frozenset[str]") -> "Location | None":
    top = here
    for _ in range(_MAX_DEPTH):
        marker = system.join(top, ".git")
        if top not in excluded:
            if system.is_directory(marker):
                return Location(top, _real(marker), git=True)
            if system.is_file(marker):
                pointed = _pointed(top, marker, excluded)
                if pointed is not None:
                    return pointed
            if _is_bare(top):
                return Location(here, _common_of(top), git=True)
        if top == system.dirname(top):
            return None
        top = system.dirname(top)
    return None


def _pointed(top: str, marker: str, excluded: "frozenset[str]") -> "Location | None":
    """Follows the `.git` file of a worktree or a submodule."""
    text = _read_text(marker)
    if not text.startswith("gitdir:"):
        return None
    git_dir = _real(system.join(top, text[len("gitdir:") :].strip()))
    location = Location(top, _common_of(git_dir), git=True)
    # A submodule's git directory has no `commondir` and lies in its superproject's `modules`.
    if "/modules/" in git_dir and location.common == git_dir:
        location.parent = _repository(system.dirname(top), excluded)
    return location


def _common_of(git_dir: str) -> str:
    """gitrepository-layout(5): a linked worktree names the common directory in `commondir`."""
    named = _read_text(system.join(git_dir, "commondir")).strip()
    return _real(system.join(git_dir, named)) if named else git_dir


def _is_bare(path: str) -> bool:
    return (
        system.is_file(path + "/HEAD")
        and system.is_directory(path + "/objects")
        and (system.is_directory(path + "/refs") or system.is_file(path + "/commondir"))
    )


def _excluded(never: "tuple[str, ...]") -> "frozenset[str]":
    places = ["/", "/tmp", "/var/tmp", "/private/tmp"]
    return frozenset(places + [_real(place) for place in never if place])


def _real(path: str) -> str:
    try:
        return system.real(path)
    except (OSError, ValueError):
        return system.normal(path)


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_POINTER_LIMIT)
    except (OSError, ValueError):
        return ""


def _read_json(path: str) -> "dict[str, object]":
    try:
        found = jsontext.loads(_read_text(path) or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
