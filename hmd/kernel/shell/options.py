"""Steps over the options of a wrapper to the command behind it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_EMPTY: "frozenset[str]" = frozenset()


def is_assignment(word: str) -> bool:
    """Whether `word` has the form NAME=value (POSIX 2.10.2 rule 7b)."""
    name = word.partition("=")[0]
    return len(name) < len(word) and name.isidentifier() and name.isascii()


class Options:
    """What stood before the command: `end` index of the first operand, `found` the options as
    (name, value), `assigns` the NAME=value words, `unknown` true where an option is in neither
    list, so that the next word might be its value.
    """

    __slots__ = ("assigns", "end", "found", "unknown")

    def __init__(self) -> None:
        self.end = 0
        self.found: list[tuple[str, str]] = []
        self.assigns: list[str] = []
        self.unknown = False

    def value(self, names: "AbstractSet[str]") -> "str | None":
        """The value of the last of these options, None when none was given."""
        found = None
        for name, value in self.found:
            if name in names:
                found = value
        return found

    def has(self, names: "AbstractSet[str]") -> bool:
        return any(name in names for name, _ in self.found)


def read_options(
    words: "list[str]",
    start: int,
    values: "AbstractSet[str]",
    flags: "AbstractSet[str] | None" = None,
    assigns: bool = False,
) -> Options:
    """Reads options (and assignments) from `start` up to the first operand or past `--`.

    POSIX 12.2: letters cluster, the first that takes a value takes the rest of the word or the
    next word. `--name=value` never takes the next word.
    """
    options = Options()
    index, count = start, len(words)
    while index < count:
        word = words[index]
        if word == "--":
            index += 1
            break
        if assigns and is_assignment(word):
            options.assigns.append(word)
            index += 1
            continue
        if word[:1] != "-" or (word == "-" and not assigns):
            break
        index += _take(options, words, index, values, flags)
    options.end = min(index, count)
    return options


def option_length(words: "list[str]", index: int, values: "AbstractSet[str]") -> int:
    """How many words the option at `index` takes: 2 when its value is the next word."""
    return min(_take(Options(), words, index, values, None), len(words) - index)


def _take(
    options: Options,
    words: "list[str]",
    index: int,
    values: "AbstractSet[str]",
    flags: "AbstractSet[str] | None",
) -> int:
    """Records the option at `index`; how many words it takes."""
    word = words[index]
    following = words[index + 1] if index + 1 < len(words) else ""
    if word in values:
        options.found.append((word, following))
        return 2
    name, sign, value = word.partition("=")
    if sign and name in values:
        options.found.append((name, value))
        return 1
    if word.startswith("--"):
        options.found.append((name, value))
        if not sign and flags is not None and name not in flags:
            options.unknown = True
        return 1
    if word == "-" or (flags is not None and word in flags):
        options.found.append((word, ""))
        return 1
    return _take_cluster(options, word, following, values, flags)


def _take_cluster(
    options: Options,
    word: str,
    following: str,
    values: "AbstractSet[str]",
    flags: "AbstractSet[str] | None",
) -> int:
    for place in range(1, len(word)):
        letter = "-" + word[place]
        if letter in values:
            rest = word[place + 1 :]
            options.found.append((letter, rest or following))
            return 1 if rest else 2
        options.found.append((letter, ""))
        if flags is not None and letter not in flags:
            options.unknown = options.unknown or not word[place:].isdigit()  # `nice -10`
            break
        if not word[place + 1 : place + 2].isalpha():
            break  # `xargs -i{}`: the rest is this option's optional value
    return 1
