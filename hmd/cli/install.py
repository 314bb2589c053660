"""`hmctl install` and `hmctl uninstall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.choices import HookForm
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.setup import install as setup_install
    from hmd.setup import uninstall as setup_uninstall
    from hmd.setup.claude_code import Form


def install(
    ctx: typer.Context,
    project: Annotated[
        bool,
        typer.Option(
            "--project", help="Register in this project's local settings, not in the user's."
        ),
    ] = False,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Work in every project, not only in this one.")
    ] = False,
    hook_form: Annotated[
        HookForm,
        typer.Option("--hook-form", help="How hooks are written; auto asks claude --version."),
    ] = HookForm.auto,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; change nothing.")
    ] = False,
    skip_self_test: Annotated[
        bool, typer.Option("--skip-self-test", help="Do not run a hook at the end.")
    ] = False,
    json: Json = False,
) -> None:
    """Register the hooks and enable this project. Run it again to refresh them."""
    from hmd.core.answers import Outcome  # late
    from hmd.core.projects import ProjectRef  # late
    from hmd.setup import install as setup  # late: no other command needs it

    session = session_of(ctx)
    forms: dict[HookForm, Form] = {HookForm.exec: "exec", HookForm.shell: "shell"}
    options = setup.Options(
        session.home.path,
        session.cwd,
        session.env,
        project=project,
        everywhere=everywhere,
        form=forms.get(hook_form),
        dry_run=dry_run,
        self_test=not skip_self_test,
    )

    def enable(directory: str) -> None:
        done = session.call("project.enable", ProjectRef(path=directory), Outcome)
        if done.proposal is not None and done.proposal.state == "open":
            do = f"run hmctl proposal accept {show.short(done.proposal.id)} in your own terminal"
            raise HmdError("refused", "an agent can only propose that", directory, do)

    try:
        report = setup.install(options, enable)
    except setup.Unwritable as refused:
        show.answer(refused.entries)  # what the person needs now, ready to paste
        raise
    _tell_installed(report, json)
    if report.failed:
        raise typer.Exit(1)


def _tell_installed(report: setup_install.Report, json: bool) -> None:
    if json:
        show.json_answer(report)
        return
    if report.diff:
        show.answer(report.diff)
    for line in report.done:
        show.answer(line)
    version = report.claude_version or "not found"
    programs = ", ".join(report.programs) or "none"
    show.answer(f"Claude Code {version}; extraction by {programs}; hooks in {report.form} form")
    for line in report.warnings:
        show.note("warning: " + line)
    for line in report.suggestions:
        show.note(line)
    for line in report.failed:
        show.note("failed: " + line)


def uninstall(
    ctx: typer.Context,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove all memories and settings as well.")
    ] = False,
    json: Json = False,
) -> None:
    """Undo an install. Memories stay unless --purge."""
    from hmd.setup import uninstall as setup  # late

    session = session_of(ctx)
    session.refuse_agents("an uninstall is made by people")
    options = setup.Options(session.home.path, session.cwd, session.env, purge)
    report = setup.uninstall(options, lambda: _stop(session))
    _tell_uninstalled(report, json)
    if report.failed:
        raise typer.Exit(1)


def _stop(session: Session) -> bool:
    from hmd.setup.stop import stop_daemon  # late

    return stop_daemon(session.home, session.env)


def _tell_uninstalled(report: setup_uninstall.Report, json: bool) -> None:
    if json:
        show.json_answer(report)
        return
    for line in report.done or ["nothing of hmd was found"]:
        show.answer(line)
    for line in report.kept:
        show.note("kept " + line)
    for line in report.failed:
        show.note("failed: " + line)
