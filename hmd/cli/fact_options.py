"""The arguments and options that several `hmctl fact` commands share, each said once."""

from __future__ import annotations

from typing import Annotated

import typer

from hmd.cli import choices

Id = Annotated[str, typer.Argument(metavar="ID", help="Identifier, its first digits, or #NUMBER.")]
Subject = Annotated[str, typer.Argument(metavar="SUBJECT", help="Whom or what it is about.")]
About = Annotated[str, typer.Option("--subject", help="About exactly this.")]
Predicate = Annotated[str | None, typer.Option("--predicate", help="The relation, such as uses.")]
Details = Annotated[str, typer.Option("--details", help="What belongs to it and is not searched.")]
Confidence = Annotated[
    float | None, typer.Option("--confidence", min=0, max=1, help="Between 0 and 1.")
]
Basis = Annotated[
    choices.Basis | None, typer.Option("--basis", help="What it rests on; sets the confidence.")
]
Importance = Annotated[
    int | None, typer.Option("--importance", min=1, max=10, help="From 1 to 10.")
]
Kind = Annotated[choices.FactKind | None, typer.Option("--kind", help="What sort of fact it is.")]
Source = Annotated[str, typer.Option("--source", help="Where it is from; it can be forgotten by.")]
Commit = Annotated[str, typer.Option("--commit", help="The commit at which it was seen.")]
Path = Annotated[str, typer.Option("--path", help="The file that it is about, from the root.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="True in the world from then on.")
]
Session = Annotated[str, typer.Option("--session", metavar="ID", help="The session it is from.")]
