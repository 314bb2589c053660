"""Guards: recall and precision on the recorded samples do not fall below what they were."""

import collections

import pytest

from hmd.kernel.redact import redact, redact_command
from tests.corpora import rows

SAMPLES = "redaction/samples.jsonl.gz"
LEAST = {
    "synthetic-from-gitleaks-regex": 0.996,
    "gitleaks-tps": 1.0,
    "secretlint-snapshots": 0.72,
    "ours-cli-shapes": 0.96,
}


@pytest.mark.corpus
def test_recall_by_source() -> None:
    total: collections.Counter[str] = collections.Counter()
    found: collections.Counter[str] = collections.Counter()
    for row in rows(SAMPLES):
        if row["expect"] == "redact":
            out = redact(row["text"])
            total[row["source"]] += 1
            found[row["source"]] += not any(secret in out for secret in row["secrets"])
    assert total.keys() == LEAST.keys()
    for source, least in LEAST.items():
        assert found[source] >= least * total[source], (source, found[source], total[source])


@pytest.mark.corpus
def test_our_harmless_look_alikes_stay() -> None:
    kept = [r["text"] for r in rows(SAMPLES) if r["source"] == "ours-negatives"]
    assert kept
    assert [text for text in kept if redact(text) != text] == []


@pytest.mark.corpus
def test_foreign_look_alikes_mostly_stay() -> None:
    """Many of these are live-looking keys that their scanner lists as known test keys."""
    kept = [r["text"] for r in rows(SAMPLES) if r["source"] == "gitleaks-fps"]
    assert sum(redact(text) == text for text in kept) >= 0.76 * len(kept)


@pytest.mark.corpus
def test_redaction_is_idempotent_on_every_sample() -> None:
    for row in rows(SAMPLES):
        once = redact(row["text"])
        assert redact(once) == once, row["text"][:80]


@pytest.mark.corpus
def test_real_commands_change_only_where_they_show_a_key() -> None:
    """7,327 commands; the two that change write a made-up AWS key id of the right shape."""
    changed = [row["cmd"] for row in rows("commands/shell_commands.jsonl.gz")
               if redact_command(row["cmd"]) != row["cmd"]]  # fmt: skip
    assert [cmd for cmd in changed if "AKIA" not in cmd] == []
