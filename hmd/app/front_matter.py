"""The part of YAML that notes carry between two `---` lines: keys with scalars, lists and blocks.

Enough for what programs write into front matter, without a YAML library: what is not understood is
named, never guessed.
"""

import json
import re
from typing import NamedTuple

Value = str | bool | float | list[str] | None

_KEY = re.compile(r"([A-Za-z_][\w.-]*)\s*:(?:\s+(.*))?$")
# Longer ones and those with leading zeros are names made of digits.
_NUMBER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,15})?")
_ESCAPE = re.compile(r"\\(.)")
_WORDS: dict[str, Value] = {
    "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False,
    "null": None, "~": None, "": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/", "r": "\r", "0": "\0"}


class Note(NamedTuple):
    """A note's front matter, the text after it, and the lines that were not understood."""

    fields: dict[str, Value]
    body: str
    strange: list[str]


def parse(text: str) -> Note:
    """Never fails: a text without front matter is all body."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    if not lines or lines[0].rstrip() != "---":
        return Note({}, text.removeprefix("\ufeff"), [])
    end = next((at for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), 0)
    if not end:
        return Note({}, text, ["front matter without an end"])
    fields: dict[str, Value] = {}
    strange: list[str] = []
    at = 1
    while at < end:
        at = _entry(lines, at, end, fields, strange)
    return Note(fields, "\n".join(lines[end + 1 :]).strip("\n"), strange)


def _entry(
    lines: list[str], at: int, end: int, fields: dict[str, Value], strange: list[str]
) -> int:
    """Reads the entry that begins at line `at`; returns where the next one begins."""
    line = lines[at].rstrip()
    match = _KEY.match(line)
    if match is None:
        if line and not line.lstrip().startswith("#"):
            strange.append(line)
        return at + 1
    key, rest = match[1], _uncommented(match[2] or "")
    after = at + 1
    while after < end and (not lines[after].strip() or lines[after][0] in " \t-"):
        after += 1
    inner = lines[at + 1 : after]
    if rest[:1] in ("|", ">"):
        fields[key] = _block(inner, folded=rest[0] == ">")
    elif rest:
        fields[key] = _scalar(rest)
        strange += [f"{key}: {each.strip()}" for each in inner if each.strip()]
    else:
        items = [each.strip() for each in inner if each.strip()]
        if all(each == "-" or each.startswith("- ") for each in items):
            fields[key] = [_text(each[1:].strip()) for each in items] if items else None
        else:
            strange += [f"{key}: {each}" for each in items]
    return after


def _block(lines: list[str], folded: bool) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    cut = min(indents, default=0)
    text = "\n".join(line[cut:].rstrip() for line in lines).strip("\n")
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text) if folded else text


def _scalar(text: str) -> Value:
    if text[:1] == "[" and text[-1:] == "]":
        return [_text(part) for part in _parts(text[1:-1])]
    if text[:1] in "\"'":
        return _text(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    return float(text) if _NUMBER.fullmatch(text) else text


def _text(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return _quoted(text)
    return text


def _quoted(text: str) -> str:
    """A text in double quotes: JSON's escapes and a few of YAML's own."""
    try:
        found = json.loads(text)
    except ValueError:
        found = _ESCAPE.sub(lambda one: _ESCAPES.get(one[1], one[0]), text[1:-1])
    return str(found).encode("utf-8", "replace").decode()


def _parts(text: str) -> list[str]:
    """What stands between the commas of a list, outside quotes."""
    found = re.findall(r"""\s*("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^,]*)\s*(?:,|$)""", text)
    return [part.strip() for part in found if part.strip()]


def _uncommented(text: str) -> str:
    if text[:1] in "\"'":
        return text.strip()
    return re.split(r"\s#", text, maxsplit=1)[0].strip()
