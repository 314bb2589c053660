"""`hmctl receipt`: what rules did, week by week."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of

if TYPE_CHECKING:
    from hmd.core.learning import ReceiptRow
    from hmd.core.receipts import RuleReceipt, WeekReceipt

_COUNTS = ("fired", "heeded", "avoided", "overridden", "false_alarm")


def receipt(
    ctx: typer.Context,
    weeks: Annotated[
        int, typer.Option("--weeks", min=1, max=520, help="So many weeks, this one included.")
    ] = 4,
    json: Json = False,
) -> None:
    """Say what each rule did in each week (ISO 8601, UTC), in all projects.

    fired: the rule was given as advice, asked about, held a call or refused it.
    heeded: it held a call and that call was not made again in the same turn.
    avoided: heeded, and another call of the same tool then worked.
    overridden: the held call was made again and passed.
    false alarm: overridden, and the call worked.

    A turn counts when it has ended and was read, in the week in which it ended; a very long one is
    counted in parts. Heeded and avoided count once a rule and turn; advice, questions and refusals
    are fired and nothing else.
    """
    from hmd.core.receipts import ReceiptList, ReceiptsWanted  # late

    wanted = ReceiptsWanted(weeks=weeks)
    found = session_of(ctx).call("receipts", wanted, ReceiptList)
    if json:
        show.json_answer(found)
        return
    for week in found.weeks:
        show.answer(_lines(week))


def figures(receipt: ReceiptRow) -> str:
    """A receipt in words."""
    return ", ".join(f"{name.replace('_', ' ')} {getattr(receipt, name)}" for name in _COUNTS)


def _lines(week: WeekReceipt) -> str:
    """One week: its sums, then a line for each rule."""
    head = f"{week.name} (from {show.moment(week.week)[:10]}): "
    if not week.rules:
        return head + "nothing fired"
    rows = [[f"  {show.short(one.memory)}", figures(one), _name(one)] for one in week.rules]
    return f"{head}{figures(week.total)}\n{show.table(rows)}"


def _name(rule: RuleReceipt) -> str:
    if rule.forgotten:
        return "(forgotten)"
    if not rule.status:
        return "(a correction in its session)"
    kept = "" if rule.status == "active" else f"({rule.status}) "
    return kept + show.line(rule.summary)
