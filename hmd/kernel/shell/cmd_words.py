"""Splits the text of one cmd command into words.

A program splits its own text, as "Parsing C++ command-line arguments" of the Microsoft C run-time
reference says; what cmd runs itself it splits by blanks and quotes alone.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, QUOTED

BLANK = " \t\r\f\v"
DELIMITERS = BLANK + ",;="
_EXPANSION = compile_pattern(r"%[A-Za-z_][^%\s]*%|%%?~[a-z$]*\w|![A-Za-z_]\w*!")
# What cmd runs itself: it splits words without the run-time's rules for backslashes.
_BUILTINS = frozenset(
    "assoc cd chdir cls color copy date del dir echo endlocal erase exit ftype goto md mkdir mklink"
    " move path pause popd prompt pushd rd ren rename rmdir setlocal shift time title type ver"
    " verify vol".split()
)


def split(raw: str, variables: str) -> "tuple[list[str], list[int]]":
    """Program and arguments of a command's text, with their flags."""
    name, rest = _program(raw.strip(DELIMITERS + "\n"))
    if not name:
        return [], []
    backslashes = name.lower() not in _BUILTINS
    words, flags = [], []
    for piece in _pieces(name, False) + _pieces(rest, backslashes):
        words.append(piece[0])
        flags.append(piece[1] | _dynamic(piece[0], variables))
    return words, flags


def _program(raw: str) -> "tuple[str, str]":
    """Where the program's name ends. cmd lets an option, a path or a dot follow its own commands
    without a blank: `dir/s`, `cd..`, `echo.`"""
    at = 0
    quoted = False
    while at < len(raw):
        char = raw[at]
        if char == '"':
            quoted = not quoted
        elif not quoted and char in DELIMITERS:
            break
        elif at < 10 and char in "/\\.:(+[" and raw[:at].lower() in _BUILTINS:
            if raw[:at].lower() == "echo":
                return raw[:at], raw[at + 1 :]
            break
        at += 1
    return raw[:at], raw[at:]


def _pieces(text: str, backslashes: bool) -> "list[tuple[str, int]]":
    """The words of `text`. With `backslashes`, an odd number of them makes a quote plain."""
    found: list[tuple[str, int]] = []
    word: list[str] = []
    flags = 0
    begun = quoted = False
    slashes = 0
    for char in text + " ":
        if char == '"':
            if backslashes and slashes:
                del word[len(word) - slashes // 2 - slashes % 2 :]
            if backslashes and slashes % 2:
                word.append('"')
            else:
                quoted = not quoted
                flags |= QUOTED
            begun = True
        elif char in BLANK + "\n" and not quoted:
            if begun:
                found.append(("".join(word), flags))
            word, flags, begun = [], 0, False
        else:
            if char in "*?" and not quoted:
                flags |= GLOB
            word.append(char)
            begun = True
        slashes = slashes + 1 if char == "\\" else 0
    if begun:  # an unclosed quote
        found.append(("".join(word).removesuffix(" "), flags))
    return found


def _dynamic(word: str, variables: str) -> int:
    if "%" not in word and "!" not in word:
        return 0
    if _EXPANSION.search(word):
        return DYNAMIC
    return DYNAMIC if any("%" + name in word.lower() for name in variables) else 0
