"""The hot index: one block of what matters in a project, the same bytes until something changes.

Pinned facts first, then by weight and age in whole days, one line each, within a number of entries
and of tokens. Nothing stored gives nothing. Text that a host would take for a template (`{{…}}`) is
made harmless.
"""

from collections.abc import Iterable
from typing import Any

from hmd.kernel.redact import redact

Record = dict[str, Any]
Rank = tuple[bool, float, int, str]
DAY_MS = 86_400_000
HALF_LIFE_DAYS = 90
HEAD = "[hmd] What is known here (more: hmctl recall WORDS):"


def token_count(text: str) -> int:
    """A careful estimate: four ASCII characters a token, of other scripts one character each."""
    plain = sum(char < "\x80" for char in text)
    return -(-plain // 4) + len(text) - plain


def render(
    records: Iterable[Record], day: int, max_items: int, max_tokens: int
) -> tuple[list[str], str]:
    """(ids, text) of the block; ([], "") for nothing. `day`: days since the epoch, local."""
    ranked = sorted(records, key=lambda one: _rank(one, day))
    ids: list[str] = []
    lines = [HEAD]
    left = max_tokens - token_count(HEAD)
    for record in ranked:
        text = line(record)
        cost = token_count(text) + 1
        if len(ids) >= max_items or cost > left:
            break
        left -= cost
        ids.append(record["id"])
        lines.append(text)
    return (ids, "\n".join(lines)) if ids else ([], "")


def rank(pinned: bool, score: float, updated: int, identifier: str, day: int) -> Rank:
    """Orders entries, the first one least."""
    age = max(0, day - updated // DAY_MS)
    weight = score * 0.5 ** (age / HALF_LIFE_DAYS)
    return not pinned, -round(weight, 9), -updated, identifier


def _rank(record: Record, day: int) -> Rank:
    pinned = bool(record.get("pinned"))
    return rank(pinned, record["score"], record["updated"], record["id"], day)


def line(record: Record) -> str:
    """`- FACT (human): subject: what is known`, on one line."""
    name = "FACT" if record["type"] == "fact" else record["type"].upper()
    text = " ".join(redact(record["summary"]).split())
    text = text.replace("{{", "{ {").replace("}}", "} }")
    return f"- {name} ({record['label']}): {text}"
