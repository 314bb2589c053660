"""Receipts: what rules did, week by week, for the person who keeps them."""

import sqlite3
from collections.abc import Iterable
from functools import partial

import msgspec

from hmd.app.context import App, Caller
from hmd.core.learning import ReceiptRow
from hmd.core.receipts import ReceiptList, ReceiptsWanted, RuleReceipt, WeekReceipt
from hmd.core.times import WEEK_MS, week_name, week_of
from hmd.store import rule_receipts

_COUNTS = ("fired", "heeded", "avoided", "overridden", "false_alarm")


async def receipts(app: App, caller: Caller, wanted: ReceiptsWanted) -> ReceiptList:
    """`receipts`. Of all projects; a rule of a forgotten one is left out of rows and sums."""
    newest = week_of(app.now())
    weeks = [newest - number * WEEK_MS for number in range(wanted.weeks)]
    rules = await app.store.read(partial(_rules, since=weeks[-1]))
    return ReceiptList(weeks=[_week(week, rules.get(week, [])) for week in weeks])


async def this_week(app: App) -> ReceiptRow:
    """What all rules did since Monday (UTC): the newest week of `receipts`, summed."""
    week = week_of(app.now())
    rules = await app.store.read(partial(_rules, since=week))
    return _total(week, rules.get(week, []))


def _rules(connection: sqlite3.Connection, since: int) -> dict[int, list[RuleReceipt]]:
    """Every rule's receipt by week, for weeks since `since`."""
    known = rule_receipts.receipted(connection, since)
    weeks: dict[int, list[RuleReceipt]] = {}
    for row in rule_receipts.receipts(connection, since=since, by_week=True):
        summary, status, forgotten, hidden = known.get(row.memory, ("", "", False, False))
        if hidden:
            continue
        one = RuleReceipt(**msgspec.structs.asdict(row), forgotten=forgotten)
        if not forgotten:
            one.summary, one.status = summary, status
        weeks.setdefault(row.week, []).append(one)
    return weeks


def _week(week: int, rules: list[RuleReceipt]) -> WeekReceipt:
    return WeekReceipt(
        week=week,
        name=week_name(week),
        total=_total(week, rules),
        rules=sorted(rules, key=lambda one: (-one.fired, -one.overridden, one.memory)),
    )


def _total(week: int, rules: Iterable[ReceiptRow]) -> ReceiptRow:
    total = ReceiptRow(week=week)
    for one in rules:
        for name in _COUNTS:
            setattr(total, name, getattr(total, name) + getattr(one, name))
        total.last = max(total.last, one.last)
    return total
