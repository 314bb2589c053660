"""What Claude Code accepts from a hook (its contract as observed with client 2.1.332): exit 0, no
words on stderr, and on stdout nothing or one JSON object that it will not drop."""

import json
from typing import Any

# The client replaces a longer text by a preview and a file path.
LIMIT = 10_000
CONTEXT = frozenset(
    "SessionStart Setup UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse"
    " PostToolUseFailure PostToolBatch SubagentStart".split()
)
# Context here would continue the turn (Stop) or reach the summary (plain output at PreCompact).
SPEECHLESS = frozenset(["Stop", "SubagentStop", "PreCompact", "SessionEnd", "StopFailure"])
DECISIONS = frozenset(["deny", "ask"])  # the contract has two more; we never widen permissions


def problem(event: str, code: int, out: bytes, err: bytes) -> str:
    """What the client would not take in an answer to `event`; "" where it takes it whole."""
    if code:
        return f"exit code {code}"
    if err:
        return f"words on stderr: {err!r}"
    if not out:
        return ""
    try:
        text = out.decode("utf-8")
        answer = json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        return f"no JSON: {error}"
    if not isinstance(answer, dict) or not text.startswith("{"):
        return "no JSON object"
    return _object(event, answer)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _object(event: str, answer: dict[str, Any]) -> str:
    if unknown := set(answer) - {"hookSpecificOutput", "systemMessage"}:
        return f"keys that say nothing to the client: {sorted(unknown)}"
    notice = answer.get("systemMessage", "-")
    if not isinstance(notice, str) or not notice or len(notice) > LIMIT:
        return "systemMessage is no text that can be shown"
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        return "" if "systemMessage" in answer else "an object that says nothing"
    if not isinstance(specific, dict):
        return "hookSpecificOutput is no object"
    if event in SPEECHLESS:
        return f"{event} takes no hookSpecificOutput of ours"
    if specific.get("hookEventName") != event:
        return f"hookEventName is {specific.get('hookEventName')!r}"
    return _specific(event, specific)


def _specific(event: str, specific: dict[str, Any]) -> str:
    known = {"hookEventName"}
    known |= {"additionalContext"} if event in CONTEXT else set()
    if event == "PreToolUse":
        known |= {"permissionDecision", "permissionDecisionReason"}
    if unknown := set(specific) - known:
        return f"{event} does not take {sorted(unknown)}"
    if len(specific) == 1:
        return "a hookSpecificOutput that says nothing"
    for name, value in specific.items():
        if not isinstance(value, str) or not value:
            return f"{name} is no text"
        if name == "additionalContext" and len(value) > LIMIT:
            return f"{name} is over {LIMIT} characters"
    if "permissionDecision" in specific:
        if specific["permissionDecision"] not in DECISIONS:
            return f"permissionDecision is {specific['permissionDecision']!r}"
        if "permissionDecisionReason" not in specific:
            return "a decision without its reason"
    return ""
