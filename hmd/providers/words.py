"""Reads what extraction programs say: which refusal their words mean, and JSON amid other text."""

import json
import re

from hmd.providers.base import Status

_NOT_LOGGED_IN = re.compile(
    r"not logged in|please (?:run )?/?log ?in|run `?(?:claude|codex) (?:auth )?login|/login\b"
    r"|invalid api key|authentication[_ ](?:error|failed)|401 unauthorized|oauth token (?:has )?"
    r"(?:expired|revoked)|missing bearer|no api key|sign in again|token (?:is )?expired",
    re.IGNORECASE,
)
_NESTED = re.compile(
    r"(?:cannot|can't|must not) be (?:launched|run|started) (?:inside|within) another"
    r"|nested (?:claude|codex|session)|inside another claude code session",
    re.IGNORECASE,
)
_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n\s*```", re.DOTALL)


def refusal(said: str) -> Status | None:
    """The class of a refusal, None where the words mean none that is known."""
    text = said[:20_000]
    if _NESTED.search(text):
        return "nested_refusal"
    if _NOT_LOGGED_IN.search(text):
        return "not_logged_in"
    return None


def json_in(text: str) -> object:
    """The JSON value that a text is, or that stands in its only fence or on its last line; None
    where there is none. A program may print a notice before its answer."""
    candidates = [text.strip()]
    fenced = _FENCED.findall(text)
    if len(fenced) == 1:
        candidates.append(fenced[0])
    last = text.rstrip().rpartition("\n")[2].strip()
    if last.startswith("{"):
        candidates.append(last)
    for candidate in candidates:
        if candidate[:1] not in ("{", "["):
            continue
        try:
            value: object = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value
    return None
