"""Which program, which environment, which provider."""

import json
from pathlib import Path

import pytest

from hmd.providers import claude, replay
from hmd.providers.base import Place, Recorded, Request
from hmd.providers.environment import child_environment
from hmd.providers.table import choose
from tests.providers.fake import FakeCli


def test_the_environment_is_an_allow_list() -> None:
    """Guards secrets of other programs and the marks of a running session."""
    environ = {
        "HOME": "/h",
        "PATH": "/mine",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "AWS_PROFILE": "p",
        "SSL_CERT_FILE": "/c",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "AI_AGENT": "x",
        "GITHUB_TOKEN": "g",
        "AWS_SOMETHING_NEW": "s",
        "HMD_HOME": "/m",
        "LD_PRELOAD": "/evil.so",
    }
    recorded = Recorded(path="/recorded/bin", claude_directory="/h/elsewhere")
    child = child_environment(environ, recorded)
    assert child.pop("PATH") == "/recorded/bin"
    assert child == {
        "HOME": "/h",
        "CLAUDE_CODE_OAUTH_TOKEN": "t",
        "AWS_PROFILE": "p",
        "SSL_CERT_FILE": "/c",
        "CLAUDE_CONFIG_DIR": "/h/elsewhere",
        "HMD_DISABLE": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    }


def test_the_usual_configuration_directory_is_not_named() -> None:
    """Guards the login of a user who never set one (naming the default moves its files)."""
    child = child_environment({"HOME": "/h"}, Recorded(claude_directory="/h/.claude"))
    assert "CLAUDE_CONFIG_DIR" not in child


def program(directory: Path, name: str = "claude") -> str:
    return str(FakeCli(directory, name).path)


def test_programs_are_found_in_their_order(tmp_path: Path) -> None:
    """Guards the order: our variable, the host's, the receipt, its PATH, ours, usual places."""
    ours, hosts, receipt, recorded, path = (
        program(tmp_path / name) for name in ("ours", "hosts", "receipt", "recorded", "path")
    )
    usual = program(tmp_path / "home/.local/bin")
    environ = {
        "HOME": str(tmp_path / "home"),
        "PATH": str(tmp_path / "path"),
        "HMD_CLAUDE_BIN": ours,
        "CLAUDE_CODE_EXECPATH": hosts,
    }
    known = Recorded(path=str(tmp_path / "recorded"), programs={"claude": receipt})
    assert claude.locate(environ, known) == ours
    del environ["HMD_CLAUDE_BIN"]
    assert claude.locate(environ, known) == hosts
    del environ["CLAUDE_CODE_EXECPATH"]
    assert claude.locate(environ, known) == receipt
    assert claude.locate(environ, Recorded(path=known.path)) == recorded
    assert claude.locate(environ, Recorded()) == path
    assert claude.locate({**environ, "PATH": ""}, Recorded()) == usual


def test_our_variable_is_final(tmp_path: Path) -> None:
    """Guards the wish to pin a program: a wrong one is not silently replaced."""
    environ = {"PATH": str(Path(program(tmp_path)).parent), "HMD_CLAUDE_BIN": "/no/such"}
    assert claude.locate(environ, Recorded()) == ""


@pytest.mark.parametrize(
    ("there", "wanted", "chosen"),
    [
        (["claude", "codex"], "auto", "claude"),
        (["codex"], "auto", "codex"),
        ([], "auto", None),
        (["claude"], "codex", None),
    ],
)
def test_auto_prefers_claude(
    tmp_path: Path, there: list[str], wanted: str, chosen: str | None
) -> None:
    """Guards what `extraction.provider` means."""
    for name in there:
        program(tmp_path / "bin", name)
    found = choose(wanted, {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}, Recorded())
    if chosen is None and found is not None:
        pytest.skip("this machine has the program in a usual place")
    assert (found[0].NAME if found else None) == chosen


async def test_replay_gives_each_answer_once(tmp_path: Path) -> None:
    """Guards recorded sessions: the right answer by its prompt, citations by their text."""
    script = [
        {"when": "kubectl", "answer": {"facts": [{"evidence_refs": ["@ns staging", "e9"]}]}},
        {"status": "provider_error", "message": "down"},
    ]
    lines = "\n".join(json.dumps(one) for one in script)
    (tmp_path / "answers.jsonl").write_text(lines, encoding="utf-8")
    place = Place(program=str(tmp_path), folder=tmp_path, environ={})
    request = Request(prompt="e1 user: hello\ne2 bash: kubectl delete ns staging", schema={})
    first = await replay.ask(request, place)
    second = await replay.ask(request, place)
    third = await replay.ask(request, place)
    assert json.loads(first.text) == {"facts": [{"evidence_refs": ["e2", "e9"]}]}
    assert (second.status, second.message) == ("provider_error", "down")
    assert (third.status, json.loads(third.text)["facts"]) == ("ok", [])
