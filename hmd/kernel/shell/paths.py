"""Directories and path tokens: what a command touches, for scope matching (specification §7)."""

from hmd.kernel.shell.options import is_assignment, read_options
from hmd.kernel.shell.program import plain_name
from hmd.kernel.shell.tables_programs import CWD_OPTIONS
from hmd.kernel.shell.tables_wrappers import INTERPRETERS, words
from hmd.kernel.shell.unit import UNKNOWN_CWD
from hmd.kernel.system import normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hmd.kernel.shell.canonical import Form
    from hmd.kernel.shell.unit import Unit

_HOME = ("~", "$HOME", "${HOME}", "$env:USERPROFILE", "$env:HOME", "%USERPROFILE%", "%HOME%")
_HERE = ("$PWD", "${PWD}", "%CD%", "$(pwd)", "`pwd`", "$PSScriptRoot")

# Their first operand is a program or pattern of their own: (options with a value, options that
# give the pattern, so that the first operand is a file after all).
_PATTERN_FIRST = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "rg", "ag", "ack"),
        (
            words("-A -B -C -m -d -D -g -t -T -j -e -f --regexp --file --glob --type --max-count"),
            words("-e -f --regexp --file"),
        ),
    ),
    **dict.fromkeys(
        ("sed", "gsed"), (words("-e -f -l --expression --file"), words("-e -f --expression --file"))
    ),
    **dict.fromkeys(
        ("awk", "gawk", "mawk"), (words("-F -f -v --file --assign"), words("-f --file"))
    ),
    "jq": (words("--arg --indent -f --from-file"), words("-f --from-file")),
}
_PATTERN_TEXT = words("-e --regexp --expression -g --glob -F -v --assign")
# Words that are text for a reader, by program; None: all of them.
_MESSAGE_OPTIONS = {
    "git": words("-m --message --author --date --format --pretty --grep -S -G -c"),
    "gh": words("-b --body -t --title -q --jq --search"),
    "curl": words("-d --data --data-raw --data-binary -H --header -A -e -u -X"),
    "docker": words("-t --tag --name -e --env -l --label"),
}
_TEXT_PROGRAMS = words("echo printf write-output write-host")
_CONTAINER_PROGRAMS = words("docker podman nerdctl")
_PACKAGE_PROGRAMS = words("npm pnpm yarn bun npx bunx pnpx pip uv uvx cargo gem go deno brew")
_REF_COMMANDS = words(
    "checkout switch log diff show reset merge rebase push pull fetch branch cherry-pick revert tag"
    " rev-parse rev-list describe worktree"
)
_DIRECTORY_PROGRAMS = words("cd pushd chdir set-location push-location")
_HOST_SUFFIXES = words("com org net io dev local internal")


def join(cwd: str, target: str, root: str = "", home: str = "") -> str:
    """The directory `target` names when `cwd` is in force; "?" when that is not known.

    Inside `root` the answer is relative to it, outside it is absolute. All of `cwd` and `target`
    may be either; `root` and `home` are absolute or "".
    """
    path = _expand_prefix(target, cwd, home)
    if not path or path == "-" or "$" in path or "`" in path or path.count("%") > 1:
        return UNKNOWN_CWD
    path = _forward(path, root)
    if path[0] not in "/~" and path[1:2] != ":":
        if cwd[:1] in "?@":
            return UNKNOWN_CWD
        path = f"{cwd}/{path}"
    return _inside(normal(path), root)


def _inside(path: str, root: str) -> str:
    """A normalized path relative to `root` where it lies in it."""
    if not root:
        return path
    root = _forward(root, root).rstrip("/")
    if path == ".." or path.startswith("../"):
        path = normal(f"{root}/{path}")
    if path == root:
        return "."
    if path.startswith(root + "/"):
        return path[len(root) + 1 :]
    if root[1:2] == ":" and path.lower().startswith(root.lower() + "/"):
        return path[len(root) + 1 :]
    return path


def _expand_prefix(word: str, cwd: str, home: str) -> str:
    """`word` with a leading home or current directory filled in."""
    for mark in _HOME:
        if word.startswith(mark) and word[len(mark) : len(mark) + 1] in ("", "/", "\\"):
            return (home or "~") + word[len(mark) :]
    for mark in _HERE:
        if word.startswith(mark) and word[len(mark) : len(mark) + 1] in ("", "/", "\\"):
            return cwd + word[len(mark) :]
    return word


def _forward(path: str, root: str) -> str:
    """Forward slashes for Windows spellings; `/c/x` and `/mnt/c/x` as `C:/x` beside such a root."""
    if "\\" in path and (
        path[1:3] == ":\\" or path.startswith(("\\\\", ".\\", "..\\")) or not root.startswith("/")
    ):
        path = path.replace("\\", "/")
    if root[1:2] == ":" or (root.startswith("/mnt/") and _is_drive(root[4:])):
        if path.startswith("/mnt/") and _is_drive(path[4:]):
            path = path[4:]
        if _is_drive(path):
            path = f"{path[1].upper()}:{path[2:] or '/'}"
        elif path[1:2] == ":":
            path = path[0].upper() + path[1:]
    return path


def _is_drive(path: str) -> bool:
    return path[:1] == "/" and path[1:2].isalpha() and path[2:3] in ("", "/")


def path_tokens(of: "Unit | Form", known: "Callable[[str], bool] | None" = None) -> "list[str]":
    """The paths a unit, or every unit of a form, names: relative inside the repository, absolute
    outside. `known(path)` tells whether a file exists in the index: a git operand that may be a
    ref counts only then.
    """
    units = getattr(of, "units", None)
    if units is None:
        units = [of]
    found: dict[str, None] = {}
    for unit in units:
        if unit.argv:
            for path in _unit_paths(unit, known):
                found[path] = None
    return list(found)


def _unit_paths(unit: "Unit", known: "Callable[[str], bool] | None") -> "list[str]":
    found: list[str] = []
    for word, weak in _candidates(unit):
        path = _normalize(unit, word)
        if path and (not weak or (known is not None and known(path))):
            found.append(path)
    for redirection in unit.redirs:
        target = redirection.target
        if redirection.body is None and target and not target.isdigit() and target != "-":
            path = _normalize(unit, target)
            if path:
                found.append(path)
    return found


def _candidates(unit: "Unit") -> "list[tuple[str, bool]]":
    """(word, may be a git ref) for the words of a unit that look like paths."""
    name = plain_name(unit.argv[0].replace("\\", "/").rpartition("/")[2], unit.fold)
    skipped = _text_words(name, unit.argv)
    if skipped is None:
        return []
    git_refs = name == "git" and any(word in _REF_COMMANDS for word in unit.argv[1:6])
    after_separator = False
    found: list[tuple[str, bool]] = []
    argv = unit.argv
    directories = CWD_OPTIONS.get(name, frozenset())
    for index, word in enumerate(argv):
        if index == 0 or index in skipped:
            continue
        if word == "--":
            after_separator = True
            continue
        goes_there = argv[index - 1] in directories
        if word[:1] == "-" or is_assignment(word):
            goes_there = word.partition("=")[0] in directories
            word = word.partition("=")[2]
        if not word or "\n" in word:
            continue
        if goes_there:
            found.append(("./", False))  # already part of the unit's directory
        elif name in _DIRECTORY_PROGRAMS:
            found.append((word, False))
        elif _is_path(word, name, unit.dialect):
            weak = git_refs and not after_separator and _may_be_ref(word)
            found.append((word, weak))
    return found


def _text_words(name: str, argv: "list[str]") -> "set[int] | None":
    """Indexes of words that are patterns, code or messages; None when all of them are."""
    if name in _TEXT_PROGRAMS:
        return None
    skipped: set[int] = set()
    messages = INTERPRETERS.get(name) or _MESSAGE_OPTIONS.get(name)
    if messages:
        for index, word in enumerate(argv[1:], 1):
            if word.partition("=")[0] in messages:
                skipped.add(index)
                if "=" not in word:
                    skipped.add(index + 1)
    pattern = _PATTERN_FIRST.get(name)
    if pattern:
        values, givers = pattern
        options = read_options(argv, 1, values)
        if not options.has(givers):
            skipped.add(options.end)
        skipped |= {index + 1 for index, word in enumerate(argv) if word in _PATTERN_TEXT}
    return skipped


def _is_path(word: str, program: str, dialect: str) -> bool:
    if "://" in word or (word[0] == "@" and program in _PACKAGE_PROGRAMS):
        return False
    host, colon, _ = word.partition(":")
    copies = program in ("scp", "rsync") and len(host) > 1
    if colon and "/" not in host and ("@" in host or copies):
        return False  # user@host:path
    if program in _CONTAINER_PROGRAMS and ":" in word.rpartition("/")[2] and word[0] not in "./~":
        return False  # image:tag
    if program in _PACKAGE_PROGRAMS and "@" in word[1:]:
        return False  # name@version
    if "/" in word or word[0] == "~" or ("\\" in word and (dialect != "posix" or word[1:2] == ":")):
        return word.strip("/") != "" and " " not in word.partition("/")[0]
    return _has_suffix(word)


def _has_suffix(word: str) -> bool:
    """Whether a bare word is a file name: `name.ext` or `.name`, no version, no host."""
    word = word.partition(":")[0].partition("#")[0]
    stem, dot, suffix = word.rpartition(".")
    if not dot or not suffix.isalnum() or " " in word:
        return False
    if not stem:
        return len(suffix) > 1 and suffix.isalpha()
    if len(suffix) > 8 or not any(char.isalpha() for char in suffix):
        return False
    return not stem.replace(".", "").isdigit() and suffix.lower() not in _HOST_SUFFIXES


def _may_be_ref(word: str) -> bool:
    if ".." in word and not word.startswith("../"):
        return True
    if any(mark in word for mark in "~^:@{"):
        return True
    return word[0] not in "./" and "." not in word.rpartition("/")[2]


def _normalize(unit: "Unit", word: str) -> str:
    """The token of one path, "" when it cannot be known."""
    if word.startswith("file://"):
        word = word[7:]
    word = word.partition("::")[0].partition("#")[0]
    head, _, tail = word.partition(":")
    if tail and len(head) > 1 and tail.replace(":", "").isdigit():
        word = head  # file:LINE:COL
    if not word:
        return ""
    path = join(unit.cwd, word, unit.root, unit.home)
    return "" if path in (UNKNOWN_CWD, ".") else path
