"""The hot index: the same bytes until something changes, within its limits, never a template."""

import random
from typing import Any

from hmd.kernel.hot import encode
from hmd.recall.hot import DAY_MS, HEAD, render, token_count

DAY = 20_000


def record(name: str, summary: str = "", score: float = 0.5, days: int = 0, **more: Any) -> Any:
    return {
        "id": name,
        "type": "fact",
        "summary": summary or f"app: fact {name}",
        "label": "human",
        "score": score,
        "updated": (DAY - days) * DAY_MS,
        **more,
    }


def test_nothing_stored_says_nothing() -> None:
    assert render([], DAY, 30, 800) == ([], "") and encode([], "") == b""


def test_order_of_storage_and_time_of_day_do_not_matter() -> None:
    """A host's prefix cache stays warm: a thousand turns of one day see the same bytes."""
    rows = [record(str(n), score=(n % 7) / 7, days=n % 40) for n in range(60)]
    first = render(rows, DAY, 30, 800)
    rnd = random.Random(1)
    for _ in range(20):
        rnd.shuffle(rows)
        assert render(rows, DAY, 30, 800) == first


def test_pinned_first_then_strong_and_fresh() -> None:
    rows = [
        record("old", days=300),
        record("new"),
        record("weak", score=0.1),
        record("pin", score=0.1, days=500, pinned=True),
    ]
    assert render(rows, DAY, 30, 800)[0] == ["pin", "new", "weak", "old"]


def test_limits() -> None:
    rows = [record(str(n), "app: " + "word " * 20) for n in range(50)]
    assert len(render(rows, DAY, 4, 10_000)[0]) == 4
    ids, text = render(rows, DAY, 50, 200)
    assert 0 < len(ids) < 50 and token_count(text) <= 200
    assert render(rows, DAY, 50, 10) == ([], "")


def test_no_template_reaches_a_host() -> None:
    """Some hosts fill in `{{…}}` and fail on what they do not know."""
    text = render([record("a", "ci: uses ${{ secrets.TOKEN }}\nand more")], DAY, 5, 800)[1]
    assert "{{" not in text and "}}" not in text and text.count("\n") == 1
    assert text.startswith(HEAD)


def test_other_scripts_cost_more() -> None:
    assert token_count("abcdefgh") == 2 and token_count("배포 브랜치") == 6
