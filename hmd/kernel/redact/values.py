"""Owns the judgement of a value: is it a placeholder, a reference, or does it look like a secret?

Every rule that finds a value by its surroundings (an assignment, a flag, a header) asks here
before it masks, so that `$TOKEN`, `<your-key>` and `process.env.KEY` stay readable everywhere.
"""

from hmd.kernel.pattern import compile_pattern

MARK = "<redacted>"


def word_set(text: str) -> "frozenset[str]":
    """The white-space separated words of `text`: keeps the tables of words readable."""
    return frozenset(text.split())


# Fillers that documentation, forms and type declarations put where a secret would stand.
_FILLERS = word_set(
    """none null nil undefined true false yes no on off password passwd pass pwd secret token key
    apikey api_key api-key changeme change_me change-me changeit placeholder redacted removed hidden
    masked todo tbd dummy example sample fake test testing foo bar baz string str int integer number
    bool boolean any object bytes optional required varchar text char unknown never void default
    empty unset basic bearer oauth oauth2 jwt username user email prompt ask stdin admin-password
    secretstr sensitive encrypted disabled enabled missing invalid expired valid wrong incorrect
    stringify function async await return self this cls and or not is in for the with from import
    authentication authorization authenticate credentials value values optional[str]"""
)
_SECRET_WORDS = word_set("password passwd pass pwd secret token key apikey passphrase credential")
_FILLER_PARTS = (
    "your",
    "placeholder",
    "redacted",
    "changeme",
    "change_me",
    "change-me",
    "xxxx",
    "insert_",
    "insert-",
    "replace",
    "goes-here",
    "_here",
    "-here",
    "****",
    "not_a_real",
    "not-a-real",
    "dummy",
    "todo",
    "example",
    "abcdefghijkl",
)
_HOLLOW = frozenset("xX*.-_0#?•…= ")
# What can only be a reference: a variable, a template, a command substitution, a tagged value.
_REFERENCE_STARTS = (
    "${", "$(", "$[", "#{", "{{", "<", "[", "{", "(", "%{", "%(", "@{", "!", "***", "...", "…", "`",
    "process.env", "os.environ", "os.getenv", "getenv", "import.meta", "System.getenv", "ENV[",
    "env.", "env(", "std::env", "secrets.", "vars.", "var.", "local.", "args.", "config.",
    "settings.", "request.", "req.", "self.", "this.", "ref+", "arn:", "op://", "vault:", "file:",
    "sm://", "ENC[", "/run/secrets", "/dev/", "lookup(", "data.", "module.",
)  # fmt: skip
_VARIABLE = compile_pattern(r"[$%][A-Za-z_][\w:.]*%?(?:[\s\"'/:@,;)}\]].*)?$")
_YAML_TAG = compile_pattern(r"![A-Za-z]+(?:\s|$)")
_CALL = compile_pattern(r"(?:new\s+|await\s+)?[A-Za-z_][\w.:>?-]*[(\[]")
_PURE_WORDS = compile_pattern(r"[A-Za-z][a-z]*(?:[ ._:/,'?!-]+[A-Za-z][a-z]*)*[ .:!?,]*$")
_SEPARATORS = compile_pattern(r"[-_./:@ +,]+")
_NUMBERISH = compile_pattern(r"[+-]?[\d.,:_-]*(?:[a-zA-Z]{1,3}|[eE][+-]?\d+)?%?$")


def is_hollow(text: str) -> bool:
    """True for a body of filler characters only (`xxxx`, `***`, `0000`)."""
    return _HOLLOW.issuperset(text)


def is_placeholder(value: str) -> bool:
    """True when `value` names or stands for a secret and is none itself."""
    if not value or value.startswith(MARK):
        return True
    first = value[0]
    if first in "$%" and _VARIABLE.match(value):
        return True
    if value.startswith(_REFERENCE_STARTS):
        # `!` opens a YAML tag or a password; `[`, `(` and `{` open a password only before a digit.
        if first == "!":
            return _YAML_TAG.match(value) is not None
        return first != "{" or value[1:2] == "{" or not looks_random(value.strip("{}"), 8)
    lowered = value.lower()
    if lowered.strip(" .,;:!?*_-") in _FILLERS or is_hollow(value) or len(set(lowered)) < 3:
        return True
    if any(part in lowered for part in _FILLER_PARTS):
        return not _dense(value)
    return _is_named_after_itself(value, lowered)


def _is_named_after_itself(value: str, lowered: str) -> bool:
    """True for `db_password`, `MY_TOKEN`, `key=secret`: words that say what belongs there."""
    if "=" in value and is_placeholder(value.rpartition("=")[2]) and not value.endswith("="):
        return True
    words = _SEPARATORS.split(lowered)
    if len(words) < 2 or not all(word.isalpha() for word in words):
        return False
    return value.isupper() or not _SECRET_WORDS.isdisjoint(words)


def _dense(value: str) -> bool:
    """True when digits are spread through the value, as they are in random text."""
    digits = sum(map(str.isdigit, value))
    return digits >= 4 and digits * 12 >= len(value)


def is_reference(value: str) -> bool:
    """True for code and addresses: a call, a dotted name, a path, a URL."""
    if "://" in value or _CALL.match(value):
        return True
    if value.startswith(("/", "./", "../", "~/", "\\\\")) or value[1:3] in (":\\", ":/"):
        # Base64 may begin with a slash too, but it has no segment that reads as a word.
        return any(is_wordish(part) and len(part) > 2 for part in value.split("/"))
    if "/" in value and all(is_wordish(part) for part in value.split("/")):
        return True
    if "." in value or "::" in value or "->" in value:
        return not any(map(str.isdigit, value)) and value.replace(".", "").isidentifier()
    return False


def is_wordish(value: str) -> bool:
    """True for words joined by separators, each in one case and with few digits: `us-east-1`."""
    if _PURE_WORDS.match(value):
        return True
    for part in _SEPARATORS.split(value):
        letters = part.strip("0123456789")
        if letters and not (
            letters.isalpha()
            and (letters.lower() == letters or letters[1:].islower() or letters.isupper())
        ):
            return not letters
        if len(letters) > 3 and part[:1].isdigit():
            return False  # words end in digits, they do not begin with them
        if len(part) - len(letters) > 4 or (letters.isalpha() and not _pronounceable(letters)):
            return False
    return True


def _pronounceable(letters: str) -> bool:
    """False for a long run of letters with hardly a vowel in it."""
    if len(letters) < 8:
        return True
    vowels = sum(letter in "aeiouyAEIOUY" for letter in letters)
    return vowels * 5 >= len(letters)


def looks_random(value: str, least: int = 6) -> bool:
    """True when `value` has the make-up of a generated credential.

    Letters with digits or symbols among them, or a long run of mixed case; never a number, a
    version, a date or words joined by separators.
    """
    if len(value) < least or " " in value.strip() or _NUMBERISH.match(value) or is_wordish(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    if not letters:
        return False
    symbols = len(value) - digits - letters
    upper = sum(map(str.isupper, value))
    if digits or (symbols and not value.replace("-", "").replace(".", "").isidentifier()):
        return True
    if 0 < upper < letters:
        # camelCase changes case once a word; generated text does so far more often.
        turns = sum(value[i].islower() and value[i + 1].isupper() for i in range(len(value) - 1))
        return turns * 5 >= len(value) or len(value) >= 32
    return len(value) >= 20 and value.isalpha()


def looks_strong(value: str) -> bool:
    """True for a run that can hardly be anything but a key: ≥ 20 mixed characters, no words."""
    if len(value) < 20 or not looks_random(value):
        return False
    digits = sum(map(str.isdigit, value))
    letters = sum(map(str.isalpha, value))
    return digits >= 3 and letters >= 3 and digits + letters >= len(value) * 0.8


def has_digit_and_letter(value: str) -> bool:
    """True for one word (no separator) of letters and digits, as people choose passwords."""
    return (
        len(value) >= 6
        and not _SEPARATORS.search(value)
        and any(map(str.isdigit, value))
        and any(map(str.isalpha, value))
    )


def has_three_classes(value: str) -> bool:
    """True when `value` has three of lower case, upper case, digits, symbols, and no words."""
    classes = (
        any(map(str.islower, value)),
        any(map(str.isupper, value)),
        any(map(str.isdigit, value)),
        any(char in "!@#$%^&*~+?" for char in value),
    )
    return sum(classes) >= 3 and classes[2] and looks_random(value)
