"""Identifiers of memories, versions, proposals and projects: 32 hex digits, or a prefix of one."""

import secrets
from collections.abc import Iterable

from hmd.core.errors import HmdError

LENGTH = 32
SHORT = 8
MIN_PREFIX = 4
_HEX = frozenset("0123456789abcdef")


def new_id() -> str:
    """A random identifier. Random, not ordered by time, so that short prefixes stay unique."""
    return secrets.token_hex(LENGTH // 2)


def short(identifier: str) -> str:
    """As people are shown it."""
    return identifier[:SHORT]


def is_id(text: str) -> bool:
    return len(text) == LENGTH and _HEX.issuperset(text)


def check_prefix(text: str, noun: str = "memory") -> str:
    """`text` in lower case if it can name an identifier. Raises HmdError "usage".

    Dashes are dropped: imported identifiers are often written as UUIDs.
    """
    prefix = text.strip().lower().replace("-", "")
    if not MIN_PREFIX <= len(prefix) <= LENGTH or not _HEX.issuperset(prefix):
        raise HmdError(
            "usage",
            f"'{text}' is not a {noun} id",
            do=f"give at least {MIN_PREFIX} hexadecimal digits",
        )
    return prefix


def resolve(prefix: str, identifiers: Iterable[str], noun: str = "memory") -> str:
    """The one identifier that begins with `prefix`. Raises HmdError "usage" or "not_found"."""
    wanted = check_prefix(prefix, noun)
    found = sorted({each for each in identifiers if each.startswith(wanted)})
    return one_of(found, prefix, noun)


def one_of(found: list[str], prefix: str, noun: str = "memory") -> str:
    """The only element of `found`, which are all that begin with `prefix` (or the first few)."""
    if not found:
        raise HmdError("not_found", f"no {noun} '{prefix}'")
    if len(found) > 1:
        examples = ", ".join([each[: max(SHORT, len(prefix) + 2)] for each in found[:3]])
        raise HmdError("usage", f"'{prefix}' names more than one {noun}", do=f"say {examples}")
    return found[0]
