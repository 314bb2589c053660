"""The bare round trip: a trio server that reads a request and writes it back, one a connection."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator

import trio


async def serve(path: str) -> None:
    """Serves until it is ended; says `ready` once it listens."""
    with trio.socket.socket(trio.socket.AF_UNIX) as listener:
        await listener.bind(path)
        listener.listen(64)
        print("ready", flush=True)
        async with trio.open_nursery() as nursery:
            while True:
                connection, _ = await listener.accept()
                nursery.start_soon(_answer, connection)


async def _answer(connection: trio.socket.SocketType) -> None:
    with connection:
        await connection.send(await connection.recv(65536))


def ask(path: str, data: bytes) -> bytes:
    """One request and its answer, to the end of the connection."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path)
        client.sendall(data)
        answer = b""
        while piece := client.recv(65536):
            answer += piece
        return answer


@contextlib.contextmanager
def server(path: str) -> Iterator[None]:
    """A server process at `path`."""
    argv = [sys.executable, "-m", "bench.echo", path]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


if __name__ == "__main__":
    trio.run(serve, sys.argv[1])
