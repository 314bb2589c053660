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
ASKED = (
    "how do we deploy with kubectl?",
    "배포는 어느 브랜치에서 하지?",
    "スキーマを変更したい",
    "支付接口超时了怎么办",
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
    mixed = Session(town.host, here, "mixed").prompt("kubectl 배포 브랜치?").context
    assert STORED[0] in mixed and STORED[1] in mixed
    assert Session(town.host, here, "quiet").prompt("what is the best pizza?").context == ""
    elsewhere = Session(town.host, there, "other")
    assert elsewhere.start().context == ""
    assert [elsewhere.prompt(asked).context for asked in ASKED] == [""] * len(ASKED)
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
