"""A record is one line that survives torn writes, odd text and its own size."""

import json
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hmd.kernel import event as ev
from hmd.kernel import ledger

TEXT = st.text(st.characters(), max_size=60)  # lone surrogates included
RECORD = st.dictionaries(
    st.sampled_from(["k", "e", "input", "text", "d"]), TEXT | st.integers() | st.none()
)


@settings(derandomize=True, max_examples=150)
@given(st.lists(RECORD, max_size=5))
def test_what_was_appended_is_read_back(written: list[ledger.Record]) -> None:
    data = b"".join(ledger.encode(one) for one in written)
    read, used = ledger.records(data)
    assert (read, used) == (written, len(data))


@settings(derandomize=True, max_examples=100)
@given(st.lists(RECORD, min_size=2, max_size=4), st.data())
def test_a_torn_write_costs_only_itself(written: list[ledger.Record], data: st.DataObject) -> None:
    lines = [ledger.encode(one) for one in written]
    cut = data.draw(st.integers(1, len(lines[0]) - 2))
    read, _ = ledger.records(lines[0][:cut] + b"".join(lines[1:]))
    assert read[-(len(written) - 1) :] == written[1:]


def test_an_unterminated_tail_is_left_for_later() -> None:
    whole = ledger.encode({"k": "stop"})
    read, used = ledger.records(whole + b'\n{"k":"st')
    assert read == [{"k": "stop"}]
    assert used == len(whole) + 1


@settings(derandomize=True, max_examples=30)
@given(st.integers(0, 200_000), st.integers(0, 200_000))
def test_a_record_never_exceeds_its_limit_and_keeps_its_keys(first: int, second: int) -> None:
    record: ledger.Record = {
        "v": 1, "t": 1, "d": "n", "e": "pre:1", "k": "pre_tool", "p": "",
        "input": "한" * first, "text": "x" * second, "calls": ["y" * second],
    }  # fmt: skip
    data = ledger.encode(record)
    assert len(data) <= ledger.RECORD_LIMIT
    assert json.loads(data)["e"] == "pre:1"


def test_append_makes_the_folder_private_and_says_when_it_cannot(tmp_path: Path) -> None:
    path = tmp_path / "ledger/m/s.jsonl"
    assert ledger.append(str(path), b"\n{}\n")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not ledger.append(str(tmp_path / "ledger/m/s.jsonl/x"), b"\n{}\n")


def test_a_full_disk_is_an_append_that_failed() -> None:
    assert not ledger.append("/dev/full", b"\n{}\n")


def test_failure_classes() -> None:
    def classed(error: str, code: int | None = None, interrupted: bool = False) -> str:
        call = ev.Call("bash")
        call.error, call.exit_code, call.interrupted = error, code, interrupted
        return ledger.failure_class(call)

    assert classed("Exit code 1\nboom", 1) == "exit_1"
    assert classed("Exit code 127\nx: command not found", 127) == "enoent"
    assert classed("ENOENT: no such file or directory") == "enoent"
    assert classed("bash: ./x: Permission denied", 126) == "eacces"
    assert classed("Exit code 143\nCommand timed out after 1s", 143) == "timeout"
    assert classed("whatever", 1, interrupted=True) == "interrupt"
    assert classed("String to replace not found in file.") == "other"
