"""An encoder that is cold, dead, hanging, late, out of memory or talking rubbish: every prompt is
answered by its words, in time, and the daemon goes on. Real daemon, real encoder, real stub."""

import contextlib
import json
import os
import resource
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hmd.core.config import BeforeModel
from tests.live.figures import Figure
from tests.live.instance import PATIENCE_S, Instance

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reaches into /proc"),
]

STORED = "deploys go out on Thursdays with kubectl rollout"
OTHER = "invoices are rounded to the smallest coin"
PROMPT = "how do we deploy with kubectl?"
# Of the limit that a prompt's waiting has. A stub's own start is in it, on a busy machine.
BAR_S = 10 * BeforeModel().dense_timeout_ms / 1000


class Place:
    """A project with two memories, in a daemon that has embeddings enabled."""

    def __init__(self, instance: Instance, model: str = "hash") -> None:
        self.instance = instance
        instance.install()
        config = Path(instance.home.config)
        config.write_text(f'[embeddings]\nenabled = true\nmodel = "{model}"\n', encoding="utf-8")
        config.chmod(0o600)
        self.daemon = instance.start()
        self.project = instance.project()
        for text in (STORED, OTHER):
            draft = {"summary": text, "triggers": ["before_model"], "active": True}
            instance.call("memory.add", draft, cwd=str(self.project))
        self._session = 0
        self._encoders: set[int] = set()

    def status(self) -> Any:
        return self.instance.call("embeddings.status", cwd=str(self.project))

    def until(self, what: str, test: Callable[[Any], bool]) -> Any:
        end = time.monotonic() + 3 * PATIENCE_S  # a real model's packages take long to load
        while True:
            found = self.status()
            if test(found):
                return found
            assert time.monotonic() < end, (what, found, self.instance.log())
            time.sleep(0.02)

    def ready(self) -> int:
        """The id of an encoder that has read both texts."""
        self.instance.call("embeddings.backfill", cwd=str(self.project))
        pid = int(self.until("ready", lambda one: one["embedded"] == 2 and one["pid"])["pid"])
        self._encoders.add(pid)
        return pid

    def close(self) -> None:
        """Ends what a test stopped: such a process does not see that its daemon is gone."""
        for pid in self._encoders:
            with contextlib.suppress(OSError):
                if b"hmd.encoder.child" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    os.kill(pid, signal.SIGKILL)

    def prompt(self, text: str = PROMPT) -> tuple[str, float]:
        """What a prompt of a new session is given, and the seconds that the hook took."""
        self._session += 1
        payload = {
            "session_id": f"s{self._session}",
            "hook_event_name": "UserPromptSubmit",
            "cwd": str(self.project),
            "prompt": text,
        }
        began = time.monotonic()
        done = self.instance.hook("UserPromptSubmit", payload)
        took = time.monotonic() - began
        assert (done.returncode, done.stderr) == (0, b"")
        answer = json.loads(done.stdout or b"{}").get("hookSpecificOutput", {})
        return str(answer.get("additionalContext", "")), took

    def dense(self) -> bool:
        """Whether a question is answered by meaning too."""
        found = self.instance.call("recall", {"query": "deploying rollouts"}, cwd=str(self.project))
        return bool(found["dense"])


@pytest.fixture
def place(instance: Instance) -> Iterator[Place]:
    made = Place(instance)
    yield made
    made.close()
    assert made.daemon.poll() is None, instance.log()


def killed(pid: int) -> None:
    """As the system does when memory runs out."""
    os.kill(pid, signal.SIGKILL)


def hanging(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def no_memory(pid: int) -> None:
    """No page more than it has: what it asks for next is refused."""
    resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))


def says(data: bytes) -> Callable[[int], None]:
    """Something else writes into the pipe that its replies come through."""

    def write(pid: int) -> None:
        _, *rest = sorted(int(one) for one in os.listdir(f"/proc/{pid}/fd"))
        asked = os.readlink(f"/proc/{pid}/fd/0")
        (replies,) = {
            link
            for link in (os.readlink(f"/proc/{pid}/fd/{number}") for number in rest)
            if link.startswith("pipe:") and link != asked
        }
        number = next(n for n in rest if os.readlink(f"/proc/{pid}/fd/{n}") == replies)
        with open(f"/proc/{pid}/fd/{number}", "wb", buffering=0) as pipe:
            pipe.write(data)

    return write


FAULTS = {
    "killed": killed,
    "hanging": hanging,
    "no page more": no_memory,
    "a length that no message has": says(b"\xff" * 64),
    "a message that is no reply": says(b"\0\0\0\4junk"),
    "a reply of other things": says(b"\0\0\0\x11\x81\xa7nearest\x91\x92\xa1a\xa1b\xc0\xc0"),
    "half a message": says(b"\0\0\1\0half"),
}


# Noticed only after `HANG_S` (tests/encoder/test_encoder.py); the small model does with the pages
# that it has (tests/encoder/test_real_model.py has one that does not).
SILENT = ("hanging", "half a message", "no page more")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_prompt_is_answered_by_words(place: Place, fault: str, figure: Figure) -> None:
    """The memory is given, which a stub that waits too long for its daemon would not do."""
    before = place.ready()
    FAULTS[fault](before)
    found = [place.prompt(f"{PROMPT} {'rollout ' * number * 100}") for number in range(4)]
    assert [STORED in context for context, _ in found] == [True] * 4
    times = sorted(took for _, took in found)
    figure(f"{fault}: prompts in {', '.join(f'{1000 * one:.0f}' for one in times)} ms")
    assert times[1] < BAR_S
    if fault not in SILENT:
        place.until("noticed", lambda one: one["pid"] != before)


@pytest.mark.parametrize(
    "fault", ["killed", pytest.param("a message that is no reply", marks=pytest.mark.long)]
)
def test_it_comes_back(place: Place, fault: str) -> None:
    """The next encoder knows what the one before knew; what is new is embedded."""
    before = place.ready()
    FAULTS[fault](before)
    place.prompt()
    draft = {"summary": "another", "triggers": ["before_model"], "active": True}
    place.instance.call("memory.add", draft, cwd=str(place.project))
    assert place.until("back", lambda one: one["embedded"] == 3)["pid"] != before
    assert place.dense() or place.until("dense", lambda one: place.dense())


def test_a_late_reply_is_not_the_next_ones(place: Place) -> None:
    """Questions that were given up on are answered some time; nobody takes that for their own."""
    pid = place.ready()
    hanging(pid)
    assert STORED in place.prompt()[0]
    os.kill(pid, signal.SIGCONT)
    found: Any = None
    for _ in range(100):
        asked = {"query": "smallest coins of invoices"}
        found = place.instance.call("recall", asked, cwd=str(place.project))
        if found["dense"]:
            break
    assert found["rows"][0]["text"] == OTHER and found["rows"][0]["cosine"] > 0.3
    assert place.status()["pid"] == pid


def test_a_model_that_cannot_be_loaded(instance: Instance) -> None:
    """It is said why, and prompts do not wait for it."""
    place = Place(instance, str(instance.directory / "no-model"))
    assert STORED in place.prompt()[0]
    trouble = place.until("trouble", lambda one: one["trouble"])["trouble"]
    assert "no-model" in trouble or "Error" in trouble
    assert STORED in place.prompt()[0]


def test_a_cold_one_is_not_waited_for(place: Place) -> None:
    """The first prompt after a start has an encoder started, and is answered meanwhile."""
    place.ready()
    place.instance.ask("stop")
    place.daemon.wait(timeout=PATIENCE_S)
    place.daemon = place.instance.start()
    place.instance.call("hot", cwd=str(place.project))  # reads the texts, asks no encoder
    assert place.status()["state"] == "off"
    assert STORED in place.prompt()[0]
    assert place.until("ready", lambda one: one["state"] == "ready")["trouble"] == ""
