"""Guards by generated commands: what surrounds an operation never hides it, data never is one."""

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel.shell.canonical import MAX_UNITS, canonical
from hmd.kernel.shell.match import from_plain, heads, matches, parse_signature, to_plain, why_not
from hmd.kernel.shell.tables_wrappers import WRAPPERS
from tests.corpora import rows

OPERATIONS = [
    ("git push", "git push origin main"),
    ("rm -rf", "rm -rf build"),
    ("npm test", "npm test"),
    ("docker compose up", "docker compose -f x.yml up -d"),
    ("pytest", "python -m pytest -q tests"),
    ("kubectl delete", "kubectl -n x delete pod y"),
    ("terraform apply", "terraform apply -auto-approve"),
    ("scripts/deploy.sh", "./scripts/deploy.sh --now"),
]

FRONTS = [
    "sudo {}",
    "sudo -u x -- {}",
    "env A=1 B=2 {}",
    "A=1 {}",
    "nice -n 3 {}",
    "timeout -s KILL 5m {}",
    "nohup {}",
    "stdbuf -oL {}",
    "time {}",
    "! {}",
    "ls; {}",
    "true && {}",
    "false || {} || exit 1",
    "{} &",
    "{} > out.log 2>&1",
    "{} | tee log",
    "({})",
    "{{ {}; }}",
    "if true; then {}; fi",
    "for x in 1 2; do {}; done",
    "f() {{ {}; }}; f",
    "x=$({})",
    "# first\n{}",
    "cat <<E\ntext\nE\n{}",
    "ls | xargs -n1 {}",
]

DATA = [
    "echo {q}",
    "printf '%s' {q}",
    "grep -rn {q} src",
    "git commit -m {q}",
    "git log --grep {q}",
    "gh issue create --title {q}",
    "# {}",
    "ls # {}",
    "cat <<'E'\n{}\nE",
    "cat > notes.md <<E\n{}\nE",
    "X={q}",
    "export X={q}",
    "echo {}",
    "python -c {q}",
    "touch {q}",
    "test {q} = x",
    "alias p={q}",
    "sed -i s/{q}/x/ f",
]

operations = st.sampled_from(OPERATIONS)


@settings(derandomize=True, max_examples=150, deadline=None)
@given(operations, st.lists(st.sampled_from(FRONTS), max_size=3))
def test_nothing_around_an_operation_hides_it(
    operation: tuple[str, str], fronts: list[str]
) -> None:
    rule, text = operation
    for depth, front in enumerate(fronts):
        text = front.format(f"bash -c {shlex.quote(text)}" if depth else text)
    assert matches(parse_signature(rule), canonical(text)) is not None, text


@pytest.mark.parametrize("rule, text", OPERATIONS)
@pytest.mark.parametrize("front", FRONTS)
def test_every_surrounding_alone(rule: str, text: str, front: str) -> None:
    form = canonical(front.format(text))
    signature = parse_signature(rule)
    assert matches(signature, form) is not None, form.units
    assert signature.head in heads(form)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(operations, st.integers(1, 5))
def test_text_in_text_in_text(operation: tuple[str, str], depth: int) -> None:
    rule, text = operation
    for _ in range(depth):
        text = f"bash -lc {shlex.quote(text)}"
    assert matches(parse_signature(rule), canonical(text)) is not None


@settings(derandomize=True, max_examples=150, deadline=None)
@given(operations, st.data())
def test_quoting_a_word_changes_nothing(operation: tuple[str, str], data: st.DataObject) -> None:
    rule, text = operation
    quoted = []
    for word in text.split():
        cut = data.draw(st.integers(0, len(word)))
        style = data.draw(st.sampled_from(["plain", "single", "double", "ansi", "split", "line"]))
        quoted.append(
            {
                "plain": word,
                "single": f"'{word}'",
                "double": f'"{word}"',
                "ansi": f"$'{word}'",
                "split": f"{word[:cut]}''{word[cut:]}",
                "line": f"{word[:cut]}\\\n{word[cut:]}",
            }[style]
        )
    assert matches(parse_signature(rule), canonical(" ".join(quoted))) is not None, quoted


@pytest.mark.parametrize("rule, text", OPERATIONS)
@pytest.mark.parametrize("name", sorted(name for name in WRAPPERS if not WRAPPERS[name].skip))
def test_every_transparent_wrapper(rule: str, text: str, name: str) -> None:
    assert matches(parse_signature(rule), canonical(f"{name} {text}")) is not None


@pytest.mark.parametrize("rule, text", OPERATIONS)
@pytest.mark.parametrize("template", DATA)
def test_data_never_matches(rule: str, text: str, template: str) -> None:
    command = template.replace("{q}", shlex.quote(text)).replace("{}", text)
    signature, form = parse_signature(rule), canonical(command)
    assert matches(signature, form) is None, command
    assert why_not(signature, form)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(max_size=60), st.sampled_from(["posix", "powershell", "cmd"]))
def test_no_text_raises(text: str, dialect: str) -> None:
    form = canonical(text, dialect, "sub", "/repo", "/home/u")
    assert len(form.units) <= MAX_UNITS
    signature = parse_signature(text, dialect)
    assert signature.problem or signature.parts
    assert to_plain(from_plain(to_plain(signature))) == to_plain(signature)
    assert why_not(signature, form) or matches(signature, form) is not None


@pytest.mark.corpus
def test_the_literal_key_is_its_own_canonical_form() -> None:
    """Idempotence: what a stored key says, written out as a command, has that very key."""
    changed = []
    for row in rows("commands/shell_commands.jsonl.gz"):
        for unit in canonical(row["cmd"]).units:
            hidden_code = any(key[0] == "|sh" for key in unit.keys)
            if unit.dynamic or unit.boundary or hidden_code:
                continue
            again = canonical(shlex.join(unit.keys[0]))
            if not any(other.keys[0] == unit.keys[0] for other in again.units):
                changed.append((row["cmd"], unit.keys[0]))
    assert not changed
