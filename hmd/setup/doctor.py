"""Looks over an installation and says, for each thing that matters, whether it is well.

Every check that is not OK says what to do. Checks read; `repair` changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, TypeVar

import msgspec

from hmd.core import machine
from hmd.core.config import load as load_config
from hmd.core.errors import HmdError
from hmd.core.fact_queries import FactTidy
from hmd.core.memory import MemoryRow
from hmd.core.memory_calls import MemoryFilter, MemoryList
from hmd.core.snapshots import SnapshotList, SnapshotRef
from hmd.core.status import LearningStatus, Status
from hmd.kernel.address import Home
from hmd.kernel.decide import SIGNATURELESS
from hmd.kernel.shell.match import parse_signature
from hmd.setup import (
    canary,
    claude_code,
    copies,
    install,
    logs,
    reach,
    receipt,
    self_test,
    service,
    surroundings,
)
from hmd.setup.files import read_text
from hmd.setup.json_edit import JsonProblem
from hmd.setup.receipt import Receipt, Registered

T = TypeVar("T")
State = Literal["OK", "WARN", "FAIL"]
OK: State = "OK"
WARN: State = "WARN"
FAIL: State = "FAIL"
LOG_LINES = 5_000
AGAIN = "run hmctl install again"


class Check(msgspec.Struct, frozen=True):
    """One finding. `name` is stable; `do` says what helps ("" for OK)."""

    name: str
    state: State
    what: str
    do: str = ""


class Patient(msgspec.Struct, frozen=True):
    """What is looked over; `call(method, parameters, answer)` asks the daemon (HmdError)."""

    home: str
    cwd: str
    env: Mapping[str, str]
    call: Callable[[str, Any, type[Any]], Any]
    probe: Callable[[], str]
    self_test: bool = False
    canary: bool = False
    service: Callable[[], service.Report | None] = lambda: None  # how a service manager stands


def examine(patient: Patient) -> list[Check]:
    """Every check, in the order in which a person would mend things. Never raises HmdError."""
    home = Home(patient.home)
    found = list(_home(home))
    try:
        known = receipt.load(home)
    except HmdError as error:
        known = None
        found.append(Check("receipt", FAIL, str(error), AGAIN))
    else:
        if known is None:
            found.append(Check("receipt", FAIL, "hmd is not installed", "run hmctl install"))
    known = known or Receipt()
    found += _registrations(home, known)
    found += _copy(home)
    found += _switches(home, patient.env)
    found += _config(home)
    found += _sides(patient.cwd)
    found += _programs(patient.env)
    found += _service(patient)
    found += _daemon(patient)
    found += _hook_log(home)
    if patient.self_test:
        found += _self_test(home, known)
    if patient.canary:
        found += _canary(home, known, patient.cwd)
    return found


def _home(home: Home) -> Iterator[Check]:
    try:
        install.check_home(home)
    except HmdError as error:
        yield Check("home", FAIL, f"{error.what}: {home.path}", error.do or "choose another home")
        return
    if os.path.isdir(home.path):
        yield Check("home", OK, f"{home.path} is yours alone")
    if home.socket_directory not in ("", home.run):
        yield Check("socket", OK, f"the home's path is long: the socket is {home.socket}")


# --- hooks ----------------------------------------------------------------------------------


def _registrations(home: Home, known: Receipt) -> Iterator[Check]:
    interpreters = {known.interpreter} if known.interpreter else set()
    for entry in known.registered:
        yield from _registration(home, entry, interpreters)
    for path in sorted(interpreters):
        if os.access(path, os.X_OK) and os.path.isfile(path):
            warning = surroundings.base_interpreter([path]).warning
            what, _, do = warning.partition("; ")
            yield Check("interpreter", WARN if warning else OK, what or f"{path} is there", do)
        else:
            yield Check("interpreter", FAIL, f"{path} is gone: no hook runs", AGAIN)


def _registration(home: Home, entry: Registered, interpreters: set[str]) -> Iterator[Check]:
    name = f"hooks ({entry.scope})"
    try:
        text = read_text(entry.file) or ""
        ours = [one for one in claude_code.registrations(text) if one.home == home.path]
        off = claude_code.hooks_switched_off(text)
    except (OSError, JsonProblem) as error:
        yield Check(name, FAIL, f"{entry.file} cannot be read: {error}", "correct the file")
        return
    interpreters.update(one.interpreter for one in ours)
    missing = [event for event, _, _ in claude_code.EVENTS if event not in {o.event for o in ours}]
    if off:
        yield Check(name, FAIL, f"disableAllHooks is set in {entry.file}", "remove it")
    if missing:
        what = "no hooks" if not ours else "no hook for " + ", ".join(missing)
        yield Check(name, FAIL, f"{what} in {entry.file}", AGAIN)
    elif len(ours) > len(claude_code.EVENTS):
        yield Check(name, WARN, f"some hooks stand twice in {entry.file}", AGAIN)
    elif not all(one.current for one in ours):
        yield Check(name, WARN, f"the hooks in {entry.file} are of an older build", AGAIN)
    else:
        yield Check(name, OK, f"{len(ours)} hooks in {entry.file}")


def _copy(home: Home) -> Iterator[Check]:
    build, now = copies.package_build(), copies.current(home)
    damaged = copies.damage(home, build) if now == build.name else []
    if not now:
        yield Check("copy", FAIL, "hooks have nothing to run", AGAIN)
    elif now != build.name:
        yield Check("copy", WARN, f"hooks run {now}, the package is {build.name}", AGAIN)
    elif damaged:
        yield Check("copy", FAIL, f"{len(damaged)} files differ, such as {damaged[0]}", AGAIN)
    elif not os.path.exists(home.daemon_command):
        yield Check("copy", FAIL, "hooks do not know how to start the daemon", AGAIN)
    else:
        yield Check("copy", OK, f"hooks run {now}")


def _switches(home: Home, env: Mapping[str, str]) -> Iterator[Check]:
    if os.path.exists(home.disabled):
        yield Check("switch", WARN, f"hooks are off: {home.disabled}", "run hmctl config on")
    if env.get("HMD_DISABLE", "0") not in ("", "0"):
        yield Check("switch", WARN, "hooks are off: HMD_DISABLE is set", "unset HMD_DISABLE")


def _self_test(home: Home, known: Receipt) -> Iterator[Check]:
    form = known.registered[0].form if known.registered else "exec"
    form = form if form in claude_code.FORMS else "exec"
    hook = claude_code.Hook(known.interpreter, home.path, form)
    problem = self_test.run(home, hook) if known.interpreter else "hmd is not installed"
    if problem:
        yield Check("self-test", FAIL, problem, "look at hmctl logs and hmctl logs --daemon")
    else:
        yield Check("self-test", OK, "a hook answered as the host will call it")


def _canary(home: Home, known: Receipt, cwd: str) -> Iterator[Check]:
    """Whether a marked call is really stopped; and what no hook of this host can stop."""
    findings = list(canary.run(home, known, cwd))
    if not findings:
        yield Check("canary", FAIL, "no hook is registered that could be tried", AGAIN)
    for one in findings:
        do = "" if one.good else "enable hmd here (hmctl project enable), then look at hmctl logs"
        yield Check("canary", OK if one.good else FAIL, one.what, do)
    for what in canary.UNCOVERED:
        yield Check("not covered", OK, what)


def _hook_log(home: Home) -> Iterator[Check]:
    try:
        calls = logs.per_event(logs.last_lines(home.hook_log, LOG_LINES))
    except HmdError as error:
        yield Check("calls", WARN, str(error), "look at the permissions of the log")
        return
    if not calls:
        do = "start a new session of the agent in an enabled project"
        yield Check("calls", WARN, "no hook has been called yet", do)
    for event, one in sorted(calls.items()):
        what = f"{event}: {one.count} calls, the last {one.last} {one.status}, p95 {one.p95:.1f} ms"
        bad = one.status.startswith("error:") or one.status in ("bad_stdin", "snapshot_missing")
        yield Check("calls", WARN if bad else OK, what, "look at hmctl logs" if bad else "")


# --- what is behind them --------------------------------------------------------------------


def _config(home: Home) -> Iterator[Check]:
    _, problems = load_config(home.config)
    for one in problems:
        yield Check("config", WARN, str(one), f"correct it in {home.config}")
    if not problems:
        yield Check("config", OK, "no bad values")


def _sides(cwd: str, release: str = "") -> Iterator[Check]:
    """Under WSL: hooks and home of one side, and the checkout on the same."""
    release = release or os.uname().release if hasattr(os, "uname") else ""
    if "microsoft" in release.lower() and cwd.startswith("/mnt/"):
        what = f"{cwd} lies on the Windows side, hmd and its home inside WSL"
        yield Check("wsl", WARN, what, "run the agent on one side only, or check out inside WSL")


def _programs(env: Mapping[str, str]) -> Iterator[Check]:
    found = [name for name in ("claude", "codex") if surroundings.find_program(name, env)]
    if found:
        yield Check("extraction", OK, "found " + ", ".join(found))
    else:
        do = "install one, or name it by HMD_CLAUDE_BIN or HMD_CODEX_BIN"
        yield Check("extraction", WARN, "neither claude nor codex was found", do)


def _service(patient: Patient) -> Iterator[Check]:
    found = patient.service()
    if found is None or found.state == "absent":
        return
    who = f"{found.manager} runs the daemon, as {found.unit}"
    if not found.problems:
        yield Check("service", OK, who)
    for problem in found.problems:
        yield Check("service", FAIL, problem, "run hmctl service install again")


def _daemon(patient: Patient) -> Iterator[Check]:
    obstacle, do = reach.obstacle(Home(patient.home), patient.env)
    if obstacle:
        yield Check("daemon", FAIL, f"{obstacle}; hooks are not affected", do)
        return
    state = patient.probe()
    if state == "unreachable":
        yield Check("daemon", FAIL, "it does not answer", "run hmctl daemon restart")
        return
    try:
        found: Status = patient.call("status", {}, Status)
    except HmdError as error:
        yield Check("daemon", FAIL, str(error), error.do or "look at hmctl logs --daemon")
        return
    began = "answers" if state == "ready" else "was started and answers"
    who = f"run by {found.owner}" if found.owner not in ("", "on demand") else "run on demand"
    yield Check("daemon", OK, f"process {found.pid}, build {found.build}, {began}, {who}")
    build = copies.package_build().name
    if found.build and found.build != build:
        what = f"the daemon still is {found.build}, the package is {build}"
        yield Check("daemon", WARN, what, "run hmctl daemon restart")
    if found.home and found.home != patient.home:
        yield Check("daemon", FAIL, f"it serves {found.home}", "run hmctl daemon restart")
    yield from _store(found)
    yield from _learning(found.learning)
    yield from _memories(patient)
    yield from _facts(patient)


def _store(found: Status) -> Iterator[Check]:
    do = {"stale": "run hmctl snapshot rebuild", "missing": "run hmctl snapshot rebuild"}
    if found.enabled:
        yield Check(
            "snapshot",
            OK if found.snapshot == "fresh" else WARN,
            f"{found.snapshot}, generation {found.generation}",
            do.get(found.snapshot, ""),
        )
    else:
        yield Check("project", WARN, "hmd is not enabled here", "run hmctl project enable")
    store = found.store
    if store.state == "newer":
        yield Check("database", FAIL, "a newer hmd has written it", "upgrade this one")
    elif store.state == "damaged":
        yield Check("database", FAIL, "it is damaged", "look at hmctl logs --daemon")
    else:
        yield Check("database", OK, f"{store.state}, schema {store.schema}")
    if store.journal_mode.lower() == "delete":
        what = "the home is on a network file system: slower, and locks are the server's"
        yield Check("database", WARN, what, "set HMD_HOME to a directory on this machine's disk")
    for line in store.problems:
        yield Check("database", WARN, line, "look at hmctl logs --daemon")


def _learning(found: LearningStatus) -> Iterator[Check]:
    """What waits, what was given up, and what the provider itself said."""
    if not found.enabled:
        yield Check("learning", OK, "extraction is off: what needs no model is still learned")
        return
    if found.dead:
        what = f"{found.dead} episodes were given up after several attempts"
        yield Check("learning", WARN, what, "look at hmctl queue list --state dead")
    if found.waiting:
        said = f" ({found.probe_message})" if found.probe_message else ""
        what = f"{found.queued} episodes wait: {found.waiting}{said}"
        yield Check("learning", WARN, what, found.probe_hint or "look at hmctl queue list")
    else:
        last = found.last_run or "none yet"
        yield Check("learning", OK, f"{found.queued} episodes wait, the last extraction: {last}")


def _memories(patient: Patient) -> Iterator[Check]:
    wanted = MemoryFilter(status="active", project="all", limit=100_000)
    try:
        found: MemoryList = patient.call("memory.list", wanted, MemoryList)
    except HmdError as error:
        yield Check("memories", WARN, str(error), error.do or "try again")
        return
    dead = [(row, why) for row in found.rows if (why := unreachable(row))]
    for row, why in dead:
        do = f"run hmctl memory edit {row.id[:8]}"
        yield Check("memories", WARN, f"{row.id[:8]} can never act: {why}", do)
    if not dead:
        yield Check("memories", OK, f"{len(found.rows)} in force, all can act")


def _facts(patient: Patient) -> Iterator[Check]:
    try:
        found: FactTidy = patient.call("fact.tidy", {}, FactTidy)
    except HmdError as error:
        yield Check("facts", WARN, str(error), error.do or "try again")
        return
    do = "run hmctl fact tidy"
    if found.fragmented:
        yield Check("facts", WARN, f"{len(found.fragmented)} subjects are spelled apart", do)
    if found.long:
        yield Check("facts", WARN, f"{len(found.long)} describe code and are tied to none", do)
    if found.stale:
        yield Check("facts", WARN, f"{len(found.stale)} were left by the code", do)
    if not (found.fragmented or found.long or found.stale):
        yield Check("facts", OK, "nothing to tidy")


def unreachable(row: MemoryRow) -> str:
    """Why an active memory can never act; "" when it can."""
    if not row.triggers:
        return "it has no trigger"
    if "before_tool" not in row.triggers or len(row.triggers) > 1:
        return ""
    if row.sig is None:
        return "" if row.type in SIGNATURELESS else f"a {row.type} before a tool needs a signature"
    if row.sig.kind == "cmd":
        problem = parse_signature(row.sig.pattern).problem
        if problem:
            return f"its command signature cannot be read: {problem}"
    if row.tools and row.sig.tool != "*" and row.sig.tool not in row.tools:
        return f"its signature is for {row.sig.tool}, its tools are {', '.join(row.tools)}"
    return ""


# --- repair ---------------------------------------------------------------------------------


def repair(patient: Patient, checks: list[Check], end_daemon: Callable[[], bool]) -> list[str]:
    """Mends what can be mended without a question; returns what was done, in words.

    Raises HmdError when a repair is refused.
    """
    home, bad = Home(patient.home), {one.name for one in checks if one.state != OK}
    done = []
    if (
        "home" in bad
        and os.path.isdir(home.path)
        and os.stat(home.path).st_uid == machine.own_user()
    ):
        os.chmod(home.path, 0o700)
        done.append(f"closed {home.path} to others")
    if any(name in bad for name in ("receipt", "copy", "interpreter")) or any(
        name.startswith("hooks") for name in bad
    ):
        done += _install_again(patient, home)
    if any(one.name == "daemon" and one.state == FAIL for one in checks) and end_daemon():
        done.append("ended a daemon that did not answer")
    if "snapshot" in bad:
        patient.call("snapshot.rebuild", SnapshotRef(), SnapshotList)
        done.append("rebuilt the snapshots")
    return done


def _install_again(patient: Patient, home: Home) -> list[str]:
    """Every registration of the receipt anew, in the form it had; enables nothing."""
    known = receipt.load_if_whole(home)
    done: list[str] = []
    broken = copies.damage(home, copies.package_build())
    for entry in known.registered or [Registered(claude_code.HOST, "user", "")]:
        project = entry.scope == "project"
        cwd = os.path.dirname(os.path.dirname(entry.file)) if project else patient.cwd
        env = dict(patient.env)
        if not project and entry.file:
            env["CLAUDE_CONFIG_DIR"] = os.path.dirname(entry.file)
        form = entry.form if entry.form in claude_code.FORMS else None
        options = install.Options(
            home.path,
            cwd,
            env,
            project=project,
            form=form,
            self_test=False,
        )
        report = install.install(options, None)
        done += [said for said in report.done if not said.endswith(install.UP_TO_DATE)]
    if broken and not copies.damage(home, copies.package_build()):
        done.append(f"hooks run from a whole copy of {report.build} again")
    return done
