"""How often a prompt is given something that it is not about, and how often the right thing.

Two kinds of sets, no text of theirs copied:

* sentences of our own, and questions by their place (set, group, question) in public sets. The
  store is that of three sets about software; the quiet prompts are about anything else. These were
  looked at while the gate was tuned.
* draws from the public sets (`quiet_worlds.py`): five stores, four languages, quiet prompts of the
  store's own kind. Of the first the even half was tuned on, of the second nothing. The limits here
  are what was reached, so that it does not get worse (docs/decisions/0030-recall.md).
"""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hmd.core.config import BeforeModel
from hmd.recall import inject
from hmd.recall.shelf import Shelf
from tests.recall import quiet_worlds
from tests.recall.quiet_worlds import Case, groups

HERE = Path(__file__).parent
STORED = ("hm_tier2", "pmb", "devmem_sessions")


def memory(name: str, text: str) -> dict[str, Any]:
    """A stored text in the shape of a memory for prompts."""
    return {
        "id": name,
        "type": "decision",
        "summary": text,
        "details": "",
        "aliases": [],
        "triggers": ["before_model"],
        "scope": "**",
        "expires": None,
        "baseline": False,
        "loaded": "",
    }


def given(shelf: Shelf, prompt: str) -> list[str]:
    """What a prompt is given at the default threshold, as many as fit into the default number."""
    limits = BeforeModel()
    found = inject.search(
        [shelf],
        [shelf.memories],
        prompt,
        least=limits.min_score,
        refuse=inject.for_prompt(0, prompt, ""),
    )
    return [record["id"] for record in inject.given(found)[: limits.max_items]]


@cache
def shelf_of_sets() -> Shelf:
    shelf = Shelf()
    for name in STORED:
        for identifier, text in groups(name)[0]["docs"]:
            shelf.put_memory(memory(name + identifier, text))
    return shelf


@pytest.mark.corpus
def test_prompts_about_anything_else_get_nothing() -> None:
    prompts = json.loads((HERE / "quiet_prompts.json").read_text(encoding="utf-8"))
    texts = [*prompts["own"], *(groups(n)[g]["queries"][q]["q"] for n, g, q in prompts["sets"])]
    assert len(texts) == 200
    spoken = [text for text in texts if given(shelf_of_sets(), text)]
    assert len(spoken) <= 2, spoken


@pytest.mark.corpus
def test_prompts_about_what_is_stored_get_it() -> None:
    places = json.loads((HERE / "asked_prompts.json").read_text(encoding="utf-8"))["sets"]
    assert len(places) == 200
    right = 0
    for name, group, number in places:
        query = groups(name)[group]["queries"][number]
        wanted = {name + identifier for identifier in query["rel"]}
        right += bool(wanted & set(given(shelf_of_sets(), query["q"])))
    assert right >= 150, right


@cache
def drawn(seed: int) -> tuple[int, int]:
    """(prompts about something stored that are given the right text, others given anything)."""
    shelves: dict[str, Shelf] = {}
    for store, texts in quiet_worlds.stores(seed).items():
        shelves[store] = Shelf()
        for identifier, text in texts.items():
            shelves[store].put_memory(memory(identifier, text))

    def found(case: Case) -> list[str]:
        return given(shelves[case.store], case.prompt)

    asked, quiet = quiet_worlds.cases(seed)
    return sum(bool(one.right & set(found(one))) for one in asked), sum(
        map(bool, map(found, quiet))
    )


@pytest.mark.corpus
@pytest.mark.parametrize("seed", [quiet_worlds.SEED, quiet_worlds.SECOND])
def test_draws_from_five_stores(seed: int) -> None:
    """Of 200 about something stored most get it; of 200 others, many of them near it, few do."""
    right, spoken = drawn(seed)
    assert right >= 150 and spoken <= 12, (right, spoken)


OURS = {
    "deploy": "deploys go out on Thursdays with kubectl rollout, never on Fridays",
    "alembic": "run alembic upgrade head before the integration tests",
    "zod": "validate request bodies with zod schemas, not by hand",
    "branch": "스테이징 배포는 main 브랜치에서만 한다",
    "schema": "データベースのスキーマ変更は必ずマイグレーションで行う",
    "retry": "调用支付接口时必须设置超时和重试",
    "dates": "store dates in UTC and format them with dayjs in the browser",
    "pnpm": "this repository uses pnpm workspaces; npm install breaks the lockfile",
}
ASKED = {
    "can we deploy with kubectl on friday?": "deploy",
    "integration tests fail, is an alembic upgrade missing?": "alembic",
    "add a zod schema for the new request body": "zod",
    "배포는 어느 브랜치에서 해?": "branch",
    "スキーマを変更したい": "schema",
    "支付接口超时了怎么办": "retry",
    "how do we format dates in the browser, dayjs?": "dates",
    "npm install changed the lockfile of the pnpm workspace": "pnpm",
}


@pytest.fixture(scope="module")
def ours() -> Callable[[str], list[str]]:
    shelf = Shelf()
    for name, text in OURS.items():
        shelf.put_memory(memory(name, text))
    return lambda prompt: given(shelf, prompt)


def test_ours_asked(ours: Callable[[str], list[str]]) -> None:
    """In four languages, without a model."""
    found = {prompt: ours(prompt)[:1] for prompt in ASKED}
    assert found == {prompt: [name] for prompt, name in ASKED.items()}


def test_ours_quiet(ours: Callable[[str], list[str]]) -> None:
    prompts = json.loads((HERE / "quiet_prompts.json").read_text(encoding="utf-8"))["own"]
    assert [prompt for prompt in prompts if ours(prompt)] == []
