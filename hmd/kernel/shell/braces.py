"""Brace expansion (bash manual 3.5.1): `{git,push}` is two words, `-{r,f}` two options."""

MOST = 16
# Longer words, or more braces, are left as they are: nobody writes them and they cost time.
LONGEST_WORD = 256
MOST_BRACES = 16


def expand_braces(word: str) -> "list[str]":
    """The words that `word` stands for, at most 16; `[word]` where it holds no brace list.

    Only lists are expanded, not ranges; `${…}` is no brace list.
    """
    if len(word) > LONGEST_WORD or word.count("{") > MOST_BRACES:
        return [word]
    found = _first_list(word)
    if found is None:
        return [word]
    start, end, parts = found
    results: list[str] = []
    for part in parts:
        for rest in expand_braces(word[end + 1 :]) if end + 1 < len(word) else [""]:
            for middle in expand_braces(part) if "{" in part else [part]:
                results.append(word[:start] + middle + rest)
                if len(results) >= MOST:
                    return results
    return results


def _first_list(word: str) -> "tuple[int, int, list[str]] | None":
    """(index of the brace, index of its end, elements) of the first brace list."""
    start = word.find("{")
    while start >= 0:
        if start == 0 or word[start - 1] != "$":
            end, parts = _elements(word, start)
            if end and len(parts) > 1:
                return start, end, parts
        start = word.find("{", start + 1)
    return None


def _elements(word: str, start: int) -> "tuple[int, list[str]]":
    depth = 0
    parts: list[str] = []
    begin = start + 1
    for index in range(start, len(word)):
        char = word[index]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                parts.append(word[begin:index])
                return index, parts
        elif char == "," and depth == 1:
            parts.append(word[begin:index])
            begin = index + 1
    return 0, []
