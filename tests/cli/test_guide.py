"""Runs what the documents tell a reader to type, in order, as a new user of a machine.

A command is a line of a `sh` block, or of an indented block that shows `hmctl`. What is left out,
and what is put in the place of what a document cannot know:

* only `hmctl` runs; `pipx`, `pip`, `uv`, `make` and `cd` are the reader's own system;
* an identifier stands for the memory or fact that the document showed or, where it showed no
  answer, made last;
* an answer that a document shows is compared, but not where it depends on the day;
* days move so that the document's latest is today: its example lies in the past of every reader;
* `systemctl` is the small manager of tests/live, and the model of embeddings is the built-in one.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer.main

from hmd.cli.main import PROGRAM, app
from tests.live.host import Host, a_host
from tests.live.test_service import put_on_path

ROOT = Path(__file__).parents[2]
DOCUMENTS = ["README.md", "README.ko.md", "docs/guide.md", "docs/time.md"]
ELSEWHERE = frozenset(["pipx", "pip", "uv", "make", "cd"])
RULES = "# Rules\n\n* Never edit files under vendor/ by hand.\n"  # the reader's project has some

_ID = re.compile(r"(?<![\w-])(?=[0-9a-f]*\d)[0-9a-f]{4,8}(?![\w-])")
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_INLINE = re.compile(r"`hmctl ([^`]+)`")


class Shown(NamedTuple):
    """One command of a document, and the answer that stands below it ("" where none does)."""

    words: list[str]
    answer: str


def blocks(text: str) -> Iterator[list[str]]:
    """The lines of each block of commands, without what marks it as a block."""
    for found in re.finditer(r"^```sh\n(.*?)^```|((?:^ {4}[^\n]*\n)+)", text, re.M | re.S):
        fenced, indented = found.groups()
        if fenced is not None:
            yield fenced.splitlines()
        elif re.search(r"^ {4}(?:\$ )?hmctl ", indented, re.M):
            yield [line[4:] for line in indented.splitlines()]


def shown(text: str) -> Iterator[Shown]:
    """Every command, in order. In a block with prompts (`$ `) the other lines are answers."""
    for lines in blocks(text):
        prompts = any(line.startswith("$ ") for line in lines)
        joined = "\n".join(lines).replace("\\\n", " ").splitlines()
        commands: list[tuple[str, list[str]]] = []
        for line in joined:
            if line.startswith("$ ") or (line.strip() and not prompts):
                commands.append((line.removeprefix("$ "), []))
            elif commands:
                commands[-1][1].append(line)
        for line, answer in commands:
            words = shlex.split(line, comments=True)
            if words:
                yield Shown(words, "\n".join(answer))


class Reader:
    """Types a document's commands and remembers what its identifiers stand for."""

    def __init__(self, host: Host, days: timedelta) -> None:
        self.host = host
        self.days = days
        self.place = host.repository()
        (self.place / "CLAUDE.md").write_text(RULES, encoding="utf-8")
        self.named: dict[str, str] = {}  # as the document writes it -> as it is here
        self.latest: dict[str, str] = {}  # the newest of a kind: "memory", "fact"

    def run(self, command: Shown) -> str:
        """Its answer. Asserts exit code 0: none of the documents shows a command that fails."""
        words = [self._today(word) for word in command.words[1:]]
        kind = words[0]
        words = words[:2] + [_ID.sub(lambda found: self._id(kind, found[0]), w) for w in words[2:]]
        done = self.host.hmctl(*words, cwd=self.place)
        here = _ID.findall(done.stdout.partition("\n")[0])
        there = _ID.findall(command.answer.partition("\n")[0])
        if words[1:2] in (["add"], ["remember"], ["revise"]):
            self.latest[kind] = here[0]
            self.named.update(zip(there[:1], here[:1], strict=True) if there else ())
        if not _DAY.search(shlex.join(command.words)):
            self._compare(command.answer, done.stdout)
        return done.stdout

    def _compare(self, written: str, answer: str) -> None:
        """The answer is as written, but for identifiers, instants and numbers of changes."""
        for line in written.splitlines():
            fixed = re.split(r"\{|change \d|20\d\d-", line)[0]
            assert _ID.sub(lambda found: self._id("", found[0]), fixed) in answer, (line, answer)

    def _today(self, word: str) -> str:
        return _DAY.sub(lambda found: str(date.fromisoformat(found[0]) + self.days), word)

    def _id(self, kind: str, written: str) -> str:
        known = [here for there, here in self.named.items() if there.startswith(written)]
        return known[0] if known else self.latest.get(kind, written)


def days_to_move(text: str) -> timedelta:
    days = [date.fromisoformat(found) for found in _DAY.findall(text)]
    return datetime.now(UTC).date() - max(days) if days else timedelta()


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.live
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_of_a_document_works(name: str) -> None:
    """Guards the documents: what they tell a reader to type does what it should, in that order."""
    text = read(name)
    commands = list(shown(text))
    assert commands, "no command was found"
    with a_host() as host:
        put_on_path(host)
        reader = Reader(host, days_to_move(text))
        if ["hmctl", "install"] not in [one.words for one in commands]:
            host.install(reader.place)
        host.hmctl("config", "set", "embeddings.model", "hash", cwd=reader.place)
        said: list[tuple[list[str], str]] = []
        for command in commands:
            if command.words[0] not in ELSEWHERE:
                assert command.words[0] == PROGRAM, command
                said.append((command.words, reader.run(command)))
        check(said, host)


def check(said: list[tuple[list[str], str]], host: Host) -> None:
    """What the documents promise of these answers, beyond that the commands end well."""
    for at, (words, answer) in enumerate(said):
        if words[1:3] == ["memory", "add"] and "--active" in words:
            asked, told = said[at + 1]
            assert asked[1] == "why" and told.startswith("the call is stopped"), told
        if "--valid-at" in words:
            assert "deploys through Fly" in answer
        if words[1:3] == ["import", "--dry-run"]:
            assert "vendor/" in answer
        if words[1:3] == ["uninstall", "--purge"]:
            assert not Path(host.home.path).exists()
            assert not host.settings.exists() or "client.hook" not in host.settings.read_text()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_command_is_overlooked(name: str) -> None:
    """Guards the test above: as many commands are found as lines of the document begin with one."""
    found = [one for one in shown(read(name)) if one.words[0] == PROGRAM]
    assert len(found) == len(re.findall(r"^(?: {4})?(?:\$ )?hmctl ", read(name), re.M)) > 0


@pytest.mark.parametrize("name", [*DOCUMENTS, "docs/internals.md", "CHANGELOG.md"])
def test_commands_named_in_the_text_exist(name: str) -> None:
    """Guards the sentences: every `hmctl …` in them is a command with those options."""
    text = re.sub(r"^```.*?^```", "", read(name), flags=re.M | re.S)
    root = typer.main.get_command(app)
    for line in _INLINE.findall(" ".join(text.split())):
        exists(root, shlex.split(line.replace("…", "")))


def exists(command: Any, words: list[str]) -> None:
    """Asserts that the words lead to a command and that it has the options among them."""
    rest = list(words)
    while rest and hasattr(command, "commands") and not rest[0].startswith("-"):
        assert rest[0] in command.commands, words
        command = command.commands[rest.pop(0)]
    options = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for word in rest:
        assert not word.startswith("--") or word.partition("=")[0] in options, words
    takes = any(one.param_type_name == "argument" for one in command.params)
    assert takes or not rest or rest[0].startswith("-"), words
