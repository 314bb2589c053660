"""JSON texts without the package `json`, which brings `re`, `enum` and `collections` along: half
the life of a hook process that decides alone.

Both functions use the C scanner and encoder that `json` itself uses, and give what it gives; where
an interpreter has none, `json` does the work.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_BLANK = " \t\n\r"  # RFC 8259, section 2
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


def loads(text: str) -> object:
    """Like `json.loads` of a string: raises ValueError or RecursionError."""
    text = text.strip(_BLANK)
    try:
        value, end = _scan(text, 0)
    except (StopIteration, SystemError):
        # Up to 3.12 the scanner knows its own kind of error only where `json` is loaded, and else
        # fails to raise it.
        raise ValueError("no JSON value") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def dumps(value: object) -> str:
    """`value` as ASCII without blanks: `json.dumps` with the separators `,` and `:`."""
    if isinstance(value, str):
        quoted: str = _quote(value)
        return quoted
    return "".join(_encode(value, 0))


class _Scanning:
    """What the C scanner asks its decoder for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__
    memo: "dict[str, str]" = {}


def _refuse(value: object) -> object:
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


try:
    import _json

    _quote: "Any" = _json.encode_basestring_ascii
    _scan: "Any" = _json.make_scanner(_Scanning)  # type: ignore[arg-type]
    _encode: "Any" = _json.make_encoder(None, _refuse, _quote, None, ":", ",", False, False, True)
except (ImportError, AttributeError, TypeError):  # another implementation of Python
    import json

    _quote = json.dumps
    _scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]

    def _encode(value: object, _level: int) -> "tuple[str]":
        return (json.dumps(value, separators=(",", ":")),)
