"""Bytes between the daemon and its worker: a length (u32, big-endian), then MessagePack.

To the worker goes a job, back comes a reply; one job at a time, in order.
"""

import struct
from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from hmd.app.jobs import AnyJob

LENGTH = struct.Struct(">I")
# A message longer than this is no message: the stream is out of step.
LIMIT = 256 * 1024 * 1024


class Reply(Struct, kw_only=True):
    """`result` is the job's, encoded; `error` what kept it from one, as one line, and `trace` the
    lines for the log."""

    result: Raw = Raw(b"\xc0")  # nil
    error: str = ""
    trace: str = ""


encode = msgspec.msgpack.Encoder().encode
decode_job = msgspec.msgpack.Decoder(AnyJob).decode
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
    data = b""
    while len(data) < size:
        piece = read(size - len(data))
        if not piece:
            return None
        data += piece
    return data
