"""What rules did, by rule and by week."""

import sqlite3

from hmd.app import projects, receipts, stats
from hmd.app.forget import forget
from hmd.core.forgetting import ForgetQuery
from hmd.core.learning import ReceiptRow
from hmd.core.memory import MemoryRow
from hmd.core.projects import ProjectRef
from hmd.core.receipts import ReceiptsWanted, StatsWanted
from hmd.core.times import WEEK_MS, week_of
from hmd.store import rule_receipts
from tests.app.conftest import Place
from tests.app.school import Pupil, School, command, decision, fact, said, school


async def taught(made: School) -> MemoryRow:
    """A rule from a correction, in force in the next session."""
    rule = fact(trigger_signature=command("npm test"), evidence_refs=["@use pnpm"])
    made.script(said(rule, when="pnpm"))
    first = made.session("s1")
    first.say("run the tests")
    first.bash("npm test", "Exit code 1\nno such script")
    first.stop()
    first.say("don't use npm here, use pnpm")
    first.bash("pnpm test")
    first.end()
    await made.learn()
    (row,) = await made.rows(source="extraction")
    return row


def turn(pupil: Pupil, *commands: str) -> list[str]:
    """A whole turn; what was decided about each call."""
    pupil.say("test it")
    decided = [decision(pupil.bash(one)) for one in commands]
    pupil.stop()
    return decided


def figures(row: ReceiptRow) -> tuple[int, ...]:
    return (row.fired, row.heeded, row.avoided, row.overridden, row.false_alarm)


async def test_each_week_has_its_own_receipt(place: Place) -> None:
    """Guards the five figures against what happened, and that a week keeps its own."""
    async with school(place) as made:
        row = await taught(made)
        pupil = made.session("s2")
        assert turn(pupil, "npm test", "npm test") == ["deny", ""]  # passed, and it worked
        week = week_of(place.clock.wall)
        place.clock.advance(WEEK_MS)
        assert turn(pupil, "npm test", "pnpm test") == ["deny", ""]  # done otherwise
        assert turn(pupil, "npm test") == ["deny"]  # heeded, and nothing instead
        pupil.end()
        await made.learn()

        found = await receipts.receipts(made.app, made.caller, ReceiptsWanted(weeks=3))
        now, before, empty = found.weeks
        assert [one.week for one in found.weeks] == [week + WEEK_MS, week, week - WEEK_MS]
        assert empty.rules == [] and figures(empty.total) == (0, 0, 0, 0, 0)
        (mine,) = now.rules
        assert (mine.memory, mine.summary, mine.status) == (row.id, row.summary, "active")
        assert figures(mine) == figures(now.total) == (2, 2, 1, 0, 0)
        assert [figures(one) for one in before.rules if one.memory == row.id] == [(1, 0, 0, 1, 1)]
        assert figures(await receipts.this_week(made.app)) == figures(now.total)

        latest = await receipts.receipts(made.app, made.caller, ReceiptsWanted(weeks=1))
        assert latest.weeks == [now]
        summed = await stats.stats(made.app, made.caller, StatsWanted(days=30))
        (whole,) = [one for one in summed.receipts if one.memory == row.id]
        assert figures(whole) == (3, 2, 1, 1, 1)


async def test_a_forgotten_rule_is_not_named(place: Place) -> None:
    """Guards forgetting: the figures stay, the words are gone at once."""
    async with school(place) as made:
        row = await taught(made)
        pupil = made.session("s2")
        turn(pupil, "npm test")
        pupil.end()
        await made.learn()
        await forget(made.app, made.caller, ForgetQuery(id=row.id))
        found = await receipts.receipts(made.app, made.caller, ReceiptsWanted(weeks=1))
        (mine,) = [one for one in found.weeks[0].rules if one.memory == row.id]
        assert (mine.summary, mine.status, mine.forgotten) == ("", "", True)
        assert mine.fired == 1


async def test_sums_order_and_forgotten_projects(place: Place) -> None:
    """Guards a week of several rules: its sums, the most active first, a correction that was only
    its session's, and that a forgotten project's rules are neither listed nor summed."""
    async with school(place) as made:
        row = await taught(made)
        week = week_of(place.clock.wall)

        def put(connection: sqlite3.Connection) -> None:
            rows = [
                ReceiptRow(memory=row.id, session="a", week=week, fired=1, heeded=1, last=7),
                ReceiptRow(memory="0" * 32, session="a", week=week, fired=4, overridden=2, last=5),
            ]
            rule_receipts.put_receipts(connection, "a", rows)
            rule_receipts.put_receipts(
                connection, "b", [ReceiptRow(memory=row.id, session="b", week=week, fired=1)]
            )

        await made.app.store.operate(put)
        wanted = ReceiptsWanted(weeks=1)
        (found,) = (await receipts.receipts(made.app, made.caller, wanted)).weeks
        assert [(one.memory[:4], figures(one)) for one in found.rules[:2]] == [
            ("0000", (4, 0, 0, 2, 0)),
            (row.id[:4], (2, 1, 0, 0, 0)),
        ]
        assert (found.rules[0].summary, found.rules[0].forgotten) == ("", False)
        assert figures(found.total) == (6, 1, 0, 2, 0) and found.total.last == 7

        await projects.forget(made.app, made.caller, ProjectRef(id=made.caller.project))
        (found,) = (await receipts.receipts(made.app, made.caller, wanted)).weeks
        assert [one.memory[:4] for one in found.rules] == ["0000"]
        assert figures(found.total) == (4, 0, 0, 2, 0)
