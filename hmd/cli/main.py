"""`hmctl`: the root command, and the one place where errors become words and exit codes.

Exit codes: 0 done, 1 error (or "not installed", "not running"), 2 wrong usage, 75 busy, try again.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from hmd import __version__
from hmd.cli import (
    config,
    daemon,
    db,
    doctor,
    eval_recall,
    eval_replay,
    evaluate,
    export,
    fact,
    import_stores,
    install,
    learning,
    logs,
    memory,
    notes,
    project,
    proposal,
    queue,
    recall,
    receipt,
    review,
    service,
    show,
    snapshot,
    status,
    top,
    why,
)
from hmd.cli.session import begin
from hmd.core.errors import EXIT_ERROR, EXIT_OK, EXIT_USAGE, HmdError

PROGRAM = "hmctl"
# typer ships its own click in some versions; this is its root of complaints about arguments.
UsageProblem = next(one for one in typer.BadParameter.__mro__ if one.__name__ == "ClickException")

app = typer.Typer(
    name=PROGRAM,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("install")(install.install)
app.command("uninstall")(install.uninstall)
app.command("status")(status.status)
app.add_typer(memory.app, name="memory")
app.command("why")(why.why)
app.add_typer(fact.app, name="fact")
app.add_typer(project.app, name="project")
app.add_typer(proposal.app, name="proposal")
app.add_typer(daemon.app, name="daemon")
app.add_typer(service.app, name="service")
app.add_typer(config.app, name="config")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(db.app, name="db")
app.add_typer(export.app, name="export")
app.command("import-store")(import_stores.import_store)
app.command("review")(review.review)
app.command("import")(notes.import_)
app.command("extract")(learning.extract)
app.command("consolidate")(learning.consolidate)
app.command("costs")(learning.costs)
app.command("receipt")(receipt.receipt)
app.add_typer(queue.app, name="queue")
app.add_typer(learning.trace, name="trace")
memory.app.command("stats")(learning.stats)
app.command("doctor")(doctor.doctor)
app.command("logs")(logs.logs)
app.command("top")(top.top)
app.add_typer(evaluate.app, name="eval")
evaluate.app.command("replay")(eval_replay.replay)
evaluate.app.command("recall")(eval_recall.recall)
app.command("recall")(recall.recall)
app.command("hot")(recall.hot)
app.add_typer(recall.embeddings, name="embeddings")


def _version(asked: bool) -> None:
    if asked:
        show.answer(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def root(
    ctx: typer.Context,
    home: Annotated[
        str, typer.Option("--home", metavar="DIRECTORY", help="The home; default: $HMD_HOME.")
    ] = "",
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Memory for coding agents that acts before the mistake."""
    ctx.obj = begin(home, os.environ)


def main(argv: Sequence[str]) -> int:
    """Runs one command; returns its exit code. Whatever goes wrong becomes one line of words."""
    try:
        done = app(args=list(argv), prog_name=PROGRAM, standalone_mode=False)
        show.flush()
    except HmdError as error:
        show.note(words(error))
        if isinstance(error.__cause__, OSError):
            _give_up_output()
        return error.exit_code
    except typer.Abort:
        show.note(f"{PROGRAM}: given up")
        return EXIT_ERROR
    except KeyboardInterrupt:
        return EXIT_ERROR
    except BrokenPipeError:
        _give_up_output()
        return EXIT_OK
    except SystemExit as leaving:
        # What typer makes of a pipe that was closed.
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        _give_up_output()
        return EXIT_OK
    except UsageProblem as problem:  # type: ignore[misc]
        show.note(_usage_words(problem))
        return EXIT_USAGE
    except Exception as error:
        return _surprise(error)
    return done if isinstance(done, int) else EXIT_OK


def _usage_words(problem: BaseException) -> str:
    """One line; a group without a command is answered with its help."""
    say = getattr(problem, "format_message", None)
    text = str(say() if say else problem)
    if type(problem).__name__ == "NoArgsIsHelpError":
        return text
    text = " ".join(text.replace("Value error, ", "").split()).rstrip(".")
    context = getattr(problem, "ctx", None)
    place = context.command_path if context is not None else PROGRAM
    return f"{PROGRAM}: {text[:1].lower()}{text[1:]}; see {place} --help"


def words(error: HmdError) -> str:
    """What failed first, its subject in quotes, then what to do."""
    where = f': "{error.where}"' if error.where else ""
    do = f"; {error.do}" if error.do else ""
    return f"{PROGRAM}: {error.what}{where}{do}"


def _give_up_output() -> None:
    """The reader has gone or the disk is full; Python must not complain about it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_what_is_closed() -> None:
    """A program may be started without standard streams (`>&-`): nobody reads them then."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _surprise(error: Exception) -> int:
    """A fault of ours: the traceback is what an issue needs."""
    import traceback  # late

    traceback.print_exception(error)
    show.note(f"{PROGRAM} {__version__}: this is a fault of hmd; please report the lines above")
    return EXIT_ERROR


def run(argv: Sequence[str] | None = None) -> None:
    """The entry point of the installed command."""
    if sys.getfilesystemencoding() != "utf-8" and argv is None and sys.platform != "win32":
        # Arguments and paths are UTF-8 whatever the locale says (PEP 540).
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
    _open_what_is_closed()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")  # no locale makes an answer fail
    sys.exit(main(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    run()
