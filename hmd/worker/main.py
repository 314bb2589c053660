"""The worker process: takes jobs from standard input until its end, or until it has been idle.

`python -m hmd.worker.main --idle SECONDS`. Standard output carries replies and nothing else.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from msgspec import Raw

from hmd.core import machine
from hmd.worker.jobs import Jobs
from hmd.worker.protocol import Reply, decode_job, encode, framed, read_frame

NICENESS = 10


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="hmd-worker", description="CPU-bound work of a daemon.")
    parser.add_argument("--idle", type=float, default=60.0, metavar="SECONDS")
    options = parser.parse_args(argv)
    os.umask(0o077)
    machine.lower_priority(NICENESS)
    replies = os.dup(1)
    os.dup2(2, 1)  # what anything prints by mistake must not be taken for a reply
    serve(0, replies, options.idle)
    return 0


def serve(requests: int, replies: int, idle_s: float) -> None:
    """Answers jobs from one descriptor on another."""
    jobs = Jobs()
    while machine.readable(requests, idle_s):
        message = read_frame(lambda size: os.read(requests, size))
        if message is None:
            return
        _write(replies, framed(encode(answer(jobs, message))))


def answer(jobs: Jobs, message: bytes) -> Reply:
    """Does one job. Whatever goes wrong in it is its reply, and the next one is done."""
    try:
        return Reply(result=Raw(encode(jobs.do(decode_job(message)))))
    except Exception as error:
        trace = "".join(traceback.format_exception(error))
        return Reply(error=f"{type(error).__name__}: {error}"[:500], trace=trace[-8000:])


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
