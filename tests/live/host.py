"""Plays the host: an installation in a temporary user's home, its hook entries run as Claude Code
runs them, and `hmctl` as a person types it. Nothing here reaches around the real processes."""

import contextlib
import fcntl
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hmd.kernel.address import session_key
from tests.live.instance import PATIENCE_S, Instance, short_directory, wait_until_gone

Payload = dict[str, Any]
# Root passes every permission check; a host of an ordinary user does not. Dropping these two makes
# root's own processes ordinary as far as files go.
_ORDINARY = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]


class Answer(NamedTuple):
    """What a hook process did: exit code, what it printed, its words on stderr."""

    code: int
    out: bytes
    err: bytes

    @property
    def specific(self) -> Payload:
        if not self.out:
            return {}
        found: Payload = json.loads(self.out).get("hookSpecificOutput", {})
        return found

    @property
    def decision(self) -> str:
        return str(self.specific.get("permissionDecision", ""))

    @property
    def reason(self) -> str:
        return str(self.specific.get("permissionDecisionReason", ""))

    @property
    def context(self) -> str:
        return str(self.specific.get("additionalContext", ""))

    @property
    def held(self) -> bool:
        return self.decision in ("deny", "ask")


class Host:
    """One user of one machine. `user` is the process's user id where it is not ours."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.instance = Instance(directory)
        self.home = self.instance.home
        self.claude = directory / "claude"
        self.claude.mkdir(exist_ok=True)
        self.settings = self.claude / "settings.json"
        self.user: int | None = None
        self.env = {
            "HOME": str(directory),
            "HMD_HOME": self.home.path,
            "CLAUDE_CONFIG_DIR": str(self.claude),
            "PATH": os.environ["PATH"],
            "HMD_CLAUDE_BIN": "/no/claude",
            "HMD_CODEX_BIN": "/no/codex",
            "GIT_CONFIG_GLOBAL": "/dev/null",
        }

    # -- a person at a terminal --

    def hmctl(
        self, *words: str, cwd: Path | None = None, code: int | None = 0, **env: str
    ) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [sys.executable, "-m", "hmd.cli.main", *words],
            cwd=cwd or self.directory,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=60,
            check=False,
            user=self.user,
            group=self.user,
        )
        if code is not None:
            assert done.returncode == code, done.stdout + done.stderr + self.instance.log()
        return done

    def git(self, *words: str, cwd: Path) -> None:
        quiet = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"]
        quiet += ["-c", "protocol.file.allow=always"]
        subprocess.run(["git", *quiet, *words], cwd=cwd, check=True, capture_output=True)

    def repository(self, name: str = "app") -> Path:
        path = self.directory / name
        path.mkdir(parents=True)
        self.git("init", "-q", cwd=path)
        self.git("commit", "-q", "--allow-empty", "-m", "start", cwd=path)
        return path

    def install(self, cwd: Path, *options: str) -> None:
        self.hmctl("install", "--skip-self-test", *options, cwd=cwd)

    def rule(self, cwd: Path, signature: str, level: str, summary: str = "", *more: str) -> str:
        """Adds a rule in force by hand; gives its id."""
        done = self.hmctl(
            "memory", "add", "--summary", summary or f"not {signature}", "--signature", signature,
            "--enforce", level, "--active", "--json", *more, cwd=cwd,
        )  # fmt: skip
        return str(json.loads(done.stdout)["memory"]["id"])

    # -- the host --

    def entry(self, event: str, settings: Path | None = None) -> list[str]:
        """The command of our hook; an event that we do not register takes PreToolUse's."""
        text = (settings or self.settings).read_text(encoding="utf-8")
        hooks = json.loads(re.sub(r"(?m)^\s*//.*$", "", text))["hooks"]  # comments are the user's
        handlers = [
            handler
            for group in hooks.get(event, hooks["PreToolUse"])
            for handler in group["hooks"]
            if "client.hook" in str(handler.get("args"))
        ]
        (ours,) = handlers
        return [ours["command"], *ours["args"][:-1], event]

    def hook(
        self,
        event: str,
        payload: "Payload | bytes",
        *,
        ordinary: bool = False,
        words: "list[str] | None" = None,
        cwd: Path | None = None,
        before: "Callable[[], None] | None" = None,
        env: "dict[str, str] | None" = None,
    ) -> Answer:
        """Runs the entry with the payload on stdin. `ordinary`: permissions count, also for root;
        `before` runs in the child; `env` is added to what every hook inherits."""
        body = payload if isinstance(payload, bytes) else json.dumps(payload).encode() + b"\n"
        command = words or self.entry(event)
        if ordinary and os.geteuid() == 0:
            command = [*_ORDINARY, *command]
        where = cwd or Path(str(payload["cwd"]) if isinstance(payload, dict) else self.directory)
        done = subprocess.run(
            command,
            input=body,
            cwd=where if where.is_dir() else self.directory,
            env={**self.env, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(where), **(env or {})},
            capture_output=True,
            timeout=60,
            check=False,
            user=self.user,
            group=self.user,
            preexec_fn=before,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    # -- the daemon --

    def start(self) -> int:
        """A daemon that serves, and its process id. No stub remembers an unreachable one."""
        self.hmctl("daemon", "start")
        for mark in (self.home.skip, self.home.start):
            Path(mark).unlink(missing_ok=True)
        return self.instance.serving_pid()

    def stop(self) -> None:
        """Ends the daemon; no stub starts another until `release`."""
        self.hold()
        self.hmctl("daemon", "stop")

    def hold(self) -> None:
        """From now on stubs only connect, as where a service manager owns the daemon."""
        Path(self.home.service).touch()

    def release(self) -> None:
        Path(self.home.service).unlink(missing_ok=True)

    def daemons(self) -> list[int]:
        """Every process that is a daemon of this home (Linux)."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    zombie = b") Z " in (entry / "stat").read_bytes()
                    if b"hmd.daemon.main" in words and self.home.path.encode() in words:
                        found += [] if zombie else [int(entry.name)]
        return found

    def daemons_left(self, keep: int = 0) -> list[int]:
        """The same once candidates that lost to `keep` (0: to nobody) have had time to leave."""
        for pid in self.daemons():
            if pid != keep:
                wait_until_gone(pid, PATIENCE_S)
        return self.daemons()

    # -- what is left --

    def ledger(self, session: str) -> list[Payload]:
        """The session's records in order."""
        path = Path(self.home.ledger(session_key("claude-code", session)))
        if not path.exists():
            return []
        return [json.loads(line) for line in filter(None, path.read_bytes().split(b"\n"))]

    def log_lines(self, at_least: int = 0) -> list[str]:
        """The hook log, waited for until it has so many lines: the daemon writes in batches."""
        path = Path(self.home.hook_log)
        end = time.monotonic() + PATIENCE_S
        while True:
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            lines = text.splitlines()
            if len(lines) >= at_least or time.monotonic() > end:
                return lines
            time.sleep(0.05)

    def close(self) -> None:
        self.release()
        self.instance.close()
        for pid in self.daemons():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)


@contextlib.contextmanager
def a_host() -> Iterator[Host]:
    with short_directory() as directory:
        made = Host(directory)
        try:
            yield made
        finally:
            made.close()


class Session:
    """One session of the host in one project. Every method is one hook call."""

    def __init__(self, host: Host, project: Path, name: str = "s1", **env: str) -> None:
        self.host = host
        self.project = project
        self.name = name
        self.env = env
        self.mode = "default"
        self.uses = 0
        self.last: Payload = {}

    def send(self, event: str, **fields: Any) -> Answer:
        answer = self.host.hook(event, self.payload(event, **fields), env=self.env)
        assert (answer.code, answer.err) == (0, b""), answer
        return answer

    def payload(self, event: str, **fields: Any) -> Payload:
        return {
            "session_id": self.name,
            "transcript_path": f"{self.host.directory}/{self.name}.jsonl",
            "cwd": str(self.project),
            "permission_mode": self.mode,
            "hook_event_name": event,
            **fields,
        }

    def call(self, tool: str = "Bash", **given: Any) -> Payload:
        self.uses += 1
        use = f"toolu_{self.name}_{self.uses}"
        self.last = {"tool_name": tool, "tool_input": given, "tool_use_id": use}
        return self.last

    def start(self, source: str = "startup") -> Answer:
        return self.send("SessionStart", source=source)

    def prompt(self, text: str) -> Answer:
        return self.send("UserPromptSubmit", prompt=text)

    def pre(self, command: str) -> Answer:
        """A Bash call that is about to run."""
        return self.send("PreToolUse", **self.call(command=command))

    def about_to(self, tool: str, **given: Any) -> Answer:
        return self.send("PreToolUse", **self.call(tool, **given))

    def ran(self, command: str, output: str = "") -> Answer:
        """A call that runs and works: before, after, end of the batch."""
        call = self.call(command=command)
        answer = self.send("PreToolUse", **call)
        if not answer.held:
            response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
            self.send("PostToolUse", **call, tool_response=response)
        self.batch(output)
        return answer

    def failed(self, command: str, error: str = "Exit code 1\nit failed") -> Answer:
        call = self.call(command=command)
        answer = self.send("PreToolUse", **call)
        if not answer.held:
            self.send("PostToolUseFailure", **call, error=error, is_interrupt=False)
        self.batch(error)
        return answer

    def batch(self, response: str = "hook error") -> Answer:
        """The end of the batch that the latest call stood in alone."""
        return self.send("PostToolBatch", tool_calls=[{**self.last, "tool_response": response}])

    def stop(self) -> Answer:
        return self.send("Stop", stop_hook_active=False, last_assistant_message="Done.")


class Town:
    """A host with one installation and many repositories."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self._installed = False

    def place(self, name: str, *rules: "tuple[str, str]", enabled: bool = True) -> Session:
        """A new repository with rules (signature, level), and a session in it."""
        project = self.host.repository(name)
        if not self._installed:
            self._installed = True
            self.host.install(project)
        elif enabled:
            self.host.hmctl("project", "enable", cwd=project)
        for signature, level in rules:
            self.host.rule(project, signature, level)
        return Session(self.host, project, name)


def drained(
    words: "list[str]", body: bytes, env: "dict[str, str]", cwd: Path
) -> "tuple[Answer, bool]":
    """The answer to a body that comes through a pipe far smaller than it, and whether all of it was
    taken: a host that writes without looking must never get EPIPE."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    process = subprocess.Popen(
        words, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=cwd
    )
    os.close(reading)
    taken = True
    try:
        while body:
            body = body[os.write(writing, body) :]
    except BrokenPipeError:
        taken = False
    finally:
        os.close(writing)
    out, err = process.communicate(timeout=PATIENCE_S)
    return Answer(process.returncode, out, err), taken
