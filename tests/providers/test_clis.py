"""Both CLIs against programs that behave as the real ones do."""

import json
from pathlib import Path
from typing import Any

import pytest

from hmd.providers import claude, codex, probe
from hmd.providers.base import Answer, Provider, Recorded, Request
from hmd.providers.environment import child_environment
from hmd.providers.process import Done
from tests.providers.fake import FakeCli

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}
BOTH = pytest.mark.parametrize("provider", [claude, codex], ids=["claude", "codex"])


async def asked(
    provider: Provider, directory: Path, timeout_s: float = 30, **plan: Any
) -> tuple[Answer, FakeCli]:
    fake = FakeCli(directory, provider.NAME)
    fake.plan(**plan)
    environ = child_environment({"HOME": "/nowhere", "CLAUDECODE": "1"}, Recorded(path="/bin"))
    request = Request(prompt="what was learned?", schema=SCHEMA, timeout_s=timeout_s)
    return await provider.ask(request, fake.place(directory, environ)), fake


@BOTH
async def test_an_answer_comes_with_what_it_cost(provider: Provider, tmp_path: Path) -> None:
    """Guards the good path: the model's JSON, and usage as the CLI reports it."""
    answer, fake = await asked(provider, tmp_path, answer={"facts": ["사실"]})
    assert answer.status == "ok"
    assert json.loads(answer.text) == {"facts": ["사실"]}
    assert fake.seen["prompt"] == "what was learned?"
    usage = answer.usage
    if provider is claude:
        assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (1000, 50, 70)
        assert (usage.cost_usd, usage.model) == (0.0123, "a-model-of-theirs")
    else:
        assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens) == (800, 200, 30)
        assert usage.cost_usd is None


@BOTH
@pytest.mark.parametrize(
    ("plan", "status"),
    [
        ({"code": 1, "result": "Not logged in · Please run /login"}, "not_logged_in"),
        ({"code": 1, "result": "401 Unauthorized: sign in again"}, "not_logged_in"),
        ({"code": 1, "result": "cannot be launched inside another session"}, "nested_refusal"),
        ({"code": 1, "result": "api 404: no such model"}, "provider_error"),
        ({"code": 1, "result": "429 rate limited"}, "provider_error"),
        ({"result": "I think nothing was learned."}, "invalid_output"),
        ({"does": "ends at once", "code": 1}, "provider_error"),
        ({"does": "ends at once", "code": 0}, "invalid_output"),
        ({"does": "floods", "bytes": 50_000_000}, "invalid_output"),
    ],
)
async def test_every_failure_has_its_class(
    provider: Provider, tmp_path: Path, plan: dict[str, Any], status: str
) -> None:
    """Guards what status and the queue make of a failure; a class is never "ok" by accident."""
    answer, _ = await asked(provider, tmp_path, **plan)
    assert (answer.status, answer.text) == (status, "")
    if plan.get("code") and "result" in plan:
        assert plan["result"] in answer.message


@BOTH
async def test_a_hang_is_a_timeout(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the wall clock as the queue sees it."""
    answer, _ = await asked(provider, tmp_path, timeout_s=0.8, does="hangs")
    assert answer.status == "probe_timeout"


@BOTH
async def test_fenced_json_in_prose_is_read(provider: Provider, tmp_path: Path) -> None:
    """Guards CLIs that ignore the schema and answer with a fence."""
    answer, _ = await asked(provider, tmp_path, result='Here:\n```json\n{"facts": []}\n```\n')
    assert (answer.status, json.loads(answer.text or "null")) == ("ok", {"facts": []})


async def test_words_before_the_envelope_are_skipped() -> None:
    """Guards against a notice printed before the JSON."""
    done = Done(out=b'A new version is available\n{"structured_output": {"a": 1}}\n')
    assert claude.read(done).status == "ok"


async def test_a_refusal_on_standard_error_is_read(tmp_path: Path) -> None:
    """Guards a client that prints no JSON when it refuses."""
    answer, _ = await asked(
        claude, tmp_path, does="prints no JSON", code=1, stderr="Invalid API key · /login"
    )
    assert answer.status == "not_logged_in"


@BOTH
async def test_the_child_cannot_reach_back(provider: Provider, tmp_path: Path) -> None:
    """Guards O-11: no tools, hooks, memory or session of the child's; our own hooks are off; the
    directory is neutral."""
    _, fake = await asked(provider, tmp_path, answer={})
    words = fake.seen["argv"]
    if provider is claude:
        assert words[words.index("--tools") + 1] == ""
        assert "--strict-mcp-config" in words and "--no-session-persistence" in words
        settings = json.loads(words[words.index("--settings") + 1])
        assert settings == {"disableAllHooks": True, "autoMemoryEnabled": False}
        assert words[words.index("--model") + 1] == "sonnet"
        assert json.loads(words[words.index("--json-schema") + 1]) == SCHEMA
        assert fake.seen["files"] == []
    else:
        assert "--ephemeral" in words and "features.hooks=false" in words
        assert words[words.index("-s") + 1] == "read-only"
        assert "-m" not in words
    assert fake.seen["env"]["HMD_DISABLE"] == "1"
    assert "CLAUDECODE" not in fake.seen["env"]
    assert fake.seen["cwd"] == str(tmp_path / "neutral")


async def test_codex_never_reads_the_answer_of_a_run_before(tmp_path: Path) -> None:
    """Guards against an old last message taken for the new one."""
    fake = FakeCli(tmp_path, "codex")
    place = fake.place(tmp_path)
    (place.folder / "last.txt").write_text('{"facts": ["old"]}', encoding="utf-8")
    fake.plan(does="ends at once")
    answer = await codex.ask(Request(prompt="p", schema=SCHEMA), place)
    assert answer.status == "invalid_output"


@BOTH
async def test_a_probe_asks_one_field(provider: Provider, tmp_path: Path) -> None:
    """Guards the probe: a working CLI is ok, another shape is invalid output."""
    fake = FakeCli(tmp_path, provider.NAME)
    fake.plan(answer={"facts": []})
    good = await probe.probe(provider, fake.place(tmp_path), None, 30)
    fake.plan(probe={"ready": "yes"})
    bad = await probe.probe(provider, fake.place(tmp_path), None, 30)
    assert (good.status, bad.status) == ("ok", "invalid_output")


def test_findings_are_trusted_for_a_day_and_failures_for_ten_minutes() -> None:
    """Guards both spans, and a clock that was set back."""
    day, ten = 86_400_000, 600_000
    assert not probe.is_due("ok", 0, day - 1) and probe.is_due("ok", 0, day)
    assert not probe.is_due("missing", 0, ten - 1) and probe.is_due("missing", 0, ten)
    assert probe.is_due("ok", 1000, 999)
