"""Whether a provider works at all: a one-field call, its class, and how long the finding holds."""

from hmd.providers.base import Answer, Place, Provider, Request, Status
from hmd.providers.words import json_in

SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
PROMPT = "Answer with ready = true. This only checks that structured answers work."
TRUSTED_MS = 24 * 60 * 60 * 1000
RETRY_MS = 10 * 60 * 1000

HINTS: dict[str, str] = {
    "ok": "",
    "not_logged_in": "log in from a terminal (claude auth login, or codex login); a login that is"
    " a variable must stand in the environment of the daemon's service",
    "missing": "install the claude or codex CLI, or set HMD_CLAUDE_BIN or HMD_CODEX_BIN",
    "nested_refusal": "the CLI refuses to run inside another session: run hmctl daemon restart in"
    " a plain terminal",
    "probe_timeout": "no answer within extraction.probe_timeout_ms; try claude -p in a terminal",
    "invalid_output": "the CLI gave no structured answer: update it",
    "provider_error": "the CLI ran but its call failed; a model your account can use is set by"
    " extraction.model",
}


async def probe(provider: Provider, place: Place, model: str | None, timeout_s: float) -> Answer:
    """One small call; `status` is its class."""
    request = Request(prompt=PROMPT, schema=SCHEMA, model=model, timeout_s=timeout_s)
    answer = await provider.ask(request, place)
    if answer.status == "ok":
        value = json_in(answer.text)
        if not isinstance(value, dict) or not isinstance(value.get("ready"), bool):
            answer.status, answer.message = "invalid_output", "the answer is not of the schema"
    return answer


def is_due(status: Status | str, at: int, now: int) -> bool:
    """Whether a finding of time `at` (ms) must be made again at `now`."""
    return now - at >= (TRUSTED_MS if status == "ok" else RETRY_MS) or now < at
