"""Bytes that travelled once: every kind of request, every status of an answer, every call.

They are never regenerated. The protocol only grows, so today's code must still write (frames) and
read (call bodies) exactly this.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

HOOK_HEADER = {
    "proto": "1",
    "build": "0.1.0-0123456789ab",
    "delivery": "00112233aabbccdd",
    "host": "claude-code",
    "event": "PreToolUse",
    "at": "1750000000123",
    "cwd": "/home/ann/a\tb\\c",
    "env.HOME": "/home/ann",
    "env.CLAUDE_PROJECT_DIR": "/home/ann/café\udcff",  # a byte that is no UTF-8
}
CALL_HEADER = {
    "proto": "1",
    "build": "0.1.0",
    "method": "memory.list",
    "actor": "terminal",
    "cwd": "/home/ann/app",
}


def stored_frame(name: str) -> bytes:
    """The bytes of one frame: `request-KIND` or `answer-STATUS`."""
    return (HERE / "frames" / f"{name}.bin").read_bytes()


def stored_calls() -> dict[str, dict[str, Any]]:
    """`request` and `answer` body of each method by name, as plain data."""
    lines = (HERE / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry["method"]: entry for entry in map(json.loads, lines)}
