"""What every extraction provider is asked and answers, whatever program stands behind it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, get_args

from msgspec import Struct, field

Status = Literal[
    "ok",
    "not_logged_in",
    "missing",
    "nested_refusal",
    "probe_timeout",
    "invalid_output",
    "provider_error",
]
STATUSES: tuple[str, ...] = get_args(Status)
# The provider could not be used at all: waiting is no attempt of the episode's.
UNAVAILABLE = frozenset(["not_logged_in", "missing", "nested_refusal"])
MESSAGE_LIMIT = 300


class Request(Struct, kw_only=True):
    """One call: `schema` is the JSON schema of the answer, `model` null the provider's choice."""

    prompt: str
    schema: dict[str, Any]
    model: str | None = None
    timeout_s: float = 120.0


class Usage(Struct, kw_only=True):
    """As the CLI reports it. `cost_usd` null where it names no money."""

    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None


class Answer(Struct, kw_only=True):
    """`text` is the JSON the model answered; `raw` all that the program printed, cut; `message` the
    provider's own words about a failure."""

    status: Status
    text: str = ""
    raw: str = ""
    message: str = ""
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0


class Place(Struct, kw_only=True, frozen=True):
    """Where and with what a provider runs: `program` its absolute path (for `replay` a folder),
    `folder` a neutral, empty directory of ours, `environ` the whole environment of the child."""

    program: str
    folder: Path
    environ: Mapping[str, str]


class Provider(Protocol):
    """A module in this folder."""

    NAME: str

    def locate(self, environ: Mapping[str, str], recorded: "Recorded") -> str:
        """What `Place.program` is to be, "" where there is none."""
        ...

    async def ask(self, request: Request, place: Place) -> Answer:
        """Never raises for what the program does; `status` says it."""
        ...


class Recorded(Struct, kw_only=True, frozen=True):
    """What install wrote down of the environment it was run in (the receipt's fields)."""

    path: str = ""
    programs: dict[str, str] = {}
    claude_directory: str = ""


def shortened(text: str) -> str:
    """A provider's words, one line and short."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MESSAGE_LIMIT else flat[: MESSAGE_LIMIT - 1] + "…"
