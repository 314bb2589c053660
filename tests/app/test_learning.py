"""From a correction to a rule, and what never becomes one: the whole way but the socket."""

import pytest
import trio

from hmd.app import forget
from hmd.core.forgetting import ForgetQuery
from hmd.store import rule_receipts
from tests.app.conftest import Place
from tests.app.lessons import NPM_FAILS, NPM_RULE, correct, episodes
from tests.app.school import command, context, decision, fact, said, school


async def test_a_correction_holds_in_the_next_session(place: Place) -> None:
    """Guards the story of the first page with the default settings: the user's own words and an
    exact command hold at once in the next session; the retry passes and is an override."""
    async with school(place) as made:
        made.script(said(NPM_RULE, when="pnpm"))
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        (row,) = [row for row in await made.rows() if row.source == "extraction"]
        assert (row.status, row.level, row.authority) == ("active", "soft_deny", "auto")
        assert (row.evidence, row.knowledge) == ("user_said", "correction")
        second = made.session("s2")
        second.say("run the tests")
        held = second.bash("npm test", NPM_FAILS)
        assert decision(held) == "deny"
        assert "pnpm" in held["hookSpecificOutput"]["permissionDecisionReason"]
        assert decision(second.bash("pnpm test")) == ""
        assert decision(second.bash("npm test", NPM_FAILS)) == ""
        second.end()
        await made.learn()
        (receipt,) = await made.app.store.read(
            lambda connection: rule_receipts.receipts(connection, row.id)
        )
        assert (receipt.fired, receipt.overridden, receipt.false_alarm) == (1, 1, 0)


async def test_by_advice_a_second_session_makes_it_hold(place: Place) -> None:
    """Guards the seed's ladder: advised at first, held once another session has confirmed it."""
    settings = {"before_tool": {"auto_enforcement": "advise"}}
    async with school(place, settings) as made:
        made.script(said(NPM_RULE, when="user: don't use"), said(NPM_RULE, when="user: I said"))
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        second = made.session("s2")
        second.say("run the tests")
        advised = second.bash("npm test", NPM_FAILS)
        assert decision(advised) == "" and "pnpm" in context(advised)
        second.stop("It fails.")
        second.say("I said don't use npm here, use pnpm")
        second.bash("pnpm test")
        second.stop("They pass.")
        second.end()
        await made.learn()
        (row,) = [row for row in await made.rows() if row.source == "extraction"]
        assert (row.level, row.validations) == ("soft_deny", 1)
        third = made.session("s3")
        third.say("run the tests")
        assert decision(third.bash("npm test")) == "deny"
        assert decision(third.bash("npm test")) == ""


async def test_without_a_model_a_correction_is_kept_for_review(place: Place) -> None:
    """Guards learning with extraction off: the guard becomes a candidate, and nothing is asked."""
    async with school(place, {"extraction": {"enabled": False}}) as made:
        first = made.session("s1")
        correct(first)
        assert decision(first.bash("npm test")) == "deny"  # it binds in its own session (O-08)
        first.stop()
        first.end()
        assert await made.learn() == 0
        (row,) = await made.rows()
        assert (row.status, row.source, row.evidence) == ("candidate", "guard", "user_said")
        assert row.sig is not None and row.sig.spec == "bash:command:cmd:npm test"
        assert made.learning.extraction.waiting == "extraction is switched off"


async def test_a_fix_is_named_at_the_failure(place: Place) -> None:
    """Guards N3: what worked in place of a command is told where it fails that way again."""
    async with school(place, {"extraction": {"enabled": False}}) as made:
        first = made.session("s1")
        first.say("build it")
        first.bash("pnpm biuld", "Exit code 1\nERR_PNPM  unknown command biuld")
        first.bash("pnpm build")
        first.stop()
        first.end()
        await made.learn()
        second = made.session("s2")
        second.say("build it again")
        failed = second.bash("pnpm biuld", "Exit code 1\nERR_PNPM  unknown command biuld")
        assert "pnpm build" in context(failed["after"])
        assert "seen once" in context(failed["after"])
        other = second.bash("pnpm biuld", "Exit code 1\nENOSPC: no space left on device")
        assert context(other["after"]) == ""


async def test_a_compound_line_teaches_nothing_about_its_first_word(place: Place) -> None:
    """Guards O-06: builtins, assignments, loops and `cd` stay silent in the next session."""
    async with school(place, {"extraction": {"enabled": False}}) as made:
        first = made.session("s1")
        first.say("build it")
        first.bash("cd web && S=1 echo go && pnpm biuld", "Exit code 1\nunknown command biuld")
        first.bash("cd web && pnpm build")
        first.stop()
        first.end()
        await made.learn()
        second = made.session("s2")
        second.say("look around")
        for text in ("cd api && ls", "echo done", "S=1 true", "for f in *; do wc -l $f; done"):
            assert second.bash(text) == {}
            assert second.bash(text, "Exit code 1\nunknown command biuld")["after"] == {}
        assert await made.rows() == []


async def test_active_rules_catch_the_calls_that_taught_them(place: Place) -> None:
    """Guards O-07, for a command and for an MCP call without a `command` field."""
    mail = {"tool": "mcp:mail/send_message", "target": "input", "pattern_kind": "substring"}
    async with school(place) as made:
        made.script(
            said(
                fact(
                    summary="Never delete the staging namespace, it is shared",
                    trigger_signature=command("kubectl delete ns staging"),
                    evidence_refs=["@staging is shared"],
                ),
                when="staging is shared",
            ),
            said(
                fact(
                    summary="Mail to all-hands is sent by people only, ask first",
                    relevant_tools=["mcp:mail/send_message"],
                    trigger_signature={**mail, "pattern": "all-hands@example.com"},
                    evidence_refs=["@all-hands"],
                ),
                when="all-hands",
            ),
        )
        first = made.session("s1")
        letter = {"to": "all-hands@example.com", "subject": "hello"}
        first.say("clean up")
        first.bash("kubectl delete ns staging")
        first.stop()
        first.say("no, never run kubectl delete ns staging, staging is shared")
        first.bash("kubectl get ns")
        first.stop()
        first.say("tell people")
        first.call("mcp__mail__send_message", letter)
        first.stop()
        first.say("don't send_message to all-hands@example.com, that goes out by hand only")
        first.bash("git status")
        first.bash("git add -A")
        first.stop()
        first.end()
        await made.learn()
        active = await made.rows(status="active")
        assert len(active) == 2
        second = made.session("s2")
        second.say("again")
        for row, printed in (
            (active, second.bash("kubectl delete ns staging")),
            (active, second.call("mcp__mail__send_message", letter)),
        ):
            assert decision(printed) or context(printed), row


async def test_remembering_makes_a_rule_of_the_users_own(place: Place) -> None:
    """Guards "remember this": human, active, announced to the user alone with its undo, 24 h."""
    async with school(place) as made:
        rule = fact(
            type="workflow",
            summary="Migrations are written by hand in db/migrations",
            trigger_signature=None,
            lifecycle_triggers=["before_model"],
            evidence_refs=["@remember"],
            knowledge_kind="convention",
        )
        made.script(said(rule, when="by hand"))
        first = made.session("s1")
        first.say("remember this: migrations are written by hand in db/migrations")
        first.bash("git add db/migrations/0001.sql")
        first.stop()
        first.end()
        await made.learn()
        (row,) = await made.rows()
        assert (row.authority, row.status, row.note) == ("human", "active", "remember")
        printed = made.session("s2").started
        assert row.id[:8] in printed["systemMessage"] and "undo" in printed["systemMessage"]
        assert "remembered" not in context(printed)
        place.clock.advance(25 * 3_600_000)
        assert "systemMessage" not in made.session("s3").started


async def test_overrides_lower_a_rule(place: Place) -> None:
    """Guards the way down: three overrides outweigh weak evidence after consolidation."""
    async with school(place) as made:
        made.script(said(NPM_RULE, when="pnpm"))
        first = made.session("s1")
        first.say("run the tests")
        first.bash("npm test")
        first.stop()
        first.say("don't use npm here, use pnpm")
        first.bash("pnpm test")
        first.stop()
        first.end()
        await made.learn()
        (row,) = await made.rows(source="extraction")
        assert row.level == "soft_deny"
        for number in range(3):
            again = made.session(f"again{number}")
            again.say("test")
            assert decision(again.bash("npm test")) == "deny"
            assert decision(again.bash("npm test")) == ""
            again.end()
        await made.learn()
        await made.learning.consolidate()
        (row,) = await made.rows(source="extraction")
        assert row.level == "advise"
        last = made.session("last")
        last.say("test")
        assert decision(last.bash("npm test")) == ""


async def test_reading_everything_again_changes_nothing(place: Place) -> None:
    """Guards idempotence: a second look at the same ledgers makes no change and no call."""
    async with school(place) as made:
        made.script(said(NPM_RULE, when="pnpm"), said(NPM_RULE, when="pnpm"))
        first = made.session("s1")
        correct(first)
        first.end()
        assert await made.learn() >= 1
        before = (await made.app.store.status()).applied_seq, await episodes(made)
        await made.learning.read([first.key])
        assert await made.learning.serve() == 0
        assert ((await made.app.store.status()).applied_seq, await episodes(made)) == before


async def test_secrets_of_tool_output_go_nowhere(place: Place) -> None:
    """Guards O-15: what only a tool printed is neither sent nor kept."""
    secrets = [
        "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=" + "Zm9vYmFy" * 10 + "==",
        "sk-ant-" + "api03-" + "aB3dE5fG7hJ9kL1m" * 4,
        "postgres://admin:hunter2secret@db.example.com/prod",
        "sbp_" + "0123456789abcdef" * 2 + "01234567",
    ]
    pem = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAr7\n" * 6
    pem += "-----END RSA PRIVATE KEY-----"
    async with school(place) as made:
        printed = "\n".join([*(f"K{n}={one}" for n, one in enumerate(secrets)), pem])
        made.script(said(fact(summary="Keys are in .env, never print them here",
                              evidence_refs=["@cat .env"]), when=""))  # fmt: skip
        first = made.session("s1")
        first.say("why does it not start?")
        first.bash("cat .env", out=printed)
        first.bash("make run", "Exit code 2\n" + printed)
        first.stop()
        first.say("no, don't print .env")
        first.bash("make run")
        first.stop()
        first.end()
        await made.learning.read(await made.learning.unread())
        prompts = await made.learning.extraction.dry_run(10)
        assert prompts
        await made.learning.serve()
        values = [one.rpartition("=")[2] or one for one in secrets]
        values = ["Zm9vYmFyZm9v", "aB3dE5fG7hJ9kL1m", "hunter2secret", "0123456789abcdef01", "MIIE"]
        for value in values:
            assert not any(value in prompt for prompt in prompts)
            for path in place.base.joinpath("home").rglob("*"):
                if path.is_file():
                    assert value.encode() not in path.read_bytes(), (value, path)


async def test_a_forgotten_rule_does_not_come_back(place: Place) -> None:
    """Guards tombstones on the way in: the model may say it again, nothing is made of it."""
    async with school(place) as made:
        made.script(said(NPM_RULE, when="user: don't use npm"), said(NPM_RULE, when="user: I said"))
        first = made.session("s1")
        correct(first)
        first.end()
        await made.learn()
        (row,) = await made.rows(source="extraction")
        await forget.forget(made.app, made.caller, ForgetQuery(id=row.id, hard=True))
        second = made.session("s2")
        second.say("run the tests")
        second.bash("npm test", NPM_FAILS)
        second.stop("It fails.")
        second.say("I said don't use npm here, use pnpm")
        second.bash("pnpm test")
        second.end()
        await made.learn()
        assert await made.rows(source="extraction") == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
async def test_the_order_of_sessions_does_not_matter(place: Place, order: tuple[int, int]) -> None:
    """Guards interleaving: two sessions that overlap give the same memories, whichever ended, was
    read and was served first."""
    async with school(place) as made:
        made.script(
            said(NPM_RULE, when="user: don't use npm"), said(NPM_RULE, when="user: stop using")
        )
        pupils = [made.session("s1"), made.session("s2")]
        words = ("don't use npm here, use pnpm", "stop using npm test, use pnpm")
        for pupil in pupils:
            pupil.say("run the tests")
            pupil.bash("npm test", NPM_FAILS)
            pupil.stop("It fails.")
        for pupil, text in zip(pupils, words, strict=True):
            pupil.say(text)
            pupil.bash("pnpm test")
            pupil.stop("They pass.")
        for number in order:
            pupils[number].end()
            await made.learn()
        rows = await made.rows()
        found = [
            (row.summary, row.status, row.level, row.validations, row.evidence) for row in rows
        ]
        assert found == [
            (NPM_RULE["summary"], "active", "soft_deny", 1, "user_said"),
        ]


async def test_a_guard_and_an_answer_about_one_call_make_one_rule(place: Place) -> None:
    """Guards plans against each other: a session ends, so that its guard is kept, at the moment in
    which the model's answer about the same correction arrives."""
    async with school(place) as made:
        made.script(said(NPM_RULE, when="user: don't use npm"))
        first = made.session("s1")
        correct(first)
        await made.learning.read(await made.learning.unread())
        first.end()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.learning.serve)
            nursery.start_soon(made.learning.read, [first.key])
        (row,) = await made.rows()
        assert (row.source, row.status, row.level) == ("extraction", "active", "soft_deny")
