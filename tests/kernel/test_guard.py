"""A correction binds to the call that the user's own words reject, and to no other."""

import pytest

from hmd.kernel import guard
from hmd.kernel.turn import Turn

NPM = ("bash", "npm test", ["npm", "test"], "failed")
PUSH = ("bash", "git push origin main", ["git", "push", "origin", "main"], "ok")
EDIT = ("edit", "config/gates.json", ["gates.json", "config/gates.json"], "ok")
MAIL = ("mcp:mail/send_message", "to=a", ["send_message", "mail"], "ok")


def after(*calls: tuple[str, str, list[str], str]) -> Turn:
    turn = Turn()
    for number, (tool, key, names, state) in enumerate(calls):
        turn.calls.append(
            {"use": str(number), "tool": tool, "input": key, "keyed": [[key, names]],
             "tokens": [], "paths": [], "agent": "", "turn": 1, "state": state}
        )  # fmt: skip
    return turn


def keys(text: str, *calls: tuple[str, str, list[str], str]) -> list[object]:
    return [one["key"] for one in guard.correction(text, after(*(calls or (NPM,))))]


@pytest.mark.parametrize(
    "text",
    [
        "don't use npm here, use pnpm",
        "Don’t run `npm test`.",
        "npm 말고 pnpm 써",
        "npm은 쓰지 말고 pnpm을 써",
        "npm 대신 pnpm으로 해",
        "npm test는 쓰지 마세요. pnpm test로 해주세요",
        "절대 npm 쓰지 마",
        "use pnpm, not npm",
        "pnpm instead of npm please",
        "never run npm test from the root",
        "no. stop using npm",
        "we don't use npm in this repo",
        "you shouldn't run npm test",
        "don't run npm test here, run npm run test:unit",
        "thanks for the fix!\n\nbut do not use npm, pnpm is what we have",
    ],
)
def test_words_that_reject_the_call_bind_it(text: str) -> None:
    assert keys(text) == ["npm test"]


@pytest.mark.parametrize(
    "text",
    [
        "use pnpm instead",  # asks, rejects nothing by name
        "that's wrong",
        "don't forget to run npm test",
        "don't worry about npm",
        "I don't know whether npm test works",
        "I don't remember if npm was used",
        "why don't we use npm?",
        "can't we just use npm?",
        "no, run `npm test` again",
        "don't run npm install",  # another subcommand
        "do not test this function yet",  # ordinary speech
        "don't run the tests",
        "not only npm but pnpm too",
        "이 함수 테스트는 아직 쓰지 마",
        "npm test 잊지 마",
        "> don't use npm\nplease summarize the quote above",
        "```\ndon't use npm\n```\nwhat does this file say",
        "",
    ],
)
def test_other_words_bind_nothing(text: str) -> None:
    assert keys(text) == []


SESSION = (
    ("bash", "git status", ["git", "status"], "ok"),
    NPM,
    ("edit", "src/cart.py", ["cart.py", "src/cart.py"], "ok"),
    ("bash", "pytest tests/test_cart.py", ["pytest", "tests/test_cart.py"], "ok"),
    ("bash", "git commit -m x", ["git", "commit", "x"], "ok"),
    ("bash", "docker compose up -d", ["docker", "compose", "up"], "ok"),
    ("bash", "npm install lodash", ["npm", "install", "lodash"], "ok"),
    ("bash", "python manage.py migrate", ["python", "manage.py", "migrate"], "ok"),
    ("bash", "rm -rf build", ["rm", "build"], "ok"),
    PUSH,
)


@pytest.mark.parametrize(
    "text",
    [
        "You should not catch Exception in cart.py",
        "please do not add lodash types to package.json",
        "Stop adding emojis to commit messages.",
        "Don't explain git push to me, just do it",
        "The commit message should not mention docker",
        "not sure about the commit message, make it shorter",
        "That test is not about npm, it's about yarn.",
        "It's not the migrate step, it's the seed step that breaks",
        "The README should say pip install, not npm install",
        "The docs say 'never run npm install as root'.",
        "without docker compose up this cannot work",
        "instead of failing, npm test should skip",
        "don't stop at the first failure when you run pytest",
        "git push is not working because of the hook",
        "If npm test does not pass, fix the code",
        "I would not say rm -rf is dangerous",
        "never mind npm test, go on",
        "npm test가 안 돼",
        "git push가 안돼요",
        "cart.py에 주석 달지 마",
        "docker 로그 말고 앱 로그를 보여줘",
        "npm test가 아니라 코드가 문제야",
        "pytest는 그만 돌려도 돼",
        "문서에 pip install이라고 쓰지 마",
        "커밋 메시지에 이모지 넣지 마",
        "Bitte kein npm test in der Doku erwähnen.",
    ],
)
def test_speech_about_programs_is_no_correction(text: str) -> None:
    assert keys(text, *SESSION) == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Never run rm -rf build again", "rm -rf build"),
        ("I told you not to run manage.py migrate", "python manage.py migrate"),
        ("Use yarn instead of npm install", "npm install lodash"),
        ("stop using docker compose, use podman", "docker compose up -d"),
        ("please don't touch src/cart.py", "src/cart.py"),
        ("git push 하지 마", "git push origin main"),
        ("이제 docker compose 쓰지 말고 podman 써", "docker compose up -d"),
    ],
)
def test_each_correction_finds_its_own_call_among_many(text: str, key: str) -> None:
    assert keys(text, *SESSION) == [key]


def test_a_distinctive_subcommand_names_the_call() -> None:
    assert keys("don't push yet", PUSH) == ["git push origin main"]


def test_a_file_is_named_by_its_base_name() -> None:
    assert keys("don't touch gates.json, it is generated", EDIT) == ["config/gates.json"]


def test_a_tool_of_a_server_is_named_by_its_name() -> None:
    assert keys("do not use send_message without asking me", MAIL) == ["to=a"]


def test_the_failed_call_is_meant_before_others() -> None:
    other = ("bash", "npm run lint", ["npm", "run", "lint"], "ok")
    assert keys("don't use npm", NPM, other) == ["npm test"]


def test_a_call_of_a_subagent_is_not_the_users_to_correct() -> None:
    turn = after(NPM)
    turn.calls[0]["agent"] = "a1"
    assert guard.correction("don't use npm", turn) == []


def test_without_calls_there_is_nothing_to_bind() -> None:
    assert guard.correction("don't use npm", Turn()) == []


def test_a_guard_quotes_the_sentence_and_knows_what_is_wanted() -> None:
    (found,) = guard.correction("Hm. don't use npm here, use pnpm", after(NPM))
    assert found["said"] == "don't use npm here, use pnpm"
    assert found["asked"] == ["pnpm"]


@pytest.mark.parametrize(
    "text", ["\ud800 npm don't", "don't " * 3000, "말고" * 3000, "\x00", "a" * 9000]
)
def test_odd_text_never_raises(text: str) -> None:
    guard.correction(text, after(NPM))
