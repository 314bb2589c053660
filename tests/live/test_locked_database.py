"""Changes that wait for a database which somebody else has locked: what a caller was told is so."""

import sqlite3
import threading
from contextlib import closing

import pytest

from hmd.core.errors import HmdError
from tests.live.instance import Instance

pytestmark = [pytest.mark.live, pytest.mark.long]


def test_a_change_that_was_refused_is_not_made_later(instance: Instance) -> None:
    """Guards callers behind a lock that outlasts them: whoever heard that it was not done may
    repeat it without making it twice."""
    instance.start()
    instance.call("fact.stats", {})
    told: dict[str, str] = {}

    def remember(fact: str) -> None:
        try:
            instance.call("fact.remember", {"subject": "s", "fact": fact})
            told[fact] = "done"
        except HmdError as error:
            told[fact] = error.what

    callers = [threading.Thread(target=remember, args=(f"fact {number}",)) for number in range(4)]
    with closing(sqlite3.connect(instance.home.database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        other.execute("ROLLBACK")
    assert len(told) == 4 and "done" not in told.values()
    instance.call("fact.remember", {"subject": "s", "fact": "after it"})  # behind all of them
    rows = instance.call("fact.recall", {"limit": 100})["rows"]
    assert [row["fact"] for row in rows] == ["after it"]
