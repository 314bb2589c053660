"""The canonical token lists of a command (specification §5): literal, effective, families."""

from hmd.kernel.shell.options import option_length, read_options
from hmd.kernel.shell.program import BIN, FILE, plain_name
from hmd.kernel.shell.tables_programs import (
    BUN_BUILTINS,
    FILTERS,
    GLOBAL_VALUES,
    GOAL_PROGRAMS,
    LEVELS,
    NESTED_FLAGS,
    NESTED_LEVELS,
    NESTED_VALUES,
    NPM_SCRIPTS,
    PNPM_BUILTINS,
    SCRIPT_LIFECYCLE,
    SUBCOMMAND_ALIASES,
    YARN_BUILTINS,
)
from hmd.kernel.shell.tables_wrappers import words

FAMILIES = ("pm", "pypm", "bin")
_EMPTY: "frozenset[str]" = frozenset()
_NO_ALIASES: "dict[str, str]" = {}
_PYTHON_VALUES = words("-W -X --check-hash-based-pycs")

_Key = tuple[str, ...]


def level_of(first: str, second: str = "") -> int:
    """How many leading words name the operation (§6, and one more under nested subcommands)."""
    if first in FAMILIES:
        return 2
    level = LEVELS.get(first, 1)
    return NESTED_LEVELS.get(f"{first} {second}", level) if level > 1 else level


def head_length(key: _Key) -> int:
    """How many leading tokens of a signature must be equal and first (specification §5, Match 1):
    the words that name the operation, as far as they are no options."""
    level = 1 if key[0] in GOAL_PROGRAMS else level_of(key[0], key[1] if len(key) > 1 else "")
    end = 1
    while end < len(key) and end < level and key[end][:1] != "-":
        end += 1
    return end


def index_words(key: _Key) -> str:
    """What an index files a signature under whose first command has this key: the first token, and
    the second where it belongs to the head, in lower case."""
    return " ".join(key[: min(head_length(key), 2)]).lower()


def command_keys(program: str, via: str, argv: "list[str]", runner: _Key = ()) -> "list[_Key]":
    """The keys of `argv` (program word first), whose name is `program`, reached `via` (`program`).

    The first is the literal key: with the runner's words where there are any.
    """
    if program == "python" and len(argv) > 1:
        module = _python_module(argv)
        if module:
            return _module_keys(argv, module, runner)
    tokens = float_options(program, argv[1:])
    own, family = _MANAGERS[program](tokens) if program in _MANAGERS else ([tokens], None)
    keys = [(*runner, *own[0])] if runner else []
    keys += own
    if family:
        keys.append(family)
    elif runner or via == BIN or _is_plain_tool(program, via):
        keys.append(("bin", *own[0]))
    return list(dict.fromkeys(keys)) if len(keys) > 1 else keys


def _is_plain_tool(program: str, via: str) -> bool:
    return via != FILE and program not in LEVELS and program not in FILTERS


def float_options(program: str, rest: "list[str]") -> _Key:
    """`program` and `rest` with the options between the words of the operation moved to the end."""
    level = LEVELS.get(program, 1)
    if level < 2 or not rest:
        return (program, *rest)
    values = GLOBAL_VALUES.get(program, _EMPTY)
    head = [program]
    moved: list[str] = []
    index, count = 0, len(rest)
    while len(head) < level and index < count:
        word = rest[index]
        if word == "--":
            break
        if word[:1] == "-" and len(word) > 1:
            takes = option_length(rest, index, values)
            moved += rest[index : index + takes]
            index += takes
        elif word[:1] == "+" and program == "cargo":
            moved.append(word)  # `cargo +nightly test`
            index += 1
        else:
            if len(head) == 1:
                word = SUBCOMMAND_ALIASES.get(program, _NO_ALIASES).get(word, word)
            head.append(word)
            index += 1
            if len(head) == 2:
                level = NESTED_LEVELS.get(f"{program} {word}", level)
                if level > LEVELS[program]:
                    return _float_nested(head, rest[index:], moved, values)
    return (*head, *rest[index:], *moved)


def _float_nested(
    head: "list[str]", rest: "list[str]", moved: "list[str]", values: "frozenset[str]"
) -> _Key:
    """The same for the third word of `docker compose`, `npm run`…: only options that are known
    there move, since what follows another one may be its value."""
    place = " ".join(head)
    values = values | NESTED_VALUES.get(place, _EMPTY)
    flags = NESTED_FLAGS.get(place, _EMPTY)
    index = 0
    while index < len(rest) and rest[index][:1] == "-":
        name, sign, _ = rest[index].partition("=")
        if name in values and not sign:
            index += 2
        elif name in values or name in flags:
            index += 1
        else:
            break
    if index >= len(rest) or rest[index][:1] == "-":
        return (*head, *rest, *moved)
    return (*head, *rest[index:], *moved, *rest[:index])


def _python_module(argv: "list[str]") -> int:
    """Index of the module's name in `python … -m module`, 0 when that is not what is run."""
    index = 1
    while index < len(argv):
        word = argv[index]
        if word in _PYTHON_VALUES:
            index += 2
            continue
        if word[:1] != "-" or word[:2] == "--" or word == "-":
            return 0
        if word.endswith("m") and "c" not in word:
            return index + 1 if index + 1 < len(argv) else 0
        if "c" in word:
            return 0
        if word.startswith("-m"):
            return -index  # attached: `-mpytest`
        index += 1
    return 0


def _module_keys(argv: "list[str]", module: int, runner: _Key) -> "list[_Key]":
    if module < 0:
        name, rest = argv[-module][2:], argv[1 - module :]
    else:
        name, rest = argv[module], argv[module + 1 :]
    tool = plain_name(name.replace("_", "-") if name == "pre_commit" else name)
    effective = command_keys(tool, BIN, [tool, *rest])
    return list(dict.fromkeys([(*runner, "python", "-m", name, *rest), *effective]))


# --- package managers -------------------------------------------------------------------------


def _without_separator(tail: _Key) -> _Key:
    """Script arguments without the `--` that hands them over."""
    while tail[:1] == ("--",):
        tail = tail[1:]
    return tail


def _packages(program: str, tail: _Key) -> bool:
    """Whether an install names packages."""
    rest = list(tail)
    index = 0
    values = GLOBAL_VALUES.get(program, _EMPTY)
    while index < len(rest):
        options = read_options(rest, index, values)
        if options.end < len(rest):
            return True
        index = options.end + 1
    return False


def _install_family(program: str, tokens: _Key) -> "_Key | None":
    """The family key of an install, an addition or a removal of JavaScript packages."""
    verb, tail = tokens[1], tokens[2:]
    if verb in ("install", "ci", "add", "install-test"):
        return ("pm", "add" if _packages(program, tail) else "install", *tail)
    if verb in ("remove", "uninstall"):
        return ("pm", "remove", *tail)
    return None


def _npm(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    verb = tokens[1] if len(tokens) > 1 else ""
    if verb == "run" and len(tokens) > 2 and tokens[2][:1] != "-":
        script, tail = tokens[2], _without_separator(tokens[3:])
        own = ("npm", script, *tail) if script in NPM_SCRIPTS else ("npm", "run", script, *tail)
        return [own], ("pm", script, *tail)
    if verb in NPM_SCRIPTS:
        tail = _without_separator(tokens[2:])
        return [("npm", verb, *tail)], ("pm", verb, *tail)
    return [tokens], _install_family("npm", tokens) if verb else None


def _pnpm(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    if tokens[1:2] and tokens[1] in ("recursive", "multi", "m") and len(tokens) > 2:
        tokens = float_options("pnpm", list(tokens[2:]))
    return _script_or_tool("pnpm", tokens, PNPM_BUILTINS)


def _yarn(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    if len(tokens) == 1:
        tokens = ("yarn", "install")
    if tokens[1] == "workspace" and len(tokens) > 3:
        tokens = float_options("yarn", list(tokens[3:]))
    return _script_or_tool("yarn", tokens, YARN_BUILTINS)


def _script_or_tool(
    program: str, tokens: _Key, builtins: "frozenset[str]"
) -> "tuple[list[_Key], _Key | None]":
    """pnpm and yarn: `run S` is `S` unless S is a builtin; another word may be a tool as well."""
    verb = tokens[1] if len(tokens) > 1 else ""
    if verb == "run" and len(tokens) > 2 and tokens[2][:1] != "-":
        script, tail = tokens[2], _without_separator(tokens[3:])
        hidden = script in builtins and script not in SCRIPT_LIFECYCLE
        own = (program, "run", script, *tail) if hidden else (program, script, *tail)
        return [own], ("pm", script, *tail)
    if verb in SCRIPT_LIFECYCLE:
        tail = _without_separator(tokens[2:])
        return [(program, verb, *tail)], ("pm", verb, *tail)
    if verb and verb[:1] != "-" and verb not in builtins:
        tail = _without_separator(tokens[2:])
        tool = (verb, *tail)
        return [(program, *tool), tool, ("bin", *tool)], ("pm", *tool)
    return [tokens], _install_family(program, tokens) if verb else None


def _bun(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    verb = tokens[1] if len(tokens) > 1 else ""
    if verb == "run" and len(tokens) > 2 and tokens[2][:1] != "-":
        script, tail = tokens[2], _without_separator(tokens[3:])
    elif verb and verb[:1] != "-" and verb not in BUN_BUILTINS:
        script, tail = verb, _without_separator(tokens[2:])
    else:
        return [tokens], _install_family("bun", tokens) if verb else None
    if "." in script or "/" in script:
        return [("bun", script, *tail)], None  # a file, not a script of package.json
    return [("bun", "run", script, *tail)], ("pm", script, *tail)


def _deno(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    if tokens[1:2] == ("task",) and len(tokens) > 2:
        return [tokens], ("pm", *tokens[2:])
    return [tokens], None


def _pip(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    return [tokens], ("pypm", *tokens[1:]) if tokens[1:2] == ("install",) else None


def _uv(tokens: _Key) -> "tuple[list[_Key], _Key | None]":
    return [tokens], ("pypm", *tokens[2:]) if tokens[1:3] == ("pip", "install") else None


_MANAGERS = {
    "npm": _npm,
    "pnpm": _pnpm,
    "yarn": _yarn,
    "bun": _bun,
    "deno": _deno,
    "pip": _pip,
    "uv": _uv,
}
