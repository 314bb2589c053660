"""Edits JSON text in place: adds and removes single items and keeps every other byte.

A settings file belongs to its user: its layout, key order, comments (JSON with comments is
accepted), line ends, byte order mark and trailing comma or newline stay as they are. An edit is
therefore a splice in the text, planned on a tree of spans, never a parse-and-dump.

`append` and `remove` are inverses. The one thing that the text alone cannot tell is what stood
where a container is empty again (`{}`, `{ }`, or no container at all); `append` records that in a
trace, and `remove` reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

WHITESPACE = " \t\r\n"
_DECODER = json.JSONDecoder()
MAX_DEPTH = 200

Path = tuple[str, ...]
# What stood in a container before the first append: its interior, or None when append made it.
# Keyed by "/".join(path); the root is "".
Trace = dict[str, "str | None"]


class JsonProblem(ValueError):
    """Text that is no JSON (with comments), or not of the shape an edit needs."""

    def __init__(self, message: str, text: str = "", offset: int = 0) -> None:
        self.message = message
        self.line = text.count("\n", 0, offset) + 1
        self.column = offset - text.rfind("\n", 0, offset)
        super().__init__(f"{message} (line {self.line}, column {self.column})")


@dataclass(frozen=True, slots=True)
class Node:
    """One value and where it stands: `text[start:end]`. Scalars carry their value."""

    kind: str  # object, array, scalar
    start: int
    end: int
    children: tuple[Child, ...] = ()
    scalar: object = None

    def plain(self) -> object:
        """The value as `json.loads` would give it (a repeated key: the last one counts)."""
        if self.kind == "object":
            return {child.key: child.node.plain() for child in self.children}
        if self.kind == "array":
            return [child.node.plain() for child in self.children]
        return self.scalar

    def get(self, key: str) -> Node | None:
        """The value under `key`; the last one, as every JSON reader takes it."""
        found = [child.node for child in self.children if child.key == key]
        return found[-1] if found else None


@dataclass(frozen=True, slots=True)
class Child:
    """A member (with its key) or an element of a container, and the comma after it (or -1)."""

    start: int
    key: str
    node: Node
    comma: int


class _Parser:
    """Recursive descent over JSON with comments and trailing commas; keeps offsets."""

    def __init__(self, text: str) -> None:
        self.text = text

    def document(self) -> Node:
        start = 1 if self.text.startswith("\ufeff") else 0
        root = self.value(self.trivia(start), 0)
        rest = self.trivia(root.end)
        if rest != len(self.text):
            raise self.problem("unexpected text after the end", rest)
        return root

    def problem(self, message: str, offset: int) -> JsonProblem:
        return JsonProblem(message, self.text, offset)

    def trivia(self, at: int) -> int:
        """The offset of the next character that is neither white space nor comment."""
        for _, end in comments(self.text, at):
            at = end
        return _skip_blank(self.text, at)

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.problem("nested too deeply", at)
        char = self.text[at : at + 1]
        if char == "{":
            return self.container("object", "}", at, depth)
        if char == "[":
            return self.container("array", "]", at, depth)
        if char == '"':
            decoded, end = self.string(at)
            return Node("scalar", at, end, scalar=decoded)
        end = at
        while end < len(self.text) and self.text[end] not in ' \t\r\n,]}[{:"/':
            end += 1
        try:
            return Node("scalar", at, end, scalar=json.loads(self.text[at:end]))
        except (ValueError, RecursionError):
            raise self.problem("a value was expected", at) from None

    def string(self, at: int) -> tuple[str, int]:
        try:
            decoded, end = _DECODER.raw_decode(self.text, at)
        except json.JSONDecodeError as error:
            raise self.problem("bad string", error.pos) from None
        return str(decoded), end

    def container(self, kind: str, close: str, at: int, depth: int) -> Node:
        children: list[Child] = []
        here = self.trivia(at + 1)
        while self.text[here : here + 1] != close:
            start, key = here, ""
            if kind == "object":
                key, here = self.key(here)
            node = self.value(here, depth + 1)
            here = self.trivia(node.end)
            comma = here if self.text[here : here + 1] == "," else -1
            children.append(Child(start, key, node, comma))
            if comma >= 0:
                here = self.trivia(comma + 1)
            elif self.text[here : here + 1] != close:
                raise self.problem(f"',' or '{close}' was expected", here)
        return Node(kind, at, here + 1, tuple(children))

    def key(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            raise self.problem("a key in double quotes was expected", at)
        key, here = self.string(at)
        here = self.trivia(here)
        if self.text[here : here + 1] != ":":
            raise self.problem("':' was expected", here)
        return key, self.trivia(here + 1)


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITESPACE:
        at += 1
    return at


def comments(text: str, at: int) -> list[tuple[int, int]]:
    """Spans of the comments between `at` and the next token; a line comment excludes its end."""
    spans: list[tuple[int, int]] = []
    while True:
        start = _skip_blank(text, at)
        if text.startswith("//", start):
            at = start
            while at < len(text) and text[at] not in "\r\n":
                at += 1
        elif text.startswith("/*", start):
            closed = text.find("*/", start + 2)
            if closed < 0:
                raise JsonProblem("unfinished comment", text, start)
            at = closed + 2
        else:
            return spans
        spans.append((start, at))


def parse(text: str) -> Node:
    """The tree of spans; raises JsonProblem with line and column."""
    return _Parser(text).document()


def at(root: Node, path: Path) -> Node | None:
    """The node under nested object keys, or None."""
    node: Node | None = root
    for key in path:
        node = node.get(key) if node is not None and node.kind == "object" else None
    return node


@dataclass(frozen=True, slots=True)
class _Layout:
    newline: str
    unit: str
    inline: bool  # the whole text stands on one line

    @classmethod
    def of(cls, text: str, root: Node) -> _Layout:
        newline = "\r\n" if "\r\n" in text else "\n"
        inline = bool(root.children) and "\n" not in text[root.start : root.end]
        unit = _indent_of(text, root.children[0].start) if root.children else None
        return cls(newline, unit or "  ", inline)


def _indent_of(text: str, offset: int) -> str | None:
    """The white space before `offset` on its line; None when something else stands there."""
    line = text.rfind("\n", 0, offset) + 1
    before = text[line:offset]
    return before if line and not before.strip(" \t") else None


def _line_indent(text: str, offset: int) -> str:
    """The white space that begins the line of `offset`."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip(" \t\ufeff"))].lstrip("\ufeff")


def append(text: str, path: Path, value: object, trace: Trace) -> str:
    """`text` with `value` as the last element of the array at `path`.

    Missing objects on the way and the array itself are made. `trace` is added to. Raises
    JsonProblem when something of another type stands on the way.
    """
    if not text.strip(WHITESPACE + "\ufeff"):
        raise JsonProblem("empty text", text, 0)
    for depth in range(len(path)):
        root = parse(text)
        parent = _expect(root, path[:depth], "object", text)
        if parent.get(path[depth]) is None:
            opening = "[]" if depth == len(path) - 1 else "{}"
            member = json.dumps(path[depth], ensure_ascii=False) + ": " + opening
            text = _add_child(text, root, path[:depth], member, trace)
            trace["/".join(path[: depth + 1])] = None
    root = parse(text)
    _expect(root, path, "array", text)
    return _add_child(text, root, path, json.dumps(value, ensure_ascii=False), trace)


def _expect(root: Node, path: Path, kind: str, text: str) -> Node:
    node = at(root, path)
    assert node is not None  # the caller made it
    if node.kind != kind:
        named = '"' + ".".join(path) + '"' if path else "the whole text"
        raise JsonProblem(f"{named} is no {kind}", text, node.start)
    return node


def _add_child(text: str, root: Node, path: Path, item: str, trace: Trace) -> str:
    container = at(root, path)
    assert container is not None
    layout = _Layout.of(text, root)
    closing = _line_indent(text, container.start)
    first = _indent_of(text, container.children[0].start) if container.children else None
    before = layout.newline + (closing + layout.unit if first is None else first)
    if container.children:
        return _add_after(text, container, item, " " if layout.inline else before)
    close = container.end - 1
    interior = text[container.start + 1 : close]
    trace.setdefault("/".join(path), interior)
    spans = comments(text, container.start + 1)
    if spans:
        return text[: spans[-1][1]] + before + item + text[spans[-1][1] :]
    inside = item if layout.inline else before + item + layout.newline + closing
    return text[: container.start + 1] + inside + text[close:]


def _add_after(text: str, container: Node, item: str, before: str) -> str:
    """`item` behind the last child and the comments that follow it."""
    last = container.children[-1]
    place = last.node.end if last.comma < 0 else last.comma + 1
    for _, end in comments(text, place):
        place = end
    if last.comma >= 0:
        return text[:place] + before + item + "," + text[place:]
    return text[: last.node.end] + "," + text[last.node.end : place] + before + item + text[place:]


def remove(text: str, path: Path, index: int, trace: Trace) -> str:
    """`text` without child `index` of the container at `path`, the way `append` found it.

    A container that this leaves empty goes too when `append` made it, or when the trace knows
    nothing of it.
    """
    container = at(parse(text), path)
    assert container is not None
    only = len(container.children) == 1
    text = _cut(text, _spans_of_child(text, container, index))
    if not only:
        return text
    container = at(parse(text), path)
    assert container is not None
    name = "/".join(path)
    interior = trace.get(name)
    if path and interior is None and not comments(text, container.start + 1):
        parent = at(parse(text), path[:-1])
        assert parent is not None
        keys = [child.key for child in parent.children]
        place = len(keys) - 1 - keys[::-1].index(path[-1])
        return remove(text, path[:-1], place, trace)
    if not text[container.start + 1 : container.end - 1].strip(WHITESPACE):
        text = text[: container.start + 1] + (interior or "") + text[container.end - 1 :]
    return text


def _spans_of_child(text: str, container: Node, index: int) -> list[tuple[int, int]]:
    """What goes with a child: the blanks before it, itself, and one comma."""
    child = container.children[index]
    start, end = child.start, child.node.end
    while text[start - 1] in WHITESPACE:
        start -= 1
    if _ends_in_line_comment(text, container, index, start):
        after = text[end if child.comma < 0 else child.comma + 1 :].lstrip(" \t")
        if not after.startswith(("\n", "\r")):
            start = child.start  # the line end before it is what ends the comment
    spans = [(start, end)]
    if child.comma >= 0:
        blank = not text[end : child.comma].strip(WHITESPACE)
        return [(start, child.comma + 1)] if blank else [*spans, (child.comma, child.comma + 1)]
    if index:
        comma = container.children[index - 1].comma
        spans.append((comma, comma + 1))
    return spans


def _ends_in_line_comment(text: str, container: Node, index: int, offset: int) -> bool:
    before = container.start if not index else container.children[index - 1].comma
    spans = comments(text, before + 1)
    return bool(spans) and spans[-1][1] == offset and text.startswith("//", spans[-1][0])


def _cut(text: str, spans: list[tuple[int, int]]) -> str:
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + text[end:]
    return text
