"""The vocabularies of options, as the enumerations that help and completion show.

They repeat the literals of `hmd.core.memory`; a test holds them equal.
"""

from __future__ import annotations

from enum import StrEnum


class MemoryType(StrEnum):
    policy = "policy"
    workflow = "workflow"
    pitfall = "pitfall"
    architecture_constraint = "architecture_constraint"
    decision = "decision"


class Level(StrEnum):
    advise = "advise"
    confirm = "confirm"
    soft_deny = "soft_deny"
    deny = "deny"


class Status(StrEnum):
    candidate = "candidate"
    active = "active"
    stale = "stale"
    superseded = "superseded"
    rejected = "rejected"
    all = "all"


class Authority(StrEnum):
    human = "human"
    auto = "auto"


class Policy(StrEnum):
    hard = "hard"
    soft = "soft"


class FactKind(StrEnum):
    semantic = "semantic"
    episodic = "episodic"
    procedural = "procedural"


class Basis(StrEnum):
    user_stated = "user-stated"
    verified = "verified"
    reported = "reported"
    inferred = "inferred"


class StoreKind(StrEnum):
    harness_memory = "harness-memory"
    memharness = "memharness"
    harnmem = "harnmem"


class HookForm(StrEnum):
    auto = "auto"
    exec = "exec"
    shell = "shell"


def words(text: str | None) -> list[str] | None:
    """The parts of a comma-separated option; None where it was not given."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
