"""The block of facts over the turns of a session: the same bytes until a fact changes, so that a
host's prefix cache stays warm; and an empty store, which says nothing at all."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live.figures import Figure
from tests.live.host import Host, Session

pytestmark = pytest.mark.live

FACTS = (
    ("billing service", "listens on port 8443 behind nginx"),
    ("release", "is cut from main every second Thursday"),
    ("배포", "스테이징은 main 브랜치에서만 한다"),
    ("database", "is PostgreSQL 15; migrations run through alembic"),
    ("test suite", "needs redis on port 6380"),
)
PROMPTS = (
    "which port does the billing service listen on?",
    "when is the next release cut from main?",
    "배포는 어느 브랜치에서 하지?",
    "what is the best pizza in town?",
    "run the test suite, it needs redis",
)
COMMANDS = ("npm test", "git push origin main", "alembic upgrade head", "kubectl get pods")
TURNS = [
    pytest.param(60, id="60"),
    pytest.param(1_000, id="1000", marks=[pytest.mark.long, pytest.mark.timeout(600)]),
]


class Hot:
    """A repository with facts, a session in it, and the block as its project has it."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.project = host.repository()
        host.install(self.project)
        host.start()
        for subject, fact in FACTS:
            self.remember(subject, fact)
        self.session = Session(host, self.project, "turns")

    def call(self, method: str, **body: Any) -> Any:
        return self.host.instance.call(method, body, cwd=str(self.project))

    def remember(self, subject: str, fact: str) -> None:
        self.call("fact.remember", subject=subject, fact=fact)

    def block(self) -> str:
        return str(self.call("hot")["text"])

    def turn(self, number: int) -> None:
        """A prompt (the same ones come again), two calls, one of which fails, and an end."""
        self.session.prompt(PROMPTS[number % len(PROMPTS)])
        self.session.ran(COMMANDS[number % len(COMMANDS)])
        if number % 3 == 0:
            self.session.failed("make deploy")
        if number % 25 == 24:
            self.session.stop()


def today() -> int:
    """The block tells recent from old by the day, local time: at midnight it may change."""
    return int(time.time() - time.timezone) // 86_400


@pytest.fixture
def hot(host: Host) -> Hot:
    return Hot(host)


@pytest.mark.parametrize("turns", TURNS)
def test_without_writes_it_never_changes(hot: Hot, turns: int, figure: Figure) -> None:
    """Though its facts are given, counted and asked for, and the daemon is started again."""
    day, first = today(), hot.block()
    assert all(fact in first for _, fact in FACTS)
    differs = 0
    for number in range(turns):
        hot.turn(number)
        if number == turns // 2:
            hot.host.hmctl("daemon", "stop")
            hot.host.start()
        if number % 10 == 0:
            started = Session(hot.host, hot.project, f"other{number}").start().context
            differs += started != first
        differs += hot.block() != first
        if today() != day:
            day, first = today(), hot.block()
    figure(f"{turns} turns without writes: {len(first.encode())} bytes, {differs} times different")
    assert differs == 0


@pytest.mark.parametrize("turns", TURNS)
def test_with_writes_it_changes_with_them_only(hot: Hot, turns: int, figure: Figure) -> None:
    """A fact every seventh turn: the block is new then, and the same in the turns between. Rules
    and memories do not change it. What is still in it keeps its place."""
    day, before = today(), hot.block()
    changes = 0
    for number in range(turns):
        hot.turn(number)
        if number % 5 == 0:
            draft = {"summary": f"memory {number}", "triggers": ["before_model"], "active": True}
            hot.call("memory.add", **draft)
        assert hot.block() == before or today() != day
        if number % 7 == 6:
            hot.remember(f"service {number}", f"listens on port {9000 + number}")
            after = hot.block()
            assert str(9000 + number) in after
            kept = [line for line in before.splitlines() if line in after.splitlines()]
            assert [line for line in after.splitlines() if line in kept] == kept
            changes += 1
            day, before = today(), after
    figure(f"{turns} turns, {changes} facts written: {changes} blocks, stable in between")
    assert changes == turns // 7


@pytest.mark.parametrize("served", [True, False])
def test_an_empty_store_says_nothing(host: Host, served: bool) -> None:
    """On every event that is registered, with a daemon and without, and there is no block."""
    project = host.repository()
    host.install(project)
    if served:
        host.start()
    else:
        host.stop()
    session = Session(host, project)
    for event in json.loads(host.settings.read_text())["hooks"]:
        for text in PROMPTS:
            call = session.call(command="npm test")
            payload = session.payload(event, prompt=text, source="startup", **call)
            assert host.hook(event, payload) == (0, b"", b""), event
    if served:
        assert host.hmctl("hot", cwd=project).stdout == ""
        assert not [one for one in Path(host.home.path).rglob("hot/*") if one.stat().st_size]
