"""Rules of many signatures, looked up by buckets: what is filed must be found, and little else."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.match import heads, hidden, hidden_heads, matches, parse_signature
from tests.kernel.rulebook import Listed, Session, rule

WORDS = ["git", "push", "run", "test", "npm", "docker", "compose", "rm", "make", "-f", "x", "curl"]
SHAPES = [
    "{}",
    "sudo {}",
    "A=1 {}",
    "{} | sh",
    "ls; {}",
    "npx {}",
    "$X {}",
    "bash -c '{}'",
    "(cd a; {})",
]


@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    st.sampled_from(SHAPES),
    st.sampled_from(["posix", "powershell", "cmd"]),
)
@settings(derandomize=True, max_examples=600, deadline=None)
def test_what_matches_is_found_by_its_bucket(
    pattern: list[str], command: list[str], shape: str, dialect: str
) -> None:
    """Guards every rule against being filed where its call does not look."""
    for written in (" ".join(pattern), " ".join(command), shape.format(" ".join(pattern))):
        signature = parse_signature(written)
        form = canonical(shape.format(" ".join(command)), dialect)
        if matches(signature, form) is not None:
            assert signature.head in heads(form)
        elif hidden(signature, form) is not None:
            assert {signature.hidden_head, signature.head} & {*hidden_heads(form), *heads(form)}


class _Counted(Listed):
    """Counts the records that lookups return."""

    read = 0

    def records_for(self, buckets: list[str]) -> list[dict[str, object]]:
        found = super().records_for(buckets)
        self.read += len(found)
        return found


def test_rules_on_other_subcommands_are_not_read() -> None:
    """Guards the time of a call against a rule book about one program."""
    verbs = ["push", "commit", "reset", "rebase", "merge", "stash", "clean", "fetch", "pull", "tag"]
    rules = [
        rule(number, f"bash:command:cmd:git {verb} w{number}", level="deny")
        for number, verb in enumerate(verbs * 20, 1)
    ]
    session = Session(*rules)
    source = _Counted(rules)
    session.rules.sources[0] = (source, session.rules.sources[0][1])
    assert session.call("git status && git log | head").decision == ""
    assert source.read == 0
    assert session.call("git stash w6").decision == "deny"
    assert source.read == 20
