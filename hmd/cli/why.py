"""`hmctl why`: what the hook would answer to a call, and why each other rule stays silent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.kernel.explain import Explanation


def why(
    ctx: typer.Context,
    command: Annotated[
        str, typer.Argument(metavar="COMMAND", help="The command line of a shell call.")
    ] = "",
    tool: Annotated[
        str, typer.Option("--tool", help="Another tool: Edit, WebFetch, mcp__server__tool, …")
    ] = "",
    target: Annotated[str, typer.Option("--target", help="Its file, address or command.")] = "",
    input_: Annotated[
        str, typer.Option("--input", metavar="JSON", help="Its whole input instead of a target.")
    ] = "",
    session: Annotated[
        str, typer.Option("--session", metavar="ID", help="As in this session of the host.")
    ] = "",
    permission_mode: Annotated[
        str, typer.Option("--permission-mode", help="Such as plan or bypassPermissions.")
    ] = "",
    at: Annotated[
        str, typer.Option("--at", metavar="TIME", help="By the rules that were in force then.")
    ] = "",
    silent: Annotated[
        bool, typer.Option("--silent/--no-silent", help="Also the rules that stay silent.")
    ] = True,
    json: Json = False,
) -> None:
    """Explain what a call would be answered. The hook's own function says it; nothing changes."""
    asked = session_of(ctx)
    tool_input = _input(tool or "Bash", command or target, input_)
    found = _explain(asked, tool or "Bash", tool_input, session, permission_mode, at)
    if json:
        show.json_answer(_plain(found))
    else:
        _tell(found, silent)


def _input(tool: str, target: str, input_: str) -> dict[str, Any]:
    """The tool's input: as given in JSON, or the one field that its target stands in."""
    import json  # late

    if input_:
        try:
            decoded = json.loads(input_)
        except ValueError as error:
            raise HmdError("usage", f"no JSON: {error}", "--input") from None
        if not isinstance(decoded, dict):
            raise HmdError("usage", "no JSON object", "--input")
        return decoded
    if not target:
        raise HmdError("usage", "no call was given", do='such as: hmctl why "npm test"')
    from hmd.hosts.claude_code import canonical_tool  # late
    from hmd.kernel.event import PATH_TOOLS  # late

    canonical, _ = canonical_tool(tool)
    if canonical == "bash":
        return {"command": target}
    if canonical in PATH_TOOLS:
        return {"file_path": target}
    return {"url": target} if canonical == "fetch" else {"target": target}


def _explain(
    asked: Session, tool: str, tool_input: dict[str, Any], session: str, mode: str, at: str = ""
) -> Explanation:
    import time  # late: the kernel is only needed here

    from hmd.hosts import claude_code
    from hmd.kernel.address import session_key
    from hmd.kernel.explain import explain
    from hmd.kernel.files import FileSources
    from hmd.kernel.turn import Turn
    from hmd.setup.copies import kernel_hash
    from hmd.setup.install import excluded_places

    sources = FileSources(asked.home, kernel_hash(), writes=False)
    project = sources.project(asked.cwd, excluded_places(asked.env))
    if project is None or not project.enabled:
        raise HmdError("not_found", "hmd is not enabled here", asked.cwd, "hmctl project enable")
    payload: dict[str, object] = {
        "hook_event_name": "PreToolUse",
        "session_id": session,
        "cwd": asked.cwd,
        "permission_mode": mode or "default",
        "tool_name": tool,
        "tool_input": tool_input,
    }
    now, rules = time.time_ns() // 1_000_000, sources.rules(project)
    if at:
        from hmd.cli.then import rules_then  # late

        now, rules = rules_then(asked, at, project.root)
    event = claude_code.event(payload, {}, now)
    assert event is not None  # PreToolUse is served
    turn = sources.turn(session_key(event.host, session)) if session else Turn()
    found = explain(rules, turn, event, project.root, asked.env.get("HOME", ""))
    if sources.problem:
        show.note("warning: " + sources.problem)
    return found


def _plain(found: Explanation) -> dict[str, Any]:
    verdict, form = found.verdict, found.subject.form
    return {
        "decision": verdict.decision,
        "reason": verdict.reason,
        "context": verdict.context,
        "delivery": verdict.delivery,
        "units": [
            {"program": unit.program, "argv": list(unit.argv), "cwd": unit.cwd,
             "keys": [list(key) for key in unit.keys], "dynamic": bool(unit.dynamic)}
            for unit in (form.units if form is not None else [])
        ],
        "target": "" if found.subject.target is None else found.subject.target.text,
        "paths": list(found.subject.paths),
        "partial": bool(found.partial),
        "opaque": bool(found.opaque),
        "fired": [
            {"id": record["id"], "level": level, "how": how, "summary": record["summary"]}
            for record, level, how in found.fired
        ],
        "silent": [
            {"id": record["id"], "kind": kind, "reason": reason, "summary": record["summary"]}
            for record, kind, reason in found.silent
        ],
    }  # fmt: skip


def _tell(found: Explanation, silent: bool) -> None:
    verdict = found.verdict
    words = {"deny": "the call is stopped", "ask": "the user is asked", "": "the call passes"}
    head = words.get(verdict.decision, verdict.decision)
    if not verdict.decision and verdict.context:
        head += "; the model is told something with its result"
    show.answer(head)
    for line in _reading(found):
        show.answer("  " + line)
    if verdict.reason or verdict.context:
        show.answer("says: " + (verdict.reason or verdict.context))
    rows = [
        [how, level, show.short(record["id"]), show.line(record["summary"])]
        for record, level, how in found.fired
    ]
    if rows:
        show.answer(show.table(rows))
    quiet = [
        ["silent", show.short(record["id"]), show.line(record["summary"]), f"{kind}: {reason}"]
        for record, kind, reason in found.silent
    ]
    if quiet and silent:
        show.answer(show.table(quiet))
    if not rows and not quiet:
        show.note("there are no rules for this project")


def _reading(found: Explanation) -> list[str]:
    """How the call was read: its units with the keys that signatures are held against."""
    form = found.subject.form
    if form is None:
        target = found.subject.target
        return [f"target: {target.text}"] if target is not None else []
    lines = []
    for unit in form.units:
        keys = " | ".join(" ".join(key) for key in unit.keys) or " ".join(unit.argv)
        place = "" if unit.cwd in ("", ".") else f"   in {unit.cwd}"
        lines.append(f"runs: {keys}{place}")
    if found.partial:
        lines.append("part of the command could not be read")
    if found.opaque:
        lines.append("the command hides what it runs")
    return lines
