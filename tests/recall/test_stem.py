"""The stemmer against the words that the algorithm's description is explained with."""

import pytest

from hmd.recall.stem import stem

CASES = {
    "caresses": "caress", "ties": "tie", "cries": "cri", "gas": "gas", "gaps": "gap",
    "kiwis": "kiwi", "agreed": "agre", "feed": "feed", "hopping": "hop", "hoping": "hope",
    "luxuriated": "luxuri", "troubled": "troubl", "sized": "size", "bed": "bed", "sing": "sing",
    "cry": "cri", "by": "by", "say": "say", "relational": "relat", "conditional": "condit",
    "vietnamization": "vietnam", "operator": "oper", "hopefulness": "hope", "quickly": "quick",
    "electricity": "electr", "electrical": "electr", "goodness": "good", "formative": "format",
    "adoption": "adopt", "adjustment": "adjust", "controlling": "control", "roll": "roll",
    "generously": "generous", "generate": "generat", "news": "news", "skies": "sky",
    "dying": "die", "proceeding": "proceed", "evening": "evening", "sayings": "say",
    "biologist": "biolog", "added": "add", "egging": "egg", "organization": "organiz",
}  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), CASES.items())
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("forms", ["deploy deploys deployed deploying", "cache caches cached"])
def test_forms_of_one_word_meet(forms: str) -> None:
    """What stemming is for."""
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize("word", ["", "a", "is", "한국어", "naïve", "utf8", "x86"])
def test_other_letters_come_back_as_they_are(word: str) -> None:
    assert stem(word) == word
