"""The fold: same state however the ledger is read, each event once, everything bounded."""

import copy
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel import ledger, turn
from hmd.kernel.turn import Turn, fold, hold_key


def pre(number: int, at: int = 1000, **more: object) -> ledger.Record:
    return {"v": 1, "t": at, "d": f"d{number}", "e": f"pre_tool:u{number}", "k": "pre_tool",
            "tool": "bash", "use": f"u{number}", "input": "npm test",
            "keyed": [["npm test", ["npm", "test"]]], "tokens": ["pm test"], **more}  # fmt: skip


def held(number: int, at: int = 1000, how: str = "held", memory: str = "m1") -> ledger.Record:
    fired = [[memory, "soft_deny", how, "npm test"]]
    return pre(number, at, fired=fired, out=["deny", "r", "", ""], auto=True)


def prompt(number: int, at: int, **more: object) -> ledger.Record:
    return {"v": 1, "t": at, "d": "d", "e": f"prompt#{number}", "k": "prompt", "text": "x", **more}


def batch(number: int, at: int = 1000, **more: object) -> ledger.Record:
    return {"v": 1, "t": at, "d": "d", "e": f"tool_batch:u{number}", "k": "tool_batch",
            "calls": [{"use": f"u{number}", "failed": False}], **more}  # fmt: skip


def done(number: int, kind: str = "post_tool", use: int | None = None) -> ledger.Record:
    use = number if use is None else use
    return {"v": 1, "t": 1, "d": "d", "e": f"{kind}:u{number}", "k": kind, "use": f"u{use}"}


def folded(*records: ledger.Record) -> Turn:
    state = Turn()
    for record in records:
        fold(state, record)
    return state


def plain(state: Turn) -> dict[str, object]:
    return {
        name: getattr(state, name) for name in Turn.__slots__ if name not in ("saved", "offset")
    }


RECORDS = st.lists(
    st.one_of(
        st.builds(pre, st.integers(0, 9), st.integers(0, 9000)),
        st.builds(
            held, st.integers(0, 9), st.integers(0, 9000), st.sampled_from(["held", "passed"])
        ),
        st.builds(prompt, st.integers(0, 9), st.integers(0, 9000)),
        st.builds(batch, st.integers(0, 9)),
        st.builds(done, st.integers(0, 9), st.sampled_from(["post_tool", "tool_failure"])),
    ),
    max_size=25,
)


@settings(derandomize=True, max_examples=60)
@given(RECORDS, st.data())
def test_reading_in_pieces_and_from_checkpoints_gives_the_same_state(
    records: list[ledger.Record], data: st.DataObject
) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path, checkpoint = f"{folder}/s.jsonl", f"{folder}/t/s.json"
        state = Turn()
        for record in records:
            ledger.append(path, ledger.encode(record))
            what = data.draw(st.sampled_from(["", "read", "checkpoint"]))
            if what:
                assert turn.catch_up(state, path)
            if what == "checkpoint":
                assert turn.write_checkpoint(state, checkpoint)
                state = turn.load(Path(checkpoint).read_bytes())
        turn.catch_up(state, path)
        assert plain(state) == plain(folded(*records))


@settings(derandomize=True, max_examples=60)
@given(RECORDS)
def test_an_event_reported_again_changes_nothing(records: list[ledger.Record]) -> None:
    tools = [one for one in records if "#" not in str(one["e"])]
    twice = [again for one in tools for again in (one, copy.deepcopy({**one, "d": "other"}))]
    assert plain(folded(*twice)) == plain(folded(*tools))


def test_a_hold_ends_with_the_batch_and_with_the_prompt() -> None:
    key = hold_key("", "m1", "npm test")
    state = folded(held(1))
    assert state.wave_open(state.holds[key], 1001)
    assert not state.wave_open(state.holds[key], 1000 + turn.WAVE)
    state = folded(batch(0), held(1, 5000))
    assert state.wave_open(state.holds[key], 999_999), "this host shows where a wave ends"
    state = folded(held(1), batch(1))
    assert not state.wave_open(state.holds[key], 1001)
    assert folded(held(1), prompt(1, 2000)).holds == {}


def test_a_batch_of_a_subagent_leaves_the_main_agents_wave_open() -> None:
    state = folded(held(1), batch(2, a="sub"))
    assert state.wave_open(state.holds[hold_key("", "m1", "npm test")], 1001)


def test_identical_calls_of_one_wave_are_one_attempt() -> None:
    assert folded(held(1), held(2), held(3)).held_calls == 1


def test_a_pass_is_an_override_and_happens_once_a_turn() -> None:
    state = folded(held(1), batch(1), held(2, how="passed"))
    assert state.overrides == {"m1": 1}
    assert state.holds[hold_key("", "m1", "npm test")][1] == 2


def test_two_prompts_of_the_same_text_are_two_after_the_window() -> None:
    again = turn.SAME_EVENT_WINDOW + 1
    assert folded(prompt(1, 1000), prompt(1, 1500)).number == 1
    assert folded(prompt(1, 1000), prompt(1, 1000 + again)).number == 2


def test_a_background_prompt_is_no_turn() -> None:
    assert folded(prompt(1, 1, background=True)).number == 0


def test_what_was_given_is_forgotten_by_compaction_only() -> None:
    given_one = pre(1, fired=[["m1", "advise", "advised", ""]])
    start = {"v": 1, "t": 2, "d": "d", "e": "session_start#1", "k": "session_start"}
    assert folded(given_one, {**start, "detail": "resume"}).given == {"m1": True}
    assert folded(given_one, {**start, "detail": "compact"}).given == {}


def test_a_call_knows_how_it_ended() -> None:
    state = folded(pre(1), done(1, "tool_failure"), pre(2), done(2))
    assert [past["state"] for past in state.calls] == ["failed", "ok"]
    failed = {"use": "u3", "failed": True}
    state = folded(pre(3), {**batch(3), "calls": [failed]})
    assert state.calls[0]["state"] == "failed", "some failures fire nothing but the batch"


def test_a_guard_learns_what_worked() -> None:
    guard = {"id": "g1", "tool": "bash", "key": "npm test", "tokens": ["pm test"],
             "asked": ["pnpm"], "said": "s", "worked": ""}  # fmt: skip
    fixed = {**pre(2), "input": "pnpm test", "keyed": [["pnpm test", ["pnpm", "test"]]]}
    other = {**pre(3), "input": "ls", "keyed": [["ls", ["ls"]]], "tokens": ["ls"]}
    state = folded(prompt(1, 1, guards=[guard]), other, done(3), fixed, done(2))
    assert state.guards[0]["worked"] == "pnpm test"


def test_everything_is_bounded() -> None:
    state = Turn()
    for number in range(1200):
        fold(state, pre(number, fired=[[f"m{number}", "advise", "advised", ""]]))
    assert len(state.calls) == turn.CALLS_KEPT
    assert len(state.seen) == turn.SEEN_KEPT
    assert len(state.given) == turn.GIVEN_KEPT
    assert len(turn.dump(state)) < 200_000


def test_damaged_records_and_checkpoints_change_nothing() -> None:
    damaged: list[ledger.Record] = [
        {},
        {"k": 1},
        {"k": "pre_tool", "e": "x", "t": "y"},
        {"k": "prompt", "t": 1, "e": []},
    ]
    for bad in damaged:
        assert plain(folded(bad)) == plain(Turn())
    fold(Turn(), {"k": "tool_batch", "e": "b", "t": 1, "calls": [3, None], "fired": [1, ["x"]]})
    for data in (b"", b"[]", b"{", b'{"format":1}', b'{"format":1,"offset":"x"}', b"\xff"):
        assert plain(turn.load(data)) == plain(Turn())


def test_a_ledger_that_shrank_is_another_ledger(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    state = Turn()
    path.write_bytes(ledger.encode(prompt(1, 1)) + ledger.encode(prompt(2, 9000)))
    assert turn.catch_up(state, str(path)) and state.number == 2
    path.write_bytes(ledger.encode(prompt(3, 1)))
    assert turn.catch_up(state, str(path)) and state.number == 1
