"""Undoes an install, by its receipt and without it, and says what was undone.

Data (memories, journal, ledger, settings, logs) stays unless the person asks to purge it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping

import msgspec

from hmd.core.errors import HmdError
from hmd.kernel.address import Home
from hmd.kernel.project import locate
from hmd.setup import claude_code, exclude, receipt, service, surroundings
from hmd.setup.files import read_text, refusal, remove_empty, write_through
from hmd.setup.install import LOCAL_SETTINGS, excluded_places, settings_files
from hmd.setup.json_edit import JsonProblem, parse
from hmd.setup.receipt import Registered


class Options(msgspec.Struct, frozen=True):
    """`env` is the environment of `hmctl`, `cwd` where it stands."""

    home: str
    cwd: str
    env: Mapping[str, str]
    purge: bool = False


class Report(msgspec.Struct):
    """What was undone, what stays on purpose, and what could not be undone."""

    home: str
    done: list[str] = []
    kept: list[str] = []
    failed: list[str] = []


# Ends the daemon of the home; False when none was running. Raises HmdError when it cannot.
Stop = Callable[[], bool]


def uninstall(options: Options, stop: Stop) -> Report:
    """Carries it out. Never raises for a part that fails: the rest is still undone."""
    home, report = Home(options.home), Report(options.home)
    known = receipt.load_if_whole(home)
    # Hook entries first: otherwise the next hook would start the daemon again.
    for entry in _registered(options, known):
        _withdraw(home, entry, report)
    # Before the daemon, which its manager would start again.
    report.done += service.withdraw(home, options.env)
    try:
        if stop():
            report.done.append("stopped the daemon")
    except HmdError as error:
        report.failed.append(f"the daemon could not be stopped: {error}")
    _remove_files(home, report)
    if options.purge:
        _purge(home, report)
    elif os.path.isdir(home.path):
        report.kept += [f"{home.path}/{name}" for name in sorted(os.listdir(home.path))]
    gone = remove_empty([*known.made, home.path])
    report.done += ["removed " + path for path in gone]
    return report


def _registered(options: Options, known: receipt.Receipt) -> list[Registered]:
    """What the receipt lists, then every settings file that could hold an entry of ours."""
    location = locate(options.cwd, excluded_places(options.env))
    entries = list(known.registered)
    directories = [known.claude_directory, surroundings.claude_directory(options.env)]
    for directory in directories:
        for file in settings_files(location, directory):
            if file not in [entry.file for entry in entries]:
                entry = Registered(claude_code.HOST, "unknown", file)
                if location is not None and location.git and file.endswith(LOCAL_SETTINGS):
                    entry.exclude = exclude.pattern(location, file)
                    entry.exclude_file = os.path.join(location.common, "info", "exclude")
                entries.append(entry)
    return entries


def _withdraw(home: Home, entry: Registered, report: Report) -> None:
    """Takes our entries out of one settings file, and its exclude line with them."""
    try:
        text = read_text(entry.file)
        edited = claude_code.unregister(text or "", home.path, entry.trace)
        listed = entry.scope != "unknown"
        if edited.changed:
            refused = refusal(entry.file)
            if refused is not None:
                report.failed.append(
                    f"{edited.changed} hooks stay in {refused.path}, which {refused.reason}: "
                    f'remove the entries that name "{home.path}" by hand'
                )
                return
            whole = _write_back(entry, edited.text)
            report.done.append(f"removed {edited.changed} hooks from {entry.file}")
            report.done += [f"removed {entry.file}"] if whole else []
        elif listed:
            report.done.append(f"no hooks were left in {entry.file}")
        if entry.exclude and (edited.changed or listed):
            _unexclude(entry, report)
        report.done += ["removed " + path for path in remove_empty(entry.made)]
    except (OSError, JsonProblem) as error:
        report.failed.append(f"{entry.file} was left as it is: {error}")


def _write_back(entry: Registered, text: str) -> bool:
    """Writes the text, or removes a file that install made and that is empty again (True)."""
    if entry.made_file and not os.path.islink(entry.file) and _is_empty(text):
        os.unlink(entry.file)
        return True
    write_through(entry.file, text)
    return False


def _is_empty(text: str) -> bool:
    return not text.strip() or (text.strip()[0] == "{" and not parse(text).children)


def _unexclude(entry: Registered, report: Report) -> None:
    if exclude.withdraw(entry.exclude_file, entry.exclude, entry.made_exclude):
        report.done.append(f"removed {entry.exclude} from {entry.exclude_file}")


def _remove_files(home: Home, report: Report) -> None:
    """The hook's copies, what belongs to a running daemon, and the receipt."""
    short = [home.socket] if home.socket_directory not in ("", home.run) else []
    for path in [home.app, home.path + "/run", *short, home.everywhere, home.receipt]:
        _remove(path, report)
    if short:
        remove_empty([home.short_run])


def _remove(path: str, report: Report) -> None:
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        report.failed.append(f"{path} was left: {error.strerror}")
        return
    report.done.append("removed " + path)


def _purge(home: Home, report: Report) -> None:
    """Everything of ours by name, never the directory as a whole: it might hold other things."""
    for name in (
        "db", "backup", "journal", "snapshot", "ledger", "turn", "projects", "log", "config.toml",
        "disabled", "tombstone.key", "hot", "notice", "past",
    ):  # fmt: skip
        _remove(f"{home.path}/{name}", report)
    if os.path.isdir(home.path):
        left = sorted(os.listdir(home.path))
        report.kept += [f"{home.path}/{name} (not ours)" for name in left]
