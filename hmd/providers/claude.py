"""Claude Code as extractor: `claude -p` with a JSON schema, no tools, no hooks, no memory, no MCP
servers, no session kept."""

import json
from collections.abc import Mapping
from typing import Any

from hmd.providers import process
from hmd.providers.base import Answer, Place, Recorded, Request, Status, Usage, shortened
from hmd.providers.find import find_program
from hmd.providers.process import Done
from hmd.providers.words import json_in, refusal

NAME = "claude"
# The user's interactive default may be an id that a headless call cannot reach.
DEFAULT_MODEL = "sonnet"
_VARIABLES = ("HMD_CLAUDE_BIN", "CLAUDE_CODE_EXECPATH")
_SETTINGS = {"disableAllHooks": True, "autoMemoryEnabled": False}


def locate(environ: Mapping[str, str], recorded: Recorded) -> str:
    return find_program(NAME, _VARIABLES, environ, recorded)


def command(program: str, request: Request) -> list[str]:
    """The command line; the prompt goes to standard input."""
    return [
        program,
        "-p",
        "--output-format",
        "json",
        "--json-schema",
        json.dumps(request.schema, separators=(",", ":")),
        "--tools",
        "",
        "--disallowedTools",
        "mcp__*",
        "--strict-mcp-config",
        "--no-session-persistence",
        "--settings",
        json.dumps(_SETTINGS, separators=(",", ":")),
        "--model",
        request.model or DEFAULT_MODEL,
    ]


async def ask(request: Request, place: Place) -> Answer:
    argv = command(place.program, request)
    done = await process.run(argv, request.prompt.encode(), place, request.timeout_s)
    return read(done)


def read(done: Done) -> Answer:
    """What the program printed, as an answer."""
    raw = done.out.decode("utf-8", "replace")
    errors = done.err.decode("utf-8", "replace")
    answer = Answer(status="provider_error", raw=raw, duration_ms=done.duration_ms)
    if done.missing:
        answer.status, answer.message = "missing", shortened(done.missing)
    elif done.timed_out:
        answer.status, answer.message = "probe_timeout", "no answer in the time given"
    elif done.flooded:
        answer.status, answer.message = "invalid_output", "it printed without end"
    else:
        _read_envelope(answer, json_in(raw), raw, errors, done.code)
    return answer


def _read_envelope(answer: Answer, envelope: object, raw: str, errors: str, code: int) -> None:
    if not isinstance(envelope, dict):
        said = errors or raw
        answer.status = refusal(said) or ("provider_error" if code else "invalid_output")
        answer.message = shortened(said) or f"it ended with {code} and said nothing"
        return
    answer.usage = usage_of(envelope)
    result = envelope.get("result")
    said = result if isinstance(result, str) else ""
    structured = envelope.get("structured_output")
    if envelope.get("is_error") or code:
        status: Status = refusal(said + "\n" + errors) or "provider_error"
        answer.status = status
        answer.message = shortened(said or errors or str(envelope.get("subtype") or ""))
    elif isinstance(structured, dict):
        answer.status, answer.text = "ok", json.dumps(structured, ensure_ascii=False)
    elif isinstance(json_in(said), dict):
        answer.status, answer.text = "ok", json.dumps(json_in(said), ensure_ascii=False)
    else:
        answer.status = "invalid_output"
        answer.message = shortened(said) or "no structured output"


def usage_of(envelope: dict[str, Any]) -> Usage:
    """Tokens and money of the envelope; what it does not say is 0 (money: null)."""
    usage, models = envelope.get("usage"), envelope.get("modelUsage")
    usage = usage if isinstance(usage, dict) else {}
    cost = envelope.get("total_cost_usd")
    return Usage(
        model=next(iter(models), "") if isinstance(models, dict) else "",
        input_tokens=_count(usage, "input_tokens") + _count(usage, "cache_creation_input_tokens"),
        cached_tokens=_count(usage, "cache_read_input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and cost >= 0 else None,
    )


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and value > 0 else 0
