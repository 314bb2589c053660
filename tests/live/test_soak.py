"""Months in minutes: many sessions at once while the daemon is killed, stopped, upgraded and
starved of disk and descriptors at random. `HMD_SOAK_EVENTS` sets how many events are played."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from hmd.kernel.address import Home, session_key
from hmd.kernel.turn import SEEN_KEPT
from tests.live.figures import Figure
from tests.live.host import Host
from tests.live.instance import PATIENCE_S, ROOT
from tests.live.sessions import LEVELS
from tests.live.soak import Trouble, name_of, read_results, resident_kb

pytestmark = [pytest.mark.live, pytest.mark.long, pytest.mark.timeout(7200)]

SESSIONS = 50
EVENTS = int(os.environ.get("HMD_SOAK_EVENTS", "100000"))
DRIVERS = 2
KINDS = list(islice(cycle(LEVELS), SESSIONS))


@pytest.fixture
def prepared(host: Host) -> Iterator[tuple[Host, Path]]:
    """A host with the rules of every kind of session; nothing is learned while it is soaked."""
    app = host.repository()
    host.install(app)
    # What is learned in one session would answer in another, sooner or later.
    Path(host.home.config).write_text(
        'autonomy_level = "off"\n[extraction]\nenabled = false\n[after_tool]\nmax_items = 0\n'
    )
    for rules, _ in LEVELS.values():
        for signature, level, summary in rules:
            host.rule(app, signature, level, summary)
    yield host, app


def drivers(home: Home, app: Path, out: Path, events: int) -> list["subprocess.Popen[bytes]"]:
    build = Path(home.app_current).read_text().strip()
    share = -(-SESSIONS // DRIVERS)
    started = []
    for first in range(0, SESSIONS, share):
        words = [home.path, str(app), build, f"{out}.{first}", str(first), str(events)]
        command = [sys.executable, "-m", "tests.live.soak", *words, *KINDS[first : first + share]]
        started.append(subprocess.Popen(command, cwd=ROOT, env={**os.environ, "TMPDIR": "/tmp"}))
    return started


def results(processes: list["subprocess.Popen[bytes]"], out: Path) -> list[list[Any]]:
    for process in processes:
        assert process.wait(timeout=7000) == 0
    return [line for path in out.parent.glob(out.name + ".*") for line in read_results(path)]


def reference(host: Host, app: Path, events: int) -> dict[tuple[int, int], str]:
    """The same sessions over a copy of the home that no daemon ever serves."""
    quiet = Home(str(host.directory / "quiet"))
    host.stop()
    shutil.copytree(host.home.path, quiet.path)
    Path(quiet.service).touch()
    out = host.directory / "expected"
    found = results(drivers(quiet, app, out, events), out)
    host.release()
    return {(number, position): text for number, position, _, text, _ in found}


def events_in(home: Home, number: int) -> Counter[str]:
    path = Path(home.ledger(session_key("claude-code", name_of(number))))
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return Counter(record["e"] for record in lines)


def daemons(host: Host) -> list[int]:
    """Those of the home, the ones that believe in another version (run by `-c`) among them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                ours = any(b"hmd.daemon.main" in word for word in words)
                if ours and host.home.path.encode() in words:
                    found.append(int(entry.name))
    return found


def test_nothing_is_lost_and_nothing_differs(prepared: tuple[Host, Path], figure: Figure) -> None:
    """Guards promises one to three over a long time: every event is in the ledger once, answers are
    those of an undisturbed run (but where a line could not be appended), one daemon at the end."""
    host, app = prepared
    events = EVENTS // SESSIONS
    expected = reference(host, app, events)
    host.start()

    def upgrade() -> None:
        host.instance.candidate(wait=False, version="1000.0.0")

    trouble = Trouble(host.home, 1, upgrade)
    out = host.directory / "found"
    began = time.monotonic()
    processes = drivers(host.home, app, out, events)
    trouble.begin()
    try:
        found = results(processes, out)
    finally:
        trouble.end()
    took = time.monotonic() - began
    lost, twice, tainted = 0, 0, set()
    for number in range(SESSIONS):
        written = events_in(host.home, number)
        quiet = events_in(Home(str(host.directory / "quiet")), number)
        missing = [event for event in quiet if event not in written]
        twice += sum(count > quiet[event] for event, count in written.items())
        lost += len(missing)
        if missing:
            tainted.add(number)
    differing = [
        (number, position, text, expected[number, position])
        for number, position, _, text, _ in found
        if text != expected[number, position] and number not in tainted
    ]
    assert len(found) == len(expected)
    assert not differing, (len(differing), differing[:3], trouble.counts)
    slow = sorted(seconds for *_, seconds in found)
    figure(
        f"{len(found):,} events of {SESSIONS} sessions in {took:.0f} s beside {trouble.counts}:"
        f" {len(differing)} answers differ, {lost} lines could not be appended (in"
        f" {len(tainted)} sessions), {twice} stand twice; slowest"
        f" p99 {slow[int(len(slow) * 0.99)] * 1000:.0f} ms, max {slow[-1] * 1000:.0f} ms"
    )
    # Stopped between its last look and its write, some microseconds, a daemon still writes a line
    # that its client has written meanwhile. It counts nowhere: the first line of an event does.
    assert twice <= 1 + EVENTS // 100_000
    host.hmctl("daemon", "start", code=None)
    end = time.monotonic() + PATIENCE_S
    while len(daemons(host)) != 1:  # a candidate may be on its way out
        assert time.monotonic() < end, daemons(host)
        time.sleep(0.05)
    assert host.hmctl("daemon", "status").returncode == 0


def test_memory_stays_flat(prepared: tuple[Host, Path], figure: Figure) -> None:
    """Guards leaks: once every session holds as much as is kept of one, nothing grows."""
    events = EVENTS // SESSIONS // 2
    if events < 3 * SEEN_KEPT:
        pytest.skip(f"{events} events a session are too few to tell")
    host, app = prepared
    pid = host.start()
    sizes: list[int] = []
    out = host.directory / "found"
    processes = drivers(host.home, app, out, events)
    while any(process.poll() is None for process in processes):
        sizes.append(resident_kb(pid))
        time.sleep(0.2)
    results(processes, out)
    tenth = max(1, len(sizes) // 10)
    full = len(sizes) * 3 // 2 * SEEN_KEPT // events  # and half as much again: sessions differ
    early, first, last = (
        max(sizes[tenth : 2 * tenth]),
        max(sizes[full:][:tenth]),
        max(sizes[-tenth:]),
    )
    figure(
        f"{events * SESSIONS:,} events: resident {early / 1024:.1f} MB in the second tenth,"
        f" {first / 1024:.1f} MB once sessions are full, {last / 1024:.1f} MB in the last tenth"
    )
    assert last <= first * 1.05
