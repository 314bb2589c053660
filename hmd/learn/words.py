"""Text as learning compares it: sentences of speech, and the tokens of a summary in any script."""

from unicodedata import normalize

from hmd.kernel.address import digest
from hmd.kernel.pattern import compile_pattern

SENTENCE_LIMIT = 400
# Words that say nothing about what a summary is about.
_EMPTY_WORDS = frozenset(
    "a an and are as at be by do does for from in into is it its of on or that the this to use used"
    " using when with you your must should always never not".split()
)
# Scripts written without blanks, or (Hangul) with particles glued to the word: compared by pairs
# of characters. Thai, Lao, Khmer, Burmese; kana; CJK ideographs; Hangul.
_PAIRED: tuple[tuple[int, int], ...] = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x3040, 0x30FF),
    (0x3400, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0x20000, 0x323AF),
)


def sentences(text: str) -> list[str]:
    """What the writer says: sentences without fenced code, quoted lines and shell transcripts."""
    out: list[str] = []
    fenced = False
    for line in text.split("\n"):
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        elif stripped and not fenced and not stripped.startswith((">", "$ ")):
            parts = compile_pattern(r"(?<=[.!?。！？])\s+").split(stripped)
            out += [part.strip()[:SENTENCE_LIMIT] for part in parts if part.strip()]
    return out


def is_question(sentence: str) -> bool:
    """Whether a sentence asks instead of telling."""
    return sentence.rstrip("\"'”’)」 ").endswith(("?", "？"))


def tokens(text: str) -> frozenset[str]:
    """The comparable tokens of a text: words, or pairs of characters where words are not separated.

    Case, width, accents' spelling and order do not count.
    """
    folded = normalize("NFKC", text).casefold()
    out: set[str] = set()
    for word in compile_pattern(r"[^\W_]+").findall(folded):
        for run in _runs(word):
            if _is_paired(run[0]):
                out.update([run[at : at + 2] for at in range(len(run) - 1)] or [run])
            elif run not in _EMPTY_WORDS:
                out.add(run)
    return frozenset(out)


def _runs(word: str) -> list[str]:
    """A word cut where its script changes: `pnpm을` is `pnpm` and `을`."""
    out = [word[0]]
    for char in word[1:]:
        if _is_paired(char) == _is_paired(out[-1][0]):
            out[-1] += char
        else:
            out.append(char)
    return out


def _is_paired(char: str) -> bool:
    code = ord(char)
    return code >= 0x0E00 and any(first <= code <= last for first, last in _PAIRED)


def jaccard(left: frozenset[str], right: frozenset[str]) -> float:
    """Shared tokens over all tokens; 0 where either side has none."""
    if not left or not right:
        return 0.0
    return len(left & right) / len(left | right)


def semantic_key(memory_type: str, scope: str, signature: str, summary: str) -> str:
    """Names what a memory is about, 32 hex digits: its signature where it has one, else the tokens
    of its summary; with its type and scope."""
    subject = signature or " ".join(sorted(tokens(summary)))
    return digest("\x1f".join([memory_type, scope, "s" if signature else "t", subject]), 32)
