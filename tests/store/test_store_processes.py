"""A store that is killed, and one whose database another process holds."""

import subprocess
import sys
from pathlib import Path

import pytest
import trio

from hmd.core import ids
from hmd.core.memory_calls import MemoryFilter
from hmd.kernel.address import Home
from tests.store.helpers import add, dump, opened, remove_database

ROOT = Path(__file__).parents[2]

CHILD = """
import sys, trio
from hmd.core.clock import SystemClock
from hmd.kernel.address import Home
from hmd.store.store import Store
from tests.store.helpers import add

async def main():
    async with Store.open(Home(sys.argv[1], machine="test"), SystemClock(), "kernel") as store:
        async def writer():
            while True:
                change = add(1)
                await store.apply(change)
                print(change.memory, flush=True)
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(writer)

trio.run(main)
"""


def child(home: Home, script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, home.path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


async def test_kill_9_loses_nothing_acknowledged(home: Home) -> None:
    """Guards the second promise with a real process killed in the middle of its changes, thrice:
    what it had been told is stored is there once, and the database is what the journal says."""
    acknowledged: list[str] = []
    for _ in range(3):
        process = child(home, CHILD)
        assert process.stdout is not None
        for _ in range(25):
            acknowledged.append(process.stdout.readline().strip())
        process.kill()
        acknowledged += process.stdout.read().split("\n")[:-1]
        process.wait()
        process.stdout.close()
        if process.stdin:
            process.stdin.close()
    async with opened(home) as store:
        assert store.problems == []
        found = await store.list_memories(MemoryFilter(limit=100_000))
        stored = [row.id for row in found.rows]
        assert len(set(stored)) == len(stored) == found.total
        whole = {each for each in acknowledged if ids.is_id(each)}
        assert len(whole) >= 75
        assert whole <= set(stored)
        live = dump(home)
    remove_database(home)
    async with opened(home) as store:
        assert store.problems == []
        assert dump(home) == live


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1] + "/db/hmd.sqlite", isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@pytest.mark.long
async def test_lock_held_for_three_seconds_by_another_process(home: Home) -> None:
    """Guards case O-12 as it is written: 50 changes from four tasks, none lost, none twice."""
    async with opened(home) as store:
        await store.apply(add(0))
        process = child(home, HOLDER)
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "held\n"
        seqs: list[int] = []

        async def writer(first: int) -> None:
            for number in range(first, 50, 4):
                seqs.append((await store.apply(add(number))).seq)

        async with trio.open_nursery() as nursery:
            for first in range(4):
                nursery.start_soon(writer, first)
            await trio.sleep(3)  # the case's own length, not a wait for something
            assert seqs == []
            process.stdin.write("\n")
            process.stdin.close()
        process.wait()
        process.stdout.close()
        assert sorted(seqs) == list(range(2, 52))
        assert (await store.list_memories()).total == 51
