"""Reads a correction in the user's own words and binds it to the call that was corrected.

No model is involved. A guard is made only where the words name a call of this session (its program,
subcommand or file) as what *not* to do, and not among what they ask for. Everything else the user
may say is left alone: a wrong guard costs more trust than a missed one. How sentences are read is
in `correction`.
"""

from hmd.kernel.address import digest
from hmd.kernel.correction import Reading, code_quoted, read, sentences
from hmd.kernel.turn import Past, Turn

# How many of the latest calls a correction may mean.
LOOK_BACK = 12
QUOTE_LIMIT = 240
ASKED_KEPT = 8

# Words that are ordinary speech as well as subcommands: they name a call only beside its program,
# or in code quotes.
_ORDINARY = frozenset(
    "test tests run build start stop install add show list status log check fix clean update help"
    " version new open get set use make create remove delete move copy find sort cat head time"
    " watch kill wait read write edit search which test-all lint format dev serve all main go do"
    " view diff up down exec pull fetch init . .. src app index".split()
)


def correction(text: str, turn: Turn) -> "list[dict[str, object]]":
    """The guards that a prompt makes: at most one, for the latest call that its words reject.

    A guard: `id`, `tool`, `key` (literal, with directory), `tokens`, `asked` (the names the user
    wants instead), `said` (the user's sentence), `worked` (filled by the fold).
    """
    calls = [past for past in turn.calls if not past.get("agent")][-LOOK_BACK:]
    if not calls:
        return []
    for sentence in sentences(text):
        reading = read(sentence)
        meant = _meant(calls, reading, sentence) if reading.rejected else None
        if meant is not None:
            return [_guard(*meant, reading, sentence)]
    return []


def _guard(past: Past, key: str, reading: Reading, sentence: str) -> "dict[str, object]":
    tool = str(past["tool"])
    return {
        "id": "g" + digest(tool + "\x1f" + key, 31),
        "tool": tool,
        "key": key,
        "tokens": past.get("tokens", []),
        "asked": reading.asked[:ASKED_KEPT],
        "said": sentence[:QUOTE_LIMIT],
        "worked": "",
    }


def _meant(calls: "list[Past]", reading: Reading, sentence: str) -> "tuple[Past, str] | None":
    """The latest call that the rejected names name, with the key of the part that they mean; a
    failed call before others."""
    named = []
    for past in calls:
        keyed = past.get("keyed")
        for part in keyed if isinstance(keyed, list) else []:
            if _is_named(str(past["tool"]), part[1], reading, sentence):
                named.append((past, str(part[0])))
                break
    failed = [one for one in named if one[0].get("state") == "failed"]
    found = failed or named
    return found[-1] if found else None


def _is_named(tool: str, names: "list[str]", reading: Reading, sentence: str) -> bool:
    lowered = [name.lower() for name in names]
    wanted = {word.lower() for word in reading.elsewhere}
    return any(
        _names_it(tool, lowered, [word.lower() for word in run], wanted, sentence)
        for run in reading.rejected
    )


def _names_it(
    tool: str, names: "list[str]", run: "list[str]", wanted: "set[str]", sentence: str
) -> bool:
    """Whether a rejected run of words names a call with these names."""
    if run[0] not in names or not _words_fit(tool, names, run):
        return False
    # Said of the call, and not said of what is wanted: `npm` in "use npm run x, not npm test"
    # says nothing, `test` does.
    telling = [word for word in run if word in names and word not in wanted]
    if telling and names[0] in run:
        return True
    return any(word not in _ORDINARY or code_quoted(word, sentence) for word in telling)


def _words_fit(tool: str, names: "list[str]", run: "list[str]") -> bool:
    """`npm install` does not mean `npm test`: the word that follows the named program, and could
    be its subcommand, must be one of the call's words."""
    if tool != "bash":
        return True
    words = [word for word in run if not word.startswith("-")]
    for first, second in zip(words, words[1:], strict=False):
        if first == names[0]:
            return second in names
    return True
