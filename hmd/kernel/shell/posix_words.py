"""Reads one word: its value after quote removal, its expansions, arrays (POSIX 2.2, 2.3).

Also what lies between words, and the delimiter of a here-document, which is almost a word.
"""

from hmd.kernel.pattern import compile_pattern
from hmd.kernel.shell.posix_expansions import NAME, PARAMETER, PAREN, Expansions
from hmd.kernel.shell.posix_text import Incomplete
from hmd.kernel.shell.syntax import DYNAMIC, GLOB, PROCSUB, QUOTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.posix_expansions import Match

BLANKS = r"(?:[ \t\r]|\\\n)*+"
PLAIN = r"[^ \t\r\n\\'\"`$|&;()<>*?\[]++"

# Each of these matches everywhere, if only the empty string.
skip_blanks: "Match" = compile_pattern(BLANKS).match  # type: ignore[assignment]
_part: "Match" = compile_pattern(  # type: ignore[assignment]
    rf"({PLAIN})|'([^']*)'|\"([^\"\\`$]*+)\"|({PARAMETER})|\\([\s\S])|([*?\[]+)|"
).match
_PLAIN, _SINGLE, _DOUBLE, _PARAM, _ESCAPED, _PATTERN = 1, 2, 3, 4, 5, 6
_array_name = compile_pattern(rf"{NAME}(?:\[[^\]]*\])?\+?=").fullmatch
_delimiter_double = compile_pattern(r"\"((?:[^\"\\]++|\\[\s\S])*+)\"").match
_unescape_double = compile_pattern(r"\\([$`\"\\])").sub


class Words(Expansions):
    """The cursor, able to read words."""

    __slots__ = ()

    def word(self) -> "tuple[str, int]":
        """Reads the word at the cursor: its value after quote removal, and its flags.

        Where no word starts the cursor stays and ("", 0) is returned.
        """
        text, end = self.text, self.end
        parts: list[str] = []
        flags = 0
        while True:
            match = _part(text, self.index, end)
            kind = match.lastindex
            if kind is None:
                more = self._special(parts)
                if more < 0:
                    break
                flags |= more
                continue
            self.index = match.end()
            if kind == _ESCAPED and match[kind] == "\n":
                continue
            parts.append(match[kind])
            if kind == _PARAM:
                flags |= DYNAMIC
            elif kind == _PATTERN:
                flags |= GLOB
            elif kind != _PLAIN:
                flags |= QUOTED
        return "".join(parts), flags

    def _special(self, parts: "list[str]") -> int:
        """Reads a part of a word that no simple pattern covers; returns its flags, or -1 where the
        word ends."""
        text, at, end = self.text, self.index, self.end
        char = text[at] if at < end else ""
        if char == '"':
            self.index += 1
            return self._double(parts)
        if char == "$":
            if text.startswith("'", at + 1):
                return self._ansi(parts)
            if text.startswith('"', at + 1):
                self.index += 2
                return self._double(parts)
        if char == "$" or char == "`":
            value = self._expansion(False)
            parts.append(value)
            return 0 if value == "$" else DYNAMIC
        if char in ("<", ">") and text.startswith("(", at + 1):
            self.index += 2
            self.nested(PROCSUB, PAREN, sink=char == ">")
            parts.append(char + "(…)")
            return DYNAMIC
        if char == "(":
            return self._after_paren(parts)
        if char == "'":
            raise Incomplete
        if char == "\\":  # the last character of all: it stands for itself
            self.index += 1
            parts.append(char)
            return 0
        return -1

    def _after_paren(self, parts: "list[str]") -> int:
        """A parenthesis inside a word: an array (`a=(…)`) or a pattern (`@(…)`), else its end."""
        before = parts[-1][-1:] if parts else ""
        if before == "=" and _array_name("".join(parts)):
            self.index += 1
            self._array()
            parts.append("(…)")
            return DYNAMIC
        if before and before in "?*+@!":
            parts.append(self.group())
            return GLOB
        return -1

    def group(self) -> str:
        """The raw text of a parenthesized group (extended pattern, zsh glob qualifier)."""
        start = self.index
        self.index += 1
        self._balanced("(", ")")
        return self.text[start : self.index]

    def _array(self) -> None:
        """Passes the elements of an array and its closing parenthesis."""
        text = self.text
        while True:
            self.skip_breaks()
            if self.index >= self.end:
                raise Incomplete
            if text[self.index] == ")":
                self.index += 1
                return
            start = self.index
            self.word()
            if self.index == start:
                self.index += 1
                self.found.partial = True

    def skip_breaks(self, also: str = "") -> None:
        """Passes blanks, comments, newlines and the characters in `also`."""
        text = self.text
        while True:
            self.index = at = skip_blanks(text, self.index, self.end).end()
            char = text[at] if at < self.end else ""
            if char == "\n":
                self.index += 1
                if self.pending:
                    self.read_bodies()
            elif char == "#":
                newline = text.find("\n", at, self.end)
                self.index = newline if newline >= 0 else self.end
            elif char and char in also:
                self.index += 1
            else:
                return

    def delimiter(self) -> "tuple[str, bool]":
        """Reads the delimiter of a here-document: nothing in it is expanded (POSIX 2.7.4)."""
        text, end = self.text, self.end
        parts: list[str] = []
        quoted = False
        while True:
            match = _part(text, self.index, end)
            kind = match.lastindex
            if kind is not None:
                self.index = match.end()
                if kind != _ESCAPED or match[kind] != "\n":
                    parts.append(match[kind])
                    quoted = quoted or kind in (_SINGLE, _DOUBLE, _ESCAPED)
                continue
            char = text[self.index] if self.index < end else ""
            dollar = char == "$"
            if dollar and text.startswith("'", self.index + 1, end):
                self._ansi(parts)
                quoted = True
            elif char == '"' or (dollar and text.startswith('"', self.index + 1, end)):
                match_double = _delimiter_double(text, self.index + dollar, end)
                if match_double is None:
                    raise Incomplete
                self.index = match_double.end()
                parts.append(_unescape_double(r"\1", match_double[1]))
                quoted = True
            elif dollar or char == "`":
                parts.append(char)
                self.index += 1
            else:
                return "".join(parts), quoted
