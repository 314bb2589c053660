"""Repositories that name programs of their own: none of them runs because the daemon asks."""

import os
import subprocess
from pathlib import Path

import pytest

from hmd.app import facts, git, projects, staleness
from hmd.app.context import caller_at
from hmd.core.fact_checks import StaleQuery
from hmd.core.facts import FactDraft
from hmd.core.projects import ProjectRef
from tests.app.conftest import Place


class Trap:
    """A repository of two commits whose configuration runs `program` wherever git lets it."""

    def __init__(self, base: Path) -> None:
        self.root = base / "trap"
        self.sprung = base / "sprung"
        self.program = base / "program"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self.sprung}\nexit 1\n')
        self.program.chmod(0o755)
        self.root.mkdir()
        self.git("init", "-q")
        (self.root / ".gitattributes").write_text("* diff=trap\n")
        (self.root / "a").write_text("one\n")
        self.commit()
        (self.root / "a").write_text("two\n")
        self.commit()
        self.first, self.head = self.git("rev-list", "--reverse", "HEAD").split()
        for name, value in {
            "core.fsmonitor": self.program,
            "core.hooksPath": base,
            "core.sshCommand": self.program,
            "core.pager": self.program,
            "diff.external": self.program,
            "diff.trap.command": self.program,
            "diff.trap.textconv": self.program,
            "core.repositoryFormatVersion": 1,
            "extensions.partialClone": "origin",
            "remote.origin.promisor": "true",
            "remote.origin.url": f"ext::{self.program} %S",
            "protocol.ext.allow": "always",
        }.items():
            self.git("config", name, str(value))

    def git(self, *arguments: str) -> str:
        """As a person would, without any care."""
        who = ["-c", "user.name=t", "-c", "user.email=t@t"]
        done = subprocess.run(
            ["git", *who, "-C", str(self.root), *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"},
        )
        return done.stdout.strip()

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")

    def has_sprung(self) -> bool:
        found = self.sprung.exists()
        self.sprung.unlink(missing_ok=True)
        return found


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap(tmp_path)


@pytest.mark.parametrize(
    "careless",
    [["status"], ["diff", "HEAD~1", "HEAD"], ["cat-file", "-e", "1" * 40]],
)
def test_the_trap_springs(trap: Trap, careless: list[str]) -> None:
    """Guards the next tests: what they keep from happening happens without care."""
    trap.git(*careless)
    assert trap.has_sprung()


async def test_no_question_runs_what_a_repository_names(trap: Trap) -> None:
    """Guards every kind of question that is asked, and others of their kind."""
    place = ["-C", str(trap.root)]
    missing = "1" * 40
    for arguments in (
        ["rev-parse", "--verify", "--quiet", "HEAD"],
        ["rev-parse", "--verify", "--quiet", missing + "^{commit}"],
        ["merge-base", "--is-ancestor", trap.first, trap.head],
        ["merge-base", "--is-ancestor", missing, trap.head],
        ["diff", *staleness._PLAIN, trap.first, trap.head, "--", ":(top,literal)a"],
        ["rev-list", "--max-parents=0", "HEAD"],
        ["cat-file", "-e", missing],
        ["fetch", "origin"],
        ["status"],
    ):
        await git.ask(place, arguments, 20)
        assert not trap.has_sprung(), arguments


async def test_checking_facts_and_naming_a_project_run_nothing(place: Place, trap: Trap) -> None:
    """Guards the use cases: the daemon does both by itself, in any repository that is enabled."""
    async with place.opened() as app:
        here = caller_at(place.home, str(trap.root), "terminal")
        await projects.enable(app, here, ProjectRef(path=str(trap.root)))
        (project,) = await app.store.list_projects()
        assert project.root_commit == trap.first  # git was asked
        here = caller_at(place.home, str(trap.root), "terminal")
        for commit in (trap.first, trap.head, "1" * 40):
            draft = FactDraft(subject="s", fact=f"at {commit}", commit=commit, path="b")
            await facts.remember(app, here, draft)
        checked = await staleness.check(app, here, StaleQuery())
        assert (checked.checked, checked.unresolved) == (3, 1)
    assert not trap.has_sprung()
