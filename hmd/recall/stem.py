"""English stems: the Porter2 algorithm (snowballstem.org, "The English (Porter2) stemming
algorithm"), so that `deploys`, `deployed` and `deploying` are one word.

Our own, since the packages that carry it bring every language along: their import would hold up the
daemon's loop for longer than thousands of prompts are searched.
"""

from functools import lru_cache

_VOWELS = frozenset("aeiouy")
_DOUBLES = frozenset(["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"])
_LI_BEFORE = frozenset("cdeghkmnrt")
# Words that the rules would get wrong, and words that must not lose anything more.
_SPECIAL = {
    "skis": "ski", "skies": "sky", "idly": "idl", "gently": "gentl", "ugly": "ugli",
    "early": "earli", "only": "onli", "singly": "singl", "sky": "sky", "news": "news",
    "howe": "howe", "atlas": "atlas", "cosmos": "cosmos", "bias": "bias", "andes": "andes",
}  # fmt: skip
_STOP_AFTER_1A = frozenset(
    "inning outing canning herring earring proceed exceed succeed evening".split()
)
_R1_AFTER = (
    "gener", "commun", "arsen", "past", "univers", "later", "emerg", "organ", "inter",
)  # fmt: skip
# Endings of step 2 (in R1), longest first; "" takes the ending away.
_STEP2 = sorted(
    {
        "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent",
        "izer": "ize", "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate",
        "alism": "al", "aliti": "al", "alli": "al", "fulness": "ful", "ousli": "ous",
        "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble", "bli": "ble",
        "fulli": "ful", "lessli": "less", "ogi": "og", "ogist": "og", "li": "",
    }.items(),
    key=lambda item: -len(item[0]),
)  # fmt: skip
_STEP3 = sorted(
    {
        "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic",
        "ical": "ic", "ful": "", "ness": "", "ative": "",
    }.items(),
    key=lambda item: -len(item[0]),
)  # fmt: skip
_STEP4 = sorted(
    "al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion".split(),
    key=lambda ending: -len(ending),
)


@lru_cache(maxsize=8_192)
def stem(word: str) -> str:
    """The stem of a word in lower case; one of other letters than a–z comes back as it is."""
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    special = _SPECIAL.get(word)
    if special is not None:
        return special
    text = _mark_y(word)
    r1, r2 = _regions(text)
    text = _step1a(text)
    if text in _STOP_AFTER_1A:
        return text
    text = _step1b(text, r1)
    if len(text) > 2 and text[-1] in "yY" and text[-2] not in _VOWELS:
        text = text[:-1] + "i"
    text = _step2(text, r1)
    text = _step3(text, r1, r2)
    text = _step4(text, r2)
    text = _step5(text, r1, r2)
    return text.replace("Y", "y")


def _mark_y(word: str) -> str:
    """With `Y` for each y that is a consonant: at the start and after a vowel."""
    if "y" not in word:
        return word
    letters = list(word)
    for at, letter in enumerate(letters):
        if letter == "y" and (at == 0 or letters[at - 1] in _VOWELS):
            letters[at] = "Y"
    return "".join(letters)


def _regions(text: str) -> tuple[int, int]:
    """Where R1 and R2 begin: after the first consonant that follows a vowel, and again."""
    r1 = next((len(start) for start in _R1_AFTER if text.startswith(start)), 0)
    r1 = r1 or _after(text, 0)
    return r1, _after(text, r1)


def _after(text: str, start: int) -> int:
    for at in range(start + 1, len(text)):
        if text[at] not in _VOWELS and text[at - 1] in _VOWELS:
            return at + 1
    return len(text)


def _ends_short(text: str) -> bool:
    """Whether it ends in a short syllable."""
    if text.endswith("past"):
        return True
    if len(text) == 2:
        return text[0] in _VOWELS and text[1] not in _VOWELS
    return (
        len(text) > 2
        and text[-1] not in _VOWELS
        and text[-1] not in "wxY"
        and text[-2] in _VOWELS
        and text[-3] not in _VOWELS
    )


def _step1a(text: str) -> str:
    if text.endswith("sses"):
        return text[:-2]
    if text.endswith(("ied", "ies")):
        return text[:-2] if len(text) > 4 else text[:-1]
    if text.endswith(("us", "ss")) or not text.endswith("s"):
        return text
    return text[:-1] if _VOWELS.intersection(text[:-2]) else text


def _step1b(text: str, r1: int) -> str:
    for ending in ("eedly", "eed"):
        if text.endswith(ending):
            return text[: -len(ending)] + "ee" if len(text) - len(ending) >= r1 else text
    for ending in ("ingly", "edly", "ing", "ed"):
        if not text.endswith(ending):
            continue
        rest = text[: -len(ending)]
        if not _VOWELS.intersection(rest):
            return text
        if ending == "ing" and len(rest) == 2 and rest[1] == "y":
            return rest[0] + "ie"  # dying, lying, tying
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if rest[-2:] in _DOUBLES:
            return rest if rest[:-2] in ("a", "e", "o") else rest[:-1]
        return rest + "e" if r1 >= len(rest) and _ends_short(rest) else rest
    return text


def _step2(text: str, r1: int) -> str:
    for ending, instead in _STEP2:
        if not text.endswith(ending):
            continue
        rest = text[: -len(ending)]
        if len(rest) < r1:
            return text
        if ending == "li":
            return rest if rest and rest[-1] in _LI_BEFORE else text
        if ending == "ogi":
            return rest + "og" if rest.endswith("l") else text
        return rest + instead
    return text


def _step3(text: str, r1: int, r2: int) -> str:
    for ending, instead in _STEP3:
        if not text.endswith(ending):
            continue
        rest = text[: -len(ending)]
        if len(rest) < r1 or (ending == "ative" and len(rest) < r2):
            return text
        return rest + instead
    return text


def _step4(text: str, r2: int) -> str:
    for ending in _STEP4:
        if not text.endswith(ending):
            continue
        rest = text[: -len(ending)]
        if len(rest) < r2 or (ending == "ion" and not rest.endswith(("s", "t"))):
            return text
        return rest
    return text


def _step5(text: str, r1: int, r2: int) -> str:
    if text.endswith("e"):
        rest = text[:-1]
        if len(rest) >= r2 or (len(rest) >= r1 and not _ends_short(rest)):
            return rest
    elif text.endswith("ll") and len(text) - 1 >= r2:
        return text[:-1]
    return text
