"""Unix domain sockets: listening, whose process is at the other end, and connecting.

The socket is bound under a name of its own and renamed onto the address, so there is no moment
at which a client finds the address without a listener behind it. The caller holds the home's lock:
that is what makes replacing an old socket right.
"""

import errno
import os
import select
import socket
import stat
import struct
import sys

import trio

from hmd.transport.base import Exhausted

assert sys.platform != "win32"  # there it is hmd/transport/pipe.py

BACKLOG = 4096  # cut down by the kernel to what it allows (somaxconn)
_STREAK = 16
_NO_ROOM = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
# sys/un.h on macOS; Python names neither constant.
_SOL_LOCAL, _LOCAL_PEERCRED = 0, 1
_SO_PEERCRED: int = getattr(socket, "SO_PEERCRED", 0)


class UnixConnection:
    """One client on a Unix socket (`hmd.transport.base.Connection`).

    The socket is tried before the loop is asked to wait for it: most requests are already there.
    """

    __slots__ = ("_socket",)

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    async def receive(self, limit: int) -> bytes:
        while True:
            try:
                return self._socket.recv(limit)
            except BlockingIOError:
                await trio.lowlevel.wait_readable(self._socket)
            except OSError:
                return b""

    async def send(self, data: bytes) -> bool:
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self._socket)
            except OSError:
                return False
        return True

    def hung_up(self) -> bool:
        try:
            return self._socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def peer_uid(self) -> int | None:
        return peer_uid(self._socket)

    def close(self) -> None:
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


class UnixListener:
    """A listening Unix socket (`hmd.transport.base.Listener`)."""

    def __init__(self, sock: socket.socket, address: str, *, ours: bool = True) -> None:
        sock.setblocking(False)
        self.address = address
        self._ours = ours
        self._identity = _identity(address)
        self._socket = sock
        self._streak = 0

    async def accept(self) -> UnixConnection:
        while True:
            try:
                client, _ = self._socket.accept()
            except BlockingIOError:
                self._streak = 0
                await trio.lowlevel.wait_readable(self._socket)
            except OSError as error:
                if error.errno in _NO_ROOM:
                    raise Exhausted(os.strerror(error.errno)) from error
                if error.errno == errno.EBADF:
                    raise trio.ClosedResourceError from error
                # Else the client went away while it was being accepted (accept(2), "Errors").
            else:
                client.setblocking(False)
                await self._share_the_loop()
                return UnixConnection(client)

    async def _share_the_loop(self) -> None:
        # A flood of clients must not keep those already accepted from being answered.
        self._streak += 1
        if self._streak % _STREAK == 0:
            await trio.lowlevel.cancel_shielded_checkpoint()

    def lost(self) -> bool:
        return self._ours and (self._identity is None or _identity(self.address) != self._identity)

    def withdraw(self) -> None:
        if self._ours and not self.lost():
            _remove(self.address)

    def _waiting(self) -> bool:
        poll = select.poll()  # no select(): descriptors may be above its limit of 1024
        poll.register(self._socket, select.POLLIN)
        return any(event & select.POLLIN for _, event in poll.poll(0))

    async def emptied(self) -> None:
        # A manager's socket goes on to the next daemon, with whoever waits in its queue.
        while self._ours and self._waiting():
            await trio.sleep(0)

    def close(self) -> None:
        trio.lowlevel.notify_closing(self._socket)
        self._socket.close()


def listen(address: str) -> UnixListener:
    """A listener at `address`, replacing whatever stands there. Raises OSError.

    For the holder of the home's lock only: it alone may replace a socket, dead or alive.
    """
    # Never longer than the address itself, which already fits into a sockaddr_un.
    fresh = address.removesuffix(".sock") + ".new"
    _remove(fresh)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(fresh)
        sock.listen(BACKLOG)
        os.rename(fresh, address)
    except BaseException:
        sock.close()
        _remove(fresh)
        raise
    return UnixListener(sock, address)


def adopt(descriptor: int, address: str) -> UnixListener:
    """A listener on a socket that a service manager bound and keeps: it is never replaced."""
    sock = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    return UnixListener(sock, address, ours=False)


def poke(address: str) -> bool:
    """Whether any process listens at `address`; never waits, says nothing about its health."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(address)
        except BlockingIOError:
            return True  # its backlog is full: it exists
        except OSError:
            return False
        return True


def _uid_linux(sock: socket.socket) -> int:
    # struct ucred: pid, uid, gid (unix(7), SO_PEERCRED)
    data = sock.getsockopt(socket.SOL_SOCKET, _SO_PEERCRED, 12)
    return int(struct.unpack("iII", data)[1])


def _uid_bsd(sock: socket.socket) -> int:
    # struct xucred: version, uid, group count, groups (unix(4) on macOS and FreeBSD)
    data = sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)
    return int(struct.unpack_from("II", data)[1])


_read_uid = _uid_linux if _SO_PEERCRED else _uid_bsd


def peer_uid(sock: socket.socket) -> int | None:
    """Effective user id of the peer when it connected, None where the kernel does not tell."""
    try:
        return _read_uid(sock)
    except (OSError, struct.error):
        return None


def _identity(path: str) -> tuple[int, int] | None:
    """Device and inode of the socket at `path`, None when there is no socket."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISSOCK(status.st_mode) else None


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
