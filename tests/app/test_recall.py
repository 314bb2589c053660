"""Recall over a real store: what a prompt is given, and that it follows every change."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from hmd.app import ask, facts, memories, projects
from hmd.app.context import App, Caller
from hmd.app.recall import Recall, running
from hmd.app.snapshots import Snapshots
from hmd.core.clock import FakeClock
from hmd.core.config import Config, Settings, parse
from hmd.core.facts import FactDraft, FactRevision
from hmd.core.forgetting import ForgetQuery
from hmd.core.memory_calls import MemoryDraft, MemoryRef
from hmd.core.projects import ProjectRef
from hmd.core.recall import RecallWanted
from hmd.kernel import event as ev
from hmd.kernel.address import Home
from hmd.kernel.project import Location, Project
from hmd.kernel.turn import Turn
from hmd.store.store import Store

NOW = 1_780_000_000_000
PERSON = Caller(actor="terminal")
NOWHERE = Project("", Location("/w", "/w", git=False), enabled=True)


@asynccontextmanager
async def recalling(path: Path, **settings: Any) -> AsyncIterator[Recall]:
    config = parse(settings)[0] if settings else Config(Settings())
    async with Store.open(Home(str(path)), FakeClock(NOW), "0" * 12) as store:
        app = App(store, Snapshots(store, config), config)
        async with running(Recall(app, print)) as service:
            yield service


async def prompted(service: Recall, text: str, turn: Turn | None = None) -> list[str]:
    """The summaries that a prompt is given."""
    event = ev.Event(ev.PROMPT, "claude-code", "s", NOW + 60_000)
    event.prompt, event.body = text, text
    await service.prepare(NOWHERE, event)
    await service.shelves("")
    service.fill(NOWHERE, turn or Turn(), event)
    return [record["summary"] for record in event.recalled]


async def add(service: Recall, summary: str, **more: Any) -> str:
    draft = MemoryDraft(
        summary=summary, active=True, user_wide=True, triggers=["before_model"], **more
    )
    done = await memories.add(service.app, PERSON, draft)
    assert done.memory is not None
    return done.memory.id


async def remember(service: Recall, subject: str, fact: str, **more: Any) -> str:
    done = await facts.remember(service.app, PERSON, FactDraft(subject=subject, fact=fact, **more))
    assert done.fact is not None
    return done.fact.id


DEPLOY = "deploys go out on Thursdays with kubectl rollout"


async def test_a_prompt_is_given_what_it_is_about(tmp_path: Path) -> None:
    async with recalling(tmp_path) as service:
        await add(service, DEPLOY)
        await add(service, "스테이징 배포는 main 브랜치에서만 한다")
        await add(service, "データベースのスキーマ変更は必ずマイグレーションで行う")
        await add(service, "部署前先运行数据库迁移脚本")
        assert await prompted(service, "how do we deploy with kubectl?") == [DEPLOY]
        assert "브랜치" in (await prompted(service, "배포할 때 어느 브랜치를 쓰지?"))[0]
        assert "スキーマ" in (await prompted(service, "スキーマ変更の手順は？"))[0]
        assert "数据库" in (await prompted(service, "怎么做数据库迁移？"))[0]
        assert "브랜치" in (await prompted(service, "main 브랜치 배포 with kubectl"))[0]
        assert await prompted(service, "what is the best pizza in town?") == []


async def test_every_change_is_seen_by_the_next_prompt(tmp_path: Path) -> None:
    async with recalling(tmp_path) as service:
        assert await prompted(service, "kubectl rollout deploys") == []
        known = await add(service, DEPLOY)
        assert await prompted(service, "kubectl rollout deploys") == [DEPLOY]
        await memories.reject(service.app, PERSON, MemoryRef(id=known))
        assert await prompted(service, "kubectl rollout deploys") == []
        port = await remember(service, "billing service", "listens on port 8443")
        assert await prompted(service, "billing service port") == [
            "billing service: listens on port 8443"
        ]
        await facts.revise(service.app, PERSON, FactRevision(id=port, fact="listens on port 9000"))
        assert await prompted(service, "billing service port") == [
            "billing service: listens on port 9000"
        ]


async def test_what_must_not_be_given(tmp_path: Path) -> None:
    """Sensitive facts, rows for other moments, and rows about other files."""
    async with recalling(tmp_path) as service:
        await remember(service, "billing service", "admin is Ann Lee", sensitive=True)
        await add(service, "kubectl rollout needs the staging context", scope="deploy/**")
        assert await prompted(service, "who is admin of the billing service") == []
        assert await prompted(service, "kubectl rollout in web/app.ts fails") == []
        assert len(await prompted(service, "kubectl rollout in deploy/prod.yaml fails")) == 1


async def test_one_fact_beside_a_command_once(tmp_path: Path) -> None:
    async with recalling(tmp_path) as service:
        name = await remember(service, "kubectl", "the cluster context is called blue-prod")
        await service.shelves("")

        def beside(command: str, turn: Turn) -> list[str]:
            event = ev.Event(ev.POST_TOOL, "claude-code", "s", NOW + 60_000)
            event.call = ev.Call("bash", "Bash", command)
            service.fill(NOWHERE, turn, event)
            return [record["id"] for record in event.recalled]

        turn = Turn()
        assert beside("kubectl config use-context blue-prod", turn) == [name]
        turn.given[name] = True
        assert beside("kubectl config use-context blue-prod", turn) == []
        for quiet in ("git push origin main", "npm test", "ls -la", "cd src && make"):
            assert beside(quiet, Turn()) == []


async def test_recall_says_why(tmp_path: Path) -> None:
    async with recalling(tmp_path) as service:
        await add(service, DEPLOY)
        await remember(service, "kubectl", "is pinned to 1.29")
        found = await ask.recall(service, PERSON, RecallWanted(query="kubectl deploys zebra"))
        assert found.rows[0].text == DEPLOY and set(found.rows[0].words) == {"kubectl", "deploy"}
        assert found.unknown == ["zebra"] and found.searched == 2 and not found.dense
        assert "relevance" in found.rows[1].why_not or not found.rows[1].why_not
        spelled = await ask.recall(service, PERSON, RecallWanted(query="kubectk"))
        assert spelled.rows and spelled.rows[0].why_not == "read as: kubectl"
        part = await ask.recall(service, PERSON, RecallWanted(query="ubect"))
        assert {row.kind for row in part.rows} == {"memory", "fact"}


async def test_recall_as_of(tmp_path: Path) -> None:
    """What was believed at an instant, whatever was learned since."""
    async with recalling(tmp_path) as service:
        clock = service.app.store.clock
        assert isinstance(clock, FakeClock)
        port = await remember(service, "billing service", "listens on port 8443")
        clock.wall = NOW + 86_400_000
        await facts.revise(service.app, PERSON, FactRevision(id=port, fact="listens on port 9000"))
        wanted = RecallWanted(query="billing port", as_of="2026-05-28T22:00:00Z")
        texts = [row.text for row in (await ask.recall(service, PERSON, wanted)).rows]
        assert texts == ["billing service: listens on port 8443"]
        now = await ask.recall(service, PERSON, RecallWanted(query="billing port"))
        assert [row.text for row in now.rows] == ["billing service: listens on port 9000"]


async def test_the_hot_index_on_disk(tmp_path: Path) -> None:
    """Equal bytes while nothing is written, other bytes after a write, nothing for nothing."""
    async with recalling(tmp_path) as service:
        assert (await ask.show_hot(service, PERSON, None)).text == ""
        await remember(service, "billing service", "listens on port 8443")
        first = await ask.show_hot(service, PERSON, None)
        assert "8443" in first.text
        for number in range(100):
            await prompted(service, f"billing turn {number}")
        assert await ask.show_hot(service, PERSON, None) == first
        await remember(service, "web", "is served by nginx")
        second = await ask.show_hot(service, PERSON, None)
        assert second.text != first.text and "nginx" in second.text


async def test_a_fact_of_the_user_is_in_the_block_of_every_project(tmp_path: Path) -> None:
    async with recalling(tmp_path) as service:
        app = service.app
        done = await projects.enable(app, PERSON, ProjectRef(path=str(tmp_path)))
        assert done.project is not None
        here = Caller(actor="terminal", cwd=str(tmp_path), project=done.project.id, enabled=True)
        assert (await ask.show_hot(service, here, None)).text == ""
        await remember(service, "web", "is served by nginx")
        assert "nginx" in (await ask.show_hot(service, here, None)).text


async def test_embeddings_of_what_is_stored(tmp_path: Path) -> None:
    """Enabled, everything is read by the model; a text that is erased leaves no vector."""
    settings = {"enabled": True, "model": "hash"}
    async with recalling(tmp_path, embeddings=settings) as service:
        await add(service, DEPLOY)
        name = await remember(service, "billing service", "listens on port 8443")
        await ask.backfill(service, PERSON, None)
        with trio.fail_after(60):
            while (await ask.embeddings(service, PERSON, None)).embedded < 2:
                await trio.sleep(0.02)
            while True:
                found = await ask.recall(service, PERSON, RecallWanted(query="deploying rollouts"))
                if found.dense and found.rows and found.rows[0].cosine:
                    break
                await trio.sleep(0.02)
            assert found.rows[0].text == DEPLOY
            from hmd.app import forget

            await forget.forget(service.app, PERSON, ForgetQuery(id=name, hard=True))
            while (await ask.embeddings(service, PERSON, None)).embedded > 1:
                await service.settle()
                await trio.sleep(0.02)


async def test_old_vectors_serve_until_another_model_has_read_all(tmp_path: Path) -> None:
    """Also where the other model cannot be loaded at all."""
    async with recalling(tmp_path, embeddings={"enabled": True, "model": "hash"}) as service:
        await add(service, DEPLOY)
        await ask.backfill(service, PERSON, None)
        wanted = RecallWanted(query="deploying rollouts")
        with trio.fail_after(60):
            while not (await ask.recall(service, PERSON, wanted)).dense:
                await trio.sleep(0.02)
            other = {"enabled": True, "model": str(tmp_path / "no-such-model")}
            service.app.config = parse({"embeddings": other})[0]
            service.settings_changed()
            while not (await ask.embeddings(service, PERSON, None)).trouble:
                await trio.sleep(0.02)
            while not (await ask.recall(service, PERSON, wanted)).dense:  # slow beside others
                await trio.sleep(0.02)


async def test_settings_that_change_in_the_middle_of_a_backfill(tmp_path: Path) -> None:
    """Each change gives up a process that may just be loading its model, or be asked by the
    backfill: in the end everything is read, by one of the last settings."""
    async with recalling(tmp_path, embeddings={"enabled": True, "model": "hash"}) as service:
        for number in range(40):
            await add(service, f"service {number} listens on port {9000 + number}")
        await ask.backfill(service, PERSON, None)
        with trio.fail_after(60):
            for minutes in (5, 6, 7, 8):
                settings = {"enabled": True, "model": "hash", "idle_exit_minutes": minutes}
                service.app.config = parse({"embeddings": settings})[0]
                service.settings_changed()
                await trio.sleep(0.05 * (minutes % 3))
            while True:
                found = await ask.embeddings(service, PERSON, None)
                if found.embedded == 40 and not found.wanted and found.state == "ready":
                    break
                await trio.sleep(0.02)
            wanted = RecallWanted(query="ports of services")
            while True:
                answer = await ask.recall(service, PERSON, wanted)
                if answer.dense and answer.rows and answer.rows[0].cosine:
                    break
                await trio.sleep(0.02)
