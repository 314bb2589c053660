"""Stands in for `claude` and `codex`: takes the same command line, reads the prompt, and behaves as
the plan beside it says (`<program>.plan`, JSON). What it was given goes to `<program>.seen`.

Run by a bare interpreter as a child of the extraction code, hence free of imports of ours.
"""

import json
import os
import signal
import sys
import time


def main() -> int:
    with open(sys.argv[0] + ".plan", encoding="utf-8") as file:
        plan = json.load(file)
    behaviour = plan.get("does", "answers")
    if behaviour == "ignores SIGTERM":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if behaviour in ("hangs", "ignores SIGTERM"):
        note(plan, "")
        time.sleep(600)
    if behaviour == "hangs over an episode" and '"ready"' not in " ".join(sys.argv):
        note(plan, sys.stdin.read())
        time.sleep(600)
    if behaviour == "leaves a child":
        pid = os.fork()
        if pid == 0:
            time.sleep(600)
            os._exit(0)
        note({**plan, "child": pid}, "")
    if behaviour == "ends at once":
        return int(plan.get("code", 0))
    prompt = sys.stdin.read()
    note(plan, prompt)
    if behaviour == "floods":
        return flood(int(plan["bytes"]))
    sys.stderr.write(plan.get("stderr", ""))
    return (codex if "exec" in sys.argv[1:2] else claude)(plan, prompt)


def note(plan: "dict[str, object]", prompt: str) -> None:
    seen = {
        "argv": sys.argv[1:],
        "prompt": prompt,
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "files": sorted(os.listdir(".")),
        "nice": os.nice(0),
        "pid": os.getpid(),
        "child": plan.get("child", 0),
        "count": counted(),
    }
    with open(sys.argv[0] + ".seen", "w", encoding="utf-8") as file:
        json.dump(seen, file)


def counted() -> int:
    try:
        with open(sys.argv[0] + ".seen", encoding="utf-8") as file:
            return int(json.load(file)["count"]) + 1
    except (OSError, ValueError):
        return 1


def flood(size: int) -> int:
    line = "x" * 65_535 + "\n"
    for _ in range(size // len(line)):
        sys.stdout.write(line)
    return 0


def answer_to(plan: "dict[str, object]", prompt: str) -> object:
    """The plan's answer; a probe (which asks for `ready`) is answered as one."""
    if "ready = true" in prompt and "probe" not in plan:
        return {"ready": True}
    return plan.get("probe") if "ready = true" in prompt else plan.get("answer")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def claude(plan: "dict[str, object]", prompt: str) -> int:
    """`claude -p --output-format json`: one object on standard output."""
    code = int(str(plan.get("code", 0)))
    envelope = {
        "type": "result",
        "subtype": "success",
        "is_error": bool(code),
        "result": plan.get("result", ""),
        "session_id": "11111111-2222-3333-4444-555555555555",
        "num_turns": 1,
        "total_cost_usd": 0.0123,
        "usage": {
            "input_tokens": 900,
            "cache_creation_input_tokens": 100,
            "cache_read_input_tokens": 50,
            "output_tokens": 70,
        },
        "modelUsage": {"a-model-of-theirs": {}},
        "permission_denials": [],
    }
    if not plan.get("result") and not code:
        envelope["structured_output"] = answer_to(plan, prompt)
    if plan.get("does") == "prints no JSON":
        say("Execution error")
    else:
        say(json.dumps(envelope))
    return code


def codex(plan: "dict[str, object]", prompt: str) -> int:
    """`codex exec --json -o FILE`: events on standard output, the last message in the file."""
    code = int(str(plan.get("code", 0)))
    say(json.dumps({"type": "thread.started", "thread_id": "t"}))
    if code:
        say(json.dumps({"type": "turn.failed", "error": {"message": plan.get("result", "")}}))
        return code
    last = sys.argv[sys.argv.index("-o") + 1]
    with open(last, "w", encoding="utf-8") as file:
        file.write(str(plan.get("result") or json.dumps(answer_to(plan, prompt))))
    usage = {"input_tokens": 1000, "cached_input_tokens": 200, "output_tokens": 30}
    say(json.dumps({"type": "turn.completed", "usage": usage}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
