"""What learning costs the hooks: `python -m bench.learning`. Prints, asserts nothing.

Round trips of PreToolUse over the daemon's socket, quiet and then beside: the reading of a session
of 2,000 calls, an extraction, a consolidation over 2,000 memories, an import of 2,000 bullets.
"""

import contextlib
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hmd import link
from hmd.kernel import frame
from hmd.kernel.address import Home

CALLS = 2000
MEMORIES = 2000
BULLETS = 2000
QUIET = 1500


class Bench:
    """A daemon over a home of its own and one project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Home(str(root / "home"))
        os.makedirs(self.home.path, mode=0o700)
        Path(self.home.config).write_text('[extraction]\nprovider = "replay"\n', encoding="utf-8")
        os.makedirs(self.home.path + "/replay")
        Path(self.home.path, "replay", "answers.jsonl").write_text("", encoding="utf-8")
        self.project = root / "app"
        (self.project / ".git").mkdir(parents=True)
        self.env = {"HOME": str(root), "PATH": os.environ.get("PATH", "")}
        link.start(self.home, self.env)
        self.call("project.enable", {"path": str(self.project)})
        self.uses = 0

    def call(self, method: str, body: dict[str, Any]) -> dict[str, Any]:
        return link.call(
            self.home, method, body, dict[str, Any], cwd=str(self.project), environ=self.env
        )

    def hook(self, event: str, session: str, **fields: Any) -> float:
        """One round trip as the stub makes it, in milliseconds."""
        self.uses += 1
        payload = {"session_id": session, "hook_event_name": event, "cwd": str(self.project)}
        body = json.dumps({**payload, **fields}).encode()
        header = {
            "proto": "1",
            "build": "",
            "delivery": f"{self.uses:016x}",
            "host": "claude-code",
            "event": event,
            "at": str(time.time_ns() // 1_000_000),
            "env.HOME": str(self.root),
        }
        data = frame.request(frame.HOOK, header, body)
        began = time.perf_counter()
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(self.home.socket)
            sock.sendall(data)
            while sock.recv(65536):
                pass
        return (time.perf_counter() - began) * 1000

    def tool(self, session: str, command: str, error: str = "", out: str = "ok\n") -> float:
        self.uses += 1
        base = {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"u{self.uses}",
        }
        took = self.hook("PreToolUse", session, **base)
        if error:
            self.hook("PostToolUseFailure", session, **base, error=error)
        else:
            self.hook("PostToolUse", session, **base, tool_response={"stdout": out})
        return took

    def pretool(self, number: int) -> float:
        self.uses += 1
        return self.hook(
            "PreToolUse",
            "measured",
            tool_name="Bash",
            tool_input={"command": f"git commit -m 'part {number}' && npm run build"},
            tool_use_id=f"m{self.uses}",
        )

    def daemon_pid(self) -> int:
        return int(json.loads(Path(self.home.daemon).read_bytes())["pid"])

    def worker(self) -> tuple[float, float]:
        """(seconds of CPU, peak MB) of the running worker; zeros where there is none."""
        daemon = self.daemon_pid()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            with contextlib.suppress(OSError, IndexError, ValueError):
                words = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(words[1]) == daemon and b"hmd.worker" in (entry / "cmdline").read_bytes():
                    ticks = int(words[11]) + int(words[12])
                    status = (entry / "status").read_text()
                    peak = next(x for x in status.splitlines() if x.startswith("VmHWM"))
                    return ticks / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024
        return 0.0, 0.0


def row(name: str, times: list[float], quiet: list[float] | None = None) -> None:
    times = sorted(times)
    p50, p99 = times[len(times) // 2], times[int(len(times) * 0.99)]
    beside = ""
    if quiet:
        reference = sorted(quiet)
        beside = f"  (quiet p99 {reference[int(len(reference) * 0.99)]:.2f})"
    say(f"{name:<44} {len(times):>6} calls  p50 {p50:7.2f} ms  p99 {p99:7.2f} ms{beside}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def beside(bench: Bench, work: Callable[[], object]) -> tuple[list[float], float]:
    """Round trips made while `work` runs in another thread, and its seconds."""
    took = [0.0]

    def run() -> None:
        began = time.perf_counter()
        work()
        took[0] = time.perf_counter() - began

    thread = threading.Thread(target=run)
    thread.start()
    times = []
    number = 0
    while thread.is_alive():
        times.append(bench.pretool(number))
        number += 1
        time.sleep(0.002)
    thread.join()
    return times, took[0]


def outside(bench: Bench, method: str, body: dict[str, Any]) -> Callable[[], object]:
    """A call made by a process of its own, so that the measuring one stays free."""
    code = (
        "import sys, json; from hmd import link; from hmd.kernel.address import Home; "
        "a = json.loads(sys.argv[1]); print(json.dumps(link.call(Home(a['home']), a['method'], "
        "a['body'], dict, cwd=a['cwd'], environ=a['env']))[:200])"
    )
    given = {
        "home": bench.home.path,
        "method": method,
        "body": body,
        "cwd": str(bench.project),
        "env": bench.env,
    }
    argv = [sys.executable, "-c", code, json.dumps(given)]
    return lambda: subprocess.run(argv, check=True, capture_output=True)


@contextlib.contextmanager
def bench_home() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="hmd-bench-") as root:
        made = Bench(Path(root))
        try:
            yield made
        finally:
            pid = made.daemon_pid()
            made.call("stop", {})
            while os.path.exists(f"/proc/{pid}"):
                time.sleep(0.01)


def main() -> None:
    say(f"{os.cpu_count()} cores; load {os.getloadavg()[0]:.1f}")
    with bench_home() as bench:
        drafts = [
            {
                "summary": f"use the wrapper for tool{number} in this repository",
                "signature": f"bash:command:cmd:tool{number} run",
                "active": True,
            }
            for number in range(MEMORIES)
        ]
        for draft in drafts:
            bench.call("memory.add", draft)
        quiet = [bench.pretool(number) for number in range(QUIET)]
        row(f"quiet, {MEMORIES} memories", quiet)
        long_session(bench, quiet)
        times, took = beside(bench, outside(bench, "consolidate", {}))
        row(f"beside consolidation ({took:.1f} s)", times, quiet)
        notes = bench.project / "CLAUDE.md"
        lines = [f"- rule number {n}: prefer the wrapper of part {n}\n" for n in range(BULLETS)]
        notes.write_text("".join(lines), encoding="utf-8")
        wanted = {"paths": [str(notes)]}
        times, took = beside(bench, outside(bench, "notes.import", wanted))
        row(f"beside an import of {BULLETS} bullets ({took:.1f} s)", times, quiet)
        bench.hook("UserPromptSubmit", "taught", prompt="run the tests")
        bench.tool("taught", "npm test", "Exit code 1\nnpm ERR! missing script")
        bench.hook("Stop", "taught", last_assistant_message="it fails")
        bench.hook("UserPromptSubmit", "taught", prompt="don't use npm here, use pnpm")
        bench.tool("taught", "pnpm test")
        bench.hook("Stop", "taught", last_assistant_message="passes")
        times, took = beside(bench, outside(bench, "extract", {"now": True}))
        row(f"beside an extraction ({took:.1f} s)", times, quiet)
        row("quiet again", [bench.pretool(number) for number in range(QUIET)])
    say(f"peak of the measuring process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} KB")


def long_session(bench: Bench, quiet: list[float]) -> None:
    """2,000 calls and no correction: what reading them takes, and that nothing is asked."""
    for number in range(CALLS):
        if number % 40 == 0:
            bench.hook("UserPromptSubmit", "long", prompt=f"now write part {number}")
        bench.tool("long", f"make part{number} && git add part{number}", out="built\n" * 300)
    bench.hook("SessionEnd", "long", reason="other")
    size = sum(path.stat().st_size for path in Path(bench.home.ledgers).glob("*.jsonl"))
    times, took = beside(bench, outside(bench, "extract", {"now": True}))
    cpu, peak = bench.worker()
    row(f"beside reading {CALLS} calls ({took:.1f} s, {size >> 20} MB)", times, quiet)
    costs = bench.call("costs", {})
    learned = bench.call("memory.list", {"source": "extraction"})["total"]
    say(f"  worker: {cpu:.1f} s of CPU, {peak:.0f} MB; model calls: {costs['last_day_calls']}")
    say(f"  memories learned: {learned}")


if __name__ == "__main__":
    main()
