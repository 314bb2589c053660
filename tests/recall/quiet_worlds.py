"""Builds prompts that are about something stored, and prompts that are not, out of the public sets.

Five stores of five kinds; for each, 40 prompts that one of its texts answers and 40 that none does.
Many of the latter are the hardest there are: in the language and of the kind of the store, about
what was left out of it. Nothing is chosen by hand or by result: a seed draws everything. The first
seed's draw was committed before any result of it was seen; then the gate was tuned on its even
cases. The second seed was committed before its draw was looked at, and nothing was tuned on it.

* people: what is known of two people, one conversation of LoCoMo; questions in English
* law: pages of Korean documents of two fields; quiet are questions about other fields
* ja, zh: paragraphs of Japanese and Chinese articles; quiet are questions about other articles
* team: notes about software; every prompt carries pasted code or a command line
"""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from tests.corpora import corpus, rows

SEED, SECOND = 20_261_130, 11_302_026
PER_STORE = 40
TEAM = ("hm_tier2", "pmb", "devmem_sessions")
FIELDS = ("law", "commerce")  # of the Korean pages, by the start of their ids
# Paragraphs of one article follow each other: up to the first number they are stored, from the
# second on asked about; between them lies an article that may reach over the border.
BORDERS = {"ja_jsquad": (600, 620), "zh_cmrc": (420, 440)}

Question = dict[str, Any]


class Case(NamedTuple):
    """A prompt for a store; `right` has the ids of which one must be given, none where the prompt
    is about nothing that is stored."""

    store: str
    kind: str
    prompt: str
    right: frozenset[str]


@cache
def groups(name: str) -> Any:
    return json.loads(gzip.decompress(corpus(f"recall/{name}.json.gz").read_bytes()))["groups"]


def stores(seed: int = SEED) -> dict[str, dict[str, str]]:
    """The texts by id, by store."""
    found = {"people": dict(groups("locomo_obs")[_conversation(seed)]["docs"])}
    found["law"] = {n: text for n, text in groups("ko_autorag")[0]["docs"] if _field(n) in FIELDS}
    for short, name in (("ja", "ja_jsquad"), ("zh", "zh_cmrc")):
        texts = groups(name)[0]["docs"]
        found[short] = {n: text for n, text in texts if _number(n) < BORDERS[name][0]}
    found["team"] = {f"{name} {n}": text for name in TEAM for n, text in groups(name)[0]["docs"]}
    return found


def cases(seed: int = SEED) -> tuple[list[Case], list[Case]]:
    """(200 that are about something stored, 200 that are not)."""
    chance = random.Random(seed)
    asked: list[Case] = []
    quiet: list[Case] = []
    for about, other in (
        _people(_conversation(seed)),
        _law(),
        _articles("ja"),
        _articles("zh"),
        _team(chance),
    ):
        asked += _draw(chance, about, PER_STORE)
        for kind in dict.fromkeys(case.kind for case in other):
            share = HOW_MANY[other[0].store][kind]
            quiet += _draw(chance, [case for case in other if case.kind == kind], share)
    return asked, quiet


# How many of the 40 quiet prompts of a store are of which kind.
HOW_MANY = {
    "people": {"other people": 12, "code questions": 14, "a team": 14},
    "law": {"other fields": 20, "chinese": 10, "other people": 10},
    "ja": {"other articles": 20, "chinese": 10, "other people": 10},
    "zh": {"other articles": 20, "japanese": 10, "code questions": 10},
    "team": {"code": 20, "command": 10, "translated code": 10},
}


def _people(mine: int) -> tuple[list[Case], list[Case]]:
    about = [_case("people", "asked", one) for one in _questions("locomo_obs", mine)]
    other = [
        _case("people", "other people", one, quiet=True)
        for number in range(len(groups("locomo_obs")))
        if number != mine
        for one in _questions("locomo_obs", number)
    ]
    other += [
        _case("people", "code questions", one, quiet=True) for one in _questions("code_cosqa")
    ]
    other += [_case("people", "a team", one, quiet=True) for n in TEAM for one in _questions(n)]
    return about, other


def _law() -> tuple[list[Case], list[Case]]:
    about, other = [], []
    for one in _questions("ko_autorag"):
        fields = {_field(name) for name in one["rel"]}
        if fields <= set(FIELDS):
            about.append(_case("law", "asked", one))
        elif not fields & set(FIELDS):
            other.append(_case("law", "other fields", one, quiet=True))
    other += [_case("law", "chinese", one, quiet=True) for one in _questions("zh_cmrc")]
    other += [_case("law", "other people", one, quiet=True) for one in _questions("locomo_turns")]
    return about, other


def _articles(short: str) -> tuple[list[Case], list[Case]]:
    name, foreign = ("ja_jsquad", "zh_cmrc") if short == "ja" else ("zh_cmrc", "ja_jsquad")
    end, begin = BORDERS[name]
    about, other = [], []
    for one in _questions(name):
        numbers = [_number(n) for n in one["rel"]]
        if max(numbers) < end:
            about.append(_case(short, "asked", one))
        elif min(numbers) >= begin:
            other.append(_case(short, "other articles", one, quiet=True))
    language = "chinese" if short == "ja" else "japanese"
    other += [_case(short, language, one, quiet=True) for one in _questions(foreign)]
    last = ("other people", "locomo_turns") if short == "ja" else ("code questions", "code_cosqa")
    other += [_case(short, last[0], one, quiet=True) for one in _questions(last[1])]
    return about, other


def _team(chance: random.Random) -> tuple[list[Case], list[Case]]:
    """Every prompt with something pasted below it, as prompts of programmers have it."""
    functions = [text for _, text in groups("code_cosqa")[0]["docs"]]
    commands = [str(row["cmd"]) for row in rows("commands/shell_commands.jsonl.gz")]

    def function(prompt: str) -> str:
        return f"{prompt}\n\n```python\n{chance.choice(functions)}\n```"

    def command(prompt: str) -> str:
        return f"{prompt}\n\n$ {chance.choice(commands)}"

    about = []
    for name in TEAM:
        for number, one in enumerate(_questions(name)):
            pasted = (function, command)[number % 2](one["q"])
            right = frozenset(f"{name} {n}" for n in one["rel"])
            about.append(Case("team", "asked with code", pasted, right))
    other = [
        Case("team", "code", function(one["q"]), frozenset()) for one in _questions("code_cosqa")
    ]
    other += [
        Case("team", "command", command(one["q"]), frozenset())
        for one in _questions("locomo_turns")
    ]
    other += [
        Case("team", "translated code", function(one["q"]), frozenset())
        for name in ("ja_jsquad", "zh_cmrc", "ko_autorag")
        for one in _questions(name)
    ]
    return about, other


def _case(store: str, kind: str, question: Question, quiet: bool = False) -> Case:
    return Case(store, kind, question["q"], frozenset(() if quiet else question["rel"]))


def _draw(chance: random.Random, found: Sequence[Case], count: int) -> list[Case]:
    assert len(found) >= count, (found[0].store, found[0].kind)
    return chance.sample(found, count)


def _questions(name: str, group: int | None = None) -> Iterator[Question]:
    """Those that have an answer; of every group where none is named."""
    for number, one in enumerate(groups(name)):
        if group is None or group == number:
            yield from (question for question in one["queries"] if question["rel"])


def _conversation(seed: int) -> int:
    return random.Random(seed).randrange(len(groups("locomo_obs")))


def _field(name: str) -> str:
    return name.partition(" - ")[0]


def _number(name: str) -> int:
    return int(name.removeprefix("p"))
