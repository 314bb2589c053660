"""What every command shares: the home, who is asking, and the way to the daemon."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.kernel.address import Home, default_home

if TYPE_CHECKING:
    from hmd.core.memory import Actor

T = TypeVar("T")

# Set by coding agents in the environment of the commands they run. Names by which people
# configure an agent (CODEX_HOME, OPENCODE_CONFIG) are not among them.
AGENT_VARIABLES = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "AI_AGENT",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CODEX_CI",
    "GEMINI_CLI",
    "QWEN_CODE",
    "OPENCODE",
    "OPENCODE_PID",
    "COPILOT_CLI",
    "CURSOR_AGENT",
)

Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


class Session:
    """One run of `hmctl`: its home (absolute), its environment and its directory."""

    def __init__(self, home: str, env: Mapping[str, str], cwd: str) -> None:
        self.home = Home(home)
        self.env = env
        self.cwd = cwd

    @property
    def actor(self) -> Actor:
        """Who is asking. An agent's changes become proposals: a guard-rail, not a boundary."""
        agent = any(self.env.get(name, "") not in ("", "0") for name in AGENT_VARIABLES)
        return "agent_cli" if agent else "terminal"

    def call(self, method: str, parameters: Any, answer: type[T], start: bool = True) -> T:
        """Asks the daemon; where none runs, starts one or (with `start` false) is refused.

        Raises HmdError.
        """
        from hmd import link  # late: help and arguments need no wire

        return link.call(
            self.home,
            method,
            parameters,
            answer,
            actor=self.actor,
            cwd=self.cwd,
            start_daemon=start,
            environ=self.env,
        )

    def refuse_agents(self, why: str) -> None:
        """Refuses what an agent cannot even propose; HmdError `refused`."""
        if self.actor == "agent_cli":
            raise HmdError("refused", why, do="run it in a terminal of your own")

    def installed(self) -> bool:
        """Whether hooks of this home have something to run."""
        return os.path.exists(self.home.app_current) and os.path.exists(self.home.receipt)

    def absolute(self, path: str) -> str:
        """A path as typed, made absolute from where the person stands."""
        return os.path.normpath(os.path.join(self.cwd, os.path.expanduser(path)))


def begin(home: str, env: Mapping[str, str]) -> Session:
    """The session for `--home` as given ("" for none). Raises HmdError `usage` without a home."""
    try:
        cwd = os.getcwd()
    except OSError:
        cwd = "/"  # the directory was removed under the shell
    env = machine.usual_names(env)
    found = home or default_home(dict(env))
    if not found:
        raise HmdError("usage", "no home: neither --home nor HMD_HOME nor HOME is set")
    return Session(os.path.abspath(os.path.expanduser(found)), env, cwd)


def session_of(ctx: typer.Context) -> Session:
    """The session that the root command put into the context."""
    found = ctx.find_object(Session)
    assert found is not None  # main.root ran first
    return found
