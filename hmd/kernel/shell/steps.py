"""Which step looks at which program: the one table that names them all."""

from hmd.kernel.shell.boundary import boundary
from hmd.kernel.shell.fanout import fd, find, parallel
from hmd.kernel.shell.git import git
from hmd.kernel.shell.runners import runner
from hmd.kernel.shell.shells import evaluate, inline_code, shell, source
from hmd.kernel.shell.strings import (
    flock,
    group_shell,
    lines,
    nix,
    script,
    tmux,
    trap,
    user_shell,
    watch,
)
from hmd.kernel.shell.tables_wrappers import (
    BOUNDARY_HEADS,
    INTERPRETERS,
    POWERSHELLS,
    RUNNER_HEADS,
    SHELLS,
    WRAPPERS,
)
from hmd.kernel.shell.windows import cmd, cmd_start, invoke_expression, powershell
from hmd.kernel.shell.wrappers import PAIR_HEADS, pair, transparent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

    Step = Callable[[Run, Frame, str], int]

STEPS: "dict[str, Step]" = {
    **dict.fromkeys(INTERPRETERS, inline_code),
    **dict.fromkeys(WRAPPERS, transparent),
    **dict.fromkeys(PAIR_HEADS, pair),
    **dict.fromkeys(BOUNDARY_HEADS, boundary),
    **dict.fromkeys(RUNNER_HEADS, runner),
    **dict.fromkeys(SHELLS, shell),
    **dict.fromkeys(POWERSHELLS, powershell),
    **dict.fromkeys(("hyperfine", "concurrently", "nodemon", "chokidar"), lines),
    **dict.fromkeys((".", "source"), source),
    **dict.fromkeys(("su", "runuser"), user_shell),
    **dict.fromkeys(("nix", "nix-shell"), nix),
    **dict.fromkeys(("call", "start"), cmd_start),
    **dict.fromkeys(("invoke-expression", "iex"), invoke_expression),
    **dict.fromkeys(("fd", "fdfind"), fd),
    **dict.fromkeys(("find", "bfs"), find),
    "cmd": cmd,
    "eval": evaluate,
    "flock": flock,
    "git": git,
    "parallel": parallel,
    "script": script,
    "sg": group_shell,
    "tmux": tmux,
    "trap": trap,
    "watch": watch,
}
