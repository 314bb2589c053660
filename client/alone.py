"""A stub without a daemon: the same function, over the files that the daemon left on disk."""

import time

from client import bundle
from hmd.kernel import pattern
from hmd.kernel.address import Home


def decide(home: Home, header: "dict[str, str]", body: bytes, build: str, started: float) -> bytes:
    """The bytes to print. Whatever goes wrong costs the answer, never the host's call."""
    status, answer, line = "error:unknown", b"", ""
    try:
        root = f"{home.app}/{build}"
        bundle.use(root, pattern.cache_key())
        pattern.thaw(root + "/patterns")
        pattern.thaw(home.patterns)
        from hmd.hosts.table import HOSTS
        from hmd.kernel import answer as path
        from hmd.kernel import hooklog, payload
        from hmd.kernel.files import FileSources

        sources = FileSources(home, build.rpartition("-")[2])
        outcome = path.answer(sources, header, body, payload.decode(body), HOSTS)
        answer = outcome.out
        line = hooklog.line(header, outcome, time.monotonic() - started, "stub")
        hooklog.append(home, line)
        pattern.keep(home.patterns)
    except Exception as error:  # a hook never fails its host
        status = f"error:{type(error).__name__}"
        _say(home, header, status)
    return answer


def _say(home: Home, header: "dict[str, str]", status: str) -> None:
    """A line in the hook log with nothing but built-ins, since the kernel may be what is broken."""
    try:
        with open(home.hook_log, "a", encoding="utf-8") as file:
            file.write(f"{header.get('at', '0')} {header.get('event', '?')} by=stub {status}\n")
    except OSError:
        pass
