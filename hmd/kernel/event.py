"""What happened at a host, in our own words: the input of every decision.

Canonical tool names: `bash` (any shell; `dialect` says which), `edit`, `write`, `read`, `fetch`,
`mcp:SERVER/TOOL`, and a host's other tools in lower case.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SESSION_START = "session_start"
PROMPT = "prompt"
PRE_TOOL = "pre_tool"
POST_TOOL = "post_tool"
TOOL_FAILURE = "tool_failure"
TOOL_BATCH = "tool_batch"
STOP = "stop"
STOP_FAILURE = "stop_failure"
SUBAGENT_STOP = "subagent_stop"
PRE_COMPACT = "pre_compact"
SESSION_END = "session_end"

# Tools whose target is a path.
PATH_TOOLS = frozenset(["edit", "write", "read"])


class Call:
    """One tool call.

    `target` is what signatures look at: the command, the path as the host spelled it, the URL, or
    the input of any other tool flattened to text. `output` is what the tool printed, `error` what
    a failure said; `exit_code` None where the tool has none or it is not known.
    """

    __slots__ = (
        "dialect",
        "error",
        "exit_code",
        "failed",
        "host_tool",
        "input",
        "interrupted",
        "output",
        "target",
        "tool",
        "use_id",
    )

    def __init__(self, tool: str, host_tool: str = "", target: str = "") -> None:
        self.tool = tool
        self.host_tool = host_tool or tool
        self.target = target
        self.dialect = ""
        self.input: dict[str, object] = {}
        self.use_id = ""
        self.output = ""
        self.error = ""
        self.exit_code: int | None = None
        self.failed = False
        self.interrupted = False


class Event:
    """One hook event of one host session.

    `at` is the frame's time in ms since the epoch, set by the stub: the only clock a decision sees.
    `attended` is false where nobody can answer a question. `background` marks a prompt that the
    host made itself (a finished task). `detail` is the source, trigger, reason or error class.
    `text` is the assistant's last message. `body` is the digest of the payload that tells two
    reports of one event from two events.
    """

    __slots__ = (
        "agent",
        "agent_type",
        "at",
        "attended",
        "background",
        "body",
        "call",
        "calls",
        "cwd",
        "delivery",
        "detail",
        "host",
        "hot",
        "kind",
        "mode",
        "past",
        "prompt",
        "recalled",
        "session",
        "subjects",
        "text",
        "transcript",
    )

    def __init__(self, kind: str, host: str, session: str, at: int, delivery: str = "") -> None:
        self.kind = kind
        self.host = host
        self.session = session
        self.at = at
        self.delivery = delivery
        self.agent = ""
        self.agent_type = ""
        self.attended = True
        self.background = False
        self.body = ""
        self.call: Call | None = None
        self.calls: list[Call] = []
        self.cwd = ""
        self.detail = ""
        self.hot: tuple[list[str], str] = ([], "")  # ids and text of the hot index
        self.mode = ""
        self.past: list[dict[str, Any]] = []  # episodes that the prompt is about
        self.prompt = ""
        self.recalled: list[dict[str, Any]] = []  # what the event's own words find, best first
        self.subjects: dict[str, object] = {}  # what hmd.kernel.subject read of the call, per root
        self.text = ""
        self.transcript = ""

    @property
    def event_id(self) -> str:
        """Names the event itself, whoever reports it and however often.

        Event and tool-use id; for a batch the ids of its calls; else event and digest of the body
        (equal only within two seconds: the ledger's fold applies that window).
        """
        if self.call is not None and self.call.use_id:
            return self.kind + ":" + self.call.use_id
        if self.calls:
            return self.kind + ":" + ",".join([call.use_id for call in self.calls])
        return self.kind + "#" + self.body
