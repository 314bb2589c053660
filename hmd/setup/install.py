"""Installs hmd for one user: the copy that hooks run from, the hook entries, the receipt.

Everything that can refuse is looked at before the first byte is written.
"""

from __future__ import annotations

import datetime
import difflib
import os
import stat
import sys
from collections.abc import Callable, Mapping

import msgspec

from hmd import __version__
from hmd.core import machine
from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.kernel.project import Location, locate
from hmd.setup import claude_code, copies, exclude, receipt, self_test, surroundings
from hmd.setup.claude_code import Form, Hook
from hmd.setup.files import make_directories, read_text, refusal, write_through
from hmd.setup.json_edit import JsonProblem
from hmd.setup.receipt import Receipt, Registered

LOCAL_SETTINGS = ".claude/settings.local.json"
UP_TO_DATE = "were up to date"
SHARED_SETTINGS = ".claude/settings.json"


class Options(msgspec.Struct, frozen=True):
    """What the person asked for. `env` is the environment of `hmctl`, `cwd` where it stands."""

    home: str
    cwd: str
    env: Mapping[str, str]
    project: bool = False
    everywhere: bool = False
    form: Form | None = None  # None: by the version of the host
    dry_run: bool = False
    self_test: bool = True


class Report(msgspec.Struct):
    """What was done and found, in words; `failed` parts make the exit code 1."""

    home: str
    settings: str
    form: str = ""
    interpreter: str = ""
    build: str = ""
    claude_version: str = ""
    programs: dict[str, str] = {}
    project: str = ""
    diff: str = ""
    done: list[str] = []
    warnings: list[str] = []
    suggestions: list[str] = []
    failed: list[str] = []


class Unwritable(HmdError):
    """A settings file that is not ours to change; `entries` is what to paste instead."""

    def __init__(self, what: str, where: str, entries: str) -> None:
        super().__init__("refused", what, where, "add the entries printed above by hand")
        self.entries = entries


Enable = Callable[[str], object]
Place = Callable[[Home, str], copies.Build]


class _Plan(msgspec.Struct):
    """Settled before anything is written."""

    home: Home
    options: Options
    hook: Hook
    file: str
    location: Location | None
    before: str | None
    edited: claude_code.Edited
    old: Receipt
    report: Report


def install(options: Options, enable: Enable | None, place: Place = copies.refresh) -> Report:
    """Carries out an install; `enable(directory)` makes its project one that hmd works in (None:
    what is enabled stays as it is).

    `place(home, interpreter)` puts the copy that hooks run from into the home.

    Raises HmdError when nothing was changed; what fails later is in the report.
    """
    plan = _plan(options)
    if options.dry_run:
        return _dry(plan)
    receipt_new = _write(plan, place)
    if enable is not None:
        _switch_on(plan, enable)
    _look_around(plan, receipt_new)
    if options.self_test:
        problem = self_test.run(plan.home, plan.hook)
        if problem:
            plan.report.failed.append("self-test: " + problem)
        else:
            plan.report.done.append("self-test: a hook answered as the host will call it")
    return plan.report


# --- before anything is written -------------------------------------------------------------


def _plan(options: Options) -> _Plan:
    home = Home(options.home)
    check_home(home)
    location = locate(options.cwd, excluded_places(options.env))
    file = _settings_file(options, location)
    claude = surroundings.find_program("claude", options.env)
    version = surroundings.program_version(claude, options.env) if claude else ()
    try:
        interpreter = surroundings.base_interpreter()
    except FileNotFoundError as error:
        raise HmdError("internal", str(error)) from error
    form = options.form or claude_code.pick_form(
        version or None, sys.platform == "win32", surroundings.has_bash(options.env)
    )
    hook = Hook(interpreter.path, home.path, form)
    report = Report(home.path, file, form, interpreter.path)
    report.claude_version = ".".join(map(str, version))
    if interpreter.warning:
        report.warnings.append(interpreter.warning)
    old = receipt.load_if_whole(home)
    known = old.of(file)
    before, edited = _edit(file, hook, known.trace if known else {})
    return _Plan(home, options, hook, file, location, before, edited, old, report)


def check_home(home: Home) -> None:
    """Refuses a home that others own or can enter; HmdError names the fix."""
    if not home.path.startswith("/") and sys.platform != "win32":
        raise HmdError("usage", "the home must be an absolute path", home.path)
    try:
        status = os.stat(home.path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise HmdError(
            "refused", f"the home cannot be used: {error.strerror}", home.path
        ) from error
    if not stat.S_ISDIR(status.st_mode):
        raise HmdError("refused", "the home is no directory", home.path)
    if status.st_uid != machine.own_user():
        raise HmdError("refused", "the home belongs to another user", home.path, "set HMD_HOME")
    if machine.others_enter(status):
        do = f"run chmod 700 '{home.path}'"
        raise HmdError("refused", "the home is open to other users", home.path, do)


def excluded_places(env: Mapping[str, str]) -> tuple[str, ...]:
    """Directories that are never a project themselves."""
    return tuple(env[name] for name in ("HOME", "TMPDIR") if env.get(name))


def _settings_file(options: Options, location: Location | None) -> str:
    if not options.project:
        directory = surroundings.claude_directory(options.env)
        if not directory:
            raise HmdError("usage", "neither HOME nor CLAUDE_CONFIG_DIR is set")
        return os.path.join(directory, "settings.json")
    if location is None:
        raise HmdError(
            "refused", "this directory is no project", options.cwd, "run it inside of one"
        )
    return os.path.join(location.root, LOCAL_SETTINGS)


def _edit(
    file: str, hook: Hook, trace: dict[str, str | None]
) -> tuple[str | None, claude_code.Edited]:
    try:
        before = read_text(file)
        edited = claude_code.register(before or "", hook, trace)
    except JsonProblem as problem:
        do = "correct it and run hmctl install again; nothing was changed"
        raise HmdError("damaged", f"the settings are no usable JSON: {problem}", file, do) from None
    except OSError as error:
        raise HmdError("refused", f"the settings cannot be read: {error.strerror}", file) from error
    refused = refusal(file) if edited.text != before else None
    if refused is not None:
        raise Unwritable(
            f"the settings file {refused.reason}; nothing was changed",
            refused.path,
            claude_code.to_paste(hook),
        )
    return before, edited


def _dry(plan: _Plan) -> Report:
    lines = difflib.unified_diff(
        (plan.before or "").splitlines(keepends=True),
        plan.edited.text.splitlines(keepends=True),
        plan.file if plan.before is not None else "/dev/null",
        plan.file,
    )
    marked = (line if line.endswith("\n") else line + "\n" for line in lines)
    plan.report.diff = "".join(marked)
    plan.report.build = copies.package_build().name
    for what in (f"{plan.home.app}/{plan.report.build}/", plan.home.receipt):
        plan.report.done.append("would write " + what)
    if plan.location is not None:
        plan.report.done.append("would enable the project at " + plan.location.root)
    return plan.report


# --- writing --------------------------------------------------------------------------------


def _write(plan: _Plan, place: Place) -> Receipt:
    """The copy first, the receipt next, the hook entries last: none of them ever points nowhere."""
    report, options = plan.report, plan.options
    try:
        made_home = make_directories(plan.home.path)
        report.build = place(plan.home, plan.hook.interpreter).name
        made = make_directories(os.path.dirname(plan.file), 0o755 if options.project else 0o700)
        new = _receipt(plan, made_home, made)
        receipt.save(plan.home, new)
        if plan.edited.text != plan.before:
            write_through(plan.file, plan.edited.text)
            report.done.append(f"registered {plan.edited.changed} hooks in {plan.file}")
        else:
            report.done.append(f"the hooks in {plan.file} {UP_TO_DATE}")
        if options.project and plan.location is not None:
            _exclude(plan, new, plan.location)
            receipt.save(plan.home, new)
    except OSError as error:
        where = str(error.filename or plan.file)
        raise HmdError("internal", f"install failed: {error.strerror}", where) from error
    return new


def _receipt(plan: _Plan, made_home: list[str], made: list[str]) -> Receipt:
    """The receipt of this install; what earlier ones made stays listed."""
    old, options = plan.old, plan.options
    known = old.of(plan.file)
    entry = Registered(
        claude_code.HOST,
        "project" if options.project else "user",
        plan.file,
        plan.hook.form,
        made_file=known.made_file if known else plan.before is None,
        made=known.made if known else made,
        trace=plan.edited.trace,
    )
    if known:
        entry.exclude, entry.exclude_file = known.exclude, known.exclude_file
        entry.made_exclude = known.made_exclude
    found = {name: surroundings.find_program(name, options.env) for name in ("claude", "codex")}
    plan.report.programs = {name: path for name, path in found.items() if path}
    return Receipt(
        build=plan.report.build,
        version=__version__,
        at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        python=sys.executable,
        interpreter=plan.hook.interpreter,
        claude_directory=surroundings.claude_directory(options.env),
        claude_version=plan.report.claude_version,
        path=options.env.get("PATH", ""),
        programs=plan.report.programs,
        registered=[one for one in old.registered if one.file != plan.file] + [entry],
        made=old.made or made_home,
    )


def _exclude(plan: _Plan, new: Receipt, location: Location) -> None:
    entry = new.of(plan.file)
    assert entry is not None
    added = exclude.add(location, plan.file)
    if added.problem:
        plan.report.warnings.append("not excluded from git: " + added.problem)
    if added.line:
        entry.exclude, entry.exclude_file = added.line, added.file
        entry.made_exclude = added.made_file
        plan.report.done.append(f"added {added.line} to {added.file}")


def _switch_on(plan: _Plan, enable: Enable) -> None:
    report, home = plan.report, plan.home
    if plan.options.everywhere:
        make_directories(home.projects)
        write_through(home.everywhere, "")
        report.done.append("enabled in every project")
    if plan.location is None:
        if not plan.options.everywhere:
            report.suggestions.append(
                f"{plan.options.cwd} is no project (a home, root or temp directory never is): "
                "run hmctl project enable inside of one"
            )
        return
    try:
        enable(plan.options.cwd)
    except HmdError as error:
        report.failed.append(f"the project was not enabled: {error}")
        return
    report.project = plan.location.root
    report.done.append("enabled the project at " + plan.location.root)


# --- what else a person should know ---------------------------------------------------------


def _look_around(plan: _Plan, new: Receipt) -> None:
    report, options = plan.report, plan.options
    version = report.claude_version
    if not version:
        report.warnings.append(
            "the version of Claude Code could not be told: the exec form is used, "
            "which needs 2.1.139 (see --hook-form)"
            if options.form is None
            else "the version of Claude Code could not be told"
        )
    if not new.programs:
        report.warnings.append(
            "no extraction program was found (claude, codex): rules are learned by hand "
            "and from corrections only"
        )
    if os.path.exists(plan.home.disabled):
        report.warnings.append(f"hooks are switched off by {plan.home.disabled}")
    _other_registrations(plan)
    if plan.location is not None:
        for path in surroundings.notes(plan.location.root, new.claude_directory):
            report.suggestions.append(f'{path}: take its rules over with "hmctl memory add"')
        if options.project:
            _uncovered_worktrees(plan, plan.location)


def settings_files(location: Location | None, claude: str) -> list[str]:
    """Every settings file of Claude Code that counts in a project."""
    files = [os.path.join(claude, "settings.json")] if claude else []
    if location is not None:
        files += [os.path.join(location.root, name) for name in (SHARED_SETTINGS, LOCAL_SETTINGS)]
    return files


def _other_registrations(plan: _Plan) -> None:
    for file in settings_files(plan.location, surroundings.claude_directory(plan.options.env)):
        try:
            text = read_text(file) or ""
            if claude_code.hooks_switched_off(text):
                plan.report.warnings.append(f"disableAllHooks is set in {file}: no hook will run")
            homes = {one.home for one in claude_code.registrations(text)}
        except (OSError, JsonProblem) as error:
            plan.report.warnings.append(f"{file} cannot be read: {error}")
            continue
        if file != plan.file and plan.home.path in homes:
            plan.report.warnings.append(
                f"hooks are registered twice, also in {file}; each call is still counted once"
            )
        for home in sorted(homes - {plan.home.path}):
            plan.report.warnings.append(f"{file} also registers the home {home}")


def _uncovered_worktrees(plan: _Plan, location: Location) -> None:
    for root in exclude.worktrees(location):
        try:
            text = read_text(os.path.join(root, LOCAL_SETTINGS)) or ""
            covered = any(one.home == plan.home.path for one in claude_code.registrations(text))
        except (OSError, JsonProblem):
            covered = False
        if not covered:
            plan.report.warnings.append(f"not covered: the worktree {root}")
