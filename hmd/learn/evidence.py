"""What a fact rests on, and what never counts: the text that hmd itself put before the agent.

Classes: `user_said` (a prompt that corrects or asks to remember, and names the thing),
`tool_observed` (a call's own outcome), `agent_inferred` (everything else). A line that only echoes
us is no evidence.
"""

from collections.abc import Iterable
from typing import Any

from hmd.core.memory import EvidenceClass
from hmd.kernel import event as ev
from hmd.kernel import texts
from hmd.kernel.correction import read
from hmd.kernel.pattern import compile_pattern
from hmd.learn import signals
from hmd.learn.words import sentences, tokens

Record = dict[str, Any]

# How much of a summary's words must stand in a sentence for it to be that summary, quoted.
QUOTED_SHARE = 0.8
SHORTEST_QUOTE = 4  # words; a shorter summary is too common to be recognised

# A block of ours goes from its mark to the end of its line.
_OURS = r"\[hmd\][^\n]*|(?:^|(?<=\n))[ \t>*-]*hmd: [^\n]*"
_OWN_SENTENCES = tuple(
    " ".join(text.split("{id}")[0].split())
    for text in (texts.RETRY, texts.ASKED, texts.LIFT, texts.HIDDEN, texts.OPAQUE)
)
_GUARD = "the user said in this session:"


def without_ours(text: str, summaries: Iterable[str] = ()) -> str:
    """`text` without what we injected: marked blocks, our refusals, and sentences that repeat a
    memory of ours (`summaries`)."""
    if not text:
        return ""
    rest = compile_pattern(_OURS).sub("\n", text)
    known = [found for found in map(tokens, summaries) if len(found) >= SHORTEST_QUOTE]
    kept = [line for line in rest.split("\n") if not _is_own(line, known)]
    return "\n".join(kept).strip()


def _is_own(line: str, known: list[frozenset[str]]) -> bool:
    flat = " ".join(line.split())
    if not flat:
        return False
    if flat.lower().startswith(_GUARD) or any(own in flat for own in _OWN_SENTENCES):
        return True
    if not known:
        return False
    words = tokens(flat)
    # Mostly our words, and nothing much beside them: the reader's own remark stays.
    return any(
        len(words & one) >= QUOTED_SHARE * len(one) and len(words - one) <= len(one)
        for one in known
    )


def said_by_user(record: Record) -> str:
    """The text of a prompt that a person typed; "" for any other record."""
    if record.get("k") != ev.PROMPT or record.get("background"):
        return ""
    text = record.get("text")
    return text if isinstance(text, str) else ""


def observed(record: Record) -> bool:
    """Whether a record tells how a call went, as the host saw it."""
    return record.get("k") in (ev.POST_TOOL, ev.TOOL_FAILURE, ev.TOOL_BATCH)


def classify(
    cited: Iterable[Record], names: frozenset[str], summaries: Iterable[str] = ()
) -> EvidenceClass:
    """The class of a fact by the records that it cites.

    `names` are the comparable tokens of what the fact is about (its signature, else its summary).
    The user said it only where a cited prompt, our own text removed, corrects or asks to remember
    in a sentence that names something of it.
    """
    own = list(summaries)
    seen: EvidenceClass = "agent_inferred"
    for record in cited:
        prompt = said_by_user(record)
        if prompt:
            if says(without_ours(prompt, own), names):
                return "user_said"
        elif observed(record) and not _echoes(record, own):
            seen = "tool_observed"
    return seen


def says(prompt: str, names: frozenset[str]) -> bool:
    """Whether a prompt's own correction, or its request to remember, is about these names.

    What is asked for in place of a rejected call is not what the correction is about: "use npm, not
    yarn" says nothing against npm.
    """
    if signals.requests(prompt) and tokens(prompt) & names:
        return True
    bare = False
    for sentence in sentences(prompt):
        corrects = signals.has_correction(sentence) or signals.has_remember(sentence)
        if corrects or bare:  # "No. We use pnpm here, not npm."
            rejected = [word for run in read(sentence).rejected for word in run]
            about = tokens(" ".join(rejected)) if rejected else tokens(sentence)
            if about & names:
                return True
        bare = corrects and len(sentence.split()) <= 2
    return False


def _echoes(record: Record, summaries: list[str]) -> bool:
    """Whether all that a result says is what we said before."""
    if record.get("k") == ev.TOOL_BATCH:
        return False
    printed = "\n".join(str(record.get(name, "")) for name in ("output", "error")).strip()
    return bool(printed) and not without_ours(printed, summaries)
