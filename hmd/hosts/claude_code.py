"""Claude Code: its hook payloads as events, our verdicts as its hook output.

Contract observed with client 2.1.332. What it taught: an answer without the right
`hookSpecificOutput.hookEventName` is dropped whole; context given before a tool arrives after it;
several failures fire only PostToolBatch; a prompt that begins with `<task-notification>` is not
the user's; subagents report under their parent's session id.
"""

from hmd.kernel import event as ev
from hmd.kernel.targets import flatten_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.verdict import Verdict

HOST = "claude-code"

EVENTS = {
    "SessionStart": ev.SESSION_START,
    "UserPromptSubmit": ev.PROMPT,
    "PreToolUse": ev.PRE_TOOL,
    "PostToolUse": ev.POST_TOOL,
    "PostToolUseFailure": ev.TOOL_FAILURE,
    "PostToolBatch": ev.TOOL_BATCH,
    "Stop": ev.STOP,
    "StopFailure": ev.STOP_FAILURE,
    "SubagentStop": ev.SUBAGENT_STOP,
    "PreCompact": ev.PRE_COMPACT,
    "SessionEnd": ev.SESSION_END,
}
_HOST_NAMES = {kind: name for name, kind in EVENTS.items()}

# Events whose output may carry text for the model. Context on Stop would continue the turn.
_TAKES_CONTEXT = frozenset(
    [ev.SESSION_START, ev.PROMPT, ev.PRE_TOOL, ev.POST_TOOL, ev.TOOL_FAILURE, ev.TOOL_BATCH]
)
# Events whose systemMessage the client shows to the user.
_TAKES_NOTICE = frozenset([ev.SESSION_START, ev.PROMPT, ev.PRE_TOOL, ev.STOP])

# The client replaces a longer value by a preview and a file path.
CONTEXT_LIMIT = 10_000

_TOOLS = {
    "Bash": "bash",
    "PowerShell": "bash",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Read": "read",
    "WebFetch": "fetch",
}
_PATH_FIELDS = ("file_path", "notebook_path", "path")
_EXIT_CODE = "Exit code "
_TOOL_ERROR = "<tool_use_error>"
_BACKGROUND_PROMPT = "<task-notification>"
_DETAIL_FIELDS = {
    ev.SESSION_START: "source",
    ev.PRE_COMPACT: "trigger",
    ev.SESSION_END: "reason",
    ev.STOP_FAILURE: "error",
}


def event(payload: "dict[str, object]", header: "dict[str, str]", at: int) -> "ev.Event | None":
    """The event of a payload; None for an event that we do not serve.

    Every field of a wrong type counts as absent. `header` is the frame's (docs/internals.md).
    """
    name = _text(payload, "hook_event_name") or header.get("event", "")
    kind = EVENTS.get(name)
    if kind is None:
        return None
    happened = ev.Event(kind, HOST, _text(payload, "session_id"), at, header.get("delivery", ""))
    happened.agent = _text(payload, "agent_id")
    happened.agent_type = _text(payload, "agent_type")
    happened.cwd = _text(payload, "cwd")
    happened.mode = _text(payload, "permission_mode")
    happened.attended = _attended(header)
    happened.transcript = _text(payload, "transcript_path")
    happened.detail = _text(payload, _DETAIL_FIELDS.get(kind, ""))
    happened.text = _text(payload, "last_assistant_message")
    if kind == ev.PROMPT:
        happened.prompt = _text(payload, "prompt")
        happened.background = happened.prompt.lstrip().startswith(_BACKGROUND_PROMPT)
    elif kind in (ev.PRE_TOOL, ev.POST_TOOL, ev.TOOL_FAILURE):
        happened.call = _call(payload)
        _outcome(happened.call, kind, payload)
    elif kind == ev.TOOL_BATCH:
        calls = payload.get("tool_calls")
        for entry in calls if isinstance(calls, list) else []:
            if isinstance(entry, dict):
                happened.calls.append(_batch_call(entry))
    return happened


def answer(verdict: "Verdict", happened: ev.Event) -> "dict[str, object] | None":
    """The object to print, or None for no output. Never `allow`."""
    specific: dict[str, object] = {}
    if happened.kind == ev.PRE_TOOL and verdict.decision:
        specific["permissionDecision"] = verdict.decision
        specific["permissionDecisionReason"] = verdict.reason
    if verdict.context and happened.kind in _TAKES_CONTEXT:
        specific["additionalContext"] = verdict.context[:CONTEXT_LIMIT]
    out: dict[str, object] = {}
    if verdict.notice and happened.kind in _TAKES_NOTICE:
        out["systemMessage"] = verdict.notice
    if specific:
        out["hookSpecificOutput"] = {"hookEventName": _HOST_NAMES[happened.kind], **specific}
    return out or None


def canonical_tool(name: str) -> "tuple[str, str]":
    """(canonical tool, shell dialect or "") of a host's tool name; canonical names pass through."""
    if name.startswith("mcp__"):
        server, _, tool = name[5:].partition("__")
        return "mcp:" + server + "/" + tool, ""
    tool = _TOOLS.get(name, "")
    if tool == "bash":
        return tool, "powershell" if name == "PowerShell" else "posix"
    if name == "bash":
        return "bash", "posix"
    return tool or (name if name.startswith("mcp:") else name.lower()), ""


def call_of(tool_name: str, tool_input: "dict[str, object]") -> ev.Call:
    """The call that a host tool name and its input describe."""
    tool, dialect = canonical_tool(tool_name)
    call = ev.Call(tool, tool_name)
    call.dialect = dialect
    call.input = tool_input
    if tool == "bash":
        call.target = _text(tool_input, "command")
    elif tool in ev.PATH_TOOLS:
        call.target = next(filter(None, [_text(tool_input, name) for name in _PATH_FIELDS]), "")
    elif tool == "fetch":
        call.target = _text(tool_input, "url")
    else:
        call.target = flatten_input(tool_input)
    return call


def _call(payload: "dict[str, object]") -> ev.Call:
    raw = payload.get("tool_input")
    call = call_of(_text(payload, "tool_name"), raw if isinstance(raw, dict) else {})
    if isinstance(raw, str) and not call.target:
        call.target = raw  # some clients send the input as text
    call.use_id = _text(payload, "tool_use_id")
    return call


def _outcome(call: ev.Call, kind: str, payload: "dict[str, object]") -> None:
    if kind == ev.POST_TOOL:
        response = payload.get("tool_response")
        call.output = _printed(response)
        call.interrupted = isinstance(response, dict) and response.get("interrupted") is True
    elif kind == ev.TOOL_FAILURE:
        call.failed = True
        call.error = _text(payload, "error")
        call.interrupted = payload.get("is_interrupt") is True
        call.exit_code = _exit_code(call.error)


def _batch_call(entry: "dict[str, object]") -> ev.Call:
    """A call of PostToolBatch: its response is the very text the model gets."""
    call = _call(entry)
    call.output = _printed(entry.get("tool_response"))
    call.exit_code = _exit_code(call.output)
    call.failed = call.exit_code not in (None, 0) or call.output.startswith(_TOOL_ERROR)
    if call.failed:
        call.error = call.output
    return call


def _printed(response: object) -> str:
    """What a tool printed, out of the several shapes of `tool_response`."""
    if isinstance(response, str):
        return response
    if isinstance(response, dict):
        parts = [_text(response, "stdout"), _text(response, "stderr")]
        printed = "\n".join([part for part in parts if part])
        return printed or _text(response, "text") or _text(response, "result")
    if isinstance(response, list):
        texts = [_text(part, "text") for part in response if isinstance(part, dict)]
        return "\n".join([text for text in texts if text])
    return ""


def _exit_code(text: str) -> "int | None":
    if not text.startswith(_EXIT_CODE):
        return None
    digits = text[len(_EXIT_CODE) : len(_EXIT_CODE) + 4].split("\n", 1)[0].strip()
    return int(digits) if digits.isdigit() and digits.isascii() else None


def _attended(header: "dict[str, str]") -> bool:
    """Whether somebody can answer: a headless run (`sdk-*`) turns every question into a denial."""
    said = header.get("env.CLAUDE_CODE_SESSION_ATTENDED", "").lower()
    if said in ("1", "true", "yes"):
        return True
    if said in ("0", "false", "no"):
        return False
    return not header.get("env.CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _text(source: "dict[str, object]", name: str) -> str:
    value = source.get(name)
    return value if isinstance(value, str) else ""
