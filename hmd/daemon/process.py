"""What can be learned about processes: when one started, whether it answers, how large this is."""

import time

from hmd.core import machine
from hmd.core.machine import start_time
from hmd.kernel import frame

__all__ = ["ask", "resident_mb", "start_time"]


def resident_mb() -> int:
    """Memory that this process holds, in whole megabytes; 0 where the platform does not tell."""
    try:
        return machine.resident_bytes() >> 20
    except (OSError, ValueError, IndexError):
        return 0


def ask(address: str, method: str, build: str, timeout: float) -> tuple[str, bytes] | None:
    """One `call` without parameters, for those who have no loop yet; None without an answer."""
    header = {"proto": str(frame.PROTOCOL), "build": build, "method": method, "actor": "terminal"}
    end = time.monotonic() + timeout
    try:
        with machine.connect(address, timeout) as sock:
            sock.sendall(frame.request(frame.CALL, header, b"{}"))
            data = b""
            while True:
                sock.settimeout(max(0.001, end - time.monotonic()))
                piece = sock.recv(65536)
                if not piece:
                    return None
                data += piece
                answer = frame.parse_answer(data)
                if answer is not None:
                    return answer
    except (OSError, frame.FrameError):
        return None
