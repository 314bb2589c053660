"""What people look at: doctor's canary, the live view, the latency of the hook; all for real."""

import json

import pytest

from tests.live.host import Host, Session

pytestmark = pytest.mark.live


def checks(text: str, name: str) -> list[tuple[str, str]]:
    return [
        (one["state"], one["what"]) for one in json.loads(text)["checks"] if one["name"] == name
    ]


def test_the_canary_sings_only_where_calls_are_stopped(host: Host) -> None:
    """Guards N21: the marked call goes through the installed entry and is held, with the daemon
    and without it; where hooks are off or the project is not enabled doctor says so."""
    app = host.repository()
    host.install(app)
    found = checks(host.hmctl("doctor", "--canary", "--json", cwd=app, code=None).stdout, "canary")
    assert [state for state, _ in found] == ["OK", "OK", "OK"], found
    host.hmctl("config", "off")
    done = host.hmctl("doctor", "--canary", "--json", cwd=app, code=1)
    assert [state for state, _ in checks(done.stdout, "canary")] == ["FAIL", "FAIL", "OK"]
    host.hmctl("config", "on")
    other = host.repository("other")
    done = host.hmctl("doctor", "--canary", "--json", cwd=other, code=1)
    assert [state for state, _ in checks(done.stdout, "canary")] == ["FAIL", "FAIL", "OK"]


def test_the_live_view_shows_what_happened(host: Host) -> None:
    """Guards `top`: it counts what hooks were answered, and ends when it was told to."""
    app = host.repository()
    host.install(app)
    Session(host, app).pre("ls")
    text = host.hmctl("top", "--count", "2", "--interval", "0.1", cwd=app).stdout
    assert text.count("PreToolUse") == 2 and text.count("decided: ") == 2


@pytest.mark.long
def test_the_latency_of_a_fresh_installation(host: Host) -> None:
    """Guards `eval latency`: three series, a threshold that decides, and nothing left behind."""
    done = host.hmctl("eval", "latency", "--runs", "5", "--memories", "20", "--json")
    found = {one["name"]: one for one in json.loads(done.stdout)["series"]}
    assert set(found) == {"hook, daemon up", "bare interpreter", "hook, daemon down"}
    assert all(one["runs"] == 5 and one["held"] == 0 for one in found.values())
    host.hmctl("eval", "latency", "--runs", "5", "--memories", "0", "--threshold", "0.01", code=1)
    assert host.daemons_left() == []
