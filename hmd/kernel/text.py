"""The two things every reader of targets does to text: compose it, and match `*` in it."""

MAX_TEXT = 8192
"""Characters of a target that a signature can see."""


def compose(text: str) -> str:
    """`text` in Unicode normal form C: macOS hands out decomposed names."""
    if text.isascii():
        return text
    from unicodedata import normalize  # late: most targets are ASCII

    return normalize("NFC", text)


def stars(pattern: str, text: str) -> bool:
    """Whether `pattern`, in which `*` is any text, is all of `text`. Leftmost finds are enough."""
    if "*" not in pattern:
        return pattern == text
    head, *middle, tail = pattern.split("*")
    if len(head) + len(tail) > len(text) or not text.startswith(head) or not text.endswith(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for part in middle:
        found = text.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True
