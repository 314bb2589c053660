"""Codex as extractor: `codex exec` with an output schema, read-only, no hooks, no session kept."""

import json
from collections.abc import Mapping

import trio

from hmd.providers import process
from hmd.providers.base import Answer, Place, Recorded, Request, Usage, shortened
from hmd.providers.find import find_program
from hmd.providers.process import Done
from hmd.providers.words import json_in, refusal

NAME = "codex"
_VARIABLES = ("HMD_CODEX_BIN",)
_SCHEMA, _LAST = "schema.json", "last.txt"
_LAST_LIMIT = 1024 * 1024


def locate(environ: Mapping[str, str], recorded: Recorded) -> str:
    return find_program(NAME, _VARIABLES, environ, recorded)


def command(program: str, request: Request, place: Place) -> list[str]:
    """The command line; `-` has it read the prompt from standard input."""
    model = ["-m", request.model] if request.model else []
    return [
        program,
        "exec",
        "--json",
        "--ephemeral",
        "--output-schema",
        str(place.folder / _SCHEMA),
        "-o",
        str(place.folder / _LAST),
        "-s",
        "read-only",
        "-c",
        "features.hooks=false",
        "--skip-git-repo-check",
        *model,
        "-",
    ]


async def ask(request: Request, place: Place) -> Answer:
    last = trio.Path(place.folder / _LAST)
    await last.unlink(missing_ok=True)
    await trio.Path(place.folder / _SCHEMA).write_text(json.dumps(request.schema), encoding="utf-8")
    argv = command(place.program, request, place)
    done = await process.run(argv, request.prompt.encode(), place, request.timeout_s)
    try:
        async with await last.open("rb") as file:
            said = (await file.read(_LAST_LIMIT)).decode("utf-8", "replace")
    except OSError:
        said = ""
    return read(done, said)


def read(done: Done, said: str) -> Answer:
    """What the program printed (events, one a line) and its last message, as an answer."""
    raw = done.out.decode("utf-8", "replace")
    answer = Answer(
        status="provider_error", raw=said or raw[-200_000:], duration_ms=done.duration_ms
    )
    failure = _read_events(answer, raw)
    if done.missing:
        answer.status, answer.message = "missing", shortened(done.missing)
    elif done.timed_out:
        answer.status, answer.message = "probe_timeout", "no answer in the time given"
    elif done.flooded:
        answer.status, answer.message = "invalid_output", "it printed without end"
    elif done.code or failure:
        words = failure or done.err.decode("utf-8", "replace") or raw
        answer.status = refusal(words) or "provider_error"
        answer.message = shortened(words) or f"it ended with {done.code} and said nothing"
    elif isinstance(json_in(said), dict):
        answer.status, answer.text = "ok", json.dumps(json_in(said), ensure_ascii=False)
    else:
        answer.status = "invalid_output"
        answer.message = shortened(said) or "no last message"
    return answer


def _read_events(answer: Answer, raw: str) -> str:
    """Takes usage out of the events; returns what they say of a failure."""
    failure = ""
    usage = Usage()
    for line in raw.splitlines():
        event = json_in(line) if line.startswith("{") else None
        if not isinstance(event, dict):
            continue
        kind = event.get("type")
        if kind == "turn.completed" and isinstance(event.get("usage"), dict):
            counts = {name: n for name, n in event["usage"].items() if isinstance(n, int)}
            cached = counts.get("cached_input_tokens", 0)
            usage.input_tokens += max(0, counts.get("input_tokens", 0) - cached)
            usage.cached_tokens += cached
            usage.output_tokens += counts.get("output_tokens", 0)
        elif kind in ("error", "turn.failed"):
            error = event.get("error")
            detail = error.get("message") if isinstance(error, dict) else event.get("message")
            failure = detail if isinstance(detail, str) else str(kind)
    answer.usage = usage
    return failure
