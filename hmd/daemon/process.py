"""What can be learned about processes: when one started, whether it answers, how large this is."""

import os
import socket
import sys
import time

from hmd.kernel import frame


def _start_linux(pid: int) -> str:
    # proc(5): field 22, counted after the command's closing bracket (the name may hold anything).
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return "" if fields[0] == b"Z" else fields[19].decode()


def _start_ps(pid: int) -> str:
    import subprocess  # late: only where there is no /proc

    done = subprocess.run(
        ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
        capture_output=True,
        env={"LC_ALL": "C"},
        timeout=5,
        check=False,
    )
    return done.stdout.decode("ascii", "replace").strip()


_read_start = _start_linux if sys.platform == "linux" else _start_ps


def start_time(pid: int) -> str:
    """When the process started, in the platform's own words; "" when it is not there (or dead).

    Together with the process id it names a process for as long as the machine is up.
    """
    try:
        return _read_start(pid)
    except (OSError, ValueError, IndexError):
        return ""


def _resident_linux() -> int:
    # proc(5): the second field of statm, in pages.
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _resident_ps() -> int:
    import subprocess  # late: only where there is no /proc

    words = ["/bin/ps", "-o", "rss=", "-p", str(os.getpid())]
    done = subprocess.run(words, capture_output=True, timeout=5, check=False)
    return int(done.stdout) * 1024


_read_resident = _resident_linux if sys.platform == "linux" else _resident_ps


def resident_mb() -> int:
    """Memory that this process holds, in whole megabytes; 0 where the platform does not tell."""
    try:
        return _read_resident() >> 20
    except (OSError, ValueError, IndexError):
        return 0


def ask(address: str, method: str, build: str, timeout: float) -> tuple[str, bytes] | None:
    """One `call` without parameters, for those who have no loop yet; None without an answer."""
    header = {"proto": str(frame.PROTOCOL), "build": build, "method": method, "actor": "terminal"}
    end = time.monotonic() + timeout
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        try:
            sock.settimeout(timeout)
            sock.connect(address)
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
