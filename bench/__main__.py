"""`python -m bench [row …]`: prints the table, or the rows whose names are given."""

import os
import platform
import sys
from collections.abc import Callable, Iterator

from bench import busy, embedding, facts, inside, load, parts, processes, recall
from bench.commands import commands
from bench.figures import HEADINGS, Row

ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "up": processes.hook_up,
    "down": processes.hook_down,
    "fallback": processes.fallback,
    "inside": inside.pre_tool,
    "growth": inside.growth,
    "busy": busy.busy,
    "load": load.load,
    "ready": processes.ready,
    "resident": processes.resident,
    "canonical": parts.canonical_form,
    "redaction": parts.redaction,
    "snapshot": parts.snapshot_build,
    "facts": facts.facts,
    "index": recall.index,
    "recall": recall.questions,
    "beside": recall.beside_commands,
    "embedding": embedding.embedding,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        print(f"bench: no row {' '.join(unknown)}; there are: {' '.join(ROWS)}", file=sys.stderr)
        return 2
    found, source = commands()
    print(
        f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
        f"{len(found):,} commands ({source})\n\n{HEADINGS}"
    )
    for name in names or ROWS:
        for row in ROWS[name]():
            print(row.line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
