"""What hmd needs of Windows: named pipes, whose process is at the other end, appends, processes.

The only file that speaks to the Windows API. Names, flags and structures are those of the Windows
SDK; each function's behaviour is documented there under its own name. Handles are plain integers.
It has not yet run on a real machine: `mypy --platform win32` and fakes of it are what is proved.
"""

import sys

assert sys.platform == "win32"

import ctypes  # noqa: E402
import msvcrt  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
from ctypes import wintypes  # noqa: E402

GENERIC_READ, GENERIC_WRITE = 0x80000000, 0x40000000
FILE_APPEND_DATA, SYNCHRONIZE = 0x0004, 0x00100000
FILE_SHARE_ALL = 0x7
OPEN_EXISTING, OPEN_ALWAYS, CREATE_NEW = 3, 4, 1
FILE_ATTRIBUTE_NORMAL = 0x80
FILE_FLAG_OVERLAPPED, FILE_FLAG_FIRST_PIPE_INSTANCE = 0x40000000, 0x00080000
# A server may learn who we are, and never act as us.
SECURITY_SQOS_PRESENT, SECURITY_IDENTIFICATION = 0x00100000, 0x00010000
PIPE_ACCESS_DUPLEX = 0x3
PIPE_BYTE_WAIT_LOCAL_ONLY = 0x8  # PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT + reject remote
PIPE_UNLIMITED_INSTANCES = 255
PIPE_BUFFER = 65536
ERROR_FILE_NOT_FOUND, ERROR_ACCESS_DENIED, ERROR_PIPE_BUSY = 2, 5, 231
ERROR_NO_DATA, ERROR_PIPE_CONNECTED, ERROR_IO_PENDING = 232, 535, 997
ERROR_NO_SYSTEM_RESOURCES, ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY = 1450, 4, 8
TOKEN_QUERY, TOKEN_USER = 0x8, 1
PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
DETACHED_PROCESS, CREATE_NO_WINDOW = 0x8, 0x08000000
CREATE_NEW_PROCESS_GROUP, CREATE_BREAKAWAY_FROM_JOB = 0x200, 0x01000000
PROCESS_TERMINATE, PROCESS_SET_QUOTA = 0x1, 0x100
BELOW_NORMAL_PRIORITY_CLASS = 0x4000
JOB_EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
JOB_KILL_ON_CLOSE, JOB_PRIORITY_CLASS = 0x2000, 0x20
DELETE = 0x00010000
FILE_RENAME_INFO_EX, RENAME_REPLACE, RENAME_POSIX = 22, 0x1, 0x2
ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED, ERROR_INVALID_PARAMETER = 1, 50, 87
REPLACE_PAUSES_S = (0.01, 0.03, 0.06, 0.1, 0.15, 0.15)
SDDL_REVISION_1 = 1
INVALID_HANDLE = ctypes.c_void_p(-1).value
WAIT_TIMEOUT = 258

_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
_advapi32 = ctypes.WinDLL("advapi32", use_last_error=True)


class SecurityAttributes(ctypes.Structure):
    """SECURITY_ATTRIBUTES."""

    _fields_ = [
        ("nLength", wintypes.DWORD),
        ("lpSecurityDescriptor", ctypes.c_void_p),
        ("bInheritHandle", wintypes.BOOL),
    ]


class RenameInformation(ctypes.Structure):
    """FILE_RENAME_INFO, whose last field is as long as the name."""

    _fields_ = [
        ("Flags", wintypes.DWORD),
        ("RootDirectory", wintypes.HANDLE),
        ("FileNameLength", wintypes.DWORD),
        ("FileName", wintypes.WCHAR * 1),
    ]


class Overlapped(ctypes.Structure):
    """OVERLAPPED."""

    _fields_ = [
        ("Internal", ctypes.c_void_p),
        ("InternalHigh", ctypes.c_void_p),
        ("Offset", wintypes.DWORD),
        ("OffsetHigh", wintypes.DWORD),
        ("hEvent", wintypes.HANDLE),
    ]


_kernel32.CreateNamedPipeW.restype = wintypes.HANDLE
_kernel32.CreateFileW.restype = wintypes.HANDLE
_kernel32.CreateEventW.restype = wintypes.HANDLE
_kernel32.OpenProcess.restype = wintypes.HANDLE
_kernel32.GetCurrentProcess.restype = wintypes.HANDLE
_kernel32.CreateJobObjectW.restype = wintypes.HANDLE


def _failed() -> OSError:
    return ctypes.WinError(ctypes.get_last_error())


# -- who a process belongs to ------------------------------------------------------------------


def own_sid() -> str:
    """The security identifier of the user that runs this process, as text (S-1-5-…)."""
    return _sid_of(_kernel32.GetCurrentProcess())


def sid_of_process(pid: int) -> str:
    """The same of another process. Raises OSError where it may not be asked or has gone."""
    process = _kernel32.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, False, pid)
    if not process:
        raise _failed()
    try:
        return _sid_of(process)
    finally:
        close_handle(process)


def _sid_of(process: int) -> str:
    token = wintypes.HANDLE()
    if not _advapi32.OpenProcessToken(wintypes.HANDLE(process), TOKEN_QUERY, ctypes.byref(token)):
        raise _failed()
    try:
        size = wintypes.DWORD()
        _advapi32.GetTokenInformation(token, TOKEN_USER, None, 0, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        if not _advapi32.GetTokenInformation(token, TOKEN_USER, buffer, size, ctypes.byref(size)):
            raise _failed()
        # TOKEN_USER begins with a SID_AND_ATTRIBUTES, and that with the pointer to the SID.
        sid = ctypes.c_void_p.from_buffer(buffer)
        text = wintypes.LPWSTR()
        if not _advapi32.ConvertSidToStringSidW(sid, ctypes.byref(text)):
            raise _failed()
        try:
            return str(text.value)
        finally:
            _kernel32.LocalFree(text)
    finally:
        _kernel32.CloseHandle(token)


# -- named pipes -------------------------------------------------------------------------------


def create_pipe(name: str, *, first: bool) -> int:
    """One instance of a pipe that only this user may open, and only from this machine.

    `first`: the name must not exist yet, so that nobody else can have been there before us.
    """
    descriptor = ctypes.c_void_p()
    # Owner and group are the user; access for the user alone, protected from inheritance.
    sid = own_sid()
    sddl = f"O:{sid}G:{sid}D:P(A;;GA;;;{sid})"
    if not _advapi32.ConvertStringSecurityDescriptorToSecurityDescriptorW(
        sddl, SDDL_REVISION_1, ctypes.byref(descriptor), None
    ):
        raise _failed()
    attributes = SecurityAttributes(ctypes.sizeof(SecurityAttributes), descriptor.value, False)
    mode = PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED
    mode |= FILE_FLAG_FIRST_PIPE_INSTANCE if first else 0
    try:
        handle = _kernel32.CreateNamedPipeW(
            name, mode, PIPE_BYTE_WAIT_LOCAL_ONLY, PIPE_UNLIMITED_INSTANCES,
            PIPE_BUFFER, PIPE_BUFFER, 0, ctypes.byref(attributes),
        )  # fmt: skip
        if handle == INVALID_HANDLE:
            raise _failed()
        return int(handle)
    finally:
        _kernel32.LocalFree(descriptor)


def begin_connect(handle: int, overlapped: Overlapped) -> bool:
    """Starts waiting for a client; True when there is one already."""
    if _kernel32.ConnectNamedPipe(wintypes.HANDLE(handle), ctypes.byref(overlapped)):
        return True
    error = ctypes.get_last_error()
    if error in (ERROR_PIPE_CONNECTED, ERROR_NO_DATA):
        return True  # it came, and perhaps has gone again: reading will tell
    if error == ERROR_IO_PENDING:
        return False
    raise ctypes.WinError(error)


def client_sid(handle: int) -> str:
    """Whose process is at the client's end. Raises OSError."""
    pid = wintypes.ULONG()
    if not _kernel32.GetNamedPipeClientProcessId(wintypes.HANDLE(handle), ctypes.byref(pid)):
        raise _failed()
    return sid_of_process(pid.value)


def server_sid(handle: int) -> str:
    """Whose process serves the pipe. Raises OSError."""
    pid = wintypes.ULONG()
    if not _kernel32.GetNamedPipeServerProcessId(wintypes.HANDLE(handle), ctypes.byref(pid)):
        raise _failed()
    return sid_of_process(pid.value)


def open_pipe(name: str) -> int:
    """The client's end. Raises FileNotFoundError where nobody serves, else OSError."""
    handle = _kernel32.CreateFileW(
        name, GENERIC_READ | GENERIC_WRITE, 0, None, OPEN_EXISTING,
        FILE_FLAG_OVERLAPPED | SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION, None,
    )  # fmt: skip
    if handle == INVALID_HANDLE:
        raise _failed()
    return int(handle)


def wait_for_pipe(name: str, milliseconds: int) -> None:
    """Waits until an instance is free; returns as well when the time is over."""
    _kernel32.WaitNamedPipeW(name, max(1, milliseconds))


def transfer(handle: int, data: "bytes | int", seconds: float) -> bytes:
    """Reads at most `data` bytes, or writes `data`, within the time; b"" at the end of the pipe.

    Raises TimeoutError (the operation is cancelled) or OSError.
    """
    event = _kernel32.CreateEventW(None, True, False, None)
    overlapped = Overlapped(hEvent=event)
    buffer = ctypes.create_string_buffer(data if isinstance(data, int) else bytes(data))
    call = _kernel32.ReadFile if isinstance(data, int) else _kernel32.WriteFile
    size = data if isinstance(data, int) else len(data)
    done = wintypes.DWORD()
    try:
        if not call(
            wintypes.HANDLE(handle), buffer, size, ctypes.byref(done), ctypes.byref(overlapped)
        ):
            error = ctypes.get_last_error()
            if error != ERROR_IO_PENDING:
                raise ctypes.WinError(error)
            limit = max(1, int(seconds * 1000))
            if _kernel32.WaitForSingleObject(event, limit) == WAIT_TIMEOUT:
                _kernel32.CancelIoEx(wintypes.HANDLE(handle), ctypes.byref(overlapped))
                _kernel32.GetOverlappedResult(
                    wintypes.HANDLE(handle), ctypes.byref(overlapped), ctypes.byref(done), True
                )
                raise TimeoutError
        if not _kernel32.GetOverlappedResult(
            wintypes.HANDLE(handle), ctypes.byref(overlapped), ctypes.byref(done), True
        ):
            raise _failed()
        return buffer.raw[: done.value]
    finally:
        close_handle(event)


def peek(handle: int) -> bool:
    """Whether the other end is still there."""
    return bool(_kernel32.PeekNamedPipe(wintypes.HANDLE(handle), None, 0, None, None, None))


def close_handle(handle: int) -> None:
    """Of a pipe's end too: what has been written to it can still be read at the other (which
    DisconnectNamedPipe would throw away), and what waits on it is told that it was closed."""
    _kernel32.CloseHandle(wintypes.HANDLE(handle))


# -- files and processes -----------------------------------------------------------------------


def open_to_read(path: str) -> int:
    """A descriptor that is in nobody's way: others may write, replace and remove the file while it
    is open (the C library's own open forbids the last two). Raises OSError."""
    handle = _kernel32.CreateFileW(
        path, GENERIC_READ, FILE_SHARE_ALL, None, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, None
    )
    if handle == INVALID_HANDLE:
        raise _failed()
    return msvcrt.open_osfhandle(int(handle), os.O_RDONLY | os.O_BINARY | os.O_NOINHERIT)


def replace(fresh: str, path: str) -> None:
    """Renames over a file, also over one that is open to read, as POSIX does (FileRenameInfoEx,
    Windows 10 1709 and NTFS; elsewhere as MoveFileExW does). Whoever keeps others out, such as a
    virus scanner, does so for a moment: it is tried again for half a second. Raises OSError."""
    for pause in REPLACE_PAUSES_S:
        try:
            _replace(fresh, path)
        except PermissionError:
            time.sleep(pause)
        else:
            return
    _replace(fresh, path)


def _replace(fresh: str, path: str) -> None:
    handle = _kernel32.CreateFileW(
        fresh, DELETE | SYNCHRONIZE, FILE_SHARE_ALL, None, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL,
        None,
    )  # fmt: skip
    if handle == INVALID_HANDLE:
        raise _failed()
    try:
        name = os.path.abspath(path).encode("utf-16-le")
        given = RenameInformation(RENAME_REPLACE | RENAME_POSIX, None, len(name))
        size = RenameInformation.FileName.offset
        data = ctypes.create_string_buffer(bytes(given)[:size] + name, size + len(name) + 2)
        done = _kernel32.SetFileInformationByHandle(
            wintypes.HANDLE(handle), FILE_RENAME_INFO_EX, data, len(data)
        )
        error = 0 if done else ctypes.get_last_error()
    finally:
        close_handle(int(handle))
    if error in (ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED, ERROR_INVALID_FUNCTION):
        os.replace(fresh, path)
    elif error:
        raise ctypes.WinError(error)


def open_to_append(path: str) -> int:
    """A descriptor whose every write is one append at the end of the file, whoever else appends
    (FILE_APPEND_DATA without FILE_WRITE_DATA). Raises OSError."""
    handle = _kernel32.CreateFileW(
        path, FILE_APPEND_DATA | SYNCHRONIZE, FILE_SHARE_ALL, None, OPEN_ALWAYS,
        FILE_ATTRIBUTE_NORMAL, None,
    )  # fmt: skip
    if handle == INVALID_HANDLE:
        raise _failed()
    return msvcrt.open_osfhandle(int(handle), os.O_APPEND | os.O_BINARY)


def try_lock(descriptor: int) -> bool:
    """Takes an exclusive lock on a byte far behind any content; False where another has it."""
    try:
        os.lseek(descriptor, 0x7FFF0000, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True


def start_detached(command: "list[str]", env: "dict[str, str]") -> None:
    """Starts a process without a window, outside the job that the host may end. Raises OSError."""
    from subprocess import DEVNULL, Popen  # late: rare

    flags = DETACHED_PROCESS | CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP
    common = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL, "close_fds": True}
    try:
        Popen(command, env=env, creationflags=flags | CREATE_BREAKAWAY_FROM_JOB, **common)  # type: ignore[call-overload]
    except PermissionError:  # the job does not let anybody out
        Popen(command, env=env, creationflags=flags, **common)  # type: ignore[call-overload]


def below_normal() -> None:
    """Lowers this process's priority by one class. Raises OSError."""
    process = wintypes.HANDLE(_kernel32.GetCurrentProcess())
    if not _kernel32.SetPriorityClass(process, BELOW_NORMAL_PRIORITY_CLASS):
        raise _failed()


def job_of(pid: int) -> int:
    """A new job that holds a process and what it will start, all below normal priority; they end
    when the handle closes. Raises OSError."""
    limits = JobLimits()
    limits.LimitFlags = JOB_KILL_ON_CLOSE | JOB_PRIORITY_CLASS
    limits.PriorityClass = BELOW_NORMAL_PRIORITY_CLASS
    job = _kernel32.CreateJobObjectW(None, None)
    process = _kernel32.OpenProcess(PROCESS_SET_QUOTA | PROCESS_TERMINATE, False, pid)
    try:
        if not (
            job
            and process
            and _kernel32.SetInformationJobObject(
                wintypes.HANDLE(job), JOB_EXTENDED_LIMITS, ctypes.byref(limits),
                ctypes.sizeof(limits),
            )
            and _kernel32.AssignProcessToJobObject(wintypes.HANDLE(job), wintypes.HANDLE(process))
        ):  # fmt: skip
            raise _failed()
    except OSError:
        if job:
            close_handle(job)
        raise
    finally:
        if process:
            close_handle(process)
    return int(job)


def end_job(job: int) -> None:
    """Ends all processes of a job and gives it up."""
    _kernel32.TerminateJobObject(wintypes.HANDLE(job), 1)
    close_handle(job)


class JobLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION, the basic limits and what follows them in one."""

    _fields_ = [
        ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
        ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
        ("LimitFlags", wintypes.DWORD),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", wintypes.DWORD),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", wintypes.DWORD),
        ("SchedulingClass", wintypes.DWORD),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    ]


class FileTime(ctypes.Structure):
    """FILETIME."""

    _fields_ = [("low", wintypes.DWORD), ("high", wintypes.DWORD)]


class MemoryCounters(ctypes.Structure):
    """PROCESS_MEMORY_COUNTERS."""

    _fields_ = [
        ("cb", wintypes.DWORD),
        ("PageFaultCount", wintypes.DWORD),
        *((name, ctypes.c_size_t) for name in (
            "PeakWorkingSetSize", "WorkingSetSize", "QuotaPeakPagedPoolUsage",
            "QuotaPagedPoolUsage", "QuotaPeakNonPagedPoolUsage", "QuotaNonPagedPoolUsage",
            "PagefileUsage", "PeakPagefileUsage",
        )),
    ]  # fmt: skip


def process_created(pid: int) -> str:
    """When a process was created (GetProcessTimes). Raises OSError where it is not there."""
    process = _kernel32.OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, False, pid)
    if not process:
        raise _failed()
    times = [FileTime() for _ in range(4)]
    try:
        if not _kernel32.GetProcessTimes(
            wintypes.HANDLE(process), *(ctypes.byref(one) for one in times)
        ):
            raise _failed()
    finally:
        close_handle(process)
    return str((times[0].high << 32) + times[0].low)


def working_set() -> int:
    """Bytes that this process holds in memory (K32GetProcessMemoryInfo). Raises OSError."""
    counters = MemoryCounters(cb=ctypes.sizeof(MemoryCounters))
    process = _kernel32.GetCurrentProcess()
    if not _kernel32.K32GetProcessMemoryInfo(
        wintypes.HANDLE(process), ctypes.byref(counters), counters.cb
    ):
        raise _failed()
    return int(counters.WorkingSetSize)


def waiting_bytes(handle: int) -> "int | None":
    """How many bytes can be read from a pipe at once; None at its end."""
    waiting = wintypes.DWORD()
    if not _kernel32.PeekNamedPipe(
        wintypes.HANDLE(handle), None, 0, None, ctypes.byref(waiting), None
    ):
        return None
    return int(waiting.value)
