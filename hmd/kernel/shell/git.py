"""What git itself runs: aliases given on the command line, `bisect run`, `submodule foreach`…

The step answers as those of `wrappers` do.
"""

from hmd.kernel.shell.options import read_options
from hmd.kernel.shell.tables_programs import GLOBAL_VALUES
from hmd.kernel.shell.tables_wrappers import words
from hmd.kernel.shell.texts import quote, split
from hmd.kernel.shell.wrappers import DONE, KEEP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.options import Options
    from hmd.kernel.shell.reading import Run
    from hmd.kernel.shell.unit import Frame

_ALIAS = "alias."
_MOST_ALIASES = 16
_EXEC = words("-x --exec")
_FILTERS = words(
    "--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter"
    " --commit-filter --tag-name-filter"
)


def git(run: "Run", frame: "Frame", name: str) -> int:
    """Expands an alias to a fixed point and lists the commands that git is told to run."""
    options = read_options(frame.words, 1, GLOBAL_VALUES["git"])
    aliases = _aliases(run, frame, options)
    for _ in range(_MOST_ALIASES):
        verb = frame.words[options.end : options.end + 1]
        text = aliases.pop(verb[0], None) if verb else None
        if text is None:
            break
        if text.startswith("!"):
            rest = [quote(word, flag) for word, flag in frame.pairs(options.end + 1)]
            run.reparse(" ".join([text[1:], *rest]), frame, "git")
            return DONE
        expanded = text.split() if "'" not in text and '"' not in text else split(text)
        frame.words = frame.words[: options.end] + expanded + frame.words[options.end + 1 :]
        frame.flags = (
            frame.flags[: options.end] + [0] * len(expanded) + frame.flags[options.end + 1 :]
        )
        options = read_options(frame.words, 1, GLOBAL_VALUES["git"])
        aliases = {**_aliases(run, frame, options), **aliases}
    return _runs(run, frame, options.end)


def _aliases(run: "Run", frame: "Frame", options: "Options") -> "dict[str, str]":
    """Aliases of `-c alias.x=…`, `--config-env`, GIT_CONFIG_KEY_n and an earlier `git config`."""
    found = dict(run.git_aliases)
    for index in range(8):
        key = frame.values.get(f"GIT_CONFIG_KEY_{index}", "")
        if key.lower().startswith(_ALIAS):
            found[key[len(_ALIAS) :]] = frame.values.get(f"GIT_CONFIG_VALUE_{index}", "")
    for option, value in options.found:
        key, _, text = value.partition("=")
        if key.lower().startswith(_ALIAS):
            if option == "-c":
                found[key[len(_ALIAS) :]] = text
            elif option == "--config-env" and text in frame.values:
                found[key[len(_ALIAS) :]] = frame.values[text]
    return found


def _runs(run: "Run", frame: "Frame", start: int) -> int:
    rest = frame.words[start:]
    verb = rest[:2]
    if verb[:1] == ["config"]:
        _remember_alias(run, rest)
        return KEEP
    if verb == ["bisect", "run"] and len(rest) > 2:
        run.emit(frame)
        run.simple(frame.inner(rest[2:], frame.flags[start + 2 :], "git bisect"))
        return DONE
    if verb[:1] == ["submodule"] and "foreach" in rest:
        place = start + rest.index("foreach") + 1
        place = read_options(frame.words, place, frozenset()).end
        run.emit(frame)
        run.reparse(" ".join(frame.words[place:]), frame, "git submodule")
        return DONE
    if verb[:1] in (["rebase"], ["filter-branch"]):
        options = _EXEC if verb[0] == "rebase" else _FILTERS
        texts = [value for option, value in _long_values(rest, options) if value]
        if texts:
            run.emit(frame)
            for text in texts[:8]:
                run.reparse(text, frame, f"git {verb[0]}")
            return DONE
    return KEEP


def _long_values(rest: "list[str]", options: "frozenset[str]") -> "list[tuple[str, str]]":
    """(option, value) of these options wherever they stand."""
    found = []
    for index, word in enumerate(rest):
        name, sign, value = word.partition("=")
        if name in options:
            found.append((name, value if sign else "".join(rest[index + 1 : index + 2])))
    return found


def _remember_alias(run: "Run", rest: "list[str]") -> None:
    """`git config alias.p push` holds for the commands after it."""
    operands = [word for word in rest[1:] if word[:1] != "-" and word != "set"]
    if len(operands) > 1 and operands[0].lower().startswith(_ALIAS):
        run.git_aliases[operands[0][len(_ALIAS) :]] = operands[1]
