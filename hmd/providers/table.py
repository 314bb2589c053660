"""The one table of providers, and which of them is used."""

from collections.abc import Mapping

from hmd.providers import claude, codex, replay
from hmd.providers.base import Provider, Recorded

# In the order in which `auto` tries them.
_AUTOMATIC: tuple[Provider, ...] = (claude, codex)
PROVIDERS: dict[str, Provider] = {each.NAME: each for each in (*_AUTOMATIC, replay)}


def choose(
    wanted: str, environ: Mapping[str, str], recorded: Recorded
) -> tuple[Provider, str] | None:
    """(provider, its program) for a setting; None where no program is found."""
    candidates = _AUTOMATIC if wanted == "auto" else [PROVIDERS[wanted]]
    for provider in candidates:
        program = provider.locate(environ, recorded)
        if program:
            return provider, program
    return None
