"""Rules that people wrote down elsewhere: CLAUDE.md and its kind, and an agent's automatic notes.

Without a model: every bullet is taken as it stands, with file and line.
"""

import re
from pathlib import Path

from hmd.app.jobs import Bullet, Notes
from hmd.kernel.content import scan
from hmd.kernel.redact import redact

# Files that a host puts before the model by itself, so that they are not repeated to it.
LOADED = frozenset(["CLAUDE.md", "AGENTS.md", ".cursorrules", "GEMINI.md", "MEMORY.md"])
MOST_BYTES = 1024 * 1024
MOST_BULLETS = 5000
SHORTEST, LONGEST = 8, 2000

_BULLET = re.compile(r"^(\s*)(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
_OBLIGES = re.compile(
    r"\b(?:never|must(?:\s+not|n['’]t)?|always|do\s+not|don['’]t|required?|forbidden)\b"
    r"|절대|반드시|항상|금지|하지\s*마|必ず|禁止|绝不|必须|不要",
    re.IGNORECASE,
)
_TYPE = re.compile(r"^\s*(?:node_)?type\s*:\s*[\"']?([a-z_]+)", re.MULTILINE)


def read(paths: list[str], root: str, kinds: list[str]) -> Notes:
    """The bullets of files; directories stand for the notes in them. `root`: paths in it are shown
    relative. What cannot be read is named in `skipped`."""
    notes = Notes()
    for place in paths:
        path = Path(place)
        automatic = path.is_dir()
        found = sorted(path.glob("*.md")) if automatic else [path]
        for file in found:
            _read_file(notes, file, root, kinds if automatic else [])
    del notes.bullets[MOST_BULLETS:]
    return notes


def _read_file(notes: Notes, file: Path, root: str, kinds: list[str]) -> None:
    try:
        data = file.read_bytes()
    except OSError as error:
        notes.skipped.append(f"{file}: {error.strerror}")
        return
    if len(data) > MOST_BYTES:
        notes.skipped.append(f"{file}: longer than {MOST_BYTES} bytes")
        return
    text = data.decode("utf-8-sig", "replace")
    front, body, first = _front_matter(text)
    if kinds and file.name == "MEMORY.md":
        return  # an index of the notes beside it
    kind = _TYPE.search(front)
    if kinds and (kind is None or kind[1] not in kinds):
        notes.skipped.append(f"{file}: of type {kind[1] if kind else 'none'}")
        return
    shown = _shown(file, root)
    loaded = file.name if file.name in LOADED and not kinds else ""
    for line, heading, words in _rules(body, first, whole=bool(kinds)):
        text = redact(words)[:LONGEST]
        notes.bullets.append(
            Bullet(
                text=text,
                heading=redact(heading)[:120],
                file=shown,
                line=line,
                loaded=loaded,
                obliges=_OBLIGES.search(text) is not None,
                problem=", ".join(sorted({one.kind for one in scan(text)})),
            )
        )


def _front_matter(text: str) -> tuple[str, str, int]:
    """(front matter, body, number of the body's first line)."""
    if not text.startswith("---\n"):
        return "", text, 1
    end = text.find("\n---", 3)
    if end < 0:
        return "", text, 1
    close = text.find("\n", end + 1)
    body = text[close + 1 :] if close >= 0 else ""
    return text[4:end], body, text[: close + 1].count("\n") + 1


def _rules(body: str, first: int, *, whole: bool) -> list[tuple[int, str, str]]:
    """(line, heading, text) of each bullet with the lines that continue it; code is passed over.
    `whole`: a file without a bullet is one rule."""
    out: list[tuple[int, str, str]] = []
    heading, fenced, indent = "", False, -1
    for number, line in enumerate(body.split("\n"), first):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
            indent = -1
            continue
        if fenced:
            continue
        title, bullet = _HEADING.match(line), _BULLET.match(line)
        if title:
            heading, indent = title[1], -1
        elif bullet:
            indent = len(bullet[1])
            out.append((number, heading, bullet[2].strip()))
        elif not stripped:
            indent = -1
        elif indent >= 0 and len(line) - len(line.lstrip()) > indent:
            line_, title_, text = out[-1]
            out[-1] = (line_, title_, f"{text} {stripped}")
    if whole and not out and body.strip():
        words = " ".join(one for one in body.split("\n") if not one.startswith("#"))
        out.append((first, heading, " ".join(words.split())))
    return [one for one in out if len(one[2]) >= SHORTEST]


def _shown(file: Path, root: str) -> str:
    try:
        return str(file.relative_to(root)) if root else str(file)
    except ValueError:
        return str(file)
