"""What can be said of words and texts without running them."""

from hmd.kernel.shell.posix import scan as scan_posix
from hmd.kernel.shell.syntax import DYNAMIC

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.syntax import Command, Scan

# How the scanners write a command substitution inside a word.
SUBSTITUTION = "$(…)"


def scan_text(text: str, dialect: str) -> "Scan":
    """The commands of `text` by the scanner of its dialect."""
    if dialect == "powershell":
        from hmd.kernel.shell.powershell import scan as scan_powershell

        return scan_powershell(text)
    if dialect == "cmd":
        from hmd.kernel.shell.cmd import scan as scan_cmd

        return scan_cmd(text)
    return scan_posix(text)


def is_hidden(word: str, flag: int) -> bool:
    """Whether the whole word is one or more expansions, so that nothing of its text is known."""
    if not flag & DYNAMIC:
        return False
    if word and not any(char.isalnum() or char in "$`" for char in word):
        return True  # `{}` or `%`, which xargs or find replaces
    if word[:1] not in "$`<":
        return False
    bare = word.replace(SUBSTITUTION, "$_")
    return not any(mark in bare for mark in " \t\n;&|")


def has_known_base(word: str) -> bool:
    """`$HOME/bin/git`: the program's name is known though its directory is not."""
    base = word.rpartition("/")[2]
    return base != word and base != "" and not any(mark in base for mark in "$`*?[{}()…")


def quote(word: str, flag: int) -> str:
    """`word` as text that reads back as that word; expansions stay expansions."""
    if flag & DYNAMIC or word.isalnum():
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def split(text: str) -> "list[str]":
    """The words of `text` after quote removal, as far as its first command."""
    commands = scan_posix(text).commands
    return list(commands[0].words) if commands else []


def known_output(command: "Command") -> "str | None":
    """What a command prints where its words say so: `echo text`, `printf text`, `cat <<E`."""
    words_ = command.words
    if not words_:
        return None
    name = words_[0].rpartition("/")[2]
    if name == "cat" and len(words_) == 1:
        for redirection in reversed(command.redirs):
            if redirection.body is not None:
                return redirection.body
        return None
    if name not in ("echo", "printf") or any(flag & DYNAMIC for flag in command.flags):
        return None
    rest = words_[1:]
    while rest and rest[0] in ("-n", "-e", "-E", "-ne", "-en", "--"):
        rest = rest[1:]
    if name == "printf" and rest and "%" in rest[0]:
        return "\n".join(rest[1:]) if rest[0] in ("%s", "%s\\n", "%s\n", "%b") else None
    return " ".join(rest).replace("\\n", "\n")
