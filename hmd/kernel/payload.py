"""Decodes what a host wrote to a hook: the definition that stub and daemon share.

Hosts cut strings in the middle of surrogate pairs and emit NaN or a byte order mark, so this is
laxer than RFC 8259. Anything else that is no JSON text is None, never an error.
"""

from hmd.kernel import jsontext

# More than any host sends (a Write of 1.5 MB arrives as 3 MB); beyond it is not a payload.
LIMIT = 32 * 1024 * 1024


def decode(body: bytes) -> object:
    """The JSON value in `body`, or None. Bytes that are not UTF-8 become U+FFFD."""
    if len(body) > LIMIT:
        return None
    try:
        return jsontext.loads(body.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError, MemoryError):
        return None
