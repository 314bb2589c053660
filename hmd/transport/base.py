"""The contract between the daemon and whatever carries its bytes: one listener per platform file.

A transport moves opaque bytes: it accepts connections, says whose process is at the other end,
and knows whether its address still leads here. Frames and their meaning live in `hmd.daemon.serve`.
"""

from typing import Protocol


class Exhausted(Exception):
    """No descriptor or buffer is left for another connection; those that exist go on."""


class Connection(Protocol):
    """One accepted client: it sends one request, gets one answer, and both hang up.

    A client must not half-close after its request: a peer that cannot send any more counts as
    one that has stopped waiting.
    """

    async def receive(self, limit: int) -> bytes:
        """Up to `limit` bytes, b"" once the client has hung up or the connection broke."""
        ...

    async def send(self, data: bytes) -> bool:
        """Sends all of `data`; False when the client had gone."""
        ...

    def hung_up(self) -> bool:
        """Whether the client has gone, without waiting and without consuming anything."""
        ...

    def peer_uid(self) -> int | None:
        """User id of the process at the other end as the kernel tells it, None if it cannot."""
        ...

    def close(self) -> None: ...


class Listener(Protocol):
    """A bound address. Whoever creates one holds the home's lock."""

    address: str

    async def accept(self) -> Connection:
        """The next client. Raises Exhausted, or `trio.ClosedResourceError` after `close`."""
        ...

    def lost(self) -> bool:
        """Whether clients that use the address would no longer arrive here."""
        ...

    def withdraw(self) -> None:
        """Removes the address if it is still ours; connections in being are not touched."""
        ...

    async def emptied(self) -> None:
        """After `withdraw`: returns once everybody who had reached the address is accepted."""
        ...

    def close(self) -> None: ...
