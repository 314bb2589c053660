"""Bytes between the daemon and its encoder: a length (u32, big-endian), then MessagePack.

The child speaks first (`Hello`, once its model is loaded); then each message gets one `Reply`, in
order. Vectors travel as int8 with their scale, as they are stored.
"""

import struct
from collections.abc import Callable

import msgspec
from msgspec import Struct, field

LENGTH = struct.Struct(">I")
# A message longer than this is no message: the stream is out of step.
LIMIT = 256 * 1024 * 1024


class Packed(Struct, frozen=True):
    """One vector: `values` int8, to be multiplied by `scale`; a scale of 0 has no direction."""

    values: bytes
    scale: float


class Embed(Struct, tag=True, kw_only=True):
    """Vectors of texts that are stored."""

    texts: list[str]


class Load(Struct, tag=True, kw_only=True):
    """Makes vectors known under the name of a shelf, those in `drop` forgotten."""

    shelf: str
    vectors: dict[str, Packed] = field(default_factory=dict)
    drop: list[str] = field(default_factory=list)


class Ask(Struct, tag=True, kw_only=True):
    """The nearest of what the shelves hold."""

    text: str
    shelves: list[str]
    limit: int = 100


Message = Embed | Load | Ask


class Hello(Struct, kw_only=True):
    """`error` says why there is no model; the child then ends."""

    model: str = ""
    dimension: int = 0
    error: str = ""


class Reply(Struct, kw_only=True):
    """`vectors` for Embed; for Ask `nearest` (cosine, id), best first. Of models that find
    meanings the cosine is what exceeds the usual for the question (`hmd/encoder/background.py`)."""

    vectors: list[Packed] = field(default_factory=list)
    nearest: list[tuple[float, str]] = field(default_factory=list)
    error: str = ""


encode = msgspec.msgpack.Encoder().encode
decode_message = msgspec.msgpack.Decoder(Message).decode
decode_hello = msgspec.msgpack.Decoder(Hello).decode
decode_reply = msgspec.msgpack.Decoder(Reply).decode


def framed(message: bytes) -> bytes:
    return LENGTH.pack(len(message)) + message


def read_frame(read: Callable[[int], bytes]) -> bytes | None:
    """The next message of a blocking stream; None at its end or where it makes no sense."""
    head = _exactly(read, LENGTH.size)
    if head is None:
        return None
    (length,) = LENGTH.unpack(head)
    return _exactly(read, length) if length <= LIMIT else None


def _exactly(read: Callable[[int], bytes], size: int) -> bytes | None:
    pieces = []
    while size:
        piece = read(min(size, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)
