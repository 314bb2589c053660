"""The frames that travel between a stub or `hmctl` and the daemon: opaque bytes with a length.

One request, one answer, then the connection is closed. Meaning lives a layer above
(docs/internals.md, "Frames"). The stub builds frames on its hot path: string work only.
"""

PROTOCOL = 1
MAGIC = b"hmd1"
# A body above this is not sent by a stub (it decides alone); hmctl may send more.
HOOK_BODY_LIMIT = 65536
HEADER_LIMIT = 16384
BODY_LIMIT = 64 * 1024 * 1024
HEAD_LIMIT = 64

OK, ERROR, RETRY, LEAVE = "ok", "error", "retry", "leave"
STATUSES = (OK, ERROR, RETRY, LEAVE)
HOOK, CALL = "hook", "call"
KINDS = (HOOK, CALL)

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


class FrameError(ValueError):
    """The bytes are not a frame of this protocol; the text says what is wrong."""


def escape(value: str) -> str:
    if "\\" in value or "\t" in value or "\n" in value or "\r" in value:
        return "".join([_ESCAPES.get(char, char) for char in value])
    return value


def unescape(value: str) -> str:
    if "\\" not in value:
        return value
    out = []
    chars = iter(value)
    for char in chars:
        out.append(_UNESCAPES.get(next(chars, ""), "") if char == "\\" else char)
    return "".join(out)


def request(kind: str, header: "dict[str, str]", body: bytes) -> bytes:
    """The bytes of a request. Lone surrogates in values (from `environ`) survive the trip."""
    lines = [name + "\t" + escape(value) + "\n" for name, value in header.items()]
    head = "".join(lines).encode("utf-8", "surrogateescape")
    return b"%s %s %d %d\n%s%s" % (MAGIC, kind.encode(), len(head), len(body), head, body)


def parse_request_head(line: bytes) -> "tuple[str, int, int]":
    """(kind, header bytes, body bytes) of a request's first line, without its LF."""
    parts = line.split(b" ")
    if len(parts) != 4 or parts[0] != MAGIC:
        raise FrameError("not a request of protocol 1")
    kind = parts[1].decode("ascii", "replace")
    if kind not in KINDS:
        raise FrameError(f"unknown kind of request {kind!r}")
    header_size, body_size = _size(parts[2]), _size(parts[3])
    if header_size > HEADER_LIMIT:
        raise FrameError(f"header of {header_size} bytes is over {HEADER_LIMIT}")
    if body_size > BODY_LIMIT:
        raise FrameError(f"body of {body_size} bytes is over {BODY_LIMIT}")
    return kind, header_size, body_size


def parse_header(data: bytes) -> "dict[str, str]":
    """The header's values by name; a line without a tab is skipped (a later protocol's)."""
    fields = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        name, tab, value = line.partition("\t")
        if tab:
            fields[name] = unescape(value)
    return fields


def answer(status: str, body: bytes = b"") -> bytes:
    """The bytes of an answer."""
    return b"%s %s %d\n%s" % (MAGIC, status.encode(), len(body), body)


def parse_answer(data: bytes) -> "tuple[str, bytes] | None":
    """(status, body) once `data` holds the whole answer, None while it does not.

    Raises FrameError when it can never become one.
    """
    end = data.find(b"\n", 0, HEAD_LIMIT)
    if end < 0:
        if len(data) >= HEAD_LIMIT or not MAGIC.startswith(data[:4]):
            raise FrameError("not an answer of protocol 1")
        return None
    parts = data[:end].split(b" ")
    if len(parts) != 3 or parts[0] != MAGIC:
        raise FrameError("not an answer of protocol 1")
    status = parts[1].decode("ascii", "replace")
    if status not in STATUSES:
        raise FrameError(f"unknown status {status!r}")
    size = _size(parts[2])
    if len(data) - end - 1 < size:
        return None
    return status, data[end + 1 : end + 1 + size]


def _size(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > 9:
        raise FrameError(f"not a length: {digits[:16]!r}")
    return int(digits)
