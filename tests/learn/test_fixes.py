"""Guards what counts as a fix: a variant of the failed command, never merely the next one."""

import msgspec
import pytest

from hmd.learn.episodes import IDLE, Episode, fold_session
from hmd.learn.fixes import Book, learn
from tests.learn.play import Session

MISSING = 'Exit code 1\nnpm error Missing script: "test"'
RED = "Exit code 1\nFAILED tests/a.py::test_x - assert 1 == 2"
NO_COMMAND = "Exit code 127\nbash: {}: command not found"
Step = tuple[str, str] | str


def episodes(*steps: Step, name: str = "s1") -> list[Episode]:
    """One turn: ("command", "error" or "") or "edit PATH"."""
    session = Session(name)
    session.say("go on")
    for step in steps:
        if isinstance(step, tuple):
            session.bash(*step)
        else:
            session.edit(step.removeprefix("edit "))
    session.stop()
    return fold_session("claude-code", name, session.records, session.at + IDLE)


def fixes(*steps: Step) -> list[tuple[str, str]]:
    book = Book()
    learn(book, episodes(*steps))
    return [(fix.key, fix.fix) for fix in book.offered()]


VARIANTS = {
    "another launcher": ("npm test", MISSING, "pnpm test"),
    "as a module": (
        "pytest tests",
        "Exit code 1\nModuleNotFoundError: No module named 'app'",
        "python -m pytest tests",
    ),
    "not installed": ("jest src", NO_COMMAND.format("jest"), "npx jest src"),
    "script misspelled": ("pnpm biuld", "Exit code 1\nMissing script: biuld", "pnpm build"),
    "program misspelled": ("git add a && gti push", NO_COMMAND.format("gti"), "git push"),
    "subcommand misspelled": (
        "git pshu origin main",
        "Exit code 1\ngit: 'pshu' is not a git command.",
        "git push origin main",
    ),
    "told what is missing": (
        "git push",
        "Exit code 128\nfatal: The current branch x has no upstream branch.",
        "git push -u origin x",
    ),
    "unknown option": (
        "pytest --foo tests",
        "Exit code 4\nerror: unrecognized arguments: --foo",
        "pytest tests",
    ),
    "another directory": (
        "npm test",
        "Exit code 254\nnpm error enoent Could not read package.json",
        "cd web && npm test",
    ),
    "a variable": (
        "cargo test",
        "Exit code 101\nerror: set DATABASE_URL",
        "DATABASE_URL=x cargo test",
    ),
    "the file lies elsewhere": (
        "python scripts/run.py",
        "Exit code 2\npython: can't open file 'scripts/run.py': No such file or directory",
        "python tools/run.py",
    ),
}


@pytest.mark.parametrize("case", VARIANTS)
def test_variants_are_fixes(case: str) -> None:
    failed, error, worked = VARIANTS[case]
    found = fixes((failed, error), ("git status", ""), (worked, ""))
    assert [text for _key, text in found] == [worked]


@pytest.mark.parametrize(
    "steps",
    [
        [("pytest tests/a.py", RED), "edit a.py", ("pytest tests/a.py", "")],
        [("pytest tests/a.py", RED), "edit a.py", ("pytest tests", "")],
        [("pytest tests/a.py", RED), ("pytest tests/b.py", "")],
        [("pytest tests", RED), ("pytest tests -k b", "")],
        [("npm test", RED), "edit a.ts", ("npx jest", "")],
        [("npm test", MISSING), ("ls", "")],
        [("npm test", MISSING), ("npm install", "")],
        [("npm test", MISSING), ("pnpm test || true", "")],
        [("npm test", MISSING), ("pnpm test; echo done", "")],
        [("npm test", MISSING), ("pnpm test | tail -3", "")],
        [("git push", "Exit code 1\n! [rejected] main -> main"), ("git push --force", "")],
        [("git commit -m x", "Exit code 1\nhook failed"), ("git commit --no-verify -m x", "")],
        [("git commit -m x", "Exit code 1\nhook failed"), ("SKIP=lint git commit -m x", "")],
        [("npm i -g x", "Exit code 243\nnpm error permission denied"), ("sudo npm i -g x", "")],
        [("git checkout -b a", "Exit code 128\nfatal: bad"), ("git checkout b", "")],
        [("cat src/a.py", "Exit code 1\nNo such file or directory"), ("cat src/b.py", "")],
        [("make tests1", "Exit code 2\nNo rule to make target 'tests1'"), ("make tests2", "")],
        [("ruff check api", "Exit code 1\nF401 unused"), ("ruff check api --fix", "")],
        [("npm run e2e", MISSING), "edit a.ts", ("npm run build", "")],
        [("cd web && npm test", RED), ("cd api && npm test", "")],
        [("cd web && npm test", MISSING), ("cd api && npm test", "")],
        [("npm test", RED), ("cd web && npm test", "")],
        [("make test", RED), ("UPDATE_SNAPSHOTS=1 make test", "")],
        [("npm test", RED), ("npm test -- -u", "")],
        [("go test ./...", RED), ("go test ./pkg", "")],
        [("git switch x", "Exit code 1\nno such file 'x'"), ("git switch y", "")],
        [("ssh h 'npm test'", MISSING), ("ssh h 'pnpm test'", "")],
    ],
)  # fmt: skip
def test_what_follows_a_failure_is_seldom_a_fix(steps: list[Step]) -> None:
    assert fixes(*steps) == []


def test_the_compound_line_teaches_about_its_failed_part_only() -> None:
    """Case O-06: nothing is learned about `cd`, `echo` or an assignment."""
    found = fixes(
        ("cd web && S=1 echo go && pnpm biuld", "Exit code 1\nunknown command biuld"),
        ("cd web && pnpm build", ""),
    )
    assert found == [("pnpm biuld @web", "cd web && pnpm build")]


def test_a_fix_that_failed_itself_is_never_offered() -> None:
    assert fixes(("npm test", MISSING), ("pnpm test", "")) == [("npm test", "pnpm test")]
    assert fixes(("npm test", MISSING), ("pnpm test", ""), ("pnpm test", RED)) == []
    assert fixes(("pnpm test", RED), ("npm test", MISSING), ("pnpm test", "")) == []


def test_evidence_is_counted_by_session_and_reading_again_adds_nothing() -> None:
    steps: list[Step] = [("npm test", MISSING), ("pnpm test", "")]
    book = Book()
    learn(book, episodes(*steps))
    assert [(fix.count, fix.sessions) for fix in book.fixes.values()] == [(1, 1)]
    learn(book, episodes(*steps, *steps))
    learn(book, episodes(*steps, name="s2"))
    (fix,) = book.fixes.values()
    assert (fix.count, fix.sessions) == (3, 2)
    again = msgspec.json.decode(msgspec.json.encode(book), type=Book)
    learn(again, episodes(*steps, name="s2"))
    assert again == book


def test_books_do_not_depend_on_the_order_of_sessions() -> None:
    one = episodes(("npm test", MISSING), ("pnpm test", ""), name="a")
    two = episodes(("jest x", NO_COMMAND.format("jest")), ("npx jest x", ""), name="b")
    three = episodes(("pnpm test", RED), name="c")
    left, right = Book(), Book()
    learn(left, [*one, *two, *three])
    learn(right, [*three, *two, *one])
    assert left.offered() == right.offered()
    assert [fix.fix for fix in left.offered()] == ["npx jest x"]
