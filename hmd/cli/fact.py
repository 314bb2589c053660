"""`hmctl fact`: what is believed about the world, since when, and why."""

from __future__ import annotations

import typer

from hmd.cli import fact_ask, fact_forget, fact_marks, fact_record

app = typer.Typer(no_args_is_help=True, help="Facts in time: remember, ask, correct, forget.")
app.command("remember")(fact_record.remember)
app.command("revise")(fact_record.revise)
app.command("recall")(fact_ask.recall)
app.command("why")(fact_ask.why)
app.command("diff")(fact_ask.diff)
app.command("stats")(fact_ask.stats)
app.command("near")(fact_ask.near)
app.command("pin")(fact_marks.pin)
app.command("archive")(fact_marks.archive)
app.command("tag")(fact_marks.tag)
app.command("link")(fact_marks.link)
app.command("weigh")(fact_marks.weigh)
app.command("hide")(fact_marks.hide)
app.command("forget")(fact_forget.forget)
app.command("restore")(fact_forget.restore)
app.command("trash")(fact_forget.trash)
app.command("check")(fact_ask.check)
app.command("tidy")(fact_ask.tidy)
