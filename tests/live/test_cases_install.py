"""Settings that are links or closed to us, and an installation that leaves no trace (O-19, O-20).
More of the same kind, on the texts themselves, is held in tests/setup."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.live.host import Host, Session
from tests.setup.conftest import tree

pytestmark = pytest.mark.live

FOREIGN = """{
  // kept by hand
  "model": "opus", "env": {"A": "1"},
  "autoMemoryEnabled": true,
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}],
    "Stop": []
  }
}"""


def linked(host: Host, text: str, how: str) -> Path:
    """Makes the settings a link; gives the file that holds the text."""
    target = host.directory / "dotfiles" / "claude" / "settings.json"
    target.parent.mkdir(parents=True)
    target.write_text(text)
    if how == "relative":
        host.settings.symlink_to(os.path.relpath(target, host.claude))
    elif how == "chain":
        middle = host.directory / "middle.json"
        middle.symlink_to(target)
        host.settings.symlink_to(middle)
    elif how == "directory":
        host.claude.rmdir()
        host.claude.symlink_to(target.parent)
    elif how == "hard":
        os.link(target, host.settings)
    else:
        host.settings.symlink_to(target)
    return target


@pytest.mark.parametrize("how", ["absolute", "relative", "chain", "directory", "hard"])
def test_a_link_stays_a_link(host: Host, how: str) -> None:
    """Guards O-19 and its neighbours: the target holds the hooks, the link is untouched, and after
    an uninstall every byte is as before."""
    project = host.repository()
    target = linked(host, FOREIGN, how)
    before = tree(host.directory)
    host.install(project)
    assert target.exists() and "client.hook" in target.read_text()
    link = host.claude if how == "directory" else host.settings
    assert os.path.islink(link) is (how != "hard")
    if how == "hard":
        assert os.path.samefile(target, host.settings)
    assert Session(host, project).pre("ls").out == b""
    host.hmctl("uninstall", "--purge")
    assert tree(host.directory) == before


@pytest.mark.parametrize("how", ["file", "link", "directory"])
def test_settings_that_are_closed_to_us(host: Host, how: str) -> None:
    """Guards O-19's variant: nothing changes, the exit code says so, the entries are printed."""
    project = host.repository()
    target = linked(host, FOREIGN, "absolute") if how == "link" else host.settings
    target.write_text(FOREIGN)
    os.chmod(target, 0o444)
    if how == "directory":
        os.chmod(target.parent, 0o555)
    before = tree(host.directory)
    done = host.hmctl("install", cwd=project, code=1)
    assert "client.hook" in done.stdout and "PostToolBatch" in done.stdout
    pasted = json.loads(done.stdout[done.stdout.index("{") : done.stdout.rindex("}") + 1])
    assert set(pasted["hooks"]) >= {"PreToolUse", "UserPromptSubmit", "Stop"}
    assert str(target) in done.stderr
    os.chmod(target.parent, 0o755)
    os.chmod(target, 0o444)
    after = tree(host.directory)
    assert {path: what for path, what in after.items() if "claude" in path} == {
        path: what for path, what in before.items() if "claude" in path
    }
    assert target.read_text() == FOREIGN and not os.path.exists(host.home.path)


def used(host: Host, project: Path) -> None:
    session = Session(host, project)
    session.start()
    session.prompt("do it")
    session.ran("ls")
    session.stop()


@pytest.mark.parametrize("state", ["running", "killed", "stopped", "no receipt", "twice"])
def test_an_uninstall_leaves_no_trace(host: Host, state: str) -> None:
    """Guards O-20: install, use, install again (an upgrade), uninstall, whatever the daemon is
    doing; foreign hooks, comments and the host's own memory as before, no process, no socket."""
    project = host.repository()
    host.settings.write_text(FOREIGN)
    before = tree(host.directory)
    host.hmctl("install", cwd=project)
    installed = host.settings.read_text()
    assert '"command": "true"' in installed and "// kept by hand" in installed
    assert '"env": {"A": "1"}' in installed and '"autoMemoryEnabled": true' in installed
    used(host, project)
    host.hmctl("install", cwd=project)
    pid = host.start()
    if state == "killed":
        os.kill(pid, signal.SIGKILL)
    elif state == "stopped":
        os.kill(pid, signal.SIGSTOP)
    elif state == "no receipt":
        os.unlink(host.home.receipt)
    done = host.hmctl("uninstall", "--purge")
    assert "removed" in done.stdout
    assert host.daemons_left() == []
    if state == "twice":
        host.hmctl("uninstall", "--purge", code=None)
    if state == "no receipt":  # an empty list that we filled and emptied cannot be told from ours
        host.settings.write_text(
            host.settings.read_text().replace("}]}]\n", '}]}],\n    "Stop": []\n')
        )
    assert tree(host.directory) == before


def test_data_is_kept_unless_asked(host: Host) -> None:
    """A neighbour of O-20: without --purge memories stay, hooks do not; the next install knows
    them again."""
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:git push", "deny")
    host.hmctl("uninstall")
    assert host.daemons_left() == [] and not host.settings.exists()
    host.install(project)
    assert Session(host, project).pre("git push").decision == "deny"


def test_a_project_registration_leaves_no_trace(host: Host) -> None:
    """A neighbour: `--project` adds local settings and a line that excludes them, and takes both
    away again; git never sees a thing."""
    project = host.repository()
    before = tree(host.directory)
    host.hmctl("install", "--project", cwd=project)
    status = ["git", "-C", str(project), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(status, capture_output=True, check=True).stdout == b""
    host.hmctl("uninstall", "--purge", cwd=project)
    assert tree(host.directory) == before


def test_hooks_that_still_run_after_an_uninstall_are_silent(host: Host) -> None:
    """A neighbour: a session that was open keeps its entries; they answer nothing, start nothing
    and make no home again."""
    project = host.repository()
    host.install(project)
    words = host.entry("PreToolUse")
    host.hmctl("uninstall", "--purge")
    session = Session(host, project)
    payload = session.payload("PreToolUse", **session.call(command="git push"))
    assert host.hook("PreToolUse", payload, words=words) == (0, b"", b"")
    assert host.daemons_left() == [] and not os.path.exists(host.home.path)
