"""Guards: the scanner's recall and its silence on honest text, over the recorded samples."""

import collections

import pytest

from hmd.kernel.content import is_safe, scan
from tests.corpora import rows

SAMPLES = "injection/samples.jsonl.gz"
CHARACTERS = "injection/invisible_unicode.jsonl.gz"


@pytest.mark.corpus
def test_every_hidden_character_is_found_and_no_honest_one() -> None:
    wrong = [r["text"] for r in rows(CHARACTERS) if is_safe(r["text"]) != (r["label"] == "ok")]
    assert wrong == []


@pytest.mark.corpus
def test_benign_memories_activate() -> None:
    ours = [r["text"] for r in rows(SAMPLES) if r["source"] == "ours" and r["label"] == "benign"]
    assert len(ours) > 30
    assert len([text for text in ours if scan(text)]) <= 1


@pytest.mark.corpus
def test_benign_support_text_passes_but_for_a_real_token() -> None:
    for row in rows(SAMPLES):
        if row["label"] == "benign" and row["source"] != "ours":
            assert {finding.kind for finding in scan(row["text"])} <= {"credential"}, row["text"]


@pytest.mark.corpus
def test_recall_by_source() -> None:
    """Floors under what was measured: a phrase list is one signal, not a classifier."""
    total: collections.Counter[str] = collections.Counter()
    found: collections.Counter[str] = collections.Counter()
    for row in rows(SAMPLES):
        if row["label"] != "benign":
            source = row["source"].split()[0]
            total[source] += 1
            found[source] += bool(scan(row["text"]))
    floors = {"ours": 1.0, "bastioncorpus": 0.78, "agent-injection-bench": 0.45, "garak": 0.5}
    for source, floor in floors.items():
        assert found[source] >= floor * total[source], (source, found[source], total[source])
