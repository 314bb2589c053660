"""Asks git about a repository, so that nothing the repository says is run.

A repository's own configuration may name programs: a monitor of its files, a driver for
differences, the way to a remote that still has missing objects. It may have come with the files,
from anywhere, and the daemon asks by itself. So it is asked only for what is there.
"""

import os
from collections.abc import Sequence

import trio

# Over the repository's own settings (git(1), "-c").
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",  # of git 2.44 and later
    "GIT_ALLOW_PROTOCOL": "none",  # whatever protocol.<name>.allow says (git(1))
    "LC_ALL": "C",
}
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_EXTERNAL_DIFF", "GIT_CONFIG_COUNT")


async def ask(place: Sequence[str], arguments: Sequence[str], seconds: float) -> tuple[int, str]:
    """(exit code, output). `place` says which repository: `-C DIR` or `--git-dir=DIR`.

    Raises OSError where there is no git, trio.TooSlowError.
    """
    env = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    with trio.fail_after(seconds):
        done = await trio.run_process(
            ["git", *settings, *place, *arguments],
            capture_stdout=True,
            capture_stderr=True,
            stdin=b"",
            check=False,
            env={**env, **_ENVIRONMENT},
        )
    return done.returncode, done.stdout.decode("utf-8", "replace").strip()
