"""A process that sends one post-tool report after another to a daemon, at an even rate."""

import itertools
import sys
import time
from pathlib import Path

from bench import echo
from hmd.kernel import frame

USE = b"toolu_"


def main(address: str, example: str, rate: int) -> None:
    """Sends the payload in `example`, each time as another call's, until it is ended."""
    head, _, tail = Path(example).read_bytes().partition(USE)
    header = {"proto": "1", "build": "", "host": "claude-code", "event": "PostToolUse"}
    print("sending", flush=True)
    began = time.monotonic()
    for number in itertools.count(1):
        body = head + USE + b"%d_" % number + tail
        header["delivery"], header["at"] = f"{number:016x}", str(time.time_ns() // 1_000_000)
        echo.ask(address, frame.request(frame.HOOK, header, body))
        time.sleep(max(0.0, began + number / rate - time.monotonic()))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
