"""Owns `name = value` in every notation: environment, code, JSON, YAML, XML, headers, queries.

A key word anywhere in a name leads here; whether the name as a whole means a secret is decided by
its last word (`token_count` counts, `access_token` is one), and whether the value is one by its
make-up and by how definite the notation is.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.redact.values import (
    has_digit_and_letter,
    has_three_classes,
    is_hollow,
    is_placeholder,
    is_reference,
    is_wordish,
    looks_random,
    looks_strong,
    word_set,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

    Spans = list[tuple[int, int]]

PASSWORD, TOKEN, KEY, HEADER, COOKIE = "password", "token", "key", "header", "cookie"

# Where a name may hold a secret: found in lower-cased text before anything else is looked at.
_ANCHORS = (
    "pass", "pwd", "_pw", "secret", "token", "key", "auth", "cred", "bearer", "cookie", "dsn",
    "sig", "jwt", "webhook", "sas", "x-jfrog", "pat", "sourcegraph", "connectionstring", "sess",
    "비밀번호", "암호", "토큰", "パスワード", "密码", "пароль", "contraseña",
)  # fmt: skip
_PASSWORD_WORDS = word_set(
    """password passwd passphrase pwd passwort pass pw passcode userpass dbpass rootpass ftppass
    smtppass mypass adminpass storepass keypass requirepass masterauth
    비밀번호 암호 パスワード 密码 пароль contraseña"""
)
_TOKEN_WORDS = word_set(
    """token secret secrets apikey jwt bearer credential credentials webhook dsn sas accesskey
    secretkey authkey privatekey accountkey sharedaccesskey masterkey api_key auth authtoken
    accesstoken clientsecret refreshtoken connectionstring 토큰 pat sourcegraph sharedkey passkey
    api"""
)
_TOKEN_ENDS = ("token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authkey")
_KOREAN_PASSWORDS = ("비밀번호", "암호")
_PASSWORD_ENDS = ("password", "passwd", "passphrase", "pwd")
# `key` means a secret only with one of these before it.
_KEY_QUALIFIERS = word_set(
    """api access secret private encryption signing auth account master license licence app
    application service shared session consumer client deploy storage subscription admin write
    read ingest integration personal sdk hmac aes crypto cipher decryption webhook jwt token
    server user oauth root bot developer"""
)
# What follows the meaning of a name without changing it: `PASSWORD_PROD`, `SECRET_KEY_BASE`.
_TRAILERS = word_set(
    """base value hash b64 base64 raw plain new old current prod production dev staging stage live
    data default main primary secondary backup enc str string v1 v2 v3 test ci hex pem"""
)
# A qualifier that turns a token into bookkeeping (`next_page_token`, `publicToken`).
_HARMLESS = word_set(
    """page next continuation cursor public pagination sync resume max min num total prompt
    completion input output special bos eos pad unk sep mask cls lookup device sort foreign primary
    cache change reset forgot verify confirm no has is use with count per"""
)
_NAME = compile_pattern(r"[\w.\-\[\]]{0,48}")
_WORDS = compile_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+|\d+")
_OPERATOR = compile_pattern(
    r"""\\?["'`]?\]?\)?[ \t]{0,8}
    (?: (?::[ \t]?[A-Za-z_][\w.\[\]|? ]{0,24}?)?(?:\|\||[?:+|])?=(?!=)>?[ \t]{0,8}
      | :(?![:/])[ \t]{0,8}
      | =>[ \t]{0,8}
      | ,?\s{1,16}\\?["']?[vV]alue\\?["']?[ \t]?[:=][ \t]{0,4}
      | \s?/?>\s{0,16}<[vV]alue>\s{0,4}
      | ,[ \t]?(?=["'])
      | (?:is|was|are|은|는|이|가|ist|est|es)[ \t]?:?[ \t]{1,4}
      | (?=["'`]))""",
    64,  # re.VERBOSE
)
_QUOTES = "\"'`"
_BARE = compile_pattern(r"[^\s\"'`;&|<>(){}\[\],\\]+")
_ENV_BARE = compile_pattern(r"[^\s\"'`;&|<>]+")
_LINE = compile_pattern(r"[^\s\"'<>]+$", 8)  # re.MULTILINE
_TAG_VALUE = compile_pattern(r"\s{0,16}([^<>\s]{4,512})\s{0,16}</")
_SCHEME = compile_pattern(
    r"(?:bearer|basic|token|apikey|digest|bot|negotiate|splunk|key|genie[kK]ey|aws4-hmac-sha256"
    r"|sso-key|hmac|x-api-key)[ :=]{1,3}",
    2,  # re.IGNORECASE
)
_COOKIE_PAIR = compile_pattern(r"([\w.$-]{1,64})=([^;\s\"',<>]{8,})")
_PAIR = compile_pattern(
    r"""\(\s{0,8}["'][^"'\n]{0,64}["']\s{0,8},\s{0,8}["']([^"'\n]{3,128})["']"""
)
_NAME_LIMIT = 64
_VALUE_LIMIT = 4096
_LONG_VALUE = 256
_LIST_SEPARATORS = frozenset(";&?$")  # of connection strings, queries and shell variables
_SQL = "identified by "
_SCHEMES = word_set("bearer basic token")


def find(text: str, lowered: str, spans: "Spans") -> None:
    """Appends the span of every value that a secret's name is given in `text`.

    `lowered` is `text` in lower case, of the same length.
    """
    seen: set[int] = set()
    search = _Search(text, spans)
    for anchor in _ANCHORS:
        at = lowered.find(anchor)
        while at >= 0:
            tail = _NAME.match(text, at)
            end = tail.end() if tail else at + len(anchor)
            if end not in seen:
                seen.add(end)
                search.judge(at, end)
            at = lowered.find(anchor, max(end, at + 1))
    at = lowered.find(_SQL)
    while at >= 0:
        if text[at + len(_SQL) : at + len(_SQL) + 1] in ("'", '"'):
            search.given(at + len(_SQL))
        at = lowered.find(_SQL, at + len(_SQL))


def classify(name: str) -> str:
    """The class of secret that a thing called `name` holds, or "" when it holds none."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and (words[-1] in _TRAILERS or words[-1].isdigit()) and len(words) > 1:
        words.pop()
    if not words:
        return ""
    last = words[-1]
    before = words[-2] if len(words) > 1 else ""
    if before in _HARMLESS:
        return ""
    if not last.isascii() and last.startswith(_KOREAN_PASSWORDS):
        return PASSWORD  # a particle may follow: 비밀번호는, 암호를
    if last in _PASSWORD_WORDS or last.endswith(_PASSWORD_ENDS):
        return PASSWORD
    if last in ("authorization", "authentication"):
        return HEADER if len(words) <= 2 else ""
    if last in ("cookie", "session", "sessionid"):
        return COOKIE if last == "cookie" else KEY
    if last == "key":
        return TOKEN if before in _KEY_QUALIFIERS else KEY
    if last in ("secrets", "tokens", "credentials"):
        return KEY  # collections: their values are mostly names
    if last == "id":
        return KEY if before in ("session", "sess") else ""
    if last == "api":
        return TOKEN if before == "art" else ""
    if last == "pat" and not before:
        return KEY
    if last in ("sig", "signature"):
        return KEY
    if last == "auth":
        return TOKEN if name.startswith(("_", "--")) or not before else KEY
    if last in _TOKEN_WORDS or last.endswith(_TOKEN_ENDS):
        return TOKEN
    return KEY if last.endswith("key") and last not in ("monkey", "turkey", "hockey") else ""


def is_secret(kind: str, value: str, definite: bool, quoted: bool = False) -> bool:
    """Whether `value`, held by a name of class `kind`, is a secret.

    `definite` is true for notations that only ever give values (`PGPASSWORD=…`, `--token …`);
    elsewhere the right side may be code or prose and has to look generated.
    """
    size = len(value)
    if size < 3 or is_placeholder(value) or is_reference(value):
        return False
    if value.isdigit():
        return size >= (4 if kind == PASSWORD and definite else 10) and not is_hollow(value)
    if kind == KEY:
        return looks_strong(value)
    if kind == PASSWORD:
        if definite:
            return size >= 4 or any(map(str.isdigit, value))
        return looks_random(value) or (quoted and size >= 6 and not is_wordish(value))
    if " " in value:
        return False
    return looks_random(value, 8 if kind == TOKEN else 6) or (
        definite and size >= 8 and not is_wordish(value)
    )


def value_span(text: str, at: int, env: bool = False) -> "tuple[int, int, bool]":
    """(start, end, quoted) of the value written at `at`, quotes not included.

    `env` is true after `NAME=` in upper case: there brackets belong to the value, and a line that
    holds nothing else belongs to it whole.
    """
    size = len(text)
    if text[at : at + 1] in "bruf@" and text[at + 1 : at + 2] in _QUOTES and at + 1 < size:
        at += 1
    escaped = text[at : at + 1] == "\\"
    quote = text[at + escaped : at + escaped + 1]
    if quote and quote in _QUOTES:
        start = at + escaped + 1
        end = _closing(text, start, quote, escaped)
        if end >= 0:
            return start, end, True
        at = start
    match = (_ENV_BARE if env else _BARE).match(text, at, at + _VALUE_LIMIT)
    end = match.end() if match else at
    if env and end < size and text[end] in ";&|":
        line = _LINE.match(text, at)
        if line and text.rfind("\n", 0, at) >= text.rfind(" ", 0, at):
            end = line.end()
    while (
        end > at
        and text[end - 1] in ".,:;)!?"
        and not env
        and text[end : end + 1] in ("", "\n", " ")
    ):
        end -= 1
    return at, end, False


def _closing(text: str, start: int, quote: str, escaped: bool) -> int:
    """The position of the closing quote on the same line, or -1."""
    limit = _line_limit(text, start)
    if escaped:
        return text.find("\\" + quote, start, limit)
    end = text.find(quote, start, limit)
    while end > start and text[end - 1] == "\\":
        end = text.find(quote, end + 1, limit)
    return end


class _Search:
    """One pass over one text."""

    __slots__ = ("_long", "_spans", "_text")

    def __init__(self, text: str, spans: "Spans") -> None:
        self._text = text
        self._spans = spans
        # Long values already read: a name inside one is not looked at again, which keeps
        # `token=token=…` linear.
        self._long: Spans = []

    def judge(self, at: int, end: int) -> None:
        """Judges the name around `at` that ends at `end`, and the value given to it."""
        text = self._text
        for low, high in self._long:
            if low <= at < high:
                return
        start = at
        floor = max(0, at - _NAME_LIMIT)
        while start > floor and (text[start - 1].isalnum() or text[start - 1] in "_-.$:"):
            start -= 1
        while end > at and text[end - 1] in ".-[]":
            end -= 1
        name = text[start:end].rpartition(":")[2]
        kind = classify(name)
        if not kind:
            return
        before = text[start - 1] if start else ""
        if before == "<" or (before == "/" and text[start - 2 : start - 1] == "<"):
            self._element(end, kind)
            return
        apart = text[end : end + 1] == " " and text[end + 1 : end + 2] not in ("-", "=", ":")
        if apart and name.startswith("-"):
            self._value(end + 1, kind, True)
            return
        operator = _OPERATOR.match(text, end)
        if operator and operator.end() > end:
            self._assigned(operator, kind, name, before)
        elif apart and name.lower() in _SCHEMES:
            self._header(end + 1)
        elif apart and kind in (PASSWORD, TOKEN):
            self._column(end + 1)

    def given(self, at: int) -> None:
        """A password for certain, as SQL's `IDENTIFIED BY '…'` gives it."""
        self._value(at, PASSWORD, True)

    def _assigned(self, operator: "re.Match[str]", kind: str, name: str, before: str) -> None:
        sign = operator[0].strip()
        at = operator.end()
        if kind in (HEADER, COOKIE) and ":" in sign:
            at = operator.start() + operator[0].index(":") + 1
            while self._text[at : at + 1] == " ":
                at += 1
        if kind == HEADER:
            self._header(at)
        elif kind == COOKIE:
            self._cookies(at)
        elif not sign or sign.isalpha() or sign[-1] == ",":
            self._prose(at, kind)
        else:
            tight = operator[0] == sign
            upper = name.isupper()
            if self._text[at : at + 1] == "(":
                self._pair(at)
                return
            listed = tight and before in _LIST_SEPARATORS
            definite = name.startswith("-") or listed or (upper and (tight or sign == "="))
            definite = definite or (upper and kind == PASSWORD and self._is_last_word(at))
            self._value(at, kind, definite, upper and tight and sign == "=")

    def _read(self, at: int, env: bool = False) -> "tuple[int, int, bool]":
        start, end, quoted = value_span(self._text, at, env)
        if end - start > _LONG_VALUE:
            self._long.append((start, end))
        return start, end, quoted

    def _value(self, at: int, kind: str, definite: bool, env: bool = False) -> None:
        start, end, quoted = self._read(at, env)
        value = self._text[start:end]
        scheme = _SCHEME.match(value) if quoted and " " in value else None
        if scheme:
            start += scheme.end()
            value = self._text[start:end]
        if not definite and kind == PASSWORD and not quoted:
            definite = has_digit_and_letter(value) and self._ends_line(end)
        if is_secret(kind, value, definite, quoted):
            self._spans.append((start, end))

    def _is_last_word(self, at: int) -> bool:
        return self._ends_line(value_span(self._text, at)[1])

    def _ends_line(self, end: int) -> bool:
        return self._text[end : end + 1] in ("", "\n", "\r", ",", "!")

    def _pair(self, at: int) -> None:
        """`auth=("user", "password")`."""
        pair = _PAIR.match(self._text, at)
        if pair and is_secret(PASSWORD, pair[1], True):
            self._spans.append(pair.span(1))

    def _column(self, at: int) -> None:
        """`password …`, `ENV API_KEY …`: a name and a value with a blank between them."""
        start, end, quoted = self._read(at)
        value = self._text[start:end]
        if quoted or is_placeholder(value) or is_reference(value):
            return
        if looks_strong(value) or (len(value) >= 8 and has_three_classes(value)):
            self._spans.append((start, end))

    def _header(self, at: int) -> None:
        """An Authorization header (RFC 9110 11.6.2): a scheme and what follows it."""
        quote = self._text[at : at + 1]
        if quote and quote in _QUOTES:
            at += 1
        scheme = _SCHEME.match(self._text, at)
        start, end, _quoted = self._read(scheme.end() if scheme else at)
        value = self._text[start:end]
        if len(value) < 6 or is_placeholder(value):
            return
        if looks_random(value) or (scheme and len(value) >= 12):
            self._spans.append((start, end))

    def _cookies(self, at: int) -> None:
        """The values of a Cookie or Set-Cookie header (RFC 6265 4.1, 4.2)."""
        limit = _line_limit(self._text, at)
        self._long.append((at, limit))
        for pair in _COOKIE_PAIR.finditer(self._text, at, limit):
            if looks_random(pair[2], 8) and not is_placeholder(pair[2]):
                self._spans.append(pair.span(2))

    def _prose(self, at: int, kind: str) -> None:
        """`token "…"` and `the password is …`: only what can be nothing else."""
        start, end, _quoted = self._read(at)
        value = self._text[start:end]
        if is_placeholder(value) or is_reference(value):
            return
        if looks_strong(value) or (
            kind == PASSWORD and len(value) >= 8 and has_digit_and_letter(value)
        ):
            self._spans.append((start, end))

    def _element(self, end: int, kind: str) -> None:
        """`<password>…</password>`, with or without attributes on the way."""
        close = self._text.find(">", end, end + 200)
        if close < 0 or self._text[close - 1] == "/":
            return
        content = _TAG_VALUE.match(self._text, close + 1)
        if content and is_secret(kind, content[1], kind == PASSWORD):
            self._spans.append(content.span(1))


def _line_limit(text: str, at: int) -> int:
    """The end of the line at `at`, or of the longest value that is read."""
    feed = text.find("\n", at, at + _VALUE_LIMIT)
    return min(len(text), at + _VALUE_LIMIT) if feed < 0 else feed
