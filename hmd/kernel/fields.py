"""The structured input of a tool as text: all of it as lines, or one field."""

from hmd.kernel.text import MAX_TEXT, compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_FIELDS = 2000
MAX_DEPTH = 32


def flatten_input(obj: object, limit: int = MAX_TEXT) -> str:
    """The fields of a decoded JSON value as lines `key.path=value`, sorted by key, ≤ `limit`
    characters: equal inputs give equal texts. Line breaks inside a value are spaces.

    When the whole is too long the longest values are cut and the short ones stay, so that a field
    after a file's content can still be seen. Never raises.
    """
    lines: list[str] = []
    for key, value in _fields(obj, "", 0):
        lines.append(f"{key}={value[:limit]}" if key else value[:limit])
        if len(lines) >= MAX_FIELDS:
            break
    room = limit - len(lines) + 1
    if sum([len(line) for line in lines]) > room:
        fair = _fair_share(sorted([len(line) for line in lines]), room)
        lines = [line[:fair] for line in lines]
    return "\n".join(lines)[: max(limit, 0)]


def mcp_field(obj: object, path: str) -> str:
    """One field of a decoded JSON value as text: `a.b`, `items.0.name`. A key that itself holds
    dots is found too. An object or list is flattened. "" when there is no such field."""
    names = path.split(".", MAX_DEPTH) if path else []
    while names:
        if isinstance(obj, dict):
            taken = _key_length(obj, names)
            if not taken:
                return ""
            obj = obj[".".join(names[:taken])]
            names = names[taken:]
        elif isinstance(obj, list):
            index = names.pop(0)
            if not (index.isascii() and index.isdigit() and len(index) < 8):
                return ""
            if int(index) >= len(obj):
                return ""
            obj = obj[int(index)]
        else:
            return ""
    return flatten_input(obj)


def _key_length(obj: "dict[str, object]", names: "list[str]") -> int:
    """How many of `names` are the next key of `obj`: all, else as few as possible; 0 if none."""
    lengths: list[int] = [len(names), *range(1, len(names))]
    for taken in lengths:
        if ".".join(names[:taken]) in obj:
            return taken
    return 0


def _fields(obj: object, key: str, depth: int) -> "Iterator[tuple[str, str]]":
    items: list[tuple[str, object]] = []
    if isinstance(obj, dict):
        items = sorted([(str(name), value) for name, value in obj.items()], key=_first)
    elif isinstance(obj, list):
        items = [(str(at), value) for at, value in enumerate(obj[:MAX_FIELDS])]
    if items and depth < MAX_DEPTH:
        for name, value in items:
            yield from _fields(value, f"{key}.{_line(name)}" if key else _line(name), depth + 1)
    elif key or not isinstance(obj, dict | list):
        yield key, _scalar(obj)


def _first(item: "tuple[str, object]") -> str:
    return item[0]


def _scalar(value: object) -> str:
    if isinstance(value, str):
        return _line(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return "[…]" if value else "[]"
    if isinstance(value, int | float):
        try:
            return repr(value)
        except ValueError:  # an integer too long for decimal digits
            return hex(int(value))
    return "null"


def _line(text: str) -> str:
    """`text` cut to what can be seen, on one line."""
    return compose(" ".join(text[:MAX_TEXT].splitlines()))


def _fair_share(lengths: "list[int]", room: int) -> int:
    """The length to cut every line to, so that lines of ascending `lengths` fit into `room`."""
    for at, length in enumerate(lengths):
        share = room // (len(lengths) - at)
        if length > share:
            return max(share, 0)
        room -= length
    return lengths[-1]
