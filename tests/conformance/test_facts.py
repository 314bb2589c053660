"""Recorded behaviour of another store, as the contract; where ours differs the reason is here."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.play import Player
from tests.corpora import ROOT, corpus

SUITES = (
    "remember", "revise", "forget", "as_of", "diff", "why_stats", "near_duplicates", "time",
    "staleness", "store", "random",
)  # fmt: skip

# recorded sequences with a correction of the past that their diff leaves out
RANDOM = ("06", "08", "10", "12", "17", "19", "27")

# case → why ours answers otherwise. Each is a quirk of the recording, none is its contract.
_BY_RECORD = "diff goes by when a revision was recorded, so a correction of the past is in it"
DIFFERENT: dict[str, str] = {
    "remember/source-ref-not-trimmed": "sources are trimmed, so that every one can be forgotten",
    "revise/readme-worked-example": _BY_RECORD,
    "as_of/topk-not-reproducible": "the order of a past answer depends on nothing that came later",
    "diff/backdated-revise-invisible": _BY_RECORD,
    "near_duplicates/non-latin-never-matches": "statements are compared in every script",
    "time/impossible-days": "a day or an hour that does not exist is refused, not rolled over",
    "time/canonical-bypass": "month 13 is refused however it is written",
    "staleness/parse-ref": "a word like `defaced` or the tail of a session's name is no commit",
    "store/reader-behind-writer-stats": "stats sees what was written, as recall does",
    **dict.fromkeys([f"random/seq-{number}" for number in RANDOM], _BY_RECORD),
}


def cases() -> list[Any]:
    found = []
    for suite in SUITES:
        path = ROOT / "conformance" / f"{suite}.json"
        if not path.exists():
            return [pytest.param("", {}, marks=pytest.mark.corpus)]
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            name = f"{suite}/{case['id']}"
            found.append(pytest.param(name, case, id=name, marks=pytest.mark.corpus))
    return found


@pytest.mark.parametrize(("name", "case"), cases())
async def test_case(name: str, case: dict[str, Any], tmp_path: Path) -> None:
    """Guards the contract of facts in time, answer by answer."""
    corpus("conformance")
    async with Player(tmp_path / "home") as player:
        found = await player.play(case)
    assert [each for each in found if not each.quirk] == []
    assert bool(found) == (name in DIFFERENT), found
