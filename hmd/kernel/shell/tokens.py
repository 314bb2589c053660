"""Resolution tokens: the names by which a failure and its resolution find each other (§6)."""

from hmd.kernel.shell.tables_programs import FILTERS, LEVELS, SCRIPT_INTERPRETERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hmd.kernel.shell.canonical import Form

LONGEST = 256


def token_of(keys: "list[tuple[str, ...]]") -> str:
    """The token of a command with these keys: its family, its script, or its leading words."""
    effective = keys[0]
    for key in keys:
        if key[0] in ("pm", "pypm"):
            return " ".join(key[:2])
        if key[0] != "bin":
            effective = key
    program = effective[0]
    if program in SCRIPT_INTERPRETERS and len(effective) > 1:
        for word in effective[1:]:
            if word[:1] != "-":
                base = word.rpartition("/")[2]
                return base if "." in base.strip(".") else program
    level = LEVELS.get(program, 1)
    if level == 1:
        return program
    named = [word for word in effective if word[:1] != "-"][:level]
    return " ".join(named)


def resolution_tokens(form: "Form") -> "list[str]":
    """The tokens of a call, in order, each once and at most 256 characters.

    Units behind a boundary have none; filters and shell plumbing only where nothing else runs.
    """
    works: dict[str, None] = {}
    plumbing: dict[str, None] = {}
    for unit in form.units:
        if unit.token and not unit.boundary:
            into = plumbing if unit.program in FILTERS else works
            into[unit.token[:LONGEST]] = None
    return list(works or plumbing)
