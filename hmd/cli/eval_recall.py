"""`hmctl eval recall`: how well recall finds what it should, on a set of one's own."""

from __future__ import annotations

import json as jsonlib
import subprocess
import sys
from typing import Annotated

import typer

from hmd.cli import show
from hmd.cli.session import Json, session_of
from hmd.core.errors import HmdError


def recall(
    ctx: typer.Context,
    files: Annotated[
        list[str], typer.Argument(metavar="FILE…", help="Sets: documents, questions, answers.")
    ],
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="By meaning too, with this model.")
    ] = "",
    json: Json = False,
) -> None:
    """Measure recall at 5 and nDCG at 10 on sets in JSON (docs/internals.md, "Recall")."""
    session = session_of(ctx)
    argv = [sys.executable, "-I", "-X", "utf8", "-m", "hmd.encoder.evaluate"]
    argv += [session.absolute(one) for one in files]
    argv += ["--model", model, "--cache", session.home.path + "/models"]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True)
    found = [jsonlib.loads(line) for line in done.stdout.splitlines()]
    if json:
        show.json_answer(found)
    else:
        rows = [["set", "questions", "recall@5", "nDCG@10", "even / odd half"]]
        for one in found:
            halves = " / ".join(f"{one[part][0]:.3f}" for part in ("even", "odd"))
            mean = [f"{value:.3f}" for value in one["all"]]
            rows.append([one["name"], str(one["questions"]), *mean, halves])
        show.answer(show.table(rows))
    if done.returncode:
        raise HmdError("usage", "not every set could be measured")
