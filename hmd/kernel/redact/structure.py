"""Owns the secrets that are known by the structure around them.

Private-key blocks (RFC 7468, OpenPGP, PuTTY), JSON Web Tokens (RFC 7519), user information in
URLs (RFC 3986 3.2.1), webhook addresses, and the `user:password@tcp(` form of database drivers.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.redact.values import MARK, is_placeholder, looks_random, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    Spans = list[tuple[int, int]]

_BEGIN = compile_pattern(r"----[- ]BEGIN ([A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)[- ]----")
_KEY_RUN = compile_pattern(r"[A-Za-z0-9+/=]{16,}")
_KEY_HEADER = ("Proc-Type:", "DEK-Info:", "Comment:", "Version:", "Subject:", "MIIE", MARK)
# A block longer than this between its two lines is two mentions of the format, not one key.
_BLOCK_LIMIT = 32_768
_LINE_LIMIT = 8192  # a whole key with escaped line feeds
_LEAD_LIMIT = 64  # what a viewer or a diff puts before a line

_SEGMENTS = compile_pattern(r"[\w-]{6,}={0,2}(?:\.[\w-]*={0,2}){1,4}")
_AUTHORITY = compile_pattern(r"[^\s/?#\"'`<>|\\]*")
_REST = compile_pattern(r"[^\s\"'`<>|\\]*")
_HOOK_PATH = compile_pattern(r"[\w/.@-]*")
_HOOKS = (
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "outlook.office.com/webhook/",
    "hooks.zapier.com/hooks/catch/",
    "api.telegram.org/bot",
    "chat.googleapis.com/v1/spaces/",
    "maker.ifttt.com/use/",
    "open.feishu.cn/open-apis/bot/v2/hook/",
    "hc-ping.com/",
)
_PASSWORD_LINE = compile_pattern(r":5432:[\w*.-]{1,63}:[\w*.-]{1,63}:([^\s:]{4,})$", 8)  # MULTILINE
_USER_ONLY_LEAST = 16
_USERINFO_LIMIT = 512
_GENERIC_PASSWORDS = word_set(
    "password passwd x-oauth-basic x-access-token port 1234 host pwd example"
)


def find(text: str, spans: "Spans") -> None:
    """Appends the span of every structured secret in `text`."""
    if "PRIVATE KEY" in text:
        _find_key_blocks(text, spans)
    if "Private-Lines:" in text:
        _find_putty_keys(text, spans)
    if "ey" in text and "." in text:
        _find_web_tokens(text, spans)
    if "://" in text:
        _find_user_info(text, spans)
    for hook in _HOOKS:
        if hook in text:
            _find_hooks(text, hook, spans)
    if ":5432:" in text:
        _find_password_file(text, spans)
    if "@tcp(" in text or "@unix(" in text or "jdbc:oracle:thin:" in text:
        _find_driver_names(text, spans)


def open_block(text: str, start: int) -> bool:
    """True when a private-key block that began before `start` has not ended by then."""
    begun = text.rfind("PRIVATE KEY", max(0, start - _BLOCK_LIMIT), start)
    while begun >= 0:
        line = text.rfind("----", max(0, begun - 60), begun)
        if line >= 0:
            head = text[line:begun]
            if "BEGIN" in head:
                return True
            if "END" in head:
                return False
        begun = text.rfind("PRIVATE KEY", max(0, start - _BLOCK_LIMIT), begun)
    return False


def block_end(text: str, start: int) -> int:
    """Where the key block that is open at `start` ends: after its last line, or its END line."""
    end = text.find("----END ", start, start + _BLOCK_LIMIT)
    if end >= 0:
        return end - (text[end - 1 : end] == "-")
    return _last_key_line(text, start)


def _find_key_blocks(text: str, spans: "Spans") -> None:
    ends: dict[str, int] = {}  # per kind, the END line that was found last
    match = _BEGIN.search(text)
    while match:
        start = match.end()
        closing = "END " + match[1]
        end = ends.get(closing, 0)
        if 0 <= end < start:
            end = ends[closing] = text.find(closing, start)
        if start <= end < start + _BLOCK_LIMIT:
            while end > start and text[end - 1] in "- ":
                end -= 1
        else:
            end = _last_key_line(text, start)
        if end > start and _KEY_RUN.search(text, start, end):
            spans.append((start, end))
        match = _BEGIN.search(text, end)


def _last_key_line(text: str, start: int) -> int:
    """The end of the lines after `start` that can belong to a key; `start` when there are none.

    A line may carry what a viewer put before it (a number, `+`, `|`). Literal `\\n` separates
    lines as a line feed does, since keys travel inside JSON.
    """
    position = start
    end = start
    while position < len(text):
        feed = text.find("\n", position)
        stop = len(text) if feed < 0 else feed
        line = text[position : min(stop, position + _LINE_LIMIT)]
        run = _KEY_RUN.search(line)
        if run is not None and run.start() <= _LEAD_LIMIT:
            end = stop
            if "\\n" in line and '"' in line[run.start() :]:
                return position + line.index('"', run.start())
        elif end > start and len(line.strip()) <= 16 and line.strip().rstrip("=").isalnum():
            return stop  # the short last line
        elif line.strip() and not line.lstrip().startswith(_KEY_HEADER):
            break
        position = stop + 1
    return end


def _find_putty_keys(text: str, spans: "Spans") -> None:
    at = text.find("Private-Lines:")
    while at >= 0:
        start = text.find("\n", at)
        if start < 0:
            return
        end = _last_key_line(text, start + 1)
        spans.append((start + 1, end))
        at = text.find("Private-Lines:", max(end, start + 1))


def _find_web_tokens(text: str, spans: "Spans") -> None:
    at = text.find("ey")
    while at >= 0:
        step = at + 2
        if not at or not (text[at - 1].isalnum() or text[at - 1] in "_."):
            match = _SEGMENTS.match(text, step)
            if match:
                parts = match[0].split(".")
                if _is_web_token(parts):
                    spans.append((at, match.end()))
                step = match.end()
        at = text.find("ey", step)


def _is_web_token(parts: "list[str]") -> bool:
    """Header and claims are base64url of JSON objects, so both begin with `ey`."""
    if len(parts) < 2 or len(parts[0]) < 8 or len(parts[1]) < 8:
        return False
    claims = parts[1]
    encrypted = len(parts) == 5  # JWE (RFC 7516): the second part is a wrapped key
    head_is_json = parts[0].startswith(("Jh", "J0", "J6", "Jr", "Jj", "Jl", "Jp"))
    return claims.startswith("ey") or (head_is_json and (encrypted or len(claims) >= 16))


def _find_user_info(text: str, spans: "Spans") -> None:
    at = text.find("://")
    while at >= 0:
        start = at + 3
        authority = _AUTHORITY.match(text, start)
        end = authority.end() if authority else start
        info_end = text.rfind("@", start, end)
        colon = text.find(":", start, end)
        if info_end < 0 and colon >= 0 and end < len(text) and text[end] in "/?#|":
            info_end = _late_at_sign(text, colon, start)
        if info_end > start:
            _judge_user_info(text, start, info_end, spans)
        at = text.find("://", max(end, start))


def _late_at_sign(text: str, colon: int, start: int) -> int:
    """The `@` after a password that holds `/`, `?`, `#` or `|` unencoded, else -1."""
    rest = _REST.match(text, colon + 1, start + _USERINFO_LIMIT)
    if not rest:
        return -1
    at = text.rfind("@", colon + 1, rest.end())
    port = text[colon + 1 : colon + 2]
    head = text[colon + 1 : at]
    if at < 0 or (port.isdigit() and head.split("/")[0].isdigit()) or "://" in head:
        return -1
    host = text[at + 1 : rest.end()].split("/")[0].split(":")[0]
    return at if "." in host or host.isalnum() else -1


def _judge_user_info(text: str, start: int, end: int, spans: "Spans") -> None:
    user, colon, password = text[start:end].partition(":")
    if not colon:
        if len(user) >= _USER_ONLY_LEAST and looks_random(user) and not is_placeholder(user):
            spans.append((start, end))
        return
    filler = is_placeholder(password) or password.lower() in _GENERIC_PASSWORDS
    if password == "pass" or not filler:  # `user:pass@` is both a habit of manuals and of people
        spans.append((end - len(password), end))
    if len(user) >= 20 and looks_random(user) and not is_placeholder(user):
        spans.append((start, start + len(user)))


def _find_hooks(text: str, hook: str, spans: "Spans") -> None:
    at = text.find(hook)
    while at >= 0:
        start = at + len(hook)
        path = _HOOK_PATH.match(text, start)
        end = path.end() if path else start
        if end - start >= 16 and looks_random(text[start:end].replace("/", "")):
            spans.append((start, end))
        at = text.find(hook, max(end, start))


def _find_password_file(text: str, spans: "Spans") -> None:
    """A line of .pgpass: `host:5432:database:user:password` (PostgreSQL manual, 34.16)."""
    for match in _PASSWORD_LINE.finditer(text):
        if not is_placeholder(match[1]):
            spans.append(match.span(1))


def _find_driver_names(text: str, spans: "Spans") -> None:
    """`user:password@tcp(host)/db` (Go) and `thin:user/password@host` (Oracle)."""
    for anchor, separator in (("@tcp(", ":"), ("@unix(", ":"), ("jdbc:oracle:thin:", "/")):
        at = text.find(anchor)
        while at >= 0:
            if separator == ":":
                start = max(text.rfind(mark, max(0, at - 200), at) for mark in " \"'`\n=") + 1
                colon = text.find(":", start, at)
                span = (colon + 1, at)
            else:
                colon = text.find("/", at, at + 200)
                span = (colon + 1, text.find("@", colon, colon + 200))
            if 0 < span[0] < span[1] and not is_placeholder(text[span[0] : span[1]]):
                spans.append(span)
            at = text.find(anchor, at + len(anchor))
