"""Reads a correction in the user's own words and binds it to the call that was corrected.

No model is involved. A guard is made only where the words name a call of this session (its program,
subcommand or file) as what *not* to do: under a negation or "instead of" / "말고", and not among
what they ask for. Everything else the user may say is left alone: a wrong guard costs more trust
than a missed one.
"""

from hmd.kernel.address import digest
from hmd.kernel.pattern import compile_pattern
from hmd.kernel.turn import Past, Turn

# How many of the latest calls a correction may mean.
LOOK_BACK = 12
QUOTE_LIMIT = 240

# A name as people type it: `npm`, src/app.py, test:unit, packages/api, send_message, --force.
_NAME = r"[A-Za-z0-9_@.~+-][A-Za-z0-9_@./:~+-]*"

# English. `_NOT` opens a span of words that are not wanted; it ends at the clause's end.
_NOT = (
    r"\b(?:do\s*n[o']?t|don['’]?t|do\s+not|never|stop|avoid|no\s+more|must\s*n[o']?t|mustn['’]t"
    r"|should\s*n[o']t|shouldn['’]t|should\s+not|can\s*not|can['’]t|not|without|quit|instead\s+of"
    r"|rather\s+than)\b"
)
# After a negation these say nothing about a call ("I don't know", "don't forget to run npm test").
_HARMLESS = frozenset(
    "forget hesitate worry know remember think believe understand see mind care recall expect"
    " only just yet sure necessarily want need like bother wait stop be is are was were have has"
    " had it that a the so really even recognise recognize agree".split()
)
_NEGATED_VERBS = frozenset(
    "use run call do execute try invoke touch edit change modify write delete remove install push"
    " commit start open send create deploy apply launch go build add put using running calling"
    " editing touching changing pushing committing with to".split()
)
_ASKING = r"\b(?:use|run|try|call|prefer|switch\s+to|go\s+with|do|please)\b"
_CLAUSE_END = (
    r"[,;!?\n()]|\.(?:\s|$)|\s[–—-]\s|\bbut\b|\band\b|\binstead\b(?!\s+of)|\bbecause\b"
    r"|\bsince\b|다\.|요\."
)

# Korean: what precedes the marker in its clause is not wanted.
_KOREAN_NOT = (
    r"말고|말아|마세요|마라|마요|지\s*마(?![가-힣])|하지\s*마|쓰지\s*마|금지|안\s*돼|안\s*됩|안돼"
    r"|대신|아니라|아니고|쓰면\s*안|하면\s*안|그만"
)
_KOREAN_NEUTRAL = r"잊지\s*마|걱정\s*마|말고도|뿐만\s*아니라"

# Words that are ordinary speech as well as subcommands: they name a call only beside its program,
# or in code quotes.
_ORDINARY = frozenset(
    "test tests run build start stop install add show list status log check fix clean update help"
    " version new open get set use make create remove delete move copy find sort cat head time"
    " watch kill wait read write edit search which test-all lint format dev serve all main go do"
    " view diff up down exec pull fetch init . .. src app index".split()
)


def correction(text: str, turn: Turn) -> "list[dict[str, object]]":
    """The guards that a prompt makes: at most one, for the latest call that its words reject.

    A guard: `id`, `tool`, `key` (literal, with directory), `tokens`, `asked` (the names the user
    wants instead), `said` (the user's sentence), `worked` (filled by the fold).
    """
    calls = [past for past in turn.calls if not past.get("agent")][-LOOK_BACK:]
    if not calls or not text.strip():
        return []
    for sentence in _sentences(text):
        rejected, asked = read_sentence(sentence)
        if not rejected:
            continue
        meant = _meant(calls, rejected, asked, sentence)
        if meant is not None:
            return [_guard(*meant, asked, sentence)]
    return []


def read_sentence(sentence: str) -> "tuple[list[str], list[str]]":
    """(names rejected, names asked for) of one sentence, in the order they are said."""
    if sentence.rstrip().endswith("?"):
        return [], []
    rejected: list[str] = []
    asked: list[str] = []
    spans = _negated(sentence)
    for start, end in spans:
        rejected += _names(sentence[start:end])
    at = 0
    for start, end in [*spans, (len(sentence), len(sentence))]:
        asked += _names(sentence[at:start]) if start > at else []
        at = max(at, end)
    return rejected, asked


def _guard(past: Past, key: str, asked: "list[str]", sentence: str) -> "dict[str, object]":
    tool = str(past["tool"])
    return {
        "id": "g" + digest(tool + "\x1f" + key, 31),
        "tool": tool,
        "key": key,
        "tokens": past.get("tokens", []),
        "asked": asked[:8],
        "said": sentence[:QUOTE_LIMIT],
        "worked": "",
    }


def _meant(
    calls: "list[Past]", rejected: "list[str]", asked: "list[str]", sentence: str
) -> "tuple[Past, str] | None":
    """The latest call that the rejected names name, with the key of the part that they mean; a
    failed call before others."""
    named = []
    for past in calls:
        keyed = past.get("keyed")
        for part in keyed if isinstance(keyed, list) else []:
            if _is_named(str(past["tool"]), part[1], rejected, asked, sentence):
                named.append((past, str(part[0])))
                break
    failed = [one for one in named if one[0].get("state") == "failed"]
    found = failed or named
    return found[-1] if found else None


def _is_named(
    tool: str, names: "list[str]", rejected: "list[str]", asked: "list[str]", sentence: str
) -> bool:
    # Said of the call, and not said of what is wanted: `npm` in "use npm run x, not npm test"
    # says nothing, `test` does.
    lowered = [name.lower() for name in names]
    wanted = {word.lower() for word in asked}
    said = [word.lower() for word in rejected if word.lower() in lowered]
    telling = [word for word in said if word not in wanted]
    if not telling or not _words_fit(tool, lowered, rejected):
        return False
    if lowered[0] in said:
        return True
    return any(word not in _ORDINARY or ("`" + word) in sentence.lower() for word in telling)


def _words_fit(tool: str, names: "list[str]", rejected: "list[str]") -> bool:
    """`npm install` does not mean `npm test`: a word that follows the named program in the rejected
    span, and could be its subcommand, must be one of the call's words."""
    if tool != "bash":
        return True
    for first, second in zip(rejected, rejected[1:], strict=False):
        if first.lower() == names[0] and second.lower() not in names:
            return second.lower() in _FILLERS
    return True


_FILLERS = frozenset(
    "here there anymore again now in on for this that it directly at all please ever the a to from"
    " with by inside project repo repository code any more command commands yourself again as when"
    " you your we our file files folder directory".split()
)


def _sentences(text: str) -> "list[str]":
    """Sentences, outermost blanks removed; fenced code and quoted output are no speech."""
    kept = []
    fenced = False
    for line in text[:4000].split("\n"):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        elif stripped and not fenced and not stripped.startswith((">", "$ ")):
            kept.append(stripped)
    out: list[str] = []
    for line in kept:
        at = 0
        for found in compile_pattern(r"(?<=[.!?。！？])\s+").finditer(line):
            out.append(line[at : found.start()])
            at = found.end()
        out.append(line[at:])
    return [sentence.strip() for sentence in out if sentence.strip()]


def _negated(sentence: str) -> "list[tuple[int, int]]":
    """The spans of a sentence that say what not to do."""
    spans = _korean(sentence) if _has_hangul(sentence) else []
    for found in compile_pattern(_NOT, 2).finditer(sentence):  # 2: IGNORECASE
        start = found.end()
        if any(begin <= found.start() < end for begin, end in spans):
            continue
        rest = sentence[start:]
        verb = compile_pattern(r"\s*([A-Za-z'’]+)").match(rest)
        word = verb.group(1).lower() if verb else ""
        contrast = found.group().lower().startswith(("instead", "rather", "not", "without"))
        if word in _HARMLESS and not (contrast and word in ("the", "a", "just")):
            continue
        skip = verb.end() if verb and word in _NEGATED_VERBS else 0
        end = _clause_end(rest, skip)
        spans.append((start, start + end))
    return sorted(spans)


def _clause_end(rest: str, skip: int) -> int:
    """Where a negated span ends: at the clause's end, or where a new request begins."""
    ends = [len(rest)]
    for pattern in (_CLAUSE_END, _ASKING):
        found = compile_pattern(pattern, 2).search(rest, skip)
        if found is not None:
            ends.append(found.start())
    return min(ends)


def _korean(sentence: str) -> "list[tuple[int, int]]":
    spans = []
    neutral = [found.span() for found in compile_pattern(_KOREAN_NEUTRAL).finditer(sentence)]
    for found in compile_pattern(_KOREAN_NOT).finditer(sentence):
        if any(begin <= found.start() < end for begin, end in neutral):
            continue
        start = 0
        for edge in compile_pattern(r"[,;.!?\n]\s|말고|대신|하고\s|그리고\s").finditer(
            sentence, 0, found.start()
        ):
            start = edge.end()
        spans.append((start, found.start()))
    return spans


def _names(span: str) -> "list[str]":
    """The Latin names in a span, particles and closing punctuation removed."""
    found = compile_pattern(_NAME).findall(span)
    return [name.rstrip(".:,") for name in found if name.rstrip(".:,-")]


def _has_hangul(text: str) -> bool:
    return any("가" <= char <= "힣" for char in text)
