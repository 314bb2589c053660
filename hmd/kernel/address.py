"""Names every place under a home, and the socket, for stub, daemon and command line alike.

The stub imports this on its hot path, so it works on strings and imports built-in modules only.
"""

import sys
from _sha1 import sha1

# The longest socket path used as it is. The kernel's own limit is 108 bytes on Linux and 104 on
# macOS, the terminating zero included.
SOCKET_PATH_LIMIT = 100


def digest(text: str, length: int) -> str:
    """The first `length` hexadecimal digits of the SHA-1 of `text`."""
    full: str = sha1(text.encode("utf-8", "surrogatepass")).hexdigest()
    return full[:length]


if sys.platform == "win32":

    def node_name() -> str:
        """The name of this machine (or container)."""
        # From the system, not from a variable: a daemon inherits few of those.
        from _socket import gethostname

        return gethostname().lower()

    def user_number() -> int:
        """No numbers here: names are told apart by the home they stand for."""
        return 0

    def socket_of(home: "Home") -> str:
        return pipe_name(home.path)

    def directory_of_socket(home: "Home") -> str:
        return ""

else:
    import posix

    def node_name() -> str:
        """The name of this machine (or container)."""
        return posix.uname().nodename

    def user_number() -> int:
        """The user's number, for names outside of the home."""
        return posix.getuid()

    def socket_of(home: "Home") -> str:
        path = home.run + "/hmd.sock"
        if len(path.encode("utf-8", "surrogateescape")) <= SOCKET_PATH_LIMIT:
            return path
        return home.short_run + "/" + digest(home.path, 16) + ".sock"

    def directory_of_socket(home: "Home") -> str:
        return home.socket.rpartition("/")[0]


def session_key(host: str, session: str) -> str:
    """File name of a host session: 16 hex digits, never text of the host's."""
    return digest(host + ":" + session, 16)


def default_home(env: "dict[str, str]", platform: str = sys.platform) -> str:
    """`$HMD_HOME`, else the platform's data directory; "" where neither can be told."""
    if env.get("HMD_HOME"):
        return env["HMD_HOME"].rstrip("/") or "/"
    user = env.get("HOME", "")
    if platform == "win32":
        base = env.get("LOCALAPPDATA", "")
        return base + "/hmd" if base else ""
    if platform == "darwin":
        return user + "/Library/Application Support/hmd" if user else ""
    data = env.get("XDG_DATA_HOME", "")
    if not data.startswith("/"):  # XDG base directory specification: relative values are ignored
        data = user + "/.local/share" if user else ""
    return data + "/hmd" if data else ""


def pipe_name(home: str) -> str:
    """Pipes have one global name space: the home's digest, whatever case and slashes it is written
    with."""
    return "\\\\.\\pipe\\hmd-" + digest(home.replace("\\", "/").lower(), 16)


class Home:
    """The paths under one home. Creates and reads nothing."""

    __slots__ = ("machine", "path", "run")

    def __init__(self, path: str, machine: str = "") -> None:
        self.path = path
        self.machine = machine or digest(node_name(), 12)
        self.run = path + "/run/" + self.machine

    # What the user and install write.
    @property
    def config(self) -> str:
        return self.path + "/config.toml"

    @property
    def disabled(self) -> str:
        return self.path + "/disabled"

    @property
    def service(self) -> str:
        """Exists while a service manager owns the daemon: stubs then only connect."""
        return self.path + "/service"

    @property
    def receipt(self) -> str:
        return self.path + "/install.json"

    @property
    def app(self) -> str:
        return self.path + "/app"

    @property
    def app_current(self) -> str:
        return self.path + "/app/current"

    @property
    def daemon_command(self) -> str:
        """How a stub starts the daemon: one argument a line, the interpreter first."""
        return self.path + "/app/daemon"

    # What the daemon writes.
    @property
    def database(self) -> str:
        return self.path + "/db/hmd.sqlite"

    @property
    def backups(self) -> str:
        return self.path + "/backup"

    @property
    def journal(self) -> str:
        return self.path + "/journal"

    @property
    def snapshots(self) -> str:
        return self.path + "/snapshot"

    def snapshot(self, name: str) -> str:
        """Snapshot file of a project id, or of `user`."""
        return self.path + "/snapshot/" + name

    @property
    def projects(self) -> str:
        return self.path + "/projects"

    @property
    def everywhere(self) -> str:
        return self.path + "/projects/everywhere"

    def project(self, project_id: str) -> str:
        return self.path + "/projects/" + project_id + ".json"

    def by_path(self, location: str) -> str:
        return self.path + "/projects/by-path/" + digest(location, 24)

    def hot(self, name: str) -> str:
        """The block of lasting context of a project id or `user` (hmd/kernel/hot.py)."""
        return self.path + "/hot/" + name

    def notice(self, project_id: str) -> str:
        """Lines for the user at the start of a session (hmd/kernel/notice.py)."""
        return self.path + "/notice/" + project_id

    # What daemon and stubs write, per machine.
    @property
    def ledgers(self) -> str:
        return self.path + "/ledger/" + self.machine

    def ledger(self, key: str) -> str:
        return self.path + "/ledger/" + self.machine + "/" + key + ".jsonl"

    @property
    def turns(self) -> str:
        return self.path + "/turn/" + self.machine

    def turn(self, key: str) -> str:
        return self.path + "/turn/" + self.machine + "/" + key + ".json"

    @property
    def logs(self) -> str:
        return self.path + "/log"

    @property
    def hook_log(self) -> str:
        return self.path + "/log/hooks.log"

    @property
    def daemon_log(self) -> str:
        return self.path + "/log/daemon.log"

    @property
    def lock(self) -> str:
        return self.run + "/lock"

    @property
    def daemon(self) -> str:
        return self.run + "/daemon.json"

    @property
    def skip(self) -> str:
        """Its modification time says until when stubs skip the socket (it was late or absent)."""
        return self.run + "/skip"

    @property
    def patterns(self) -> str:
        """Compiled regular expressions of the user's rules (hmd/kernel/pattern.py)."""
        return self.run + "/patterns"

    @property
    def start(self) -> str:
        """Its modification time says when a stub last tried to start the daemon."""
        return self.run + "/start"

    @property
    def socket(self) -> str:
        """Path of the Unix socket: under the home, or a short private one where that is too long.

        The short one lives in a directory that only this user can enter; the name is a digest of
        the home, so that stub and daemon agree whatever their environments say. On Windows it is
        the name of a pipe.
        """
        return socket_of(self)

    @property
    def socket_directory(self) -> str:
        """The directory that the socket lies in; "" where it is no file (Windows)."""
        return directory_of_socket(self)

    @property
    def short_run(self) -> str:
        """The private directory of short socket paths (its owner and mode are checked by both)."""
        return "/tmp/hmd-" + str(user_number())
