"""Runs the installed hook the way the host does, and says what is wrong with it."""

from __future__ import annotations

import json
import os
import subprocess
import time

from hmd.kernel.address import Home
from hmd.setup.claude_code import Hook

SESSION = "hmd-self-test"
_SECONDS = 10
# The daemon writes the hook log in batches of up to a second.
_LOG_SECONDS = 3.0


def run(home: Home, hook: Hook) -> str:
    """ "" when a SessionStart through the real entry is answered well, else what went wrong.

    The bootstrap hides every error from the host, so a silent answer proves nothing by itself:
    the call must also appear in the hook log. It runs in the home, which is never a project, so
    nothing is recorded.
    """
    before = _log_mark(home)
    payload = {
        "session_id": SESSION,
        "transcript_path": "",
        "cwd": home.path,
        "hook_event_name": "SessionStart",
        "source": "startup",
    }
    try:
        done = subprocess.run(
            hook.words("SessionStart"),
            input=json.dumps(payload).encode() + b"\n",
            capture_output=True,
            timeout=_SECONDS,
            cwd=home.path,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {_SECONDS} s"
    except OSError as error:
        return f'"{hook.interpreter}" cannot be run: {error.strerror}'
    problem = judge(done.returncode, done.stdout, done.stderr)
    if problem or os.path.exists(home.disabled):
        return problem
    end = time.monotonic() + _LOG_SECONDS
    while _log_mark(home) == before:
        if time.monotonic() > end:
            return f"the hook ran but left no line in {home.hook_log}"
        time.sleep(0.05)
    return ""


def judge(code: int, out: bytes, err: bytes) -> str:
    """ "" for what the contract allows: exit 0, nothing or one JSON object, no words on stderr."""
    if code:
        return f"exit code {code}: {err.decode('utf-8', 'replace').strip()[-200:]}"
    if err.strip():
        return "words on stderr: " + err.decode("utf-8", "replace").strip()[-200:]
    if not out.strip():
        return ""
    try:
        answer = json.loads(out)
    except ValueError:
        return "the answer is no JSON"
    return "" if isinstance(answer, dict) else "the answer is no JSON object"


def _log_mark(home: Home) -> tuple[int, int]:
    """Changes with every line written, and when the log is rotated."""
    try:
        status = os.stat(home.hook_log)
    except OSError:
        return (0, 0)
    return (status.st_ino, status.st_size)
