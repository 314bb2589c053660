"""Guards the matcher against recorded verdicts, and rules against firing on text."""

from typing import Any

import pytest

from hmd.kernel.shell.canonical import canonical
from hmd.kernel.shell.match import Signature, hidden, matches, parse_signature
from hmd.kernel.shell.unit import Unit
from tests.corpora import rows

DIALECTS = {"bash": "posix", "powershell": "powershell", "cmd": "cmd"}

RULES = (
    "git push",
    "git push --force",
    "git reset --hard",
    "git clean -f",
    "git checkout --",
    "git commit --no-verify",
    "git merge",
    "git restore",
    "git stash drop",
    "git branch -D",
    "rm -rf",
    "rm",
    "curl | sh",
    "wget",
    "dd",
    "nc",
    "ssh",
    "shutdown",
    "kill -9",
    "chmod -R",
    "sed -i",
    "tar",
    "find -delete",
    "npm install",
    "npm test",
    "npm publish",
    "pip install",
    "pytest",
    "brew install",
    "apt-get install",
    "docker run",
    "docker compose down",
    "docker system prune",
    "kubectl delete",
    "terraform apply",
    "terraform destroy",
    "aws s3 rm",
    "gh pr merge",
    "cargo publish",
    "systemctl restart",
)

# The oracle lists plain simple commands: what carries another command or text in its words.
CARRIERS = frozenset(
    "sudo doas env nohup nice timeout time xargs find npx uv poetry bash sh zsh eval su python"
    " python3 .venv/bin/pytest exec command trap watch parallel".split()
)


def out_of_scope(row: dict[str, Any]) -> bool:
    """Rows that ask for what the specification rules out: reading an interpreter's inline code
    (`node -e "…"`) as if it were shell text."""
    words = row["command"].split()
    inline = {"node": "-e", "ruby": "-e", "perl": "-e", "python": "-c", "python3": "-c"}
    return bool(words) and row["expect"] == "match" and inline.get(words[0]) in words[1:2]


@pytest.mark.corpus
def test_every_label_in_scope() -> None:
    wrong, left_out, total = [], 0, 0
    for row in rows("commands/labels.jsonl.gz"):
        total += 1
        if out_of_scope(row):
            left_out += 1
            continue
        form = canonical(row["command"], DIALECTS[row["dialect"]])
        found = matches(parse_signature(row["signature"]), form) is not None
        if found != (row["expect"] == "match"):
            wrong.append((row["expect"], row["command"], row["signature"]))
    assert not wrong
    assert total > 2000 and left_out <= total / 100


def runs_for_real(signature: Signature, unit: Unit, argvs: list[list[str]]) -> bool:
    """Whether an independent parser saw the program of the matched unit in command position, alone
    or carried by a program that runs its words."""
    name = signature.parts[-1].key[0]
    for argv in argvs:
        bases = [word.rpartition("/")[2] for word in argv]
        if bases and (bases[0].startswith(name) or bases[0] == unit.argv[0].rpartition("/")[2]):
            return True
        if bases and bases[0] in CARRIERS and any(name in word for word in argv[1:]):
            return True
    return bool(unit.wrap) and "|" in signature.literal


@pytest.mark.corpus
def test_rules_fire_only_on_commands_that_run() -> None:
    signatures = [parse_signature(rule) for rule in RULES]
    false, hits = [], dict.fromkeys(RULES, 0)
    for row in rows("commands/shell_commands.jsonl.gz"):
        if row["ref_argv"] is None:
            continue
        form = canonical(row["cmd"])
        for rule, signature in zip(RULES, signatures, strict=True):
            unit = matches(signature, form)
            if unit is None:
                assert hidden(signature, form) is None, (rule, row["cmd"])
                continue
            hits[rule] += 1
            # Text that a shell reads (here-document, echo) is no command to the oracle.
            fed = any(wrap in ("bash", "sh") for wrap in unit.wrap)
            if not fed and not runs_for_real(signature, unit, row["ref_argv"]):
                false.append((rule, row["cmd"]))
    assert not false
    assert sum(hits.values()) > 200  # the rules did find what is there


@pytest.mark.corpus
def test_rules_miss_no_command_the_oracle_shows() -> None:
    """The other way round: a program in command position is found by the rule that names it."""
    names = ("wget", "dd", "nc", "ssh", "tar", "rm", "pytest", "kill", "rsync", "chmod")
    signatures = {name: parse_signature(name) for name in names}
    missed = []
    for row in rows("commands/shell_commands.jsonl.gz"):
        for argv in row["ref_argv"] or []:
            name = argv[0] if argv else ""
            asks = "--help" in argv or "--version" in argv
            if name not in signatures or asks:
                continue
            if matches(signatures[name], canonical(row["cmd"])) is None:
                missed.append(row["cmd"])
    assert not missed
