"""What a prompt or a reply tells about the turn: flags only, never the text of a memory.

English and Korean words; what needs no language (a failed call before the prompt, a resolution by
tokens or paths) is worked out in `episodes`.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.learn.words import is_question, sentences

_IGNORE_CASE = 2

_CORRECTION = (
    r"\b(?:don['’]?t|do\s+not|never|stop|instead|wrong|incorrect|revert|undo|roll\s+(?:it\s+)?back"
    r"|shouldn['’]?t|should\s+not|mustn['’]?t|must\s+not|should\s+have|rather\s+than"
    r"|not\s+what\s+i|i\s+(?:said|told\s+you|meant|asked\s+(?:you\s+)?(?:for|to))"
    r"|that['’]?s\s+not|this\s+is\s+not|you\s+(?:forgot|missed|broke|ignored)"
    r"|still\s+(?:broken|failing|wrong|red))\b"
    r"|^(?:no|nope|nah)\b\s*(?:[,.!;:–—-]|$)"
)
# A negation before one of these words is no correction: "don't forget to run the tests".
_HARMLESS_NOT = (
    r"\b(?:don['’]?t|do\s+not|never|shouldn['’]?t)\s+(?:you\s+|we\s+|i\s+)?(?:forget|worry|hesitate"
    r"|mind|know|think|believe|remember|recall|see|understand|care|expect|need\s+to|have\s+to|want"
    r"|be\s+(?:shy|afraid|surprised))\b"
    r"|\bi\s+(?:don['’]?t|do\s+not|never)\b|\bnever\s+mind\b"
    r"|\bwhat(?:'s|\s+is)\s+wrong\b|\bnothing\s+wrong\b|\bstop\s+(?:there|here|for\s+(?:now|today))\b"
    r"|\bnon-?stop\b"
)
_CORRECTION_KO = (
    r"^아니(?:야|요|에요|오)?(?=[\s,.!]|$)|그게\s*아니|이게\s*아니|아니라|아니고|지\s*마(?![가-힣]*[라다]고)"
    r"|말고|대신|틀렸|틀린|틀려|잘못|되돌려|되돌리|원래대로|취소해|안\s*돼|안\s*됩|안돼|그만"
    r"|하라고\s*했|했잖|금지"
)
_HARMLESS_KO = (
    r"잊지\s*(?:마|말)|걱정\s*(?:하지\s*)?(?:마|말)|말고도|뿐만\s*아니라|신경\s*쓰지\s*(?:마|말)"
    r"|잘못\s*된\s*거\s*없|아니라면"
)

_REMEMBER = (
    r"^(?:ok(?:ay)?|so|and|also|but|please|now|no)?[\s,]*(?:please\s+)?"
    r"(?:remember|memori[sz]e|keep\s+in\s+mind|bear\s+in\s+mind|make\s+a\s+note)\b"
    r"(?!\s+(?:when|how|whether|if|why|where|what|last|the\s+time|to\b))"
    r"|\b(?:please\s+)(?:remember|memori[sz]e)\s+(?:this|that|it|:)"
    r"|\b(?:save|store|add)\s+(?:this|that|it)\s+(?:to|in)\s+(?:your\s+)?memory\b"
)
_FROM_NOW_ON = r"\b(?:from\s+now\s+on|from\s+here\s+on|going\s+forward|for\s+future\s+reference)\b"
_FROM_NOW_ON += r"|\bevery\s+time\s+you\b"
_REMEMBER_KO = r"기억해|기억하|기억\s*좀|외워\s*(?:둬|줘)|명심해|메모리에\s*저장"
_FROM_NOW_ON_KO = r"앞으로(?:는|도)?(?=[\s,])|이제부터|다음부터|지금부터"
_NEVER_KO = r"절대"
# Only at the start of a sentence, or beside another cue: "is it always this slow" says nothing.
_ALWAYS = r"^(?:please\s+)?(?:always|never)\b(?!\s+mind)|^(?:항상|언제나|매번|무조건|반드시)"
_ALWAYS_ANYWHERE = r"\balways\b|항상|언제나|매번"
_NOT_A_REQUEST = (
    r"\b(?:don['’]?t|do\s+not|can['’]?t|cannot|didn['’]?t|no\s+longer|never|hardly)\s+remember\b"
    r"|\bi\s+remember\b|\bas\s+(?:i|you)\s+remember\b|\bif\s+i\s+remember\b|\bdo\s+you\s+remember\b"
    r"|기억\s*(?:이|은)?\s*(?:안|못|나지)|기억하지\s*(?:마|못)|기억하(?:니|나요|고\s*있)"
)

_DECISION = (
    r"\b(?:(?:i|we)(?:['’]ve|\s+have)?\s+decided|decision\s*:|we['’]?ll\s+(?:use|go\s+with|keep)"
    r"|(?:i|we)\s+(?:chose|settled\s+on|picked)|switch(?:ed|ing)?\s+(?:over\s+)?(?:to|from)\b"
    r"|going\s+with|agreed\s+(?:on|to))\b"
)
_DECISION_KO = (
    r"결정(?:했|하였|됐|되었|합니다|하겠)|하기로\s*(?:했|하였|합)|이제부터|전환(?:했|하|합)|채택"
)


def has_correction(text: str) -> bool:
    """Whether the words of a prompt correct what was done."""
    return any(_corrects(sentence) for sentence in sentences(text))


def has_remember(text: str) -> bool:
    """Whether a prompt asks, in any of the ways that count towards weight, to keep something."""
    return any(_asks(sentence) or _is_standing(sentence) for sentence in sentences(text))


def requests(text: str) -> list[str]:
    """The sentences that explicitly ask to remember: only these can make a human memory.

    "Remember this: …", 기억해, "from now on" with a rule after it. A reminder of one task
    ("remember to push") is none, and neither is a question.
    """
    return [sentence for sentence in sentences(text) if _asks(sentence)]


def has_decision(text: str) -> bool:
    """Whether an assistant's message says that something was decided."""
    return any(
        not is_question(sentence)
        and (_finds(_DECISION, sentence) or _finds(_DECISION_KO, sentence))
        for sentence in sentences(text)
    )


def _corrects(sentence: str) -> bool:
    if is_question(sentence):
        return False
    rest = compile_pattern(_HARMLESS_NOT, _IGNORE_CASE).sub(" ", sentence)
    if _finds(_CORRECTION, rest):
        return True
    rest = compile_pattern(_HARMLESS_KO).sub(" ", rest)
    return _finds(_CORRECTION_KO, rest)


def _asks(sentence: str) -> bool:
    if is_question(sentence) or _finds(_NOT_A_REQUEST, sentence):
        return False
    if _finds(_REMEMBER, sentence) or _finds(_REMEMBER_KO, sentence):
        return True
    found = compile_pattern(f"{_FROM_NOW_ON}|{_FROM_NOW_ON_KO}", _IGNORE_CASE).search(sentence)
    # A rule must stand beside it: at least two more words, or five syllables.
    rest = (sentence[: found.start()] + sentence[found.end() :]).strip(" ,.!:") if found else ""
    return len(rest.split()) >= 2 or len(rest) >= 5


def _is_standing(sentence: str) -> bool:
    if is_question(sentence) or _finds(_NOT_A_REQUEST, sentence):
        return False
    if _finds(_ALWAYS, sentence) or _finds(_NEVER_KO, sentence):
        return True
    return _finds(_ALWAYS_ANYWHERE, sentence) and _finds(
        f"{_FROM_NOW_ON}|{_FROM_NOW_ON_KO}", sentence
    )


def _finds(pattern: str, text: str) -> bool:
    return compile_pattern(pattern, _IGNORE_CASE).search(text) is not None
