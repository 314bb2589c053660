"""Owns redaction: the one place where text loses its secrets before it is written or sent.

`redact` masks every secret as `<redacted>`; placeholders and variable references stay. `clip`
cuts text so that no secret leaves a fragment at the cut. Both are idempotent, take time linear in
the length of the text, and never raise.
"""

from hmd.kernel.redact import assignments, command_line, formats, structure
from hmd.kernel.redact.values import MARK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Spans = list[tuple[int, int]]

__all__ = ["MARK", "clip", "is_clean", "redact", "redact_command", "secret_spans"]

# How far beyond a cut the text is read, in characters: what straddles the cut is seen whole.
BEYOND = 4096
# Between the head and the tail of a clipped text.
GAP = "\n…\n"
# Masking can bring a word to a boundary and so reveal a further match; it settles in two passes.
_PASSES = 4
_SHORTEST = 8
# Short texts in which nothing was found: a call's words are redacted once for each place that keeps
# them. What holds a secret is never kept.
_CLEAN_KEPT, _CLEAN_LENGTH = 1024, 512
_clean: "dict[str, None]" = {}


def redact(text: str) -> str:
    """`text` with every secret replaced by `<redacted>`."""
    if text in _clean:
        return text
    spans = _find(text)
    if not spans:
        _remember(text)
        return text
    return _redact(text, spans)


def _remember(text: str) -> None:
    if len(text) <= _CLEAN_LENGTH:
        if len(_clean) >= _CLEAN_KEPT:
            _clean.clear()
        _clean[text] = None


def _redact(text: str, spans: "Spans") -> str:
    for _ in range(_PASSES):
        if not spans:
            break
        masked = _mask(text, spans)
        if masked == text:
            break
        text = masked
        spans = _find(text)
    return text


def redact_command(text: str, form: "Any" = None) -> str:
    """Like `redact`; the words of `form` (a canonical form) also find what quoting hides."""
    units = getattr(form, "units", None)
    if units:
        spans: Spans = []
        try:
            command_line.find_in_units(text, units, spans)
        except (AttributeError, TypeError):
            spans = []
        if spans:
            text = _mask(text, spans)
    return redact(text)


def is_clean(text: str) -> bool:
    """True when `redact` would change nothing."""
    return redact(text) == text


def secret_spans(text: str) -> "Spans":
    """(start, end) of every secret in `text`, in order, none overlapping or touching."""
    return [span for span in _merged(_find(text)) if text[span[0] : span[1]] != MARK]


def clip(text: str, head: int, tail: int = 0) -> str:
    """The first `head` and last `tail` characters of `text`, redacted before it is cut.

    Reads `BEYOND` characters past each cut, so that a secret that straddles it is seen and masked
    whole; a private-key block that is open at a cut is masked to its end. `GAP` joins the parts
    when there is a tail and something was left out. Secrets shorter than the mask may push the
    last characters of a part out of its budget; it is never exceeded.
    """
    size = len(text)
    head, tail = max(head, 0), max(tail, 0)
    if size <= head + tail:
        return _fit(redact(text), head + tail)
    # A text of a few thousand characters is read whole on both sides of the gap: once is enough.
    spans = _find(text) if head and tail and size <= min(head, tail) + BEYOND else None
    first = _clip_head(text, head, spans) if head else ""
    if not tail:
        return first
    last = _clip_tail(text, tail, spans)
    return first + GAP + last if first else last


def _clip_head(text: str, head: int, found: "Spans | None") -> str:
    """`found`: the spans of all of `text`, where they are known."""
    window = text[: _next_space(text, min(len(text), head + BEYOND))]
    spans = _find(window) if found is None else found
    return _fit(redact(_mask(window, [span for span in spans if span[0] < head], 0, head)), head)


def _clip_tail(text: str, tail: int, found: "Spans | None") -> str:
    size = len(text)
    start = _previous_space(text, max(0, size - tail - BEYOND))
    window = text[start:]
    cut = size - tail - start
    spans = _find(window) if found is None else list(found)
    if structure.open_block(text, start):
        spans.append((0, structure.block_end(window, 0)))
    kept = redact(_mask(window, spans, cut, len(window)))
    return kept if len(kept) <= tail else _fit_end(kept, tail)


def _next_space(text: str, at: int) -> int:
    """The first white space from `at` on, at most `BEYOND` further: no word is read in part."""
    stop = min(len(text), at + BEYOND)
    while at < stop and not text[at].isspace():
        at += 1
    return at


def _previous_space(text: str, at: int) -> int:
    stop = max(0, at - BEYOND)
    while at > stop and not text[at - 1].isspace():
        at -= 1
    return at


def _fit(text: str, budget: int) -> str:
    """At most `budget` characters from the start, no mask cut in two."""
    if len(text) <= budget:
        return text
    mark = text.find(MARK, max(0, budget - len(MARK) + 1), budget + len(MARK) - 1)
    return text[: mark if 0 <= mark < budget else budget]


def _fit_end(text: str, budget: int) -> str:
    cut = len(text) - budget
    mark = text.find(MARK, max(0, cut - len(MARK) + 1), cut + len(MARK) - 1)
    return text[mark + len(MARK) if 0 <= mark < cut else cut :]


def _find(text: str) -> "Spans":
    """Every span to mask, unordered, possibly overlapping."""
    spans: Spans = []
    if len(text) < _SHORTEST:
        return spans
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer (U+0130)
        lowered = "".join(char.lower()[:1] for char in text)
    formats.find(text, spans)
    structure.find(text, spans)
    assignments.find(text, lowered, spans)
    command_line.find(text, spans)
    return spans


def _merged(spans: "Spans") -> "Spans":
    """`spans` in order, those that overlap or touch made one."""
    merged: Spans = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        elif end > start:
            merged.append((start, end))
    return merged


def _mask(text: str, spans: "Spans", start: int = 0, end: int = -1) -> str:
    """text[start:end] with the parts of `spans` in it masked."""
    if end < 0:
        end = len(text)
    out: list[str] = []
    position = start
    for begin, stop in _merged(spans):
        if stop > start and begin < end:
            out.append(text[position:begin])
            out.append(MARK)
            position = stop
    out.append(text[position:end])
    return "".join(out)
