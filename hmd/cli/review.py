"""`hmctl review`: decide what waits, one key at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, Session, session_of
from hmd.core.errors import HmdError

if TYPE_CHECKING:
    from hmd.core.review import ReviewItem, ReviewList

HELP = "[a]ccept  [r]eject  [s]kip  [t]race  [p]romote  [q]uit"


def review(
    ctx: typer.Context,
    list_: Annotated[bool, typer.Option("--list", help="Print the queue and ask nothing.")] = False,
    keys: Annotated[
        str, typer.Option("--keys", metavar="A,R,…", help="Keys to press, one for each item.")
    ] = "",
    accept_all_kind: Annotated[
        str, typer.Option("--accept-all-kind", metavar="KIND", help="Accept all of one kind.")
    ] = "",
    json: Json = False,
) -> None:
    """Go through proposals, candidates and unconfirmed imports."""
    from hmd.core.proposals import ProposalFilter  # late
    from hmd.core.review import ReviewList  # late

    session = session_of(ctx)
    wanted = ProposalFilter(kind=accept_all_kind)
    found = session.call("review", wanted, ReviewList)
    if json:
        show.json_answer(found)
    elif list_:
        _print(found)
    elif not found.items:
        show.answer("nothing waits for you")
    else:
        session.refuse_agents("an agent cannot decide what waits for a person")
        pressed = ["a"] * len(found.items) if accept_all_kind else _keys(keys)
        _decide(session, found, pressed, asked=not (keys or accept_all_kind))


def _keys(typed: str) -> list[str]:
    keys = [part.strip().lower()[:1] for part in typed.split(",") if part.strip()]
    wrong = [key for key in keys if key not in "arstpq"]
    if wrong:
        raise HmdError("usage", f"'{wrong[0]}' is no key", do=HELP)
    return keys


def _print(found: ReviewList) -> None:
    if not found.items:
        show.answer("nothing waits for you")
        return
    rows = []
    for item in found.items:
        name = item.proposal or (item.row.id if item.row is not None else "")
        text = item.row.summary if item.row is not None else item.reason
        rows.append([show.short(name), item.kind, f"{item.support} sessions", show.line(text)])
    show.answer(show.table(rows))


def _decide(session: Session, found: ReviewList, keys: list[str], *, asked: bool) -> None:
    left = iter(keys)
    done = {"accepted": 0, "rejected": 0, "skipped": 0}
    for number, item in enumerate(found.items, 1):
        _show(item, number, len(found.items))
        while True:
            key = _ask() if asked else next(left, "q")
            if key != "t":
                break
            _trace(item)
        if key == "q":
            break
        done[_do(session, item, key)] += 1
    show.answer(", ".join(f"{count} {name}" for name, count in done.items()))


def _ask() -> str:
    while True:
        key = str(typer.prompt(HELP, prompt_suffix=" > ")).strip().lower()[:1]
        if key in "arstpq" and key:
            return key


def _do(session: Session, item: ReviewItem, key: str) -> str:
    """Carries a key out; returns what it counts as."""
    from hmd.core.answers import Outcome  # late
    from hmd.core.memory_calls import MemoryRef  # late
    from hmd.core.proposals import ProposalRef  # late

    if key == "s":
        return "skipped"
    memory = item.row.id if item.row is not None else ""
    try:
        if key == "p" and memory:
            session.call("memory.promote", MemoryRef(id=memory), Outcome)
            if item.proposal:
                reference = ProposalRef(id=item.proposal, note="promoted instead")
                session.call("proposal.reject", reference, Outcome)
        elif item.proposal:
            method = "proposal.accept" if key in "ap" else "proposal.reject"
            session.call(method, ProposalRef(id=item.proposal), Outcome)
        else:
            method = "memory.promote" if key in "ap" else "memory.reject"
            session.call(method, MemoryRef(id=memory), Outcome)
    except HmdError as error:
        show.note(f"{show.short(item.proposal or memory)}: {error}")
        return "skipped"
    return "rejected" if key == "r" else "accepted"


def _show(item: ReviewItem, number: int, count: int) -> None:
    from rich.console import Console  # late: only people at a terminal see this
    from rich.panel import Panel
    from rich.text import Text

    body = Text()
    row = item.row
    if row is not None:
        body.append(show.clean(row.summary), style="bold")
        if row.details:
            body.append("\n" + show.clean(row.details))
        signature = row.sig.spec if row.sig is not None else "no signature"
        body.append(f"\n{row.type}, {row.level}, {row.authority}, {row.evidence}; {signature}")
        body.append(f"; scope {show.line(row.scope)}", style="dim")
    if item.other is not None:
        body.append(f"\nbeside: {show.clean(item.other.summary)}", style="yellow")
    if item.reason:
        body.append(f"\n{show.clean(item.reason)}", style="dim")
    body.append(f"\n{item.support} session(s)", style="dim")
    if item.expires_at:
        body.append(f", until {show.moment(item.expires_at)[:10]}", style="dim")
    Console(highlight=False).print(Panel(body, title=f"{number}/{count} {item.kind}"))


def _trace(item: ReviewItem) -> None:
    for evidence in item.evidence:
        show.answer(f"  {evidence.ref}: {show.line(evidence.excerpt)}")
    if not item.evidence:
        show.answer("  nothing is cited")
