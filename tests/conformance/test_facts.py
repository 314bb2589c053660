"""Recorded behaviour of another store, as the contract; where ours differs the reason is here."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.play import Player
from tests.corpora import ROOT, corpus

SUITES = (
    "remember", "revise", "forget", "as_of", "diff", "why_stats", "near_duplicates", "time",
    "staleness", "store", "random", "recall_text", "ranking", "budget",
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
    "recall_text/japanese": "text without blanks is found by pairs of characters",
    "recall_text/korean": "Hangul is found by pairs of syllables, so particles do not matter",
    "recall_text/candidate-cap": "a filter is no reason to lose a fact that matches",
    "recall_text/cap-vs-history": "history is no reason to lose a fact that matches",
    "budget/utf16-units": "a character of Korean counts as a token, not as a quarter of one",
}
# Cases of calls that ours has not, for the reason given.
NOT_OURS = {
    **dict.fromkeys(
        ["ranking/hybrid-vector-only", "ranking/hybrid-fusion", "ranking/embed-targets",
         "ranking/hybrid-dimension-mismatch"],
        "vectors are made by the encoder and never given by a caller (tests/recall/test_dense.py)",
    ),
    "ranking/freshness": "a check is recorded with a time of its own, so nothing can be recorded "
    "before it afterwards (tests/recall/test_strength.py holds the order)",
}  # fmt: skip


def cases() -> list[Any]:
    found = []
    for suite in SUITES:
        path = ROOT / "conformance" / f"{suite}.json"
        if not path.exists():
            return [pytest.param("", {}, marks=pytest.mark.corpus)]
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            name = f"{suite}/{case['id']}"
            if name in NOT_OURS:
                continue
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
