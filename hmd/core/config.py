"""`config.toml` under the home: every setting, its default, and how a file of them is read.

The structs below are the one table of keys and defaults. Reading never fails: an unknown key is
left out, a bad value falls back to what would hold without it, and both come back as a `Problem`
for `hmctl doctor`. Nothing in a repository is configuration.
"""

import tomllib
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct, field

Count = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Table = dict[str, Any]
S = TypeVar("S", bound="Section")

KIB, MIB = 1024, 1024 * 1024


class Section(Struct, frozen=True):
    """A table of settings."""


class Escalation(Section, frozen=True):
    """When an automatic pitfall that advises becomes one that holds."""

    enabled: bool = True
    sessions: Positive = 2


class BeforeTool(Section, frozen=True):
    """`max_bytes` counts UTF-8. `auto_enforcement` is the level automatic rules are born at;
    `hard_policy` the level of a hard human policy with a signature. `max_holds_per_session` is
    how many calls automatic rules and guards may hold before they only advise."""

    max_items: Count = 3
    max_bytes: Count = 2 * KIB
    max_holds_per_session: Count = 5
    auto_enforcement: Literal["by_evidence", "advise", "soft_deny"] = "by_evidence"
    auto_escalation: Escalation = field(default_factory=Escalation)
    hard_policy: Literal["confirm", "advise", "deny"] = "confirm"


class PromptRecall(Section, frozen=True):
    """Past episodes added to a prompt. `min_score` is their least relevance to its words."""

    max_items: Count = 2
    max_bytes: Count = KIB
    min_score: Share = 0.5


class BeforeModel(Section, frozen=True):
    """`min_score`: least relevance of a row to the prompt's words (hmd/recall/gate.py)."""

    max_items: Count = 5
    max_bytes: Count = 3 * KIB
    min_score: Share = 0.38
    dense: Literal["helper", "off"] = "helper"
    dense_timeout_ms: Count = 80
    recall: PromptRecall = field(default_factory=PromptRecall)


class Recall(Section, frozen=True):
    """Summaries of past episodes."""

    enabled: bool = False
    keep_episodes: Count = 300


class SessionStart(Section, frozen=True):
    """Rules given at the start of a session; `hot_*` limit the block of facts after them."""

    max_items: Count = 5
    max_bytes: Count = 3 * KIB
    hot_items: Count = 30
    hot_tokens: Count = 800


class AfterTool(Section, frozen=True):
    max_items: Count = 2
    max_bytes: Count = KIB


class Extraction(Section, frozen=True):
    """Model calls that turn episodes into facts. `enabled` is the one switch; corrections do not
    count towards `max_runs_per_day` and nothing goes beyond `hard_max_runs_per_day`. Of a session
    with fewer than `min_prompts` prompts only what corrects or asks to remember is shown."""

    enabled: bool = True
    provider: Literal["auto", "claude", "codex", "replay"] = "auto"
    model: str | None = None
    min_prompts: Count = 0
    max_runs_per_day: Count = 40
    hard_max_runs_per_day: Count = 80
    max_auto_activations_per_day: Count = 10
    max_auto_activations_per_episode: Count = 3
    timeout_ms: Positive = 120_000
    probe_timeout_ms: Positive = 20_000
    lease_seconds: Positive = 180


class Embeddings(Section, frozen=True):
    """`model` is a name or a local directory; `cache_dir` null is `models/` under the home."""

    enabled: bool = False
    model: str = "intfloat/multilingual-e5-small"
    idle_exit_minutes: Positive = 15
    cache_dir: str | None = None


class Dream(Section, frozen=True):
    """Background consolidation."""

    interval_hours: Positive = 6


class Retention(Section, frozen=True):
    ledger_days: Positive = 14
    raw_hours: Positive = 24
    audit_days: Positive = 30
    candidate_days: Positive = 45
    proposal_days: Positive = 30


class Log(Section, frozen=True):
    """`debug` adds one line of full detail to each call in `hooks.log`."""

    debug: bool = False
    max_bytes: Annotated[int, Meta(ge=4 * KIB)] = 5 * MIB
    rotations: Count = 3


class Daemon(Section, frozen=True):
    """`idle_exit_minutes` 0: the daemon stays. `memory_limit_mb`: above it a fresh process takes
    over; 0 sets no limit."""

    idle_exit_minutes: Count = 0
    memory_limit_mb: Count = 512


class Settings(Section, frozen=True):
    """Everything that can be set, for the user or for one project."""

    autonomy_level: Literal["standard", "shadow", "off"] = "standard"
    before_tool: BeforeTool = field(default_factory=BeforeTool)
    before_model: BeforeModel = field(default_factory=BeforeModel)
    recall: Recall = field(default_factory=Recall)
    session_start: SessionStart = field(default_factory=SessionStart)
    after_tool: AfterTool = field(default_factory=AfterTool)
    extraction: Extraction = field(default_factory=Extraction)
    embeddings: Embeddings = field(default_factory=Embeddings)
    dream: Dream = field(default_factory=Dream)
    retention: Retention = field(default_factory=Retention)
    log: Log = field(default_factory=Log)
    daemon: Daemon = field(default_factory=Daemon)


class Problem(NamedTuple):
    """For doctor: `where` the key (or file), `what` is wrong with it, what is `used` instead."""

    where: str
    what: str
    used: str

    def __str__(self) -> str:
        verb = "are" if self.used.endswith("defaults") else "is"
        return f"{self.where} {self.what}; {self.used} {verb} used"


class Config:
    """The user's settings and what projects change of them."""

    def __init__(self, user: Settings | None = None, projects: dict[str, Table] | None = None):
        self.user = user or Settings()
        # absolute path → the table as read, without what was bad in it
        self._projects = projects or {}

    @property
    def project_paths(self) -> list[str]:
        return sorted(self._projects)

    def at(self, path: str) -> Settings:
        """The settings for a project at `path` (its working tree or its git directory).

        Tables of the path itself and of every directory above it apply, the nearest last.
        """
        settings = self.user
        if not path:
            return settings
        place = PurePath(path)
        for directory in [*reversed(place.parents), place]:
            table = self._projects.get(str(directory))
            if table is not None:
                settings, _, _ = _overlay(settings, table, "")
        return settings


def load(path: str | Path) -> tuple[Config, list[Problem]]:
    """Reads `config.toml`. An absent file is no problem; nothing raises."""
    try:
        raw = tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Config(), []
    except (OSError, ValueError) as error:
        return Config(), [Problem(str(path), f"cannot be read: {error}", "the defaults")]
    return parse(raw)


def parse(raw: Table) -> tuple[Config, list[Problem]]:
    """The configuration in a decoded file."""
    raw = dict(raw)
    projects_raw = raw.pop("project", {})
    user, _, problems = _overlay(Settings(), raw, "")
    projects: dict[str, Table] = {}
    if not isinstance(projects_raw, dict):
        problems.append(Problem("project", "is not a table", "no project's"))
        return Config(user, projects), problems
    for place, table in projects_raw.items():
        where = f'project."{place}"'
        if not PurePath(place).is_absolute():
            problems.append(Problem(where, "is not an absolute path", "nothing of it"))
        elif not isinstance(table, dict):
            problems.append(Problem(where, "is not a table", "nothing of it"))
        else:
            _, good, more = _overlay(user, table, where + ".")
            projects[str(PurePath(place))] = good
            problems += more
    return Config(user, projects), problems


def _overlay(base: S, table: Table, prefix: str) -> tuple[S, Table, list[Problem]]:
    """(`base` changed by `table`, the good part of `table`, what was wrong in it)."""
    fields = {each.name: each for each in msgspec.structs.fields(base)}
    changes: Table = {}
    good: Table = {}
    problems: list[Problem] = []
    for key, value in table.items():
        where = prefix + key
        known = fields.get(key)
        if known is None:
            problems.append(Problem(where, "is not a setting", "nothing of it"))
            continue
        current = getattr(base, key)
        if isinstance(current, Section) and isinstance(value, dict):
            changes[key], good[key], more = _overlay(current, value, where + ".")
            problems += more
            continue
        try:
            changes[key] = msgspec.convert(value, known.type)
            good[key] = value
        except msgspec.ValidationError as error:
            used = "its defaults" if isinstance(current, Section) else repr(current)
            problems.append(Problem(where, _reason(error), used))
    return msgspec.structs.replace(base, **changes), good, problems


def _reason(error: msgspec.ValidationError) -> str:
    text = str(error).partition(" - at ")[0]
    return text[:1].lower() + text[1:]


def verdict_settings(config: Config, project: str) -> Table:
    """The settings that affect a verdict, as they are compiled into a snapshot.

    `project` is the project's path, "" for the user-wide snapshot. Keys are those of the file.
    """
    settings = config.at(project)
    before_tool = msgspec.to_builtins(settings.before_tool)
    return {
        "before_tool": {
            key: before_tool[key] for key in ("max_items", "max_bytes", "max_holds_per_session")
        },
        "before_model": _budget(settings.before_model),
        "session_start": _budget(settings.session_start),
        "after_tool": _budget(settings.after_tool),
    }


def _budget(section: BeforeModel | SessionStart | AfterTool) -> Table:
    return {"max_items": section.max_items, "max_bytes": section.max_bytes}
