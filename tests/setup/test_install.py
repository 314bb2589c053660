"""Guards what install writes, refuses and says; and that uninstall leaves no trace."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hmd.core.errors import HmdError
from hmd.setup import install, receipt
from hmd.setup.claude_code import EVENTS, registrations
from hmd.setup.install import Unwritable
from tests.setup.conftest import User, tree

SETTINGS = '{\r\n\t"env": {"A": "1"}, // mine\r\n\t"hooks": {"Stop": [{"hooks": []}]}\r\n}'


def homes(path: Path) -> list[str]:
    return [one.home for one in registrations(path.read_text())]


def test_one_user_entry_and_the_project_is_enabled(user: User) -> None:
    """Guards the default: user settings, this project only, nothing inside the repository."""
    before = tree(user.repo)
    report = user.install()
    assert homes(user.settings) == [user.home.path] * len(EVENTS)
    assert user.enabled == [str(user.repo)]
    assert tree(user.repo) == before
    assert report.failed == []
    assert not os.path.exists(user.home.everywhere)


def test_everywhere_is_written_down(user: User) -> None:
    """Guards `--everywhere` and its undoing."""
    user.install(everywhere=True)
    assert os.path.exists(user.home.everywhere)
    user.uninstall()
    assert not os.path.exists(user.home.everywhere)


def test_install_then_uninstall_leaves_no_trace(user: User) -> None:
    """Guards the bytes of the whole tree when nothing was there before."""
    before = tree(user.root)
    user.install()
    report = user.uninstall(purge=True)
    assert tree(user.root) == before
    assert any("removed 10 hooks" in line for line in report.done)
    assert report.failed == []


@pytest.mark.parametrize("text", [SETTINGS, "", "{}", "{}\n", "\ufeff{ }\n"])
def test_settings_come_back_byte_for_byte(user: User, text: str) -> None:
    """Guards O-20: foreign bytes, through two installs and an uninstall."""
    user.settings.parent.mkdir()
    user.settings.write_bytes(text.encode())
    user.settings.chmod(0o640)
    user.install()
    user.install()
    assert len(homes(user.settings)) == len(EVENTS)
    user.uninstall()
    assert user.settings.read_bytes() == text.encode()
    assert user.settings.stat().st_mode & 0o777 == 0o640


def test_uninstall_works_without_its_receipt(user: User) -> None:
    """Guards a home whose receipt was lost: entries are found by what they say."""
    user.settings.parent.mkdir()
    user.settings.write_bytes(SETTINGS.encode())
    user.install()
    os.unlink(user.home.receipt)
    user.uninstall()
    assert user.settings.read_bytes() == SETTINGS.encode()


def test_data_is_kept_unless_purged(user: User) -> None:
    """Guards memories: only --purge takes them, and never what is not ours."""
    user.install()
    Path(user.home.journal).mkdir()
    Path(user.home.config).write_text("")
    Path(user.home.path, "mine.txt").write_text("")
    report = user.uninstall()
    assert os.listdir(user.home.journal) == []
    assert set(os.listdir(user.home.path)) == {"journal", "config.toml", "mine.txt"}
    assert len(report.kept) == 3
    report = user.uninstall(purge=True)
    assert os.listdir(user.home.path) == ["mine.txt"]
    assert report.kept == [f"{user.home.path}/mine.txt (not ours)"]


def test_a_link_stays_a_link(user: User) -> None:
    """Guards O-19: the target is written, the link is not replaced."""
    target = user.root / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_bytes(SETTINGS.encode())
    user.settings.parent.mkdir()
    user.settings.symlink_to(target)
    user.install()
    assert user.settings.is_symlink() and len(homes(target)) == len(EVENTS)
    assert os.listdir(target.parent) == ["settings.json"]
    user.uninstall()
    assert user.settings.is_symlink() and target.read_bytes() == SETTINGS.encode()


@pytest.mark.parametrize("closed", ["file", "directory"])
def test_a_read_only_target_changes_nothing(user: User, closed: str) -> None:
    """Guards O-19's variant: nothing is written, and the entries to paste are given."""
    target = user.root / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text("{}")
    user.settings.parent.mkdir()
    user.settings.symlink_to(target)
    before = tree(user.root)
    (target if closed == "file" else target.parent).chmod(0o500 if closed != "file" else 0o444)
    with pytest.raises(Unwritable) as caught:
        user.install()
    target.parent.chmod(0o700)
    assert tree(user.root) == before
    assert caught.value.exit_code == 1
    assert set(json.loads(caught.value.entries)["hooks"]) == {event for event, _, _ in EVENTS}


def test_entries_that_cannot_be_removed_are_named(user: User) -> None:
    """Guards uninstall with settings that became read-only: the rest is undone, this is said."""
    user.install()
    user.settings.chmod(0o444)
    report = user.uninstall()
    assert len(report.failed) == 1 and str(user.settings) in report.failed[0]
    assert not os.path.exists(user.home.app)


def test_broken_settings_change_nothing(user: User) -> None:
    """Guards a file with a slip of the pen: it is named with line and column, and left alone."""
    user.settings.parent.mkdir()
    user.settings.write_text('{\n  "a": 1\n  "b": 2\n}')
    before = tree(user.root)
    with pytest.raises(HmdError, match="line 3, column 3") as caught:
        user.install()
    assert (caught.value.where, caught.value.exit_code) == (str(user.settings), 1)
    assert tree(user.root) == before


def test_a_dry_run_shows_and_writes_nothing(user: User) -> None:
    """Guards --dry-run: the difference is printed, no byte is written, nothing is enabled."""
    before = tree(user.root)
    report = user.install(dry_run=True)
    assert '+    "SessionEnd": [' in report.diff.splitlines()
    assert tree(user.root) == before
    assert user.enabled == []


def test_the_config_directory_of_the_host_is_honoured(user: User) -> None:
    """Guards CLAUDE_CONFIG_DIR, also in an uninstall whose environment lacks it."""
    user.env["CLAUDE_CONFIG_DIR"] = str(user.root / "elsewhere")
    user.install()
    assert len(homes(user.root / "elsewhere" / "settings.json")) == len(EVENTS)
    assert not user.settings.parent.exists()
    del user.env["CLAUDE_CONFIG_DIR"]
    user.uninstall()
    assert not (user.root / "elsewhere").exists()


def test_a_project_install_stays_out_of_git(user: User) -> None:
    """Guards --project: local settings, one exclude line, and both undone."""
    exclude = user.repo / ".git" / "info" / "exclude"
    exclude.write_text("*.log")
    before = tree(user.root)
    user.install(user.repo / "src", project=True)
    local = user.repo / ".claude" / "settings.local.json"
    assert len(homes(local)) == len(EVENTS)
    assert exclude.read_text() == "*.log\n/.claude/settings.local.json"
    user.uninstall(purge=True)
    assert tree(user.root) == before


def test_worktrees_that_a_project_install_misses_are_named(user: User) -> None:
    """Guards the promise that nobody believes a worktree is covered when it is not."""
    linked = user.root / "app-fix"
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {user.repo}/.git/worktrees/app-fix\n")
    entry = user.repo / ".git" / "worktrees" / "app-fix"
    entry.mkdir(parents=True)
    (entry / "gitdir").write_text(f"{linked}/.git\n")
    (entry / "commondir").write_text("../..\n")
    report = user.install(project=True)
    assert f"not covered: the worktree {linked}" in report.warnings
    report = user.install(linked, project=True)
    assert [line for line in report.warnings if "not covered" in line] == []
    line = "/.claude/settings.local.json"
    assert (user.repo / ".git" / "info" / "exclude").read_text().splitlines() == [line]


def test_two_registrations_are_named(user: User) -> None:
    """Guards a person who installed both ways; and one uninstall takes both."""
    user.install()
    report = user.install(project=True)
    assert any(f"also in {user.settings}" in line for line in report.warnings)
    user.uninstall(user.root)
    assert not user.settings.exists() and not (user.repo / ".claude").exists()


def test_a_home_directory_is_no_project(user: User) -> None:
    """Guards $HOME: hooks are registered, nothing is enabled, and that is said."""
    report = user.install(user.root)
    assert user.enabled == []
    assert any("hmctl project enable" in line for line in report.suggestions)


def test_a_directory_without_git_is_a_project(user: User) -> None:
    """Guards plain directories: enabled, and a project install says git was not told."""
    plain = user.root / "notes"
    plain.mkdir()
    report = user.install(plain, project=True)
    assert user.enabled == [str(plain)]
    assert any("no git repository" in line for line in report.warnings)


@pytest.mark.parametrize(
    ("version", "form"), [("2.1.138", "shell"), ("2.1.139", "exec"), ("what", "exec")]
)
def test_the_form_follows_the_installed_host(user: User, version: str, form: str) -> None:
    """Guards the choice by `claude --version`, and an override by hand."""
    program = user.root / "claude"
    program.write_text(f"#!/bin/sh\necho '{version} (Claude Code)'\n")
    program.chmod(0o755)
    user.env["HMD_CLAUDE_BIN"] = str(program)
    report = user.install()
    assert report.form == form
    assert {one.form for one in registrations(user.settings.read_text())} == {form}
    assert report.programs == {"claude": str(program)}
    assert user.install(form="shell").form == "shell"


def test_without_an_agent_it_succeeds_and_says_so(user: User) -> None:
    """Guards machines without an extraction program."""
    report = user.install()
    assert report.failed == []
    assert any("no extraction program" in line for line in report.warnings)


def test_notes_that_exist_are_pointed_out(user: User) -> None:
    """Guards the suggestion to take over what was written down before."""
    (user.repo / "AGENTS.md").write_text("- be kind")
    report = user.install()
    assert [line.partition(":")[0] for line in report.suggestions] == [f"{user.repo}/AGENTS.md"]


def test_the_receipt_says_what_was_written(user: User) -> None:
    """Guards what later commands rely on, also over a second install."""
    user.install()
    user.install(project=True)
    found = receipt.load(user.home)
    assert found is not None
    assert [(one.scope, one.made_file) for one in found.registered] == [
        ("user", True),
        ("project", True),
    ]
    assert os.path.isabs(found.interpreter) and os.path.isabs(found.python)
    assert os.stat(user.home.receipt).st_mode & 0o777 == 0o600


def test_a_damaged_receipt_is_replaced(user: User) -> None:
    """Guards a home whose receipt was cut: named on reading, written anew by install."""
    user.install()
    Path(user.home.receipt).write_text('{"format": 1, "registered": 3')
    with pytest.raises(HmdError, match="damaged"):
        receipt.load(user.home)
    user.install()
    assert receipt.load(user.home) is not None


def test_an_open_home_is_refused(user: User) -> None:
    """Guards privacy: a home that others can enter is not used, and the fix is named."""
    os.makedirs(user.home.path, mode=0o755)
    os.chmod(user.home.path, 0o755)
    with pytest.raises(HmdError, match="open to other users") as caught:
        user.install()
    assert "chmod 700" in caught.value.do


def test_a_project_that_cannot_be_enabled_is_a_failure(user: User) -> None:
    """Guards the exit code: hooks are there, but the person must know that nothing is on."""

    def refuse(_: str) -> None:
        raise HmdError("busy", "the store is busy")

    options = install.Options(user.home.path, str(user.repo), user.env, self_test=False)
    report = install.install(options, refuse, user.place)
    assert [line for line in report.failed if "the store is busy" in line]
    assert report.project == ""


def test_hooks_switched_off_by_the_host_are_named(user: User) -> None:
    """Guards against a silent install: with disableAllHooks nothing would ever run."""
    user.settings.parent.mkdir()
    user.settings.write_text('{"disableAllHooks": true}')
    report = user.install()
    assert any("disableAllHooks" in line for line in report.warnings)
