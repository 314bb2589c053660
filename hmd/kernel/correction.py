"""What a sentence rejects and what it asks for: the names in it, by their place.

English and Korean. A rejected name stands right at the negation ("don't use NAME", "use x, not
NAME", "x instead of NAME", "NAME 말고", "NAME 쓰지 마"): further away it is the place or the
subject of the sentence ("don't add types to package.json", "docker 로그 말고"), and rejects
no call.
"""

from hmd.kernel.pattern import compile_pattern

TEXT_LIMIT = 4000
_IGNORE_CASE = 2

# A name as people type it: `npm`, src/app.py, test:unit, packages/api, send_message, --force.
_NAME = r"[A-Za-z0-9_@.~+-][A-Za-z0-9_@./:~+-]*"

# What opens a rejection. After these a verb of doing must follow …
_BEFORE_VERB = (
    r"\b(?:do\s*n[o']?t|don['’]t|do\s+not|never(?:\s+ever)?|must\s*n[o']?t|mustn['’]t|must\s+not"
    r"|should\s*n[o']t|shouldn['’]t|should\s+not|can\s*not|can['’]t|not\s+to|no\s+more|stop|avoid"
    r"|quit)\b"
)
# … and after these the name itself.
_BEFORE_NAME = r"\b(?:instead\s+of|rather\s+than)\b|(?:^|[,;(–—]\s*|\s-\s)(?:and\s+)?not\b"
_CONTRAST = r"(?:instead\s+of|rather\s+than)"

# Verbs that do something with a program, a command or a file. Any other verb says something of the
# code ("should not catch"), of the conversation ("don't explain") or of the mind ("don't forget").
_DOING = frozenset(
    "use using run running rerun call calling execute executing try trying invoke invoking touch"
    " touching edit editing change changing modify modifying overwrite overwriting do doing".split()
)
# Verbs that are commands themselves: "don't push" names `git push`.
_COMMANDS = frozenset(
    "push pushing commit committing deploy deploying publish publishing merge merging rebase"
    " rebasing reset checkout restore stash destroy apply amend force-push migrate prune release"
    " send sending delete deleting restart".split()
)
_STEMS = {
    "pushing": "push", "committing": "commit", "deploying": "deploy", "publishing": "publish",
    "merging": "merge", "rebasing": "rebase", "sending": "send", "deleting": "delete",
}  # fmt: skip
# Words between the verb and the name.
_FILLERS = frozenset(
    "the a an to that this my our your any it again ever even please just plain bare command tool"
    " file server with via through".split()
)
# Where the rejected words end.
_END = (
    r"[,;!?\n()]|\.(?:\s|$)|\s[–—-]\s|\b(?:but|and|or|instead|because|since|when|while|until|unless"
    r"|if|for|as|so|then|here|there|anymore|again|in|on|at|inside|from|without|before|after|yet"
    r"|directly|please|ever|with|to|like|that|which|you|we|i|it|this|is|are|was|does|did|by|into)\b"
)
_ASKING = (
    r"\b(?:use|using|run|try|call|prefer|execute|switch\s+to|go\s+with|take)\b"
    r"|\b(?:want|wanted|need)\s+you\s+to\s+\w+\b"
)
_ORDINARY = frozenset(
    "the a an to that this it use run try call please instead of not and or only for we you i in"
    " don do never stop avoid rather than must should can always".split()
)

# Korean: NAME, a particle, perhaps a verb of doing, then the marker.
_PARTICLE = r"(?:으로|로|은|는|을|를|도|만)?"
_VERB = (
    r"(?:쓰|사용하|사용|실행하|실행|돌리|호출하|호출|하|건드리|수정하|수정|고치|편집하|열|부르|푸시하"
    r"|커밋하|배포하)"
)
_KOREAN = (
    rf"{_PARTICLE}\s*(?:좀|절대|더\s*이상|다시는?|이제)?\s*(?:"
    rf"말고(?!도)|대신|금지|{_VERB}지\s*(?:마|말|않)|{_VERB}면\s*안|(?:이|가)?\s*아니라|(?:이|가)\s*아니고)"
)
_KOREAN_STATEMENT = r"(?:이|가)?\s*아니(?:라|고)$"
_KOREAN_ASKING = r"써|쓰|사용|실행|돌려|해\s*줘|해줘|로\s*해|으로\s*해|하세요|합시다|바꿔"


class Reading:
    """`rejected` are the runs of names that the sentence says not to use, each from the word at the
    negation on; `asked` the names it asks for; `elsewhere` all outside of what it rejects."""

    __slots__ = ("asked", "elsewhere", "rejected")

    def __init__(self) -> None:
        self.rejected: list[list[str]] = []
        self.asked: list[str] = []
        self.elsewhere: list[str] = []


def read(sentence: str) -> Reading:
    """What one sentence rejects and asks for. A question rejects nothing."""
    out = Reading()
    if sentence.rstrip().endswith("?"):
        return out
    spans = _english(sentence)
    if any("가" <= char <= "힣" for char in sentence):
        spans = sorted(spans + _korean(sentence))
    for start, end in spans:
        run = names(sentence[start:end])
        if run:
            out.rejected.append(run)
    at = 0
    for start, end in [*spans, (len(sentence), len(sentence))]:
        if start > at:
            out.elsewhere += names(sentence[at:start])
            out.asked += _asked(sentence[at:start], leading=at == 0)
        at = max(at, end)
    return out


def sentences(text: str) -> "list[str]":
    """Sentences without outer blanks; fenced code and quoted output are no speech."""
    out: list[str] = []
    fenced = False
    for line in text[:TEXT_LIMIT].split("\n"):
        stripped = line.strip()
        if stripped.startswith("```"):
            fenced = not fenced
        if fenced or not stripped or stripped.startswith(("```", ">", "$ ")):
            continue
        at = 0
        for found in compile_pattern(r"(?<=[.!?。！？])\s+").finditer(stripped):
            out.append(stripped[at : found.start()].strip())
            at = found.end()
        out.append(stripped[at:].strip())
    return [sentence for sentence in out if sentence]


def names(span: str) -> "list[str]":
    """The Latin names in a span, closing punctuation removed."""
    found = compile_pattern(_NAME).findall(span)
    return [name.rstrip(".:,") for name in found if name.rstrip(".:,-")]


def code_quoted(word: str, sentence: str) -> bool:
    """Whether the sentence writes the word as code."""
    return "`" + word in sentence.lower()


def _asked(span: str, leading: bool) -> "list[str]":
    """Names that a part of a sentence asks for: after a verb of asking, all of a Korean part, or
    the one name that stands before the contrast ("pnpm instead of npm")."""
    if any("가" <= char <= "힣" for char in span):
        return names(span)
    found = compile_pattern(_ASKING, _IGNORE_CASE).search(span)
    wanted = names(span[found.end() :] if found is not None else span)
    if found is None and (not leading or len(wanted) != 1):
        return []
    return [name for name in wanted if name.lower() not in _ORDINARY]


def _english(sentence: str) -> "list[tuple[int, int]]":
    quoted = [
        found.span()
        for found in compile_pattern(r"[\"“][^\"”]*[\"”]|(?<!\w)'[^']+'(?!\w)").finditer(sentence)
    ]
    spans = []
    for found in compile_pattern(_BEFORE_VERB, _IGNORE_CASE).finditer(sentence):
        if not _inside(found.start(), quoted):
            spans += _after_verb(sentence, found.end())
    for found in compile_pattern(_BEFORE_NAME, _IGNORE_CASE).finditer(sentence):
        if _inside(found.start(), quoted):
            continue
        if compile_pattern(_CONTRAST, _IGNORE_CASE).search(found.group()) is None and (
            compile_pattern(_ASKING, _IGNORE_CASE).search(sentence) is None and found.start() > 0
        ):
            continue  # "x, not y" corrects only where something is asked for
        spans += _from_name(sentence, found.end())
    return sorted(spans)


def _after_verb(sentence: str, start: int) -> "list[tuple[int, int]]":
    """The rejected span after a negation, where a verb of doing follows it."""
    verb = compile_pattern(r"\s+`?([A-Za-z-]+)").match(sentence, start)
    if verb is None:
        return []
    word = verb.group(1).lower()
    if word in _DOING:
        return _from_name(sentence, verb.end())
    if word in _COMMANDS or word in _STEMS:
        return [(verb.start(1), verb.start(1) + len(_STEMS.get(word, word)))]
    return []


def _from_name(sentence: str, start: int) -> "list[tuple[int, int]]":
    """The names that stand right at `start`, fillers before them skipped."""
    at = start
    while True:
        word = compile_pattern(r"\s*`?([A-Za-z]+)(?=\s)").match(sentence, at)
        if word is None or word.group(1).lower() not in _FILLERS:
            break
        at = word.end()
    end = len(sentence)
    found = compile_pattern(_END, _IGNORE_CASE).search(sentence, at)
    # A word like `in` may be a name of its own only behind a blank; the first word never ends it.
    while found is not None and found.start() <= at + 1 and not found.group().strip(" ,;!?()."):
        found = compile_pattern(_END, _IGNORE_CASE).search(sentence, found.end())
    if found is not None:
        end = found.start()
    asking = compile_pattern(_ASKING, _IGNORE_CASE).search(sentence, at, end)
    if asking is not None:
        end = asking.start()
    return [(at, end)] if end > at else []


def _korean(sentence: str) -> "list[tuple[int, int]]":
    """Runs of names that a Korean marker follows directly."""
    spans = []
    run = rf"`?{_NAME}(?:\s+{_NAME}){{0,5}}`?"
    for found in compile_pattern(rf"({run}){_KOREAN}", _IGNORE_CASE).finditer(sentence):
        marker = found.group()[len(found.group(1)) :]
        rest = sentence[found.end() :]
        is_statement = compile_pattern(_KOREAN_STATEMENT).search(marker) is not None
        if is_statement and compile_pattern(_KOREAN_ASKING).search(rest) is None:
            continue  # "npm test가 아니라 코드가 문제야" says what is wrong, not what to run
        spans.append(found.span(1))
    return spans


def _inside(at: int, spans: "list[tuple[int, int]]") -> bool:
    return any(start < at < end for start, end in spans)
