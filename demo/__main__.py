"""Plays the recorded session through an installation in a temporary home, explains each answer,
kills the daemon, asks again and compares the bytes. Leaves nothing behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HMCTL = str(Path(sys.executable).with_name("hmctl"))
RULE = ["memory", "add", "--type", "policy", "--summary", "Nobody pushes from here; CI does.",
        "--signature", "bash:command:cmd:git push", "--enforce", "deny", "--active"]  # fmt: skip
EXPECTED = {"held": "deny", "denied": "deny", "passed": None, "silent": None}


class Demo:
    """A temporary user: home, host configuration, project; and what the hooks answered."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "hmd"
        self.project = root / "app"
        self.config = root / "claude"
        for folder in (self.project, self.config):
            folder.mkdir()
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.env = {**keep, "HOME": str(root), "HMD_HOME": str(self.home),
                    "CLAUDE_CONFIG_DIR": str(self.config)}  # fmt: skip
        subprocess.run(["git", "init", "-q", str(self.project)], check=True, env=self.env)
        self.answers: dict[str, bytes] = {}
        self.milliseconds: list[float] = []

    def hmctl(self, *words: str) -> str:
        print(f"   $ hmctl {' '.join(word if ' ' not in word else repr(word) for word in words)}")
        done = subprocess.run(
            [HMCTL, *words], cwd=self.project, env=self.env, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"demo: hmctl {words[0]} exited {done.returncode}: {done.stderr}{done.stdout}")
        return done.stdout

    def hook(self, event: str, payload: dict[str, Any]) -> bytes:
        """Runs the installed hook entry exactly as the host would."""
        settings = json.loads((self.config / "settings.json").read_text())
        entry = settings["hooks"][event][0]["hooks"][0]
        command = [entry["command"], *entry["args"]]
        started = time.perf_counter()
        done = subprocess.run(
            command, input=json.dumps(payload).encode(), cwd=self.project, env=self.env,
            stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        self.milliseconds.append((time.perf_counter() - started) * 1000)
        return done.stdout

    def daemon_pid(self) -> int:
        (owner,) = self.home.glob("run/*/daemon.json")
        return int(json.loads(owner.read_text())["pid"])


def say(text: str, indent: str = "") -> None:
    print(textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent))


def show(answer: bytes) -> None:
    if not answer:
        say("(silence)", "      ")
        return
    out = json.loads(answer)
    specific = out.get("hookSpecificOutput", {})
    if "permissionDecision" in specific:
        say(f"→ {specific['permissionDecision']}: {specific['permissionDecisionReason']}", "      ")
    if "additionalContext" in specific:
        say(f"→ to the model: {specific['additionalContext']}", "      ")
    if "systemMessage" in out:
        say(f"→ to the user: {out['systemMessage']}", "      ")


def payload_of(step: dict[str, Any], project: Path, session: str) -> dict[str, Any]:
    payload = {name: value for name, value in step.items() if name not in ("say", "event", "mark")}
    return {"session_id": session, "cwd": str(project), "permission_mode": "default",
            "hook_event_name": step["event"], **payload}  # fmt: skip


def play(demo: Demo, session: str, *, aloud: bool) -> dict[str, bytes]:
    """The answers to the marked steps of the recorded session."""
    answers = {}
    for line in (HERE / "session.jsonl").read_text(encoding="utf-8").splitlines():
        step = json.loads(line)
        answer = demo.hook(step["event"], payload_of(step, demo.project, session))
        if aloud and "say" in step:
            say(f" • {step['say']}")
            if step["event"] in ("PreToolUse", "SessionStart"):
                show(answer)
        if "mark" in step:
            answers[step["mark"]] = answer
            check(step["mark"], answer)
    return answers


def check(mark: str, answer: bytes) -> None:
    decided = None
    if answer:
        decided = json.loads(answer).get("hookSpecificOutput", {}).get("permissionDecision")
    if decided != EXPECTED[mark]:
        sys.exit(f"demo: expected {EXPECTED[mark]} where the session says {mark}, got {answer!r}")


def main() -> None:
    root = Path(tempfile.mkdtemp(prefix="hmd-demo-"))
    try:
        run(Demo(root))
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print("\nNothing is left: no process, no file, no setting.")


def run(demo: Demo) -> None:
    print("hmd in a minute: a temporary home and project, the real daemon, real hook processes.\n")
    print("1. Install for one user, enable this project, add one rule by hand.")
    demo.hmctl("install")
    demo.hmctl(*RULE)
    print("\n2. A recorded session, event by event, through the installed hook entry.")
    up = play(demo, "demo-up", aloud=True)
    fast = sorted(demo.milliseconds)[len(demo.milliseconds) // 2]
    print(
        "\n3. The daemon is killed (SIGKILL, its socket stays behind) and the session played again."
    )
    pid = demo.daemon_pid()
    os.kill(pid, signal.SIGKILL)
    demo.milliseconds.clear()
    down = play(demo, "demo-down", aloud=False)
    same = [mark for mark in up if up[mark] == down[mark]]
    if len(same) != len(up):
        sys.exit(f"demo: the answers differ: {up} {down}")
    say(f" • {len(same)} of {len(up)} marked answers are the same, byte for byte; the first hook "
        "decided alone and started a new daemon.")  # fmt: skip
    say(f" • Median of a whole hook process, daemon up: {fast:.0f} ms on this machine.")
    print("\n4. Why, in the hook's own words.")
    print(textwrap.indent(demo.hmctl("why", "git -C . push origin main"), "      ").rstrip())
    print("\n5. Uninstall, data included.")
    demo.hmctl("uninstall", "--purge")


if __name__ == "__main__":
    main()
