"""Guards what is registered with Claude Code, and that only our entries are touched."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.setup.claude_code import (
    EVENTS,
    FORMS,
    Form,
    Hook,
    hooks_switched_off,
    pick_form,
    register,
    registrations,
    unregister,
    version_of,
)

HOOK = Hook("/usr/bin/python3", "/home/me/.local/share/hmd")
FOREIGN = """{
  // colours
  "theme": "dark", "env": {"A": "1"},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]}
    ],
    "Stop": []
  },
  "autoMemoryEnabled": true
}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", [FOREIGN, "{}", "{\n}\n", '{"a": 1}', "", "\ufeff\n"])
def test_registering_and_unregistering_is_byte_equal(text: str, form: Form) -> None:
    """Guards the bytes of the user's file through an install and an uninstall."""
    hook = Hook(HOOK.interpreter, HOOK.home, form)
    edited = register(text, hook, {})
    found = registrations(edited.text)
    assert {(one.event, one.home, one.form, one.interpreter) for one in found} == {
        (event, hook.home, form, hook.interpreter) for event, _, _ in EVENTS
    }
    back = unregister(edited.text, hook.home, edited.trace)
    assert (back.text, back.changed) == (text, len(EVENTS))


def test_the_host_reads_the_entry_it_expects() -> None:
    """Guards the shape of the contract: matcher, type, command, args and seconds."""
    hooks = json.loads(register("{}", HOOK, {}).text)["hooks"]
    (group,) = hooks["PreToolUse"]
    (handler,) = group["hooks"]
    assert group["matcher"].split("|")[0] == "Bash"
    assert handler == {
        "type": "command",
        "command": HOOK.interpreter,
        "args": HOOK.words("PreToolUse")[1:],
        "timeout": 5,
    }
    assert "matcher" not in hooks["Stop"][0]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 1


def test_a_second_install_replaces_only_our_entries() -> None:
    """Guards against doubled entries, and that the first trace still undoes everything."""
    first = register(FOREIGN, HOOK, {})
    moved = Hook("/opt/python3.12", HOOK.home)
    second = register(first.text, moved, first.trace)
    assert len(registrations(second.text)) == len(EVENTS)
    assert {one.interpreter for one in registrations(second.text)} == {moved.interpreter}
    assert unregister(second.text, HOOK.home, second.trace).text == FOREIGN
    third = register(second.text, moved, second.trace)
    assert third.text == second.text


def test_another_home_keeps_its_entries() -> None:
    """Guards two homes in one file: each removes its own entries only."""
    other = Hook(HOOK.interpreter, "/elsewhere")
    both = register(register("{}", HOOK, {}).text, other, {})
    left = unregister(both.text, HOOK.home, {})
    assert {one.home for one in registrations(left.text)} == {"/elsewhere"}


def test_an_entry_that_moved_is_found_by_what_it_says() -> None:
    """Guards recognition: order, neighbours and layout do not matter."""
    text = register(FOREIGN, HOOK, {}).text
    value = json.loads(text.replace("  // colours\n", ""))
    group = value["hooks"]["PreToolUse"].pop()
    mine = {"type": "command", "command": "mine"}
    group["hooks"].append(mine)
    value["hooks"]["PreToolUse"].insert(0, group)
    left = json.loads(unregister(json.dumps(value, indent=2), HOOK.home, {}).text)
    assert [one["hooks"] for one in left["hooks"]["PreToolUse"]] == [
        [mine],
        [{"type": "command", "command": "guard.sh"}],
    ]
    assert "Stop" not in left["hooks"]


def test_entries_of_others_are_never_taken_for_ours() -> None:
    """Guards foreign hooks that look a little like ours."""
    for handler in (
        {"type": "command", "command": "python3", "args": ["-c", "client.hook", "/h", "Stop"]},
        {"type": "command", "command": "cat /app/current"},
        {"type": "command", "command": "it's client.hook /app/current"},
        {"type": "http", "url": "http://localhost/app/current/client.hook"},
        {"type": "command", "args": 3},
        "text",
    ):
        text = json.dumps({"hooks": {"Stop": [{"hooks": [handler]}, 3, {"hooks": 1}]}})
        assert unregister(text, HOOK.home, {}).text == text


HOMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(HOMES, st.sampled_from(FORMS))
def test_any_home_is_quoted_so_that_it_is_read_back(name: str, form: Form) -> None:
    """Guards homes with blanks, quotes and signs of the shell."""
    hook = Hook("/opt/my python/bin/python3", "/h/" + name, form)
    found = registrations(register("{}", hook, {}).text)
    assert {(one.home, one.interpreter, one.current) for one in found} == {
        (hook.home, hook.interpreter, True)
    }


def test_the_shell_form_is_one_sh_command() -> None:
    """Guards the quoting that sh undoes."""
    handler = Hook("/opt/my python", "/it's", "shell").handler("Stop", 1)
    assert shlex.split(str(handler["command"])) == Hook("/opt/my python", "/it's").words("Stop")


@pytest.mark.parametrize(
    ("printed", "form"),
    [
        ("2.1.138 (Claude Code)", "shell"),
        ("2.1.139 (Claude Code)", "exec"),
        ("10.0.1", "exec"),
        ("1.9.200", "shell"),
        ("claude, a shell function", "exec"),
        ("", "exec"),
    ],
)
def test_the_form_follows_the_version(printed: str, form: Form) -> None:
    """Guards that old clients get a form they can run, and unknown ones the current one."""
    assert pick_form(version_of(printed), False, True) == form


def test_windows_without_bash_gets_powershell() -> None:
    """Guards the one platform where the shell form cannot be sh."""
    assert pick_form((2, 0, 0), windows=True, bash=False) == "powershell"
    assert pick_form((2, 0, 0), windows=True, bash=True) == "shell"
    assert pick_form(None, windows=True, bash=False) == "exec"


def test_a_switch_that_turns_all_hooks_off_is_seen() -> None:
    """Guards the warning about settings under which no hook runs."""
    assert hooks_switched_off('{"disableAllHooks": true}')
    assert not hooks_switched_off('{"disableAllHooks": "true"}')
    assert not hooks_switched_off("")
