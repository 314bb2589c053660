"""Every payload that a real client was seen to send, with the daemon up and down."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.corpora import corpus
from tests.live import contract
from tests.live.figures import Figure
from tests.live.host import Host

pytestmark = [pytest.mark.live, pytest.mark.corpus]


def recorded() -> list[tuple[str, dict[str, Any]]]:
    """(file, payload) of each recorded stdin."""
    folder = corpus("hosts/claude-code")
    files = json.loads((folder / "index.json").read_text(encoding="utf-8"))["files"]
    names = sorted(entry["file"] for entry in files)
    loaded = [(name, json.loads((folder / name).read_text(encoding="utf-8"))) for name in names]
    return [(name, found) for name, found in loaded if "hook_event_name" in found]


def placed(payload: dict[str, Any], project: Path, session: str) -> dict[str, Any]:
    """The payload as if it had been sent from our project."""
    text = json.dumps(payload).replace(json.dumps(payload["cwd"])[1:-1], str(project))
    return {**json.loads(text), "cwd": str(project), "session_id": session}


def test_every_recorded_payload_is_answered_as_the_contract_says(
    host: Host, figure: Figure
) -> None:
    """Guards the host's side of promise three: exit 0 and nothing, or one object it accepts; the
    same bytes up and down, among rules of which some speak to these very calls."""
    payloads = recorded()
    assert len(payloads) > 100
    project = host.repository()
    host.install(project)
    host.rule(project, "bash:command:cmd:npm test", "deny", "use pnpm")
    host.rule(project, "write:path:glob:**", "advise", "look at the style guide first")
    host.rule(project, "edit:path:glob:**", "confirm", "ask first")
    for kind in ("policy", "decision"):
        host.hmctl("memory", "add", "--type", kind, "--summary", f"a lasting {kind}", "--active",
                   "--triggers", "session_start,before_model,after_tool", cwd=project)  # fmt: skip
    printed: dict[str, list[bytes]] = {}
    for served in (True, False):
        if served:
            host.start()
        else:
            host.stop()
        for name, payload in payloads:
            event = str(payload["hook_event_name"])
            # Each in a session of its own: none is a repeat, none has been told anything.
            sent = placed(payload, project, f"{name}-{served}")
            answer = host.hook(event, sent, ordinary=True)
            assert not contract.problem(event, *answer), (name, answer)
            printed.setdefault(name, []).append(answer.out)
    assert [name for name, (up, down) in printed.items() if up != down] == []
    spoken = sum(bool(up) for up, _ in printed.values())
    assert spoken > 10
    assert len(host.log_lines(2 * len(payloads))) >= 2 * len(payloads)
    figure(f"{len(payloads)} recorded payloads up and down: exit 0, equal; {spoken} answered")
