"""What counts as a word, for stored texts and for questions alike.

* Unicode NFKC, lower case. A word with marks is also found without them (`café`, `cafe`).
* Code: `getUserName`, `HTTPServer`, `user_name`, `pre-commit` and paths are found by their parts
  and by the whole, written together.
* English words by their stem; words that say nothing (question words among them) do not count.
* Where words are not set apart by blanks (Han, kana, Thai, Lao, Khmer, Burmese) or carry their
  particles (Hangul): every character, and every two that stand side by side.
"""

import re
import unicodedata

from hmd.recall.stem import stem

STOP = frozenset(
    """a an and are as at be been but by can could did do does done for from had has have having he
    her hers him his how i if in into is it its itself let me my of on or our ours she should so
    such than that the their theirs them then there these they this those to us was we were what
    when where which who whom whose why will with would you your yours
    s t d m ll re ve don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn
    am being about just also""".split()
)
# Characters that stand nearly for a word each, or for a syllable.
_HAN = (
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003fffd"
)
_OTHERS = "\u0e01-\u0e4e\u0e81-\u0ede\u1000-\u109f\u1780-\u17d3"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
_ASCII_WORDS = re.compile(r"[A-Za-z0-9_]+(?:[-./\\]+[A-Za-z0-9_]+)*")
_LETTER = rf"(?:(?![{_HAN}{_HANGUL}{_OTHERS}])\w)"
_RUNS = re.compile(
    rf"(?P<pairs>[{_HAN}]+|[{_HANGUL}]+|[{_OTHERS}]+)"
    rf"|(?P<words>{_LETTER}+(?:[-./\\]+{_LETTER}+)*)"
)
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SEPARATORS = re.compile(r"[-./\\]+")
_MARKS = re.compile("[\u0300-\u036f]+")
# A run without a blank that is longer is no word: a key, a blob, a line of base64.
LONGEST_WORD = 64
LONGEST_TEXT = 200_000  # characters that are looked at
# Words that were taken apart already, as they stand between blanks: (of texts, of questions). The
# same ones come again and again, and looking one up costs a tenth of working its stem out.
_KNOWN: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
_MOST_KNOWN = 16_384
_LONGEST_KNOWN = 24
_AROUND = "\"'`()[]<>.,:;!?"


def tokens(text: str, asked: bool = False) -> list[str]:
    """The words of a text in their order, repeated as often as they occur. Never raises.

    `asked`: the text is a question. Of scripts without blanks it then has only the pairs, and the
    single characters that stand alone: the others are everywhere and tell nothing apart.
    """
    out: list[str] = []
    text = text[:LONGEST_TEXT]
    if text.isascii():
        known = _KNOWN[asked].get
        for piece in text.split():
            found = known(piece)
            out += _learn(piece, asked) if found is None else found
        return out
    for match in _RUNS.finditer(unicodedata.normalize("NFKC", text)):
        run = match.group()
        if match.lastgroup == "pairs":
            _pairs(run, out, asked)
        elif run.isascii():
            found = _KNOWN[asked].get(run)
            out += _learn(run, asked) if found is None else found
        else:
            for piece in _SEPARATORS.split(run):
                if piece.isascii():
                    _compound(piece, out, asked)
                else:
                    _marked(piece.lower(), out)
    return out


def _learn(piece: str, asked: bool) -> list[str]:
    """The words of ASCII text without a blank, kept where it may well come again."""
    out: list[str] = []
    for run in _ASCII_WORDS.findall(piece):
        _compound(run, out, asked)
    if len(piece) <= _LONGEST_KNOWN and piece.strip(_AROUND).isalpha():
        known = _KNOWN[asked]
        if len(known) >= _MOST_KNOWN:
            known.clear()
        known[piece] = out
    return out


def _pairs(run: str, out: list[str], asked: bool) -> None:
    if not asked or len(run) == 1:
        out.extend(run)
    out.extend([run[at : at + 2] for at in range(len(run) - 1)])


def _marked(word: str, out: list[str]) -> None:
    """A word of letters beyond ASCII: as it is written, and without its marks."""
    if word in STOP or len(word) > LONGEST_WORD:
        return
    out.append(word)
    plain = _MARKS.sub("", unicodedata.normalize("NFD", word))
    if plain != word:
        out.append(stem(plain))


def _compound(run: str, out: list[str], asked: bool) -> None:
    """A run of ASCII words with `-`, `.`, `/` or `\\` between them, or a single word."""
    if run.isalpha() and (run.islower() or run[1:].islower()):
        _plain(run.lower(), out)
        return
    if run.isdigit():
        _plain(run, out)
        return
    for piece in _SEPARATORS.split(run):
        parts = _PARTS.findall(piece)
        if len(parts) > 1 and len(piece) <= LONGEST_WORD:
            out.append(stem("".join(parts).lower()))
            if not asked and len(parts) > 2:  # `username` of `getUserName`
                joined = zip(parts, parts[1:], strict=False)
                out.extend([stem((one + two).lower()) for one, two in joined])
        for part in parts:
            _plain(part.lower(), out)
    # Asked for `real-time`, texts that say `real time` or `real-time` are equally good.
    if not asked and len(run) <= LONGEST_WORD and _SEPARATORS.search(run):
        out.append(stem(_SEPARATORS.sub("", run).replace("_", "").lower()))


def _plain(word: str, out: list[str]) -> None:
    if word not in STOP and len(word) <= LONGEST_WORD:
        out.append(stem(word))
