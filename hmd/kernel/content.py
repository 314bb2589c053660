"""Owns the content scanner: what in a text speaks to the machine instead of informing it.

Findings are one signal among others: a memory with one is kept, shown and marked, but does not
activate on its own. Characters are judged where they stand, so that emoji, Persian, Hindi or
Hebrew text, and a byte-order mark at the start, pass; phrases are searched in folded text
(NFKC, look-alikes replaced), and once more in what base64 and other encodings hide.
"""

from hmd.kernel import content_tables as tables
from hmd.kernel.pattern import compile_pattern
from hmd.kernel.redact import MARK, redact, secret_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_SPECIAL = compile_pattern(f"[{tables.HIDDEN}{tables.BIDI}{tables.BIDI_MARKS}]")
_BIDI = compile_pattern(f"[{tables.BIDI}]")
_BIDI_MARK = compile_pattern(f"[{tables.BIDI_MARKS}]")
_RIGHT_TO_LEFT = compile_pattern(f"[{tables.RIGHT_TO_LEFT}]")
_JOINING = compile_pattern(f"[{tables.JOINING}]")
_IDEOGRAPH = compile_pattern(f"[{tables.IDEOGRAPHS}]")
_EAST_ASIAN = compile_pattern(f"[{tables.WIDE_LATIN_USERS}]")
_STYLED = compile_pattern(f"[{tables.STYLED}]{{2,}}")
_WORD = compile_pattern(r"[^\W\d_]{3,}")

_OVERRIDE = compile_pattern(tables.OVERRIDE)
_PHRASES = (
    ("injection", compile_pattern(tables.INJECTION)),
    ("injection", compile_pattern(tables.OTHER_INJECTION)),
    ("instruction", compile_pattern(tables.INSTRUCTION)),
    ("instruction", compile_pattern(tables.OTHER_INSTRUCTION)),
    ("exfiltration", compile_pattern(tables.EXFILTRATION)),
    ("exfiltration", compile_pattern(tables.OTHER_EXFILTRATION)),
)
_NEGATION = compile_pattern(r"(?:\b(?:never|not|don't|cannot|avoid|forbid\w*)\s+(?:\w+\s+)?)$")

_BASE64 = compile_pattern(r"[A-Za-z0-9+/_-]{40,}={0,2}")
_HEX = compile_pattern(r"(?:[0-9a-fA-F]{2}){20,}")
_ESCAPES = compile_pattern(r"(?:\\u[0-9a-fA-F]{4}){6,}|(?:\\x[0-9a-fA-F]{2}){6,}")
_PERCENT = compile_pattern(r"[^\s%]{0,40}%[0-9a-fA-F]{2}[^\s]*")
_BINARY = compile_pattern(r"(?:[01]{8}[ \n]?){5,}[01]{8}")
_BASE32 = compile_pattern(r"(?:[A-Z2-7]{8}){5,}[A-Z2-7]{0,7}={0,6}")
_SPACED = compile_pattern(r"(?<!\w)\w(?:[ .*_-]\w){4,}(?!\w)")
_CODE_PAIR = compile_pattern(r"[0-9a-fA-F]{2,4}")

_ZWNJ, _ZWJ, _BOM, _KEYCAP = "\u200c", "\u200d", "\ufeff", "\u20e3"
_BLACK_FLAG, _TAG_END = "\U0001f3f4", "\U000e007f"
_EXCERPT = 80


class Finding:
    """One suspicious place: `kind`, the half-open range `start`..`end` in the text, and an
    `excerpt` of it in printable ASCII, at most 80 characters, secrets masked.

    Kinds: hidden, bidi, confusable, injection, instruction, exfiltration, credential.
    """

    __slots__ = ("end", "excerpt", "kind", "start")

    def __init__(self, kind: str, start: int, end: int, excerpt: str) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.excerpt = excerpt

    def __repr__(self) -> str:
        return f"Finding({self.kind!r}, {self.start}, {self.end}, {self.excerpt!r})"


def scan(text: str) -> "list[Finding]":
    """Every finding in `text`, by place. Never raises."""
    found: list[Finding] = []
    if not text.isascii() or not text.isprintable():
        _scan_characters(text, found)
    if not text.isascii():
        _scan_confusables(text, found)
    _scan_phrases(text, found)
    _scan_encoded(text, found)
    _scan_credentials(text, found)
    found.sort(key=lambda finding: (finding.start, finding.kind))
    return found


def is_safe(text: str) -> bool:
    """True when `scan` finds nothing."""
    return not scan(text)


def escape(text: str) -> str:
    """`text` in printable ASCII, at most 80 characters, with its secrets masked."""
    masked = redact(text)
    shown = masked.encode("ascii", "backslashreplace").decode("ascii")
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return shown if len(shown) <= _EXCERPT else shown[: _EXCERPT - 3] + "..."


def _add(found: "list[Finding]", kind: str, text: str, start: int, end: int) -> None:
    found.append(Finding(kind, start, end, escape(text[start:end])))


def _scan_characters(text: str, found: "list[Finding]") -> None:
    """Hidden and bidirectional characters; neighbours of one kind make one finding."""
    right_to_left: bool | None = None
    start = end = -1
    kind = ""
    for match in _SPECIAL.finditer(text):
        at = match.start()
        char = match[0]
        this = "bidi" if _BIDI.match(char) else "hidden"
        if _BIDI_MARK.match(char):
            if right_to_left is None:
                right_to_left = _RIGHT_TO_LEFT.search(text) is not None
            if right_to_left:
                continue
            this = "bidi"
        elif _is_legitimate(text, at, char):
            continue
        if at == end and this == kind:
            end = at + 1
            continue
        if end > start:
            _add(found, kind, text, start, end)
        start, end, kind = at, at + 1, this
    if end > start:
        _add(found, kind, text, start, end)


def _is_legitimate(text: str, at: int, char: str) -> bool:
    """Whether a default-ignorable character stands where its script or an emoji needs it."""
    before = text[at - 1] if at else ""
    after = text[at + 1] if at + 1 < len(text) else ""
    if char == _BOM:
        return at == 0
    if char in (_ZWJ, _ZWNJ):
        if before and after and _JOINING.match(before) and _JOINING.match(after):
            return True
        return char == _ZWJ and _is_pictograph(before) and _is_pictograph(after)
    if "\ufe00" <= char <= "\ufe0f":  # variation selectors (UTS 51, UTS 37)
        if after == _KEYCAP and before in "0123456789#*":
            return True
        return bool(before) and (_is_pictograph(before) or _IDEOGRAPH.match(before) is not None)
    if "\U000e0100" <= char <= "\U000e01ef":  # ideographic variation sequence
        return bool(before) and _IDEOGRAPH.match(before) is not None
    if "\U000e0020" <= char <= _TAG_END:
        return _in_flag(text, at)
    return False


def _is_pictograph(char: str) -> bool:
    """True for emoji, symbols and their modifiers, which may be joined or styled."""
    if not char:
        return False
    return char in "\ufe0f\u00a9\u00ae\u203c\u2049\u3030\u303d\u3297\u3299" or (
        "\u2100" <= char <= "\u2bff" or "\U0001f000" <= char <= "\U0001faff"
    )


def _in_flag(text: str, at: int) -> bool:
    """True inside a subdivision flag: a black flag, up to six tags, the cancel tag."""
    start = text.rfind(_BLACK_FLAG, max(0, at - 7), at)
    if start < 0:
        return False
    end = text.find(_TAG_END, start, start + 8)
    return end >= at and all("\U000e0030" <= tag <= "\U000e007a" for tag in text[start + 1 : end])


def _scan_confusables(text: str, found: "list[Finding]") -> None:
    """Look-alikes of another script inside a Latin word, and Latin letters in disguise."""
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        folded = word[0].translate(tables.CONFUSABLE)
        latin = any(char.isascii() for char in word[0])
        if folded != word[0] and latin and folded.isascii():
            _add(found, "confusable", text, *word.span())
    wide: bool | None = None
    for styled in _STYLED.finditer(text):
        if styled[0][0] <= "\uff5a":  # full width letters are at home in Japanese and Chinese
            if wide is None:
                wide = _EAST_ASIAN.search(text) is not None
            if wide and styled[0][0] >= "\uff21":
                continue
        if not _is_pictograph(styled[0][0]) or styled[0][0] < "\U0001f000" or len(styled[0]) > 3:
            _add(found, "confusable", text, *styled.span())


def _fold(text: str) -> "tuple[str, list[int] | None]":
    """(text for phrase search, position in `text` of each of its characters or None when equal)."""
    text = text.replace("’", "'")
    lowered = text.lower()
    if text.isascii():
        return lowered, None
    from unicodedata import normalize  # late: ASCII text, which is most, never needs it

    out: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char.isascii():
            folded = char.lower()
        elif _SPECIAL.match(char):
            continue
        else:
            parts = normalize("NFKD", char)
            plain = "".join(part for part in parts if part.isascii())
            folded = plain or tables.CONFUSABLE.get(ord(char)) or normalize("NFKC", char)
            if "\u0300" <= folded <= "\u036f":
                continue  # an accent written apart
            folded = folded.lower()
        out.append(folded)
        places.extend([at] * len(folded))
    return "".join(out), places


def _phrases(folded: str) -> "list[tuple[str, int, int]]":
    """(kind, start, end) of every phrase in folded text."""
    hits = [("injection", m) for m in _OVERRIDE.finditer(folded) if _is_strong(m[0])]
    for kind, pattern in _PHRASES:
        hits += [(kind, match) for match in pattern.finditer(folded)]
    return [(kind, m.start(), m.end()) for kind, m in hits if not _is_negated(folded, m)]


def _is_strong(phrase: str) -> bool:
    words = phrase.replace("'", " ").split()
    return not tables.STRONG.isdisjoint(words[1:]) or words[-1] in ("above", "before")


def _is_negated(folded: str, match: "re.Match[str]") -> bool:
    """True right after `never` or `do not`: advice against what the phrase asks for."""
    return _NEGATION.search(folded, max(0, match.start() - 40), match.start()) is not None


def _scan_phrases(text: str, found: "list[Finding]") -> None:
    folded, places = _fold(text)
    for kind, start, end in _phrases(folded):
        if places:
            _add(found, kind, text, places[start], places[end - 1] + 1)
        else:
            _add(found, kind, text, start, end)
    joined = _SPACED.sub(_join_letters, folded)
    if joined != folded and not found:
        for kind, _start, _end in _phrases(joined):
            _add(found, kind, text, 0, len(text))


def _join_letters(match: "re.Match[str]") -> str:
    return match[0][::2]


def _scan_encoded(text: str, found: "list[Finding]") -> None:
    """Phrases in what base64, hexadecimal, percent and backslash escapes decode to."""
    for pattern, decode in (
        (_BASE64, _from_base64),
        (_HEX, _from_hex),
        (_ESCAPES, _from_escapes),
        (_PERCENT, _from_percent),
        (_BINARY, _from_binary),
        (_BASE32, _from_base32),
    ):
        for match in pattern.finditer(text):
            decoded = decode(match[0])
            if not decoded or decoded == match[0]:
                continue
            for kind in {kind for kind, _start, _end in _phrases(_fold(decoded)[0])}:
                _add(found, kind, text, *match.span())


def _printable(data: bytes) -> str:
    """`data` as text when it is text, else ""."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char.isspace() for char in text) else ""


def _from_base64(run: str) -> str:
    from binascii import Error, a2b_base64

    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _printable(a2b_base64(body + "=" * (-len(body) % 4)))
    except (Error, ValueError):
        return ""


def _from_base32(run: str) -> str:
    from base64 import b32decode  # late: rare

    body = run.rstrip("=")
    try:
        return _printable(b32decode(body + "=" * (-len(body) % 8)))
    except ValueError:
        return ""


def _from_binary(run: str) -> str:
    bits = "".join(run.split())
    return _printable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits), 8)))


def _from_hex(run: str) -> str:
    return _printable(bytes.fromhex(run))


def _from_escapes(run: str) -> str:
    return "".join(chr(int(pair[0], 16)) for pair in _CODE_PAIR.finditer(run.replace("\\", " ")))


def _from_percent(run: str) -> str:
    parts = run.encode("utf-8", "replace").split(b"%")
    out = [parts[0]]
    for part in parts[1:]:
        try:
            out.append(bytes([int(part[:2], 16)]) + part[2:])
        except ValueError:
            out.append(b"%" + part)
    return b"".join(out).decode("utf-8", "replace")


def _scan_credentials(text: str, found: "list[Finding]") -> None:
    for start, end in secret_spans(text):
        found.append(Finding("credential", start, end, MARK))
