"""Prompts through real stubs and a real daemon: in four languages, each text once, and nothing of
another repository (O-14) while the same prompts are answered in their own."""

import pytest

from tests.live.host import Session, Town

pytestmark = pytest.mark.live

STORED = (
    "deploys go out on Thursdays with kubectl rollout",
    "스테이징 배포는 main 브랜치에서만 한다",
    "データベースのスキーマ変更は必ずマイグレーションで行う",
    "调用支付接口时必须设置超时和重试",
)
CODE = """def total(rows, default=None):
    \"\"\"Return the sum of all amounts, or the default where there are no rows.\"\"\"
    try:
        return sum(row.amount for row in rows) or default
    except AttributeError as error:
        raise ValueError("not a row") from error"""
ASKED = (
    "how do we deploy with kubectl?",
    "배포는 어느 브랜치에서 하지?",
    "スキーマを変更したい",
    "支付接口超时了怎么办",
)
# Prompts in two languages, and with pasted code, by what they must find.
MIXED = {
    "kubectl 배포 브랜치?": (0, 1),
    "kubectl rollout が失敗します。原因は？": (0,),
    "staging 배포 script를 어느 브랜치에서 run 하지?": (1,),
    "prismaでスキーマを変更したいけど migration は必要？": (2,),
    "支付接口 timeout 了，retry 怎么设置？ 支付接口没有重试": (3,),
    f"스키마 변경? データベースのスキーマ\n\n```python\n{CODE}\n```": (2,),
    f"how do we deploy with kubectl?\n\n```python\n{CODE}\n```": (0,),
}
QUIET = (
    "what is the best pizza?",
    f"why does this return None?\n\n```python\n{CODE}\n```",
    "주말에 갈 만한 산이 어디 있을까?",
    "おいしいカレーの作り方を教えて",
    "上海明天的天气怎么样？",
)


def test_prompts_find_what_is_theirs(town: Town) -> None:
    here, there = town.place("a").project, town.place("b").project
    for summary in STORED:
        town.host.hmctl("memory", "add", "--type", "decision", "--summary", summary,
                        "--triggers", "before_model", "--active", cwd=here)  # fmt: skip
    session = Session(town.host, here, "first")
    for stored, asked in zip(STORED, ASKED, strict=True):
        assert stored in session.prompt(asked).context
        assert stored not in session.prompt(asked + " !").context
    for number, (asked, expected) in enumerate(MIXED.items()):
        context = Session(town.host, here, f"mixed{number}").prompt(asked).context
        assert [text for text in STORED if text in context] == [STORED[n] for n in expected], asked
    for number, asked in enumerate(QUIET):
        assert Session(town.host, here, f"quiet{number}").prompt(asked).context == "", asked
    elsewhere = Session(town.host, there, "other")
    assert elsewhere.start().context == ""
    assert [elsewhere.prompt(asked).context for asked in ASKED] == [""] * len(ASKED)
    for asked in ASKED:
        found = town.host.hmctl("recall", asked, cwd=there).stdout
        assert not [text for text in STORED if text in found]
    # The control: the same prompts, in the repository that the memories are of.
    again = Session(town.host, here, "control")
    assert all(
        stored in again.prompt(asked).context for stored, asked in zip(STORED, ASKED, strict=True)
    )


def test_a_fact_opens_sessions_with_and_without_a_daemon(town: Town) -> None:
    """The block of facts is the same bytes from the daemon and from a stub that is alone."""
    here = town.place("c").project
    town.host.hmctl("fact", "remember", "billing service", "listens on port 8443", cwd=here)
    block = town.host.hmctl("hot", cwd=here).stdout
    assert "8443" in block
    up = Session(town.host, here, "up").start().context
    town.host.hmctl("daemon", "stop", cwd=here)
    down = Session(town.host, here, "down").start().context
    assert up == down == block
