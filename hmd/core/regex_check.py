"""Decides, when a rule is made, whether its regular expression may be used: it must be cheap.

The expression is parsed and walked once; docs/decisions/0003-regular-expressions.md says why that
is better than a stop-watch. Backtracking needs a choice that one character does not settle: to go
round a loop again or to leave it, or which alternative to take. For each choice the walk compares
the first characters of both ways. Where they are disjoint the matcher never comes back for long.
Where they overlap it may: that multiplies the cost by the length of the text for a loop, by a
constant for anything else, and without limit for any choice inside a loop.

The result is an exponent: steps ≤ ways · length ** exponent. Two is accepted; three only where
literal text of some length stands behind each choice, as in `git push.*--force.*main`.

Sets of characters are bit masks: one bit for each code below 256, and one each for all other
letters and digits, all other spaces, and the rest.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

MAX_PATTERN = 512
"""Longest expression accepted, in characters."""
MAX_WIDTH = 1024
"""Most characters that an expression may demand."""

_MANY = 16  # a loop of more turns counts as endless
_GUARD = 4  # characters of literal text that make a choice rare
_WAYS = 512
_WAYS_IN_QUADRATIC = 8

_WORDS, _SPACES, _REST = 1 << 256, 1 << 257, 1 << 258
_OTHERS = _WORDS | _SPACES | _REST
_ALL = (1 << 259) - 1


def problem(pattern: str) -> str:
    """Why `pattern` may not be used, as a phrase; "" if it may. Never raises."""
    if not isinstance(pattern, str) or not pattern:
        return "is empty"
    if len(pattern) > MAX_PATTERN:
        return f"is longer than {MAX_PATTERN} characters"
    import re  # late, with the next two: only the making of a rule needs them
    import warnings
    from re import _parser  # type: ignore[attr-defined]

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
            tree = _parser.parse(pattern)
    except RecursionError:
        return "is nested too deeply"
    except Exception as error:
        return f"does not compile: {error}"
    if tree.getwidth()[0] > MAX_WIDTH:
        return f"demands more than {MAX_WIDTH} characters"
    try:
        return _Walk(tree).verdict()
    except _Refused as refusal:
        return str(refusal)
    except RecursionError:
        return "is nested too deeply"


class _Refused(Exception):
    """Carries the phrase that `problem` returns."""


class _Follow:
    """What comes after a piece: the characters it may begin with, and whether it can fail."""

    __slots__ = ("can_fail", "mask")

    def __init__(self, mask: int, can_fail: bool) -> None:
        self.mask = mask
        self.can_fail = can_fail


class _Cost:
    """Of one piece: `choices` multiply what follows by the length of the text each, `peak` is the
    exponent of its own steps, `ways` a constant factor."""

    __slots__ = ("choices", "peak", "ways")

    def __init__(self, choices: int = 0, peak: int = 0, ways: int = 1) -> None:
        self.choices = choices
        self.peak = peak
        self.ways = ways


class _Walk:
    __slots__ = ("ascii_only", "fold", "guards", "tree", "widths")

    def __init__(self, tree: "Any") -> None:
        import re

        self.tree = tree
        self.fold = bool(tree.state.flags & re.IGNORECASE) or _adds_flag(tree, re.IGNORECASE)
        self.ascii_only = bool(tree.state.flags & re.ASCII)
        if not self.ascii_only and _adds_flag(tree, re.ASCII):
            raise _Refused("is ASCII in parts only")
        self.guards: list[int] = []
        self.widths = list(tree.state.groupwidths)

    def verdict(self) -> str:
        nodes = list(self.tree)
        cost = self.sequence(nodes, _Follow(0, False), False)
        start = 0 if _is_anchored(nodes, self.tree.state.flags) else 1
        exponent = start + max(cost.peak, cost.choices)
        guards = self.guards[:-1]  # behind the last choice nothing is multiplied any more
        if len(self.guards) < cost.choices:  # one of them stands inside a repeat
            guards.append(0)
        if start:
            guards.append(_literal_run(nodes, 0))
        if exponent > 3 or (exponent == 3 and min(guards, default=0) < _GUARD):
            return (
                "can take very long: its repeats (like `.*`) can share the same text;"
                " anchor it with `^`, use fewer, or name the characters, like `[^/]*`"
            )
        if cost.ways > (_WAYS if exponent < 2 else _WAYS_IN_QUADRATIC):
            return "can take very long: its optional parts can match the same text in many ways"
        return ""

    # Cost

    def sequence(self, nodes: "Sequence[Any]", follow: _Follow, looped: bool) -> _Cost:
        """`looped` says that an endless loop surrounds the nodes: there no choice may be open."""
        total = _Cost()
        for index, node in enumerate(nodes):
            mask, nullable = self.first(nodes[index + 1 :])
            after = _Follow(
                mask | (follow.mask if nullable else 0),
                follow.can_fail or any(_can_fail(later) for later in nodes[index + 1 :]),
            )
            before = len(self.guards)
            cost = self.node(node, after, looped)
            if len(self.guards) > before and self.guards[-1] < 0 and index + 1 < len(nodes):
                self.guards[-1] = _literal_run(nodes, index + 1)
            total.peak = max(total.peak, total.choices + cost.peak)
            total.choices += cost.choices
            total.ways = min(total.ways * cost.ways, _WAYS + 1)
        return total

    def node(self, node: "Any", follow: _Follow, looped: bool) -> _Cost:
        op, value = str(node[0]), node[1]
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = value
            return self.repeat(low, high, body, follow, looped, op == "POSSESSIVE_REPEAT")
        if op == "BRANCH":
            return self.branch(value[1], follow, looped)
        if op == "SUBPATTERN":
            return self.sequence(list(value[3]), follow, looped)
        if op in ("ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"):
            inside = value if op == "ATOMIC_GROUP" else value[1]
            cost = self.sequence(list(inside), _Follow(0, True), looped)
            return _Cost(0, max(cost.peak, cost.choices), cost.ways)
        if op == "GROUPREF":
            low, high = self.widths[value] or (0, MAX_WIDTH + 1)
            if low != high or high > _MANY:
                raise _Refused("refers back to a group whose length varies")
        elif op == "GROUPREF_EXISTS":
            raise _Refused("has a condition on a group")
        elif op not in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "FAILURE"):
            raise _Refused(f"uses {op.lower()}, which is not understood here")
        return _Cost()

    def repeat(
        self, low: int, high: int, body: "Any", follow: _Follow, looped: bool, possessive: bool
    ) -> _Cost:
        nodes = list(body)
        mask, nullable = self.first(nodes)
        endless = high > _MANY
        if endless and nullable and mask:
            raise _Refused("repeats something that can be empty")
        again = _Follow(mask | follow.mask, True) if high > 1 else follow
        inside = self.sequence(nodes, again, looped or endless)
        is_open = high > low and not possessive and mask & follow.mask != 0
        if looped and is_open:
            raise _Refused("has a repeat inside a repeat that can match the same text in many ways")
        if endless:
            wide = is_open and high - low > _MANY
            if wide:
                self.guards.append(-1)  # the caller knows what follows
            return _Cost(int(wide), int(follow.can_fail), high - low if is_open and not wide else 1)
        turns = max(high, 1)
        choices = inside.choices * turns
        peak = inside.choices * (turns - 1) + max(inside.peak, inside.choices)
        ways = min(inside.ways, _WAYS + 1) ** turns
        return _Cost(choices, peak, min(ways * (high - low + 1 if is_open else 1), _WAYS + 1))

    def branch(self, branches: "Iterable[Any]", follow: _Follow, looped: bool) -> _Cost:
        seen = 0
        shared = 1
        total = _Cost()
        for branch in branches:
            nodes = list(branch)
            mask, nullable = self.first(nodes)
            mask |= follow.mask if nullable else 0
            if mask & seen:
                shared += 1
            seen |= mask
            cost = self.sequence(nodes, follow, looped)
            total.choices = max(total.choices, cost.choices)
            total.peak = max(total.peak, cost.peak)
            total.ways = max(total.ways, cost.ways)
        if looped and shared > 1:
            raise _Refused("repeats alternatives that can begin with the same text")
        total.ways = min(total.ways * shared, _WAYS + 1)
        return total

    # First characters

    def first(self, nodes: "Iterable[Any]") -> "tuple[int, bool]":
        """The characters that `nodes` can begin with, and whether they can match nothing."""
        mask = 0
        for node in nodes:
            more, nullable = self.first_of(node)
            mask |= more
            if not nullable:
                return mask, False
        return mask, True

    def first_of(self, node: "Any") -> "tuple[int, bool]":
        op, value = str(node[0]), node[1]
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            mask, nullable = self.first(value[2])
            return mask, nullable or value[0] == 0
        if op == "BRANCH":
            firsts = [self.first(branch) for branch in value[1]]
            mask = 0
            for more, _ in firsts:
                mask |= more
            return mask, any(nullable for _, nullable in firsts)
        if op == "SUBPATTERN":
            return self.first(value[3])
        if op == "ATOMIC_GROUP":
            return self.first(value)
        if op in ("ASSERT", "ASSERT_NOT"):
            return self.first(value[1])[0], True
        if op in ("AT", "FAILURE"):
            return 0, True
        if op in ("GROUPREF", "GROUPREF_EXISTS"):
            return _ALL, True
        return self.folded(_characters(op, value, self.ascii_only)), False

    def folded(self, mask: int) -> int:
        if not self.fold:
            return mask
        for code in range(256):
            if mask >> code & 1:
                for other in (chr(code).lower(), chr(code).upper()):
                    mask |= _bit(ord(other)) if len(other) == 1 else _WORDS
                mask |= _WORDS if chr(code) in "kKsS\xe5\xc5" else 0  # Kelvin, long s, Angstrom
        if mask & _WORDS:  # whose other case may be one of these
            mask |= sum([1 << ord(char) for char in "kKsS\xe5\xc5\xff\xb5\xdf"])
        return mask


def _adds_flag(tree: "Any", flag: int) -> bool:
    """Whether a group somewhere in `tree` switches `flag` on."""
    for op, value in tree:
        name = str(op)
        parts: list[Any] = []
        if name == "SUBPATTERN":
            if value[1] & flag:
                return True
            parts = [value[3]]
        elif name == "BRANCH":
            parts = value[1]
        elif name.endswith("_REPEAT"):
            parts = [value[2]]
        elif name in ("ASSERT", "ASSERT_NOT"):
            parts = [value[1]]
        elif name == "ATOMIC_GROUP":
            parts = [value]
        if any(_adds_flag(part, flag) for part in parts):
            return True
    return False


def _is_anchored(nodes: "Sequence[Any]", flags: int) -> bool:
    import re

    if not nodes or str(nodes[0][0]) != "AT":
        return False
    where = str(nodes[0][1])
    return where == "AT_BEGINNING_STRING" or (where == "AT_BEGINNING" and not flags & re.MULTILINE)


def _can_fail(node: "Any") -> bool:
    op, value = str(node[0]), node[1]
    if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return bool(value[0] > 0)
    if op == "SUBPATTERN":
        return any(_can_fail(inner) for inner in value[3])
    return True


def _literal_run(nodes: "Sequence[Any]", start: int) -> int:
    """How many literal characters stand at `start`."""
    count = 0
    for op, _ in nodes[start:]:
        if str(op) != "LITERAL":
            break
        count += 1
    return count


def _bit(code: int) -> int:
    if code < 256:
        return 1 << code
    char = chr(code)
    return _WORDS if char.isalnum() else _SPACES if char.isspace() else _REST


def _span(low: int, high: int) -> int:
    """The characters from `low` to `high`."""
    mask = _OTHERS if high > 255 else 0
    if low < 256:
        mask |= (1 << (min(high, 255) + 1)) - (1 << low)
    return mask


def _category(name: str, ascii_only: bool) -> int:
    """The characters of `\\d`, `\\w`, `\\s` or their opposites."""
    plain = name.replace("_NOT_", "_")
    if plain != name:
        mask = _ALL ^ _category(plain, ascii_only)
        return mask | _WORDS if plain.endswith("DIGIT") else mask  # letters are no digits
    mask = 0
    for code in range(128 if ascii_only else 256):
        char = chr(code)
        if name.endswith("DIGIT"):
            inside = char.isdecimal()
        elif name.endswith("SPACE"):
            inside = char in " \t\n\r\f\v" if ascii_only else char.isspace()
        else:
            inside = char.isalnum() or char == "_"
        mask |= inside << code
    if ascii_only:
        return mask
    return mask | (_SPACES if name.endswith("SPACE") else _WORDS)


def _characters(op: str, value: "Any", ascii_only: bool) -> int:
    """The set of a node that matches one character; never less than it holds."""
    if op == "LITERAL":
        return _bit(value)
    if op == "NOT_LITERAL":
        return _ALL ^ (_bit(value) & ~_OTHERS)
    if op != "IN":
        return _ALL  # ANY: a line end more than it may hold does no harm
    if str(value[0][0]) != "NEGATE":
        mask = 0
        for item_op, item in value:
            mask |= _member(str(item_op), item, ascii_only)
        return mask
    mask = _ALL
    for item_op, item in value[1:]:
        found = _member(str(item_op), item, ascii_only)
        if str(item_op) != "CATEGORY":
            found &= ~_OTHERS  # it names a few of them, not all
        elif str(item).endswith("DIGIT"):
            found &= ~_WORDS
        mask &= ~found
    return mask


def _member(op: str, item: "Any", ascii_only: bool) -> int:
    if op == "LITERAL":
        return _bit(item)
    if op == "RANGE":
        return _span(*item)
    return _category(str(item), ascii_only)
