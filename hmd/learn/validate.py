"""Judges what a model says, fact by fact, before any of it can become a memory: V1 to V12.

Each check answers "" or why the fact is rejected. Two of them repair instead: a rule for a tool
that no hook sees before it runs (V11) speaks at the prompt, without its signature.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct, field

from hmd.core.memory import Trigger
from hmd.core.regex_check import problem as regex_problem
from hmd.kernel import content
from hmd.kernel.glob import matches as glob_matches
from hmd.kernel.glob import matches_everything
from hmd.kernel.redact import is_clean
from hmd.kernel.shell import match
from hmd.learn import signals
from hmd.learn.calls import LOOKING
from hmd.learn.episodes import Episode
from hmd.learn.facts import TARGETS, Case, Learned, learned
from hmd.learn.matching import PLUMBING, Rule, same_call
from hmd.learn.rows import Row
from hmd.learn.schema import Answer, line_number, read_fact
from hmd.learn.words import jaccard, sentences, tokens

RESTATED = 0.7
SHORTEST_SUBSTRING = 8
SHORTEST_LITERAL = 4

_OURSELVES = re.compile(r"\b(?:hmd|hmctl|hmd-hook|harness[- ]memory)\b|\[hmd\]", re.IGNORECASE)


class Rejected(Struct, kw_only=True):
    """`code` is the check's name, V1 to V12."""

    code: str
    reason: str
    summary: str = ""


class Checked(Struct, kw_only=True):
    """The outcome of a run. `suspect` is why all of it was skipped."""

    learned: list[Learned] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    suspect: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many facts each check rejected."""
        return dict(Counter(one.code for one in self.rejected))


def check(answer: Answer, episode: Episode, rows: Iterable[Row]) -> Checked:
    """Judges an answer about an episode against the project's memories."""
    out = Checked(suspect=answer.suspect)
    if answer.suspect:
        return out
    known = {row.id: row for row in rows}
    seen: set[str] = set()
    for raw in answer.facts:
        fact, shape = read_fact(raw)
        if fact is None:
            out.rejected.append(Rejected(code="V1", reason=shape, summary=_summary(raw)))
            continue
        case = Case(fact, episode, known, seen)
        code, reason = _judge(case)
        if code:
            out.rejected.append(Rejected(code=code, reason=reason, summary=fact.summary))
            continue
        seen.add(case.key)
        out.learned.append(learned(case))
    return out


def _judge(case: Case) -> tuple[str, str]:
    deliver(case)  # V11 changes what the later checks see
    for code, test in CHECKS:
        reason = test(case)
        if reason:
            return code, reason
    return "", ""


def v2_citations(case: Case) -> str:
    """Every citation names a line of this episode."""
    for ref in case.fact.evidence_refs:
        if case.episode.line(line_number(ref)) is None:
            return f"{ref[:20]} names no line of this episode"
    return ""


def v3_scope(case: Case) -> str:
    """The scope is a glob inside the repository that meets the episode's files; a signature is
    precise enough to do without."""
    scope = case.fact.scope_glob
    if scope.startswith(("/", "~", "\\")) or scope[1:2] == ":" or "\\" in scope:
        return "the scope is not relative to the repository"
    if ".." in scope.split("/"):
        return "the scope leaves the repository"
    if matches_everything(scope) or case.sig is not None:
        return ""
    if not any(glob_matches(scope, path) for path in case.episode.paths):
        return "the scope meets no file of this episode"
    return ""


def v4_tool(case: Case) -> str:
    """The signature's tool was used in the episode, or in the turn that it corrects."""
    if case.sig is None:
        return ""
    used = set(case.episode.tools) | {call.tool for call in case.episode.context}
    return "" if case.sig.tool in used else f"no call of {case.sig.tool} in this episode"


def v5_regex(case: Case) -> str:
    """An expression compiles and cannot be slow."""
    if case.sig is None or case.sig.kind != "regex":
        return ""
    return regex_problem(case.sig.pattern)


def v6_content(case: Case) -> str:
    """No hidden character, credential or injection phrase; nothing about ourselves."""
    fact = case.fact
    texts = [fact.summary, fact.details, *fact.aliases]
    if case.sig is not None:
        texts.append(case.sig.pattern)
    whole = "\n".join(texts)
    findings = content.scan(whole)
    if findings:
        return f"{findings[0].kind}: {findings[0].excerpt}"
    if not is_clean(whole):
        return "credential"
    if _OURSELVES.search(whole):
        return "it is about the memory itself"
    lowered = whole.lower()
    if any(one in lowered or one[:8] in lowered.split() for one in case.rows):
        return "it names a memory"
    return ""


def v7_target(case: Case) -> str:
    """What is not a creation speaks of a memory that lives."""
    action, target = case.fact.action, case.fact.target
    if action == "create":
        return ""
    row = case.rows.get(target)
    if row is None or not row.live:
        return f"{action} names no memory"
    return ""


def v8_restated(case: Case) -> str:
    """The fact is more than the user's task in other words. What corrects or asks to remember is
    no task."""
    summary = tokens(case.fact.summary)
    for sentence in sentences(case.episode.prompt):
        if signals.has_correction(sentence) or signals.has_remember(sentence):
            continue
        if jaccard(summary, tokens(sentence)) >= RESTATED:
            return "it restates what the user asked for"
    return ""


def v9_duplicate(case: Case) -> str:
    """One fact of a batch for each thing."""
    return "another fact of this answer says the same" if case.key in case.seen else ""


def v10_specific(case: Case) -> str:
    """A signature names more than a program, a few letters or a kind of file."""
    sig, rule = case.sig, case.rule
    if sig is None or rule is None:
        return ""
    if sig.kind == "cmd":
        return _command_problem(rule)
    if sig.tool.startswith("mcp:") and sig.kind == "glob":
        return ""  # the tool itself is as precise as a command
    if sig.kind == "substring":
        short = len(sig.pattern.strip()) < SHORTEST_SUBSTRING
        return f"a substring needs {SHORTEST_SUBSTRING} characters" if short else ""
    if sig.kind == "glob":
        return "" if _has_path_part(sig.pattern) else "the glob names no file or folder"
    literals = re.findall(r"[A-Za-z0-9_/-]+", re.sub(r"\\.", " ", sig.pattern))
    longest = max(map(len, literals), default=0)
    return "" if longest >= SHORTEST_LITERAL else "the expression names nothing"


def _command_problem(rule: Rule) -> str:
    if rule.signature.tool != "bash":
        return "a command signature belongs to the shell"
    if rule.problem:
        return rule.problem
    words = {part.key[0] for part in match.parse_signature(rule.signature.pattern).parts}
    if words & PLUMBING or any("=" in word for word in words):
        return f"{rule.signature.pattern} says nothing about what is done"
    return "" if rule.specific else "a command needs two words"


def _has_path_part(pattern: str) -> bool:
    for segment in pattern.split("/"):
        name = segment.rpartition(".")[0] if segment.startswith("*.") else segment
        if len(re.sub(r"[*?\[\]{},!]", "", name).strip(".")) >= 2:
            return True
    return False


def v12_fix(case: Case) -> str:
    """The signature does not match the call that put the failure right, unless it is the very call
    that failed."""
    if case.rule is None:
        return ""
    for failure in case.failures:
        fix = failure.resolved_by
        if fix is None or same_call(fix, failure.call):
            continue
        if case.rule.meets(failure.call) and case.rule.meets(fix):
            return f"it would also stop what put it right: {fix.input[:80]}"
    return ""


def deliver(case: Case) -> None:
    """V11: what no hook sees before it runs cannot be met there; such a rule speaks at the prompt.
    (Hooks see bash, edit, write, fetch and MCP calls; not Read, Grep, Glob and Task.)"""
    if case.sig is not None and not deliverable(case.sig.tool):
        case.sig = case.rule = None
        case.triggers = _relabel(case.triggers)
    if case.sig is None and case.tools and not any(deliverable(tool) for tool in case.tools):
        case.tools = None
        case.triggers = _relabel(case.triggers)
    if not case.triggers:
        case.triggers = ["before_tool"] if case.sig is not None else ["before_model"]
    if case.sig is not None and not {"before_tool", "after_tool"} & set(case.triggers):
        case.triggers.append("before_tool")


def _relabel(triggers: list[Trigger]) -> list[Trigger]:
    kept = [trigger for trigger in triggers if trigger not in ("before_tool", "after_tool")]
    return list(dict.fromkeys([*kept, "before_model"]))


def deliverable(tool: str) -> bool:
    """Whether a hook runs before this tool does."""
    return tool not in LOOKING and (tool in TARGETS or tool.startswith("mcp:"))


CHECKS: tuple[tuple[str, Callable[[Case], str]], ...] = (
    ("V2", v2_citations),
    ("V6", v6_content),
    ("V7", v7_target),
    ("V3", v3_scope),
    ("V4", v4_tool),
    ("V5", v5_regex),
    ("V10", v10_specific),
    ("V12", v12_fix),
    ("V8", v8_restated),
    ("V9", v9_duplicate),
)


def _summary(raw: object) -> str:
    found = raw.get("summary") if isinstance(raw, dict) else ""
    return found[:160] if isinstance(found, str) else ""
