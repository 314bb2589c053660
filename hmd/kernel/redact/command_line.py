"""Owns the options that carry a secret on a command line: `-p` is one to sshpass, none to mkdir.

Works on words, wherever they come from: the units of a canonical form, or a plain split of text
that merely mentions a command (a README, a shell history in tool output).
"""

from hmd.kernel.redact.assignments import PASSWORD, TOKEN, classify
from hmd.kernel.redact.values import is_placeholder, looks_random, looks_strong, word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    Spans = list[tuple[int, int]]

# How an option carries its secret: all of the word, after the first `:`, `%` or `,`, only when
# joined to the option, or as OpenSSL's `pass:…`.
VALUE, USER, PERCENT, COMMA, JOINED, SOURCE = "value", ":", "%", ",", "joined", "pass:"
SEPARATE = "separate"  # like VALUE, of a program whose long options take one dash

_CURL = {"-u": USER, "--user": USER, "-U": USER, "--proxy-user": USER}
_LOGIN = {"-p": VALUE, "--password": VALUE, "--token": VALUE}
_SMALL_P = {"-p": VALUE}
_LARGE_P = {"-P": VALUE}
_SMALL_W = {"-w": VALUE}
_JOINED_P = {"-p": JOINED}
_STORE = {"-storepass": VALUE, "-keypass": VALUE, "-srcstorepass": VALUE, "-deststorepass": VALUE}

# program → (word that has to be among the arguments or "", {option: shape})
OPTIONS = {
    "curl": ("", _CURL),
    "wget": ("", {"--http-password": VALUE, "--ftp-password": VALUE}),
    "http": ("", {"-a": USER, "--auth": USER}),
    "https": ("", {"-a": USER, "--auth": USER}),
    "xh": ("", {"-a": USER, "--auth": USER}),
    "xhs": ("", {"-a": USER, "--auth": USER}),
    "ab": ("", {"-A": USER, "-P": USER}),
    "mysql": ("", _JOINED_P),
    "mysqldump": ("", _JOINED_P),
    "mysqladmin": ("", _JOINED_P),
    "mysqlimport": ("", _JOINED_P),
    "mysqlshow": ("", _JOINED_P),
    "mysqlcheck": ("", _JOINED_P),
    "mysqlsh": ("", _JOINED_P),
    "mycli": ("", _JOINED_P),
    "mariadb": ("", _JOINED_P),
    "mariadb-dump": ("", _JOINED_P),
    "mariadb-admin": ("", _JOINED_P),
    "sshpass": ("", _SMALL_P),
    "docker": ("login", _LOGIN),
    "podman": ("login", _LOGIN),
    "nerdctl": ("login", _LOGIN),
    "buildah": ("login", _LOGIN),
    "helm": ("login", _LOGIN),
    "crane": ("login", _LOGIN),
    "oras": ("login", _LOGIN),
    "oc": ("login", _LOGIN),
    "argocd": ("login", _LOGIN),
    "cf": ("login", _LOGIN),
    "az": ("login", _LOGIN),
    "ibmcloud": ("login", _LOGIN),
    "skopeo": ("", {"--creds": USER, "--src-creds": USER, "--dest-creds": USER, **_LOGIN}),
    "vercel": ("", {"-t": VALUE}),
    "twine": ("", _SMALL_P),
    "gh": ("secret", {"-b": VALUE, "--body": VALUE}),
    "redis-cli": ("", {"-a": VALUE, "--pass": VALUE}),
    "mongo": ("", _SMALL_P),
    "mongosh": ("", _SMALL_P),
    "mongodump": ("", _SMALL_P),
    "mongorestore": ("", _SMALL_P),
    "mongoexport": ("", _SMALL_P),
    "mongoimport": ("", _SMALL_P),
    "sqlcmd": ("", _LARGE_P),
    "bcp": ("", _LARGE_P),
    "osql": ("", _LARGE_P),
    "isql": ("", _LARGE_P),
    "tsql": ("", _LARGE_P),
    "cqlsh": ("", _SMALL_P),
    "cypher-shell": ("", _SMALL_P),
    "beeline": ("", _SMALL_P),
    "ldapsearch": ("", _SMALL_W),
    "ldapadd": ("", _SMALL_W),
    "ldapmodify": ("", _SMALL_W),
    "ldapdelete": ("", _SMALL_W),
    "ldapwhoami": ("", _SMALL_W),
    "ldappasswd": ("", {"-w": VALUE, "-s": VALUE, "-a": VALUE}),
    "zip": ("", _LARGE_P),
    "unzip": ("", _LARGE_P),
    "7z": ("", _JOINED_P),
    "7za": ("", _JOINED_P),
    "7zr": ("", _JOINED_P),
    "rar": ("", {"-p": JOINED, "-hp": JOINED}),
    "unrar": ("", {"-p": JOINED, "-hp": JOINED}),
    "smbclient": ("", {"-U": PERCENT, "--user": PERCENT}),
    "smbmap": ("", _SMALL_P),
    "rpcclient": ("", {"-U": PERCENT, "--user": PERCENT}),
    "winexe": ("", {"-U": PERCENT}),
    "evil-winrm": ("", _SMALL_P),
    "psexec": ("", _SMALL_P),
    "plink": ("", {"-pw": VALUE}),
    "pscp": ("", {"-pw": VALUE}),
    "psftp": ("", {"-pw": VALUE}),
    "rdesktop": ("", _SMALL_P),
    "lftp": ("", {"-u": COMMA}),
    "ipmitool": ("", _LARGE_P),
    "mosquitto_pub": ("", _LARGE_P),
    "mosquitto_sub": ("", _LARGE_P),
    "openssl": ("", {"-passin": SOURCE, "-passout": SOURCE, "-pass": SOURCE, "-k": SEPARATE}),
    "keytool": ("", _STORE),
    "jarsigner": ("", _STORE),
    "security": ("password", _SMALL_W),
    "ssh-keygen": ("", {"-N": VALUE, "-P": VALUE}),
    "useradd": ("", _SMALL_P),
    "usermod": ("", _SMALL_P),
}  # fmt: skip

# program → ((words in front, index of the secret among the operands after them), …)
OPERANDS = {
    "cargo": (("login", 0),),
    "vault": (("login", 0),),
    "rclone": (("obscure", 0),),
    "bw": (("unlock", 0), ("login", 1)),
    "rabbitmqctl": (("add_user", 1), ("change_password", 1)),
    "wpa_passphrase": (("", 1),),
    "htpasswd": (("-b", 2),),
    "net": (("use", -1), ("user", 1)),
}
# Programs with a `set NAME VALUE` in which the name says what the value is.
_SETTERS = word_set(
    """aws npm pnpm yarn poetry pip git gcloud setx composer bundle conda dotnet dokku pulumi
    circleci wrangler snyk sonar flyctl fly heroku az kubectl vault consul etcdctl"""
)
# Readers of a secret on standard input; `user:` before it for chpasswd.
_STDIN_READERS = (
    "sudo -S", "sudo --stdin", "--password-stdin", "--with-token", "--passphrase-fd 0",
    "passwd --stdin", "chpasswd", "--token-stdin", "--api-key-stdin", "--pass-stdin",
    "--password-fd 0", "cryptsetup", "sudo -kS", "sudo -Sk", "npm login", "gh secret set",
    "docker secret create", "wrangler secret put", "vercel env add", "--data-file=-",
)  # fmt: skip
# A line is looked at when it has one of these, or an option beginning with one of the letters.
_HINTS = (
    " login", " use ", " user ", " set ", "setx ", " config ", " obscure ", " unlock ",
    " add_user ", " change_password ", "wpa_passphrase ", "htpasswd ",
)  # fmt: skip
_OPTION_LETTERS = frozenset("-uUpPawAbkhstN")
_PUNCTUATION = dict.fromkeys(map(ord, "()`$\"'|;&/\\{}[]<>,:=!"), " ")
_COMMAND_LIMIT = 4096
_FED_LIMIT = 512  # from a reader of standard input to what feeds it
_OPTION_PROGRAMS = frozenset(OPTIONS)
_PROGRAMS = frozenset({**OPTIONS, **OPERANDS, **dict.fromkeys(_SETTERS)})


def find(text: str, spans: "Spans") -> None:
    """Appends the span of every secret that a known program is given in `text`."""
    if "echo " in text or "printf " in text or "<<<" in text:
        for reader in _STDIN_READERS:
            if reader in text:
                _find_fed(text, reader, spans)
    if "ConvertTo-SecureString" in text:
        _find_secure_strings(text, spans)
    for start, end, hinted in _candidate_lines(text):
        words = text[start:end].translate(_PUNCTUATION).replace(".exe", " ").split()
        for program in (_PROGRAMS if hinted else _OPTION_PROGRAMS).intersection(words):
            at = text.find(program, start, end)
            while at >= 0:
                stop = at + len(program)
                if _is_program_at(text, at, stop):
                    parts, stop = split(text, at)
                    _mark(text, parts, secret_parts([word for _, _, word in parts]), spans)
                at = text.find(program, stop, end)


def _candidate_lines(text: str) -> "list[tuple[int, int, bool]]":
    """(start, end, has a word of `_HINTS`) of the lines that may be commands with a secret.

    Lines joined by a backslash at the end count as one.
    """
    hits = [(at, False) for at in _places(text, " -") if text[at + 2 : at + 3] in _OPTION_LETTERS]
    for hint in _HINTS:
        hits += [(at, True) for at in _places(text, hint)]
    hits.sort()
    lines: list[tuple[int, int, bool]] = []
    end = 0  # nothing before here is looked at again
    for at, hinted in hits:
        if at < end:
            if hinted and lines:
                lines[-1] = (lines[-1][0], end, True)
            continue
        start = text.rfind("\n", end, at)
        while start > end and text[start - 1] == "\\":
            start = text.rfind("\n", end, start)
        start = max(start + 1, end)
        end = _line_end(text, at)
        lines.append((start, end, hinted))
    return lines


def _line_end(text: str, at: int) -> int:
    feed = text.find("\n", at)
    while feed > 0 and text[feed - 1] == "\\":
        feed = text.find("\n", feed + 1)
    return len(text) if feed < 0 else feed


def _places(text: str, part: str) -> "list[int]":
    found = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + len(part))
    return found


def find_in_units(text: str, units: "object", spans: "Spans") -> None:
    """The same for the units of a canonical form, whose words are unquoted and unwrapped."""
    for unit in units:  # type: ignore[attr-defined]
        argv = list(unit.argv)
        program = str(unit.program)
        words = argv if argv and _base(argv[0]) == program else [program, *argv]
        for index, start, end in secret_parts(words):
            _mark_everywhere(text, words[index][start:end], spans)


def _mark_everywhere(text: str, secret: str, spans: "Spans") -> None:
    at = text.find(secret)
    while at >= 0:
        # Short secrets are only masked as whole words: `-proot` must not eat every "root".
        if len(secret) >= 8 or not text[at + len(secret) : at + len(secret) + 1].isalnum():
            spans.append((at, at + len(secret)))
        at = text.find(secret, at + len(secret))


def secret_parts(words: "list[str]") -> "list[tuple[int, int, int]]":
    """(index of word, start, end) of every secret in the command `words`."""
    found: list[tuple[int, int, int]] = []
    program = _base(words[0]) if words else ""
    needed, options = OPTIONS.get(program, ("", None))
    if options and (not needed or any(needed in word for word in words)):
        _option_parts(words, options, found)
    if program in OPERANDS:
        _operand_parts(program, words, found)
    if program in _SETTERS:
        _setter_parts(words, found)
    return found


def _base(word: str) -> str:
    base = word.replace("\\", "/").rpartition("/")[2].lower()
    return base[:-4] if base.endswith(".exe") else base


def _option_parts(
    words: "list[str]", options: "dict[str, str]", found: "list[tuple[int, int, int]]"
) -> None:
    for index in range(1, len(words)):
        word = words[index]
        if not word.startswith("-"):
            continue
        for option, shape in options.items():
            if word == option:
                if shape != JOINED and index + 1 < len(words):
                    _judge(words[index + 1], index + 1, 0, shape, found)
            elif word.startswith(option + "=") and option.startswith("--"):
                _judge(word, index, len(option) + 1, shape, found)
            elif len(option) == 2 and word.startswith(option) and shape != SEPARATE:
                if word.startswith("-pass"):
                    continue  # a long option behind one dash
                _judge(word, index, 2, shape, found, joined=True)
            elif option == "-hp" and word.startswith(option):
                _judge(word, index, 3, shape, found, joined=True)


def _judge(
    word: str,
    index: int,
    start: int,
    shape: str,
    found: "list[tuple[int, int, int]]",
    joined: bool = False,
) -> None:
    value = word[start:]
    if value[:1] == "<" and value[-1:] == ">":
        return
    if shape in (USER, PERCENT, COMMA):
        user, separator, secret = value.partition(shape)
        if not separator:
            if looks_strong(user):
                found.append((index, start, len(word)))
            return
        if not secret and looks_random(user, 8) and not is_placeholder(user):
            found.append((index, start, start + len(user)))
        start += len(user) + 1
        value = secret
    elif shape == SOURCE:
        if not value.startswith("pass:"):
            return
        start += 5
        value = value[5:]
    elif not joined and value.startswith("-"):
        return
    if len(value) >= 3 and not is_placeholder(value):
        found.append((index, start, len(word)))


def _operand_parts(program: str, words: "list[str]", found: "list[tuple[int, int, int]]") -> None:
    for before, position in OPERANDS[program]:
        if before.startswith("-"):
            if not any(word.startswith("-") and before[1] in word for word in words):
                continue
            first = 1
        else:
            if before and before not in words[1:3]:
                continue
            first = words.index(before) + 1 if before else 1
        operands = [i for i in range(first, len(words)) if not words[i].startswith(("-", "/"))]
        if position < 0:  # net use [device] \\server\share password
            shares = [i for i in operands if words[i].startswith("\\")]
            operands = [i for i in operands if shares and i > shares[0]]
            position = 0
        if position < len(operands):
            index = operands[position]
            if len(words[index]) >= 3 and not is_placeholder(words[index]):
                found.append((index, 0, len(words[index])))


def _setter_parts(words: "list[str]", found: "list[tuple[int, int, int]]") -> None:
    operands = [i for i in range(1, len(words)) if not words[i].startswith("-")]
    for at in range(len(operands) - 1):
        name, value = operands[at], operands[at + 1]
        word = words[name]
        if word.startswith("http-basic.") and at + 2 < len(operands):
            found.append((operands[at + 2], 0, len(words[operands[at + 2]])))
            return
        key = word.rpartition(":")[2] if "_auth" in word.lower() else word
        key = key.partition(".")[0]
        if "=" in key or "/" in key or classify(key) not in (PASSWORD, TOKEN):
            continue
        if len(key) < 8 and not key.isupper():
            continue  # `secret set`, `auth token`: subcommands, not names
        secret = words[value]
        if looks_random(secret) and not is_placeholder(secret):
            found.append((value, 0, len(secret)))


def _is_program_at(text: str, at: int, end: int) -> bool:
    before = text[at - 1] if at else " "
    after = text[end : end + 1]
    if text[end : end + 4] == ".exe":
        after = text[end + 4 : end + 5]
    return after in (" ", "\t") and not (before.isalnum() or before in "-_.")


def split(text: str, at: int) -> "tuple[list[tuple[int, int, str]], int]":
    """The words of the command at `at` as (start, end, word without quotes), and where it ends.

    Knows quotes, escapes and continued lines; stops at an unquoted `|`, `;`, `&`, or line end.
    """
    words: list[tuple[int, int, str]] = []
    limit = min(len(text), at + _COMMAND_LIMIT)
    position = at
    while position < limit:
        char = text[position]
        if char in " \t":
            position += 1
        elif char == "\\" and text[position + 1 : position + 2] == "\n":
            position += 2
        elif char in "|;&\n":
            break
        else:
            end, word = _word(text, position, limit)
            words.append((position, end, word))
            position = end
    return words, max(position, at + 1)


def _word(text: str, start: int, limit: int) -> "tuple[int, str]":
    parts: list[str] = []
    position = start
    while position < limit:
        char = text[position]
        if char in " \t\n|;&":
            break
        if char in "\"'":
            close = text.find(char, position + 1, limit)
            while close > 0 and char == '"' and text[close - 1] == "\\":
                close = text.find(char, close + 1, limit)
            if close < 0:
                parts.append(text[position + 1 : limit].split("\n")[0])
                return position + 1 + len(parts[-1]), "".join(parts)
            parts.append(text[position + 1 : close])
            position = close + 1
        elif (
            char == "\\"
            and position + 1 < limit
            and text[position + 1] != "\n"
            and (text[position + 1] in " \"'\\$|;&()<>!#*")
        ):
            # `\\server` keeps both: a share is written with them in cmd and quoted elsewhere.
            if text[position + 1] == "\\":
                parts.append("\\")
            parts.append(text[position + 1])
            position += 2
        else:
            parts.append(char)
            position += 1
    return max(position, start + 1), "".join(parts)


def _mark(
    text: str,
    words: "list[tuple[int, int, str]]",
    parts: "list[tuple[int, int, int]]",
    spans: "Spans",
) -> None:
    for index, start, end in parts:
        begin, stop, word = words[index]
        at = text.find(word[start:end], begin, stop)
        if at >= 0:
            spans.append((at, at + end - start))
        else:  # quotes or escapes inside: the whole word after what is not secret
            kept = text.find(word[:start], begin, stop) if start else begin
            spans.append((kept + start if kept >= 0 else begin, stop))


def _find_fed(text: str, reader: str, spans: "Spans") -> None:
    """`echo SECRET | reader` and `reader <<< SECRET`."""
    for at in _places(text, reader):
        line = text.rfind("\n", max(0, at - _FED_LIMIT), at) + 1 or max(0, at - _FED_LIMIT)
        pipe = text.rfind("|", line, at)
        if pipe >= 0:
            begin = max(text.rfind(mark, line, pipe) for mark in ("echo ", "printf ", "print "))
            if begin >= line:
                words, end = split(text, begin)
                if end >= pipe - 1:
                    _mark_fed(text, words[1:], reader, spans)
        limit = min(at + _FED_LIMIT, _line_end(text, at))
        here = text.find("<<<", at, limit)
        if here >= 0 and text.find(reader, at + 1, here) < 0:
            start = here + 3
            while start < limit and text[start] in " \t":
                start += 1
            end, word = _word(text, start, limit)
            _mark_fed(text, [(start, end, word)], reader, spans)


def _find_secure_strings(text: str, spans: "Spans") -> None:
    """PowerShell: `ConvertTo-SecureString "SECRET" -AsPlainText`."""
    name = "ConvertTo-SecureString"
    at = text.find(name)
    while at >= 0:
        words, end = split(text, at)
        operands = [word for word in words[1:] if not word[2].startswith("-")]
        _mark_fed(text, operands[:1], name, spans)
        at = text.find(name, end)


def _mark_fed(text: str, words: "list[tuple[int, int, str]]", reader: str, spans: "Spans") -> None:
    for begin, stop, word in words:
        value = word.partition(":")[2] if reader == "chpasswd" else word
        value = value.removesuffix("\\n")
        if len(value) < 4 or word.startswith("-") or "%" in word or is_placeholder(value):
            continue
        at = text.find(value, begin, stop)
        if at >= 0:
            spans.append((at, at + len(value)))
